/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/ask.h"

#include "base/str.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/compile/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUND_MS = 20, MAX_LINE_BYTES = 4096, MAX_FILES = 16 };

static const char FOLDER[] = ".capture", SAID[] = ".said";

/* One process while it is asked. */
struct asked {
    struct ask_process *process;
    int pipe, said;
    uint64_t said_at; /* read up to here */
    char line[MAX_LINE_BYTES];
    size_t length; /* of the line that is not whole yet; a longer one is cut */
};

struct asking {
    const char *folder;
    struct ask_result *result;
    struct asked *items;
    int64_t began_ms, wait_ms;
};

static bool is_over(const struct ask_process *process) { return process->state > ASK_BEGUN; }

/* ---- Who can be asked ------------------------------------------------------------- */

/* A file that has answers, by its whole name; -1: it is none, or why it cannot be opened is in `errno`. */
static int said_open(int folder, const char *name)
{
    struct stat status;
    int said = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (said >= 0 && (fstat(said, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(said);
        errno = ENOENT;
        said = -1;
    }
    return said;
}

/* False: it is no pipe (ENXIO, as if no one reads it any more), or `errno` says why it cannot be opened. */
static bool asked_open(struct asked *asked, int folder, const char *name)
{
    struct stat status;
    char *said_name = memory_format("%s%s", name, SAID);
    asked->pipe = openat(folder, name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    asked->said = asked->pipe >= 0 ? said_open(folder, said_name) : -1;
    int reason = asked->said >= 0 ? ENXIO : errno;
    free(said_name);
    if (asked->said >= 0 && fstat(asked->pipe, &status) == 0 && S_ISFIFO(status.st_mode)) {
        asked->said_at = fstat(asked->said, &status) == 0 ? (uint64_t)status.st_size : 0;
        return true;
    }
    if (asked->pipe >= 0)
        close(asked->pipe);
    if (asked->said >= 0)
        close(asked->said);
    errno = reason;
    return false;
}

/* Did asked_open fail because no process listens? */
static bool is_nobody(int reason) { return reason == ENXIO || reason == ENOENT || reason == ELOOP || reason == EISDIR; }

/* `reason`: of errno; 0: there are too many. The first one stays. */
static void leave_out(struct ask_result *result, int reason)
{
    if (result->left_out_count++ > 0)
        return;
    if (reason != 0)
        err_set(&result->left_out, ERR_io, ERR_NO_OFFSET, "%s", strerror(reason));
    else
        err_set(&result->left_out, ERR_io, ERR_NO_OFFSET, "at most %d at once", ASK_PROCESSES_MAX);
}

static int is_pipe_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && !str_ends(str_of(entry->d_name), str_of(SAID));
}

static int by_natural_name(const struct dirent **a, const struct dirent **b)
{
    return str_compare_natural(str_of((*a)->d_name), str_of((*b)->d_name));
}

/* "rank3.4711" of "rank3.4711-1f2e3d4c" */
static char *process_name(const char *name)
{
    const char *hyphen = strrchr(name, '-');
    return memory_format("%.*s", (int)(hyphen && hyphen > name ? hyphen - name : (ptrdiff_t)strlen(name)), name);
}

static void processes_find(struct asking *asking, int folder, struct dirent **names, int count)
{
    struct ask_result *result = asking->result;
    for (int at = 0; at < count; at++) {
        struct asked asked = {0};
        if (!asked_open(&asked, folder, names[at]->d_name)) {
            if (!is_nobody(errno))
                leave_out(result, errno);
            continue;
        }
        if (result->count == ASK_PROCESSES_MAX) {
            leave_out(result, 0);
            close(asked.pipe);
            close(asked.said);
            continue;
        }
        asked.process = &result->items[result->count];
        asked.process->name = process_name(names[at]->d_name);
        asking->items[result->count++] = asked;
    }
}

/* The folder of a run in which its processes listen, and names in it. */
struct listening {
    char *path;
    int folder; /* -1: there is none, or why is in `errno` */
    struct dirent **names;
    int count; /* -1: why is in `errno` */
};

/* listening_close afterwards. */
static struct listening listening_open(const char *run, int (*is_wanted)(const struct dirent *entry))
{
    struct listening listening = {.path = memory_format("%s/%s", run, FOLDER)};
    listening.folder = open(listening.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (listening.folder >= 0)
        listening.count = scandir(listening.path, &listening.names, is_wanted, by_natural_name);
    return listening;
}

static void listening_close(struct listening *listening)
{
    for (int at = 0; at < listening->count; at++)
        free(listening->names[at]);
    free(listening->names);
    if (listening->folder >= 0)
        close(listening->folder);
    free(listening->path);
}

/* No file of that name: then no process has ever listened. */
static void asking_open(struct asking *asking)
{
    struct listening listening = listening_open(asking->folder, is_pipe_name);
    if (listening.count < 0 || (listening.folder < 0 && errno != ENOENT))
        err_set(&asking->result->err, ERR_io, ERR_NO_OFFSET, "%.120s: %s", listening.path, strerror(errno));
    else
        processes_find(asking, listening.folder, listening.names, listening.count);
    listening_close(&listening);
}

/* ---- What it says ------------------------------------------------------------------ */

/* Is the name below the run's folder? It must not lead out of it, or be hidden. */
static bool is_below(const char *name)
{
    for (const char *part = name;; part++) {
        if (part[0] == '.' || part[0] == '/' || part[0] == '\0')
            return false;
        part = strchr(part, '/');
        if (!part)
            return true;
    }
}

static void reason_set(struct ask_process *process, const char *text, bool has_failed)
{
    if (process->reason && process->has_failed)
        return;
    free(process->reason);
    process->reason = memory_text(text);
    process->has_failed = has_failed;
}

static void file_add(struct asking *asking, struct ask_process *process, const char *name)
{
    struct stat status;
    char *path = memory_format("%s/%s", asking->folder, name);
    if (process->file_count < MAX_FILES && is_below(name) && lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        process->files =
            memory_grow(process->files, &process->file_capacity, process->file_count + 1, sizeof(*process->files));
        process->files[process->file_count++] = (struct ask_file){path, (uint64_t)status.st_size};
        asking->result->file_count++;
        return;
    }
    reason_set(process, "it names a file that is not there", true);
    free(path);
}

static bool line_is(const char *line, const char *word, const char **text)
{
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || (line[length] != ' ' && line[length] != '\0'))
        return false;
    *text = line + length + (line[length] == ' ');
    return true;
}

static void line_take(struct asking *asking, struct ask_process *process, const char *line)
{
    const char *text;
    if (line_is(line, "asked", &text) && process->state == ASK_WAITING)
        process->state = ASK_BEGUN;
    else if (process->state != ASK_BEGUN) /* the answer to somebody who asked before */
        return;
    else if (line_is(line, "file", &text))
        file_add(asking, process, text);
    else if (line_is(line, "failed", &text))
        reason_set(process, text, true);
    else if (line_is(line, "nothing", &text))
        reason_set(process, text, false);
    else if (line_is(line, "done", &text))
        process->state = ASK_DONE;
}

static void said_take(struct asking *asking, struct asked *asked)
{
    char part[4096];
    ssize_t length;
    while (!is_over(asked->process) && (length = pread(asked->said, part, sizeof(part), (off_t)asked->said_at)) > 0) {
        ssize_t at = 0;
        for (; at < length && !is_over(asked->process); at++) {
            if (part[at] == '\n') {
                asked->line[asked->length] = '\0';
                asked->length = 0;
                line_take(asking, asked->process, asked->line);
            } else if (asked->length < sizeof(asked->line) - 1) {
                asked->line[asked->length++] = part[at];
            }
        }
        asked->said_at += (uint64_t)at;
    }
}

/* ---- Asking -------------------------------------------------------------------------- */

/* A pipe that is full of questions asks, too. */
static void asked_ask(struct asked *asked)
{
    ssize_t length;
    while ((length = write(asked->pipe, "?", 1)) < 0 && errno == EINTR)
        ;
    if (length < 0 && errno == EPIPE)
        asked->process->state = ASK_ENDED;
}

/* One round: waits a moment, or until one of those that are waited for has ended. */
static void round_take(struct asking *asking)
{
    struct ask_result *result = asking->result;
    struct pollfd *ends = memory_new((result->count + 1) * sizeof(*ends));
    for (size_t at = 0; at < result->count; at++)
        ends[at].fd = is_over(&result->items[at]) ? -1 : asking->items[at].pipe;
    poll(ends, (nfds_t)result->count, ROUND_MS);
    for (size_t at = 0; at < result->count; at++) {
        struct ask_process *process = &result->items[at];
        said_take(asking, &asking->items[at]); /* all that was said before its end */
        if (!is_over(process) && (ends[at].revents & (POLLERR | POLLHUP)) != 0)
            process->state = ASK_ENDED;
        else if (process->state == ASK_WAITING && clock_ms() - asking->began_ms >= asking->wait_ms)
            process->state = ASK_SILENT;
    }
    free(ends);
}

static struct ask_progress progress_of(const struct ask_result *result)
{
    struct ask_progress progress = {.count = result->count};
    for (size_t at = 0; at < result->count; at++) {
        progress.ended_count += is_over(&result->items[at]);
        if (!is_over(&result->items[at]))
            progress.waited_for = result->items[at].name;
    }
    return progress;
}

void ask_run(const char *folder, int64_t wait_ms, struct ask_result *result,
             bool (*tick)(void *context, const struct ask_progress *progress), void *context)
{
    *result = (struct ask_result){
        .err = ERR_INIT, .left_out = ERR_INIT, .items = memory_new(ASK_PROCESSES_MAX * sizeof(*result->items))};
    struct asking asking = {folder, result, memory_new(ASK_PROCESSES_MAX * sizeof(*asking.items)), 0, wait_ms};
    asking_open(&asking);
    asking.began_ms = clock_ms();
    for (size_t at = 0; at < result->count; at++)
        asked_ask(&asking.items[at]);
    for (;;) {
        struct ask_progress progress = progress_of(result);
        if (progress.ended_count == result->count)
            break;
        result->is_stopped = !tick(context, &progress);
        if (result->is_stopped)
            break;
        round_take(&asking);
    }
    for (size_t at = 0; at < result->count; at++) {
        close(asking.items[at].pipe);
        close(asking.items[at].said);
    }
    free(asking.items);
}

static void process_free(struct ask_process *process)
{
    for (size_t file = 0; file < process->file_count; file++)
        free(process->files[file].path);
    free(process->files);
    free(process->reason);
    free(process->name);
}

void ask_free(struct ask_result *result)
{
    for (size_t at = 0; at < result->count; at++)
        process_free(&result->items[at]);
    free(result->items);
    *result = (struct ask_result){0};
}

/* ---- Why one says nothing ---------------------------------------------------------------- */

/* Its letter of proc(5); '\0': not known, as of one in another container. */
static char process_state(const char *name)
{
    size_t length = strlen(name), digits = 0;
    while (digits < length && name[length - digits - 1] >= '0' && name[length - digits - 1] <= '9')
        digits++;
    char *path = memory_format("/proc/%s/stat", name + length - digits);
    FILE *file = digits > 0 ? fopen(path, "re") : NULL;
    char text[512] = "";
    if (file) {
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
    }
    free(path);
    const char *end = strrchr(text, ')'); /* the name of the program may have any letters */
    return end && end[1] == ' ' ? end[2] : '\0';
}

const char *ask_silence(const struct ask_process *process)
{
    switch (process_state(process->name)) {
    case 'T':
    case 't': return "it is stopped, by a signal or a debugger";
    case 'D': return "it waits in the kernel, for a disk or a device";
    case '\0': return "it may be busy in a C call that holds Python's lock";
    default: return "it is busy in a C call that holds Python's lock";
    }
}

/* ---- After a run -------------------------------------------------------------------------- */

static int is_said_name(const struct dirent *entry) { return str_ends(str_of(entry->d_name), str_of(SAID)); }

/* Does it name a file that is there? */
static bool said_has_file(struct asking *asking, int folder, const char *name)
{
    struct ask_process process = {.state = ASK_BEGUN};
    struct asked *asked = memory_new(sizeof(*asked));
    bool has_file;
    asked->process = &process;
    asked->said = said_open(folder, name);
    while (asked->said >= 0) {
        said_take(asking, asked); /* up to the end of an answer */
        if (process.state == ASK_BEGUN)
            break;
        process.state = ASK_BEGUN;
    }
    if (asked->said >= 0)
        close(asked->said);
    has_file = process.file_count > 0;
    process_free(&process);
    free(asked);
    return has_file;
}

bool ask_end(const char *folder)
{
    struct ask_result result = {0};
    struct asking asking = {.folder = folder, .result = &result};
    struct listening listening = listening_open(folder, is_said_name);
    bool has_file = false;
    for (int at = 0; at < listening.count && !has_file; at++)
        has_file = said_has_file(&asking, listening.folder, listening.names[at]->d_name);
    folder_remove(listening.path);
    listening_close(&listening);
    return has_file;
}
