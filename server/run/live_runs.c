/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/live_runs.h"

#include "base/str.h"
#include "server/base/memory.h"
#include "server/run/live_files.h"
#include "server/run/run_folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT_MAX = 256 };

static int is_run_name(const struct dirent *entry) { return strncmp(entry->d_name, "run-", 4) == 0; }

/* Names begin with the time. */
static int by_newest(const struct dirent **a, const struct dirent **b) { return strcmp((*b)->d_name, (*a)->d_name); }

static int running_first(const void *left, const void *right)
{
    const struct live_run *a = left, *b = right;
    return ORDER(b->is_running, a->is_running) ?: strcmp(b->name, a->name);
}

void live_runs_find(const char *all, size_t max, struct live_runs *runs)
{
    struct dirent **names = NULL;
    int count = scandir(all, &names, is_run_name, by_newest);
    *runs = (struct live_runs){.items = memory_new(LOOKED_AT_MAX * sizeof(*runs->items))};
    for (int at = 0; at < count; at++) {
        char *path = memory_format("%s/%s", all, names[at]->d_name);
        if (at < LOOKED_AT_MAX && live_files_are(path))
            runs->items[runs->count++] = (struct live_run){memory_text(names[at]->d_name), run_folder_is_running(path)};
        free(path);
        free(names[at]);
    }
    free(names);
    qsort(runs->items, runs->count, sizeof(*runs->items), running_first);
    while (runs->count > max)
        free(runs->items[--runs->count].name);
}

void live_runs_free(struct live_runs *runs)
{
    for (size_t at = 0; at < runs->count; at++)
        free(runs->items[at].name);
    free(runs->items);
    *runs = (struct live_runs){0};
}
