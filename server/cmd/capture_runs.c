/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/capture_runs.h"
#include "server/files/path_kind.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/cmd/box.h"
#include "server/cmd/commands.h"
#include "server/cmd/interrupts.h"
#include "server/cmd/run_address.h"
#include "server/run/ask.h"
#include "server/run/inject.h"
#include "server/run/run_folder.h"

#include "base/size_text.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MS_PER_S = 1000, WAIT_MAX_S = 86400, SHOWN = 80 };

/* ---- which runs ---- */

enum capture_runs_kind capture_runs_kind(const struct options *options, struct err *err)
{
    size_t run_count = 0, count = options->paths.count;
    for (size_t at = 0; at < count; at++)
        run_count += path_kind_is_folder(options->paths.items[at]) || !strchr(options->paths.items[at], ':');
    if (run_count > 0 && run_count < count)
        err_set(err, ERR_argument, ERR_NO_OFFSET, "runs and HOST:PORT cannot be captured together");
    return run_count > 0 ? CAPTURE_RUNS : CAPTURE_SERVERS;
}

/* The newest run in a folder of runs. NULL, with the reason in the log. */
static char *run_in(const char *folder)
{
    char *run = run_folder_is(folder) ? memory_text(folder) : run_folder_newest(folder);
    if (!run)
        log_line("%s is no folder of a run, and none lies in it", folder);
    return run;
}

static bool is_ours(const char *run)
{
    struct stat status;
    return geteuid() == 0 || (stat(run, &status) == 0 && status.st_uid == geteuid());
}

/* The folder of a run that goes on, absolute; free(). NULL, with the reason in the log. */
static char *run_find(const struct options *options, const char *named)
{
    char *below = memory_format("%s/%s", options->capture_logdir, named);
    const char *path = path_kind_is_folder(named) || strchr(named, '/') ? named : below;
    char *folder = path_kind_is_folder(path) ? realpath(path, NULL) : NULL, *run = folder ? run_in(folder) : NULL;
    bool is_running = run && run_folder_is_running(run), is_askable = run && is_ours(run);
    if (!folder && path == named)
        log_line("%s: %s", named, strerror(access(named, F_OK) == 0 ? ENOTDIR : errno));
    else if (!folder)
        log_line("%.*s is no HOST:PORT, such as localhost:9999 or [::1]:9999, and %s has no run of that name", SHOWN,
                 named, options->capture_logdir);
    else if (run && !is_running)
        log_line("%s has ended: nothing can be asked any more", run);
    else if (run && !is_askable)
        log_line("%s belongs to another user", run);
    if (!is_running || !is_askable) {
        free(run);
        run = NULL;
    }
    free(folder);
    free(below);
    return run;
}

/* ---- while it waits ---- */

struct shown {
    bool is_terminal;
};

static bool runs_tick(void *context, const struct ask_progress *progress)
{
    const struct shown *shown = context;
    char name[64];
    log_escape(name, sizeof(name), progress->waited_for ? progress->waited_for : "");
    if (shown->is_terminal)
        fprintf(stderr, "\r%zu of %zu processes have answered; waiting for %s\033[K", progress->ended_count,
                progress->count, name);
    return !atomic_load(interrupts_flag());
}

/* the result */

static const char *runs_word(size_t count, const char *one, const char *many) { return count == 1 ? one : many; }

/* Says why no process can be asked. */
static void say_nobody(const char *run)
{
    struct inject_marks marks = inject_marks_read(run);
    if (marks.reason)
        log_line("%s: no process can be asked: %s", run, marks.reason);
    else if (marks.torch_count > 0)
        log_line("%s: no process can be asked: PyTorch has not used a GPU yet, or its processes have ended, or run on "
                 "another host",
                 run);
    else if (marks.jax_count > 0)
        log_line("%s: no process can be asked: its processes with JAX have ended, or run on another host", run);
    else if (marks.python_count > 0)
        log_line("%s: no process can be asked: none of its %zu Python process%s has imported torch or jax", run,
                 marks.python_count, runs_word(marks.python_count, "", "es"));
    else if (inject_is_made(run))
        log_line("%s: no process can be asked: no Python below it has read memviewd's hook", run);
    else
        log_line(
            "%s: no process can be asked: it was started with --no-inject, or by memviewd.install() in a process that "
            "has ended or runs on another host",
            run);
    inject_marks_free(&marks);
}

