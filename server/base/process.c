/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/process.h"

#include "server/base/descriptors.h"
#include "server/base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ENVIRONMENT_BYTES = 1 << 20 };

struct ends {
    int output[2], report[2];
};

static bool ends_open(struct ends *ends)
{
    if (!descriptors_pipe(ends->output))
        return false;
    if (!descriptors_pipe(ends->report)) {
        close(ends->output[0]);
        close(ends->output[1]);
        return false;
    }
    fcntl(ends->output[0], F_SETFL, O_NONBLOCK);
    fcntl(ends->report[0], F_SETFL, O_NONBLOCK);
    return true;
}

static int spawn(pid_t *id, const char *program, char *const *arguments, char *const *environment, const char *folder,
                 const struct ends *ends, enum process_report report)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends->output[1], 1);
    if (report != PROCESS_REPORTS_ERRORS)
        posix_spawn_file_actions_adddup2(&actions, ends->output[1], 2);
    posix_spawn_file_actions_adddup2(&actions, ends->report[1], (int)report);
    if (folder)
        posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    int fault = posix_spawnp(id, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return fault;
}

bool process_start(struct process *process, const char *program, char *const *arguments, char *const *environment,
                   const char *folder, enum process_report report, struct err *err)
{
    struct ends ends;
    if (!ends_open(&ends))
        return err_set(err, ERR_io, ERR_NO_OFFSET, "%s", strerror(errno));
    int fault = spawn(&process->id, program, arguments, environment, folder, &ends, report);
    close(ends.output[1]);
    close(ends.report[1]);
    process->output = ends.output[0];
    process->report = ends.report[0];
    if (fault == 0)
        return true;
    close(process->output);
    close(process->report);
    return err_set(err, ERR_io, ERR_NO_OFFSET, "%s: %s", program, strerror(fault));
}

/* It is not reaped yet: while it is there, no other group gets its number. */
bool process_has_ended(const struct process *process)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)process->id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == process->id;
}

int process_end(struct process *process)
{
    int status = 0;
    kill(-process->id, SIGKILL);
    while (waitpid(process->id, &status, 0) < 0 && errno == EINTR)
        ;
    close(process->output);
    close(process->report);
    return status;
}

void process_wait(const struct process *process, int wait_ms)
{
    struct pollfd ends[] = {{process->output, POLLIN, 0}, {process->report, POLLIN, 0}};
    poll(ends, 2, wait_ms);
    /* An end that everybody closed is readable at once, for ever. */
    if ((ends[0].revents & POLLHUP) || (ends[1].revents & POLLHUP))
        poll(NULL, 0, wait_ms < 5 ? wait_ms : 5);
}

uint64_t process_resident_bytes(const struct process *process)
{
    char path[48];
    unsigned long long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)process->id);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- Those that left the group ------------------------------------------------- */

static bool has_mark(const char *id, const char *mark, char *environment)
{
    char path[300];
    snprintf(path, sizeof(path), "/proc/%s/environ", id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0, part = 1;
    while (file >= 0 && part > 0 && length < MAX_ENVIRONMENT_BYTES) {
        part = read(file, environment + length, (size_t)(MAX_ENVIRONMENT_BYTES - length));
        length += part > 0 ? part : 0;
    }
    if (file >= 0)
        close(file);
    return memmem(environment, (size_t)length, mark, strlen(mark)) != NULL;
}

void process_end_marked(const char *mark)
{
    DIR *folder = opendir("/proc");
    char *environment = memory_new(MAX_ENVIRONMENT_BYTES);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !has_mark(entry->d_name, mark, environment))
            continue;
        pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id != getpid())
            kill(id, SIGKILL);
    }
    if (folder)
        closedir(folder);
    free(environment);
}
