/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/run_report.h"

#include "base/str.h"
#include "server/base/log.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int is_snapshot(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && str_ends(str_of(entry->d_name), STR(".pickle"));
}

size_t run_report_snapshot_count(const char *folder)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_snapshot, NULL);
    for (int at = 0; at < count; at++)
        free(names[at]);
    free(names);
    return count > 0 ? (size_t)count : 0;
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

void run_report_say_files(const struct run_report *report)
{
    size_t programs = report->program_count, snapshots = report->snapshot_count;
    char programs_text[64] = "", snapshots_text[64] = "";
    if (programs > 0)
        snprintf(programs_text, sizeof(programs_text), "%s%zu program%s", snapshots > 0 ? ", " : " and ", programs,
                 plural(programs));
    if (snapshots > 0)
        snprintf(snapshots_text, sizeof(snapshots_text), " and %zu allocator snapshot%s", snapshots, plural(snapshots));
    log_line("its output%s%s %s in %s", programs_text, snapshots_text, programs + snapshots > 0 ? "are" : "is",
             report->folder);
}

static void say_unarmed(const struct run_report *report)
{
    if (report->marks->below)
        log_line("the memviewd run below it recorded its Python processes, in %s", report->marks->below);
    else if (report->refusal)
        log_line("not armed: Python does not read memviewd's hook with %s; the allocator was not recorded",
                 report->refusal);
    else if (report->marks->reason)
        log_line("not armed: %s", report->marks->reason);
    else if (report->marks->python_count == 0)
        log_line("not armed: no Python below it read PYTHONPATH; nothing but its output is known");
    else
        log_line("armed %zu Python process%s, but none imported torch or jax", report->marks->python_count,
                 report->marks->python_count == 1 ? "" : "es");
}

/* "PyTorch in 2 of 3 Python processes, JAX in 1" */
static void armed_name(const struct inject_marks *marks, char *out, size_t size)
{
    char torch[64] = "", jax[64] = "";
    if (marks->torch_count > 0)
        snprintf(torch, sizeof(torch), "PyTorch in %zu", marks->torch_count);
    if (marks->jax_count > 0)
        snprintf(jax, sizeof(jax), "%sJAX in %zu", torch[0] ? ", " : "", marks->jax_count);
    snprintf(out, size, "%s%s of %zu Python process%s", torch, jax, marks->python_count,
             marks->python_count == 1 ? "" : "es");
}

void run_report_say_armed(const struct run_report *report)
{
    const struct inject_marks *marks = report->marks;
    char names[192], refused[128] = "";
    if (!report->is_injected)
        return;
    if (marks->torch_count + marks->jax_count == 0) {
        say_unarmed(report);
        return;
    }
    armed_name(marks, names, sizeof(names));
    if (marks->failure_count > 1)
        snprintf(refused, sizeof(refused), "; PyTorch refused memory %zu times, each process's first and last are kept",
                 marks->failure_count);
    log_line("armed: %s%s%s%s", names, refused, marks->reason ? "; " : "", marks->reason ? marks->reason : "");
}
