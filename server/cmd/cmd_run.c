/* SPDX-License-Identifier: Apache-2.0
 * cmd_run.c: a command that runs as it would without us; when it ends for lack of memory, why, and where to look. */
#include "server/base/cgroups.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/system.h"
#include "server/cmd/commands.h"
#include "server/cmd/explain.h"
#include "server/cmd/input_path.h"
#include "server/cmd/options.h"
#include "server/cmd/run_address.h"
#include "server/cmd/run_report.h"
#include "server/cmd/watch_show.h"
#include "server/run/ask.h"
#include "server/run/child.h"
#include "server/run/dump_copy.h"
#include "server/run/dump_limit.h"
#include "server/run/flags.h"
#include "server/run/inject.h"
#include "server/run/run_folder.h"
#include "server/run/run_log.h"
#include "server/run/session_labels.h"

#include "base/size_text.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_LOG_BYTES = 16 << 20, MAX_LIMIT_MIB = 1 << 30 };
/* The time that a file system writes may be this much behind the clock. */
enum { CLOCK_GRAIN_NS = 100000000 };
/* The status of what went wrong before the command ran, as env(1), nohup(1) and timeout(1) have it. */
enum { STATUS_OURS = 125, STATUS_NOT_RUNNABLE = 126, STATUS_NOT_FOUND = 127 };

static const char LOG_NAME[] = "output.log", DEFAULT_NAME[] = "memviewd-runs";

struct run {
    const struct options *options;
    char *const *arguments;
    struct run_folder folder;
    struct flags flags;
    struct inject inject;
    struct inject_marks marks;
    char *history; /* for the hook: how many events PyTorch records */
    struct dump_limit limit;
    char *log_path;
    struct run_log *log;
    struct tee *tee;
    struct child child;
    struct child_end end;
    uint64_t kills_before, kills_after; /* of the kernel, for lack of memory */
    int64_t began_ns;
};

/* ---- Before --------------------------------------------------------------------- */

/* Is it a folder that only its user can write? */
static bool is_own(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 022) == 0;
}

/* Other users write below /tmp too, so each user has an own folder there. Its name is predictable, so another user may
 * have taken it: then a new folder with a random name is made. NULL and `io` when there is none; free(). */
static char *own_below_tmp(bool *is_made, struct err *err)
{
    const char *below = getenv("TMPDIR");
    char *path = memory_format("%s/%s-%u", below && below[0] == '/' ? below : "/tmp", DEFAULT_NAME, geteuid());
    *is_made = mkdir(path, 0700) == 0;
    if (*is_made || is_own(path))
        return path;
    char *other = memory_format("%s-XXXXXX", path);
    *is_made = mkdtemp(other) != NULL;
    if (*is_made) {
        log_line("%s is not a folder that only you can write to: this run is in %s", path, other);
    } else {
        err_set(err, ERR_io, ERR_NO_OFFSET, "%.120s: %s", path, strerror(errno));
        free(other);
        other = NULL;
    }
    free(path);
    return other;
}

static bool folder_open(struct run *run, struct err *err)
{
    const char *named = run->options->run_logdir;
    if (run_folder_open(&run->folder, named, err))
        return true;
    if (strcmp(named, DEFAULT_NAME) != 0)
        return false;
    *err = (struct err)ERR_INIT; /* the working folder cannot be written */
    bool is_made;
    char *other = own_below_tmp(&is_made, err);
    bool is_open = other && run_folder_open(&run->folder, other, err);
    run->folder.is_made |= is_open && is_made;
    free(other);
    return is_open;
}

/* Without it the command runs all the same. */
static void hook_set_up(struct run *run)
{
    struct err err = ERR_INIT;
    if (run->options->has_no_hook)
        return;
    run->history = memory_format("%" PRId64, run->options->history_count);
    if (!inject_make(run->folder.path, getenv("PYTHONPATH"), &run->inject, &err))
        log_line("PyTorch and JAX are not armed: %s", err.text);
}

static bool set_up(struct run *run, struct err *err)
{
    if (!folder_open(run, err))
        return false;
    session_labels_write(run->folder.path);
    run->limit = (struct dump_limit){run->folder.path, (size_t)run->options->program_count,
                                     (uint64_t)run->options->dump_limit_mib << 20};
    run->log_path = memory_format("%s/%s", run->folder.path, LOG_NAME);
    run->log = run_log_new(run->log_path, MAX_LOG_BYTES, err);
    run->tee = run->log ? tee_new(run->log, err) : NULL;
    flags_make(getenv("XLA_FLAGS"), run->folder.path, getenv("JAX_COMPILATION_CACHE_DIR") != NULL, &run->flags);
    hook_set_up(run);
    if (run->inject.path)
        inject_tell_outer(getenv("MEMVIEWD_RUN"), run->folder.path, false);
    return run->tee != NULL;
}

static void run_free(struct run *run)
{
    flags_free(&run->flags);
    inject_free(&run->inject);
    inject_marks_free(&run->marks);
    free(run->history);
    if (run->log)
        run_log_free(run->log);
    free(run->log_path);
}