static void say_process(const struct options *options, const struct ask_process *process)
{
    if (process->reason)
        log_line("%s: %s", process->name, process->reason);
    if (process->state == ASK_ENDED)
        log_line("%s: it ended before it answered", process->name);
    else if (process->state == ASK_SILENT)
        log_line("%s: no answer within %" PRId64 " s (--wait): %s", process->name, options->capture_wait_s,
                 ask_silence(process));
}

static size_t say_files(const struct ask_process *process)
{
    char size[SIZE_TEXT_BYTES];
    for (size_t at = 0; at < process->file_count; at++)
        output_format("%s  %s\n", process->files[at].path, size_text(size, process->files[at].bytes));
    return process->file_count;
}

/* The page of the folder that the first file lies in: that of its process, or the run's own. */
static void say_where(const char *run, const struct ask_result *result)
{
    size_t at = 0;
    while (result->items[at].file_count == 0)
        at++;
    const char *file = result->items[at].files[0].path;
    char *all = memory_format("%.*s", (int)(strrchr(run, '/') - run), run);
    char *folder = memory_format("%.*s", (int)(strrchr(file, '/') - file), file);
    run_address_say(all, folder);
    free(folder);
    free(all);
}

/* Processes, and those that are missing in what came. */
struct sum {
    size_t count, missing_count, file_count;
    bool is_stopped;
};

static void run_finish(const struct options *options, const char *run, const struct ask_result *result, struct sum *sum)
{
    if (err_is_set(&result->err))
        log_line("%s", result->err.text);
    else if (result->count + result->left_out_count == 0)
        say_nobody(run);
    if (result->count + result->left_out_count == 0)
        sum->missing_count++, sum->count++;
    for (size_t at = 0; at < result->count; at++) {
        const struct ask_process *process = &result->items[at];
        sum->missing_count += process->state != ASK_DONE || process->has_failed;
        say_files(process);
        fflush(stdout);
        say_process(options, process);
    }
    size_t waiting_count = result->count > 0 ? inject_waiting_count(run) : 0;
    if (waiting_count > 0)
        log_line("%zu more %s imported torch but not used a GPU yet", waiting_count,
                 runs_word(waiting_count, "process has", "processes have"));
    if (result->left_out_count > 0)
        log_line("%zu more %s not asked: %s", result->left_out_count, runs_word(result->left_out_count, "was", "were"),
                 result->left_out.text);
    if (result->file_count > 0)
        say_where(run, result);
    sum->count += result->count + result->left_out_count;
    sum->missing_count += result->left_out_count;
    sum->file_count += result->file_count;
    sum->is_stopped |= result->is_stopped;
}

static int runs_status(const struct sum *sum)
{
    if (sum->is_stopped)
        log_line("interrupted");
    else if (sum->file_count > 0 && sum->missing_count > 0)
        log_line("%zu of %zu %s missing in it", sum->missing_count, sum->count,
                 runs_word(sum->missing_count, "is", "are"));
    if (sum->is_stopped)
        return interrupts_status();
    return sum->file_count == 0 ? COMMANDS_UNUSABLE : sum->missing_count == 0 ? COMMANDS_DONE : COMMANDS_FINDING;
}

int capture_runs(const struct options *options)
{
    size_t count = options->paths.count, found = 0;
    char **runs = memory_new(count * sizeof(*runs));
    struct shown shown = {isatty(STDERR_FILENO) == 1};
    struct sum sum = {0};
    if (options->capture_wait_s < 1 || options->capture_wait_s > WAIT_MAX_S) {
        log_line("--wait must be a number from 1 to %d", WAIT_MAX_S);
        free(runs);
        return COMMANDS_UNUSABLE;
    }
    for (size_t at = 0; at < count; at++)
        found += (runs[found] = run_find(options, options->paths.items[at])) != NULL;
    sum.count = sum.missing_count = count - found;
    box_capture_runs(options, (const char *const *)runs, found);
    interrupts_take();
    signal(SIGPIPE, SIG_IGN);
    for (size_t at = 0; at < found && !sum.is_stopped; at++) {
        struct ask_result result;
        ask_run(runs[at], options->capture_wait_s * MS_PER_S, &result, runs_tick, &shown);
        if (shown.is_terminal)
            fputs("\r\033[K", stderr);
        run_finish(options, runs[at], &result, &sum);
        ask_free(&result);
    }
    for (size_t at = 0; at < found; at++)
        free(runs[at]);
    free(runs);
    return runs_status(&sum);
}
