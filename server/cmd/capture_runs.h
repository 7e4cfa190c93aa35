/* SPDX-License-Identifier: Apache-2.0
 * capture_runs.h: `memviewd capture RUN`: what the Python processes of jobs under `memviewd run`, or with
 * memviewd.install(), hold now. */
#pragma once

#include "base/err.h"
#include "server/cmd/options.h"

enum capture_runs_kind {
    CAPTURE_SERVERS, /* HOST:PORT of profiler servers */
    CAPTURE_RUNS     /* folders of runs */
};

/* Says whether the paths are runs: a path that is a folder, or has no colon, is one. It uses no network. `argument`
 * when both kinds are named. */
enum capture_runs_kind capture_runs_kind(const struct options *options, struct err *err);

/* Asks, waits, says what came; the exit status. */
int capture_runs(const struct options *options);