/* ---- While it runs -------------------------------------------------------------- */

/* As other processes find it; NULL: it is gone. free() */
static char *own_program(void)
{
    char *own = system_own_program(), *real = own ? realpath(own, NULL) : NULL;
    free(own);
    return real;
}

/* NULL: `run`, or nothing is to be shown. */
static struct watch_show *show_begin(const struct run *run)
{
    const struct options *options = run->options;
    return options->watch_every && !options->is_quiet
               ? watch_show_new(run->folder.path, run->tee, watch_show_every_ms(options->watch_every))
               : NULL;
}

static bool command_run(struct run *run)
{
    char *own = run->inject.path && !getenv("MEMVIEWD") ? own_program() : NULL;
    const char *watch_every = run->inject.path ? run->options->watch_every : NULL;
    const struct child_variable variables[] = {{"XLA_FLAGS", run->flags.value},
                                               {"MEMVIEWD_RUN", run->folder.path},
                                               {"PYTHONPATH", run->inject.path},
                                               {"MEMVIEWD_HISTORY", run->history},
                                               {"MEMVIEWD_WATCH", watch_every},
                                               {"MEMVIEWD_WATCH_RUN", watch_every ? run->folder.path : NULL},
                                               {"MEMVIEWD", own},
                                               {NULL, NULL}};
    if (run->options->watch_every && !run->options->is_quiet)
        run_address_say_live(run->folder.all); /* before the command prints anything */
    run->kills_before = cgroups_oom_kill_count("");
    run->began_ns = clock_unix_ns();
    bool is_started = child_start(&run->child, run->arguments, variables, run->tee);
    free(own);
    if (!is_started) {
        tee_free(run->tee);
        return false;
    }
    struct dump_limit_watch *watch = run->flags.value && !run->flags.is_own ? dump_limit_watch_new(&run->limit) : NULL;
    if (!tee_start(run->tee))
        log_line("no thread could be made: part of the output is lost");
    struct watch_show *show = show_begin(run);
    run->end = child_wait(&run->child, run->tee);
    if (show)
        watch_show_free(show);
    tee_free(run->tee);
    if (watch)
        dump_limit_watch_free(watch);
    run->kills_after = cgroups_oom_kill_count("");
    return true;
}

/* ---- After ---------------------------------------------------------------------- */

static bool is_failed(const struct run *run)
{
    return !WIFEXITED(run->end.wait_status) || WEXITSTATUS(run->end.wait_status) != 0;
}

/* The failures that its output tells of; 0 also when it cannot be read. */
static size_t failures_count(const struct run *run)
{
    struct err err = ERR_INIT;
    struct analysis_subject *text = explain_read(run->log_path, &err);
    size_t count = text ? analysis_oom_count(analysis_text_report(text)) : 0;
    if (text)
        analysis_subject_free(text);
    return count;
}

static bool is_killed(const struct run *run)
{
    int status = run->end.wait_status;
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
           (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL); /* a shell between us says it so */
}

static bool is_counted(const struct run *run)
{
    return run->kills_before != UINT64_MAX && run->kills_after != UINT64_MAX;
}

/* Did the kernel end it, or a process that it needed, for lack of host memory? Where nothing is counted signal 9 is
 * taken for that. */
static bool is_host_memory(const struct run *run)
{
    return is_counted(run) ? is_failed(run) && run->kills_after > run->kills_before : is_killed(run);
}

static void say_host_memory(const struct run *run)
{
    char used[SIZE_TEXT_BYTES], there[SIZE_TEXT_BYTES];
    uint64_t there_bytes = cgroups_usable_memory_bytes();
    log_line("%s for lack of host memory (RAM, not the device's): the largest process had %s, %s are there",
             is_counted(run) ? "the kernel ended a process of it" : "it was ended by signal 9, as the kernel does",
             size_text(used, run->end.resident_bytes),
             there_bytes ? size_text(there, there_bytes) : "it is not known how many");
}

/* What `memviewd explain` says of the folder, on stderr, by a process of its own: whatever the output holds, the status
 * of the command stays. */
