/* SPDX-License-Identifier: Apache-2.0
 * cmd_capture.c: of jobs that run a trace, by their profiler servers, or what they hold now (capture_runs.h), and where
 * to look at it. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/capture/capture.h"
#include "server/cmd/box.h"
#include "server/cmd/capture_option.h"
#include "server/cmd/capture_runs.h"
#include "server/cmd/commands.h"
#include "server/cmd/input_path.h"
#include "server/cmd/interrupts.h"
#include "server/cmd/options.h"
#include "server/cmd/run_address.h"

#include "base/size_text.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MS_PER_S = 1000 };

/* ---- while it runs ---- */

struct shown {
    int64_t duration_s;
    bool is_terminal;
};

static bool cmd_capture_tick(void *context, const struct capture_progress *progress)
{
    const struct shown *shown = context;
    char size[SIZE_TEXT_BYTES];
    int64_t recorded_s = progress->recorded_ms / MS_PER_S;
    if (shown->is_terminal && recorded_s < shown->duration_s)
        fprintf(stderr, "\rrecording: %" PRId64 " s of %" PRId64 " s\033[K", recorded_s, shown->duration_s);
    else if (shown->is_terminal)
        fprintf(stderr, "\rreceiving: %s\033[K", size_text(size, progress->trace_bytes));
    return !atomic_load(interrupts_flag());
}

/* the result */

static void say_hosts(const struct capture_result *result)
{
    for (size_t at = 0; at < result->count; at++) {
        const struct capture_host *host = &result->hosts[at];
        char size[SIZE_TEXT_BYTES];
        if (host->path)
            output_format("%s  %s\n", host->path, size_text(size, host->trace_bytes));
        else if (host->err.code != ERR_stopped)
            log_line("%s: %s", host->address, host->err.text);
    }
    fflush(stdout);
}

static int cmd_capture_finish(const char *logdir, const struct capture_result *result)
{
    if (err_is_set(&result->err)) {
        log_line("%s", result->err.text);
        return COMMANDS_UNUSABLE;
    }
    say_hosts(result);
    if (result->kept_count > 0)
        run_address_say(logdir, result->folder);
    if (result->kept_count > 0 && result->kept_count < result->count)
        log_line("%zu of %zu hosts are missing in it", result->count - result->kept_count, result->count);
    if (result->is_stopped && result->kept_count == 0)
        log_line("interrupted: nothing was kept");
    if (result->is_stopped)
        return interrupts_status();
    return result->kept_count == result->count ? COMMANDS_DONE
           : result->kept_count > 0            ? COMMANDS_FINDING
                                               : COMMANDS_UNUSABLE;
}

/* Absolute; it is made where it is not there. free() */
static char *logdir_make(const char *named)
{
    bool is_there = mkdir(named, 0777) == 0 || errno == EEXIST;
    char *real = is_there ? realpath(named, NULL) : NULL;
    if (!real)
        log_line("--logdir=%s: %s", named, strerror(errno));
    return real;
}

static int cmd_capture_run(const struct options *options, const struct capture_addresses *addresses)
{
    struct shown shown = {options->capture_seconds, isatty(STDERR_FILENO) == 1};
    struct capture_result result;
    char *logdir = logdir_make(options->capture_logdir);
    if (!logdir)
        return COMMANDS_UNUSABLE;
    const struct capture_request request = {logdir, addresses->items, addresses->count,
                                            options->capture_seconds * MS_PER_S};
    box_capture(options, logdir, addresses->items, addresses->count);
    interrupts_take();
    signal(SIGPIPE, SIG_IGN);
    capture_run(&request, &result, cmd_capture_tick, &shown);
    if (shown.is_terminal)
        fputs("\r\033[K", stderr);
    int status = cmd_capture_finish(logdir, &result);
    capture_free(&result);
    free(logdir);
    return status;
}

int cmd_capture(const struct options *options)
{
    struct capture_addresses addresses;
    struct err err = ERR_INIT;
    int status = COMMANDS_UNUSABLE;
    enum capture_runs_kind kind = capture_runs_kind(options, &err);
    if (options->paths.count == 0)
        log_line("which job? memviewd capture RUN, the folder of one under memviewd run, or "
                 "memviewd capture HOST:PORT, where it called jax.profiler.start_server(PORT)");
    else if (err_is_set(&err))
        log_line("%s", err.text);
    else if (kind == CAPTURE_RUNS)
        status = capture_runs(options);
    else if (options->capture_seconds < 1 || options->capture_seconds > CAPTURE_SECONDS_MAX)
        log_line("--seconds must be a number from 1 to %d", CAPTURE_SECONDS_MAX);
    else if (!input_path_check_folder(options->capture_logdir, "--logdir=", &err) ||
             !capture_option_read(&options->paths, &addresses, &err))
        log_line("%s", err.text);
    else {
        if (capture_set_up(&err))
            status = cmd_capture_run(options, &addresses);
        else
            log_line("%s", err.text);
        capture_option_free(&addresses);
    }
    return status;
}