static void verdict_print(const struct run *run)
{
    extern char **environ;
    char *const arguments[] = {"memviewd", "explain", run->folder.path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t id;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    char *own = system_own_program();
    if (posix_spawn(&id, own, &actions, NULL, arguments, environ) == 0)
        waitpid(id, &status, 0);
    else
        log_line("to see why: memviewd explain %s", run->folder.path);
    posix_spawn_file_actions_destroy(&actions);
    free(own);
}

/* No line about XLA where there was none. */
static void say_no_program(const struct run *run, const struct run_report *report, size_t failure_count)
{
    if (report->program_count == 0 && failure_count > 0 && (!run->inject.path || run->marks.jax_count > 0))
        log_line(
            "no program: XLA compiled none (JAX's compilation cache had it), or the command sets XLA_FLAGS itself");
}

static void say_where(const struct run *run, const struct run_report *report, size_t failure_count)
{
    bool is_served, is_page = failure_count + report->program_count + report->snapshot_count > 0;
    run_report_say_files(report);
    run_report_say_armed(report);
    say_no_program(run, report, failure_count);
    char *url = is_page ? run_address_make(run->folder.all, run->folder.path, &is_served) : NULL;
    if (url && is_served)
        log_line("the page: %s", url);
    else if (url)
        log_line("the page: %s after memviewd --logdir=%s", url, run->folder.all);
    free(url);
}

/* The run goes on, or it ended for another reason. */
static void say_ended_well(const struct run *run, const struct run_report *report, size_t failure_count)
{
    if (run->options->is_quiet)
        return;
    if (failure_count > 0)
        log_line("the command succeeded, but its output reports a lack of memory: memviewd explain %s", report->folder);
    else
        log_line("the command succeeded, but PyTorch refused memory %zu time%s: memviewd explain %s",
                 run->marks.failure_count, run->marks.failure_count == 1 ? "" : "s", report->folder);
}

static size_t programs_keep(struct run *run)
{
    return run->flags.own ? dump_copy(&run->limit, run->flags.own, run->began_ns - CLOCK_GRAIN_NS)
                          : dump_limit_apply(&run->limit);
}

/* Prints what `watch` saw, or why it saw nothing; `is_told_below`: a later line says what was armed. */
static void say_watched(const struct run *run, bool is_told_below)
{
    const struct options *options = run->options;
    if (!options->watch_every || options->is_quiet || watch_show_say_end(run->folder.path, run->began_ns))
        return;
    const struct run_report report = {
        .is_injected = run->inject.path != NULL, .refusal = inject_refusal(run->arguments), .marks = &run->marks};
    if (!run->marks.below)
        log_line("nothing to show: no process below it took a device with PyTorch or JAX%s",
                 options->has_no_hook ? " that --no-inject lets memviewd ask" : "");
    if (!is_told_below)
        run_report_say_armed(&report);
}

static void cmd_run_finish(struct run *run)
{
    bool is_quiet = run->options->is_quiet, is_host = is_host_memory(run), is_captured = ask_end(run->folder.path);
    size_t failure_count = failures_count(run);
    run->marks = inject_marks_take(run->folder.path);
    bool has_failure = failure_count + run->marks.failure_count > 0;
    bool is_explained = is_host || (has_failure && is_failed(run));
    say_watched(run, is_explained);
    if (is_killed(run) && !is_host && !is_quiet)
        log_line("it was ended by signal 9, which somebody sent: the kernel ended no process here for lack of memory");
    if (!has_failure && !is_host && !run->options->is_kept && !is_captured) {
        run_folder_remove(&run->folder);
        return;
    }
    const struct run_report report = {.folder = run->folder.path,
                                      .program_count = programs_keep(run),
                                      .snapshot_count = run_report_snapshot_count(run->folder.path),
                                      .is_injected = run->inject.path != NULL,
                                      .refusal = inject_refusal(run->arguments),
                                      .marks = &run->marks};
    if (is_host)
        say_host_memory(run);
    bool is_told = run->marks.has_told && run->marks.failure_count == 0;
    if (has_failure && is_failed(run) && !is_told)
        verdict_print(run);
    else if (has_failure && !is_failed(run))
        say_ended_well(run, &report, failure_count);
    if (has_failure && is_failed(run))
        inject_tell_outer(getenv("MEMVIEWD_RUN"), run->folder.path, true);
    if (is_explained)
        say_where(run, &report, failure_count);
    else if (!has_failure && !is_quiet)
        run_report_say_files(&report);
    run_folder_close(&run->folder, run->limit.max_bytes);
}

static int cmd_run_refuse(const char *reason)
{
    log_line("%s", reason);
    return COMMANDS_UNUSABLE;
}

int cmd_run(const struct options *options)
{
    struct err err = ERR_INIT;
    struct run run = {.options = options};
    int status;
    if (options->paths.count == 0)
        return cmd_run_refuse(options->watch_every ? "which command? memviewd watch -- python train.py"
                                                   : "which command? memviewd run -- python train.py");
    if (options->program_count < 1 || options->dump_limit_mib < 1 || options->dump_limit_mib > MAX_LIMIT_MIB ||
        options->history_count < 0)
        return cmd_run_refuse("--programs and --dump-limit must be numbers above 0, --history one of 0 or more");
    if (!input_path_check_folder(options->run_logdir, "--logdir=", &err))
        return cmd_run_refuse(err.text);
    char **arguments = memory_new((options->paths.count + 1) * sizeof(*arguments));
    memcpy(arguments, options->paths.items, options->paths.count * sizeof(*arguments));
    run.arguments = arguments;
    tee_reserve();
    if (!set_up(&run, &err)) {
        log_line("%s", err.text);
        if (run.folder.path)
            run_folder_remove(&run.folder);
        status = STATUS_OURS;
    } else if (!command_run(&run)) {
        log_line("%s: %s", arguments[0], strerror(run.child.fault));
        run_folder_remove(&run.folder);
        status = run.child.fault == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
    } else {
        cmd_run_finish(&run);
        status = child_status_take(run.end.wait_status);
    }
    run_free(&run);
    free(arguments);
    return status;
}
