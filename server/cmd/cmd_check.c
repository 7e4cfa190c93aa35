/* SPDX-License-Identifier: Apache-2.0
 * cmd_check.c: modules against a limit and against what they were before, for continuous integration. The core decides
 * and writes; here both sides are found, and their modules matched by name. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/cmd/capacity_option.h"
#include "server/cmd/check_catalog.h"
#include "server/cmd/check_snapshots.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/options.h"
#include "server/files/path_kind.h"
#include "server/gather/index.h"
#include "server/store/account.h"
#include "server/store/subjects.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_BYTES = 4096 };

/* What lies at a path: all its modules, opened, largest first in each session. */
struct side {
    const char *path;
    bool is_folder;
    struct index *index;
    struct snapshot *snapshot;
    struct modules *sessions;
    const struct modules_entry **entries;
    bool *is_taken; /* of the baseline: matched already */
    size_t count, capacity;
};

/* All that was added to its index. */
static void side_read(struct side *side, struct store *store)
{
    index_scan_once(side->index);
    side->snapshot = index_hold(side->index);
    side->sessions = memory_new((side->snapshot->session_count + 1) * sizeof(*side->sessions));
    for (size_t at = 0; at < side->snapshot->session_count; at++) {
        struct modules *modules = &side->sessions[at];
        modules_open(store, side->snapshot->sessions[at], NULL, modules);
        modules_read_totals(store, modules);
        modules_sort(modules);
        for (size_t i = 0; i < modules->entry_count; i++) {
            side->entries =
                memory_grow(side->entries, &side->capacity, side->count + 1, sizeof(struct modules_entry *));
            side->entries[side->count++] = &modules->entries[i];
        }
    }
    side->is_taken = memory_new(side->count + 1);
}

static bool side_open(struct side *side, struct store *store, const char *path)
{
    const enum path_kind kind = path_kind_of(path, true);
    side->path = path;
    if (kind == PATH_KIND_NONE)
        return false;
    side->is_folder = kind == PATH_KIND_FOLDER;
    side->index = index_new();
    index_add(side->index, path);
    side_read(side, store);
    return true;
}

/* Opens the files of the catalog's modules that still exist. */
static void side_open_files(struct side *side, struct store *store, const struct check_catalog *modules)
{
    side->index = index_new();
    for (size_t at = 0; at < modules->count; at++) {
        const char *path = modules->modules[at].path;
        bool is_added = path == NULL;
        for (size_t before = 0; before < at && !is_added; before++)
            is_added = modules->modules[before].path && strcmp(modules->modules[before].path, path) == 0;
        if (!is_added)
            index_add(side->index, path);
    }
    side_read(side, store);
}

static void side_close(struct side *side)
{
    for (size_t at = 0; side->snapshot && at < side->snapshot->session_count; at++)
        modules_close(&side->sessions[at]);
    if (side->snapshot)
        index_release(side->index, side->snapshot);
    if (side->index)
        index_free(side->index);
    free(side->sessions);
    free(side->entries);
    free(side->is_taken);
}

static const char *name_of(const struct modules_entry *entry)
{
    return entry->program       ? entry->program->name
           : entry->file->group ? entry->file->group->stem
                                : entry->file->file->name;
}

/* What is held against: the modules at a path, or those of the catalog, whose files may be there or not. */
struct baseline {
    bool is_wanted, is_of_catalog;
    struct side side;
    struct check_catalog catalog;
};

static bool baseline_open(struct baseline *baseline, struct store *store, const struct options *options)
{
    if (!baseline->is_wanted)
        return true;
    if (!baseline->is_of_catalog)
        return side_open(&baseline->side, store, options->baseline);
    if (!check_catalog_read(&baseline->catalog, options->baseline, options->catalog))
        return false;
    side_open_files(&baseline->side, store, &baseline->catalog);
    return true;
}

static void baseline_close(struct baseline *baseline)
{
    side_close(&baseline->side);
    if (baseline->is_of_catalog)
        check_catalog_free(&baseline->catalog);
}

/* If several have one name, the largest is compared with the largest, and so on. */
static const struct modules_entry *baseline_of(struct baseline *baseline, const struct modules_entry *entry)
{
    struct side *side = &baseline->side;
    for (size_t at = 0; at < side->count; at++) {
        if (side->is_taken[at] || strcmp(name_of(side->entries[at]), name_of(entry)) != 0)
            continue;
        side->is_taken[at] = true;
        return side->entries[at];
    }
    return NULL;
}

/* As it can be opened from where the command was run. */
static const char *path_of(const struct side *side, const char *file, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s%s%s", side->path, side->is_folder ? "/" : "", side->is_folder ? file : "");
    return path;
}

static bool module_open(struct store *store, const struct modules_entry *entry, struct subject *subject,
                        struct err *err)
{
    if (!entry->program) {
        *err = entry->file->err;
        return false;
    }
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    return subjects_open(store, &place, subject, err);
}

/* free(); NULL: not known. */
static char *configuration_of(const struct subject *module)
{
    struct buf text = BUF_INIT;
    char *configuration = analysis_module_configuration(module->core, &text) && !text.failed
                              ? memory_format("%.*s", (int)text.length, text.data)
                              : NULL;
    buf_free(&text);
    return configuration;
}

/* Opens the program that the catalog's module is, where one of the files that are still there has it: of several of
 * that name the one of its configuration. */
static bool catalog_open_program(struct store *store, const struct side *side,
                                 const struct check_catalog_module *module, struct subject *found)
{
    bool is_found = false;
    for (size_t at = 0; at < side->count && !is_found && module->path; at++) {
        struct err unsaid = ERR_INIT;
        if (strcmp(name_of(side->entries[at]), module->name) != 0 ||
            !module_open(store, side->entries[at], found, &unsaid))
            continue;
        char *configuration = configuration_of(found);
        is_found = !module->configuration || !configuration || strcmp(configuration, module->configuration) == 0;
        free(configuration);
        if (!is_found)
            subjects_close(found);
    }
    return is_found;
}

/* What the catalog knows of a module of that name, as far as it does. */
static struct analysis_check_baseline catalog_baseline(struct store *store, const struct baseline *against,
                                                       const char *name, const struct subject *checked,
                                                       struct subject *program)
{
    char *configuration = configuration_of(checked);
    const struct check_catalog_module *module = check_catalog_find(&against->catalog, name, configuration);
    struct analysis_check_baseline baseline = {0};
    if (module) {
        if (configuration && module->configuration && strcmp(configuration, module->configuration) != 0)
            log_line("%s: is compiled for %s; the catalog has it for %s, which it is compared with", name,
                     configuration, module->configuration);
        baseline = (struct analysis_check_baseline){NULL, module->space_name, module->needed_bytes};
        if (catalog_open_program(store, &against->side, module, program))
            baseline.module = program->core;
    }
    free(configuration);
    return baseline;
}

static bool check_one(struct analysis_check *check, struct store *store, const struct side *side,
                      const struct modules_entry *entry, struct baseline *against, struct err *err)
{
    char room[PATH_MAX_BYTES], why[ERR_DESCRIPTION_SIZE];
    struct subject module = {0}, baseline = {0};
    struct err fault = ERR_INIT;
    const struct modules_entry *before = against->is_of_catalog ? NULL : baseline_of(against, entry);
    struct analysis_check_baseline held = {0};
    const char *path = path_of(side, entry->file->file->path, room);
    bool is_kept, is_open = module_open(store, entry, &module, &fault) &&
                            (!before || module_open(store, before, &baseline, &fault));
    if (is_open && against->is_of_catalog)
        held = catalog_baseline(store, against, name_of(entry), &module, &baseline);
    else
        held.module = baseline.core;
    if (is_open)
        is_kept = analysis_check_module(check, path, name_of(entry), module.core, &held, err);
    else
        is_kept = analysis_check_fault(check, path, name_of(entry), err_describe(&fault, why), err);
    subjects_close(&module);
    subjects_close(&baseline);
    return is_kept;
}

/* Files of the side in which no module could be looked for. */
static bool check_unread(struct analysis_check *check, const struct side *side, struct err *err)
{
    char room[PATH_MAX_BYTES], why[ERR_DESCRIPTION_SIZE];
    bool is_kept = true;
    for (size_t at = 0; at < side->snapshot->problem_count && is_kept; at++) {
        const struct snapshot_problem *problem = &side->snapshot->problems[at];
        is_kept = analysis_check_fault(check, path_of(side, problem->file, room), problem->file,
                                       err_describe(&problem->why, why), err);
    }
    for (size_t at = 0; at < side->snapshot->session_count; at++) {
        for (size_t i = 0; i < side->sessions[at].file_count && is_kept; i++) {
            const struct modules_file *file = &side->sessions[at].files[i];
            struct err lost = file->err;
            if (file->host && (err_is_set(&lost) || unread_files_lost(file, &lost)))
                is_kept = analysis_check_fault(check, path_of(side, file->file->path, room), file->host->name,
                                               err_describe(&lost, why), err);
        }
    }
    return is_kept;
}

static bool is_wanted(const struct options *options, const struct modules_entry *entry)
{
    return !options->module || fnmatch(options->module, name_of(entry), 0) == 0 ||
           modules_is_named(entry, options->module);
}

static int status_of(const struct analysis_check *check, const struct options *options)
{
    struct analysis_check_counts counts = analysis_check_counts(check);
    if (counts.findings > 0)
        return COMMANDS_FINDING;
    if (options->baseline && counts.compared == 0)
        log_line("%s: has no module with a name from %s", options->baseline, options->paths.items[0]);
    return counts.faults > 0 || (options->baseline && counts.compared == 0) ? COMMANDS_UNUSABLE : COMMANDS_DONE;
}

static int check_all(struct analysis_check *check, struct store *store, struct side *side, struct baseline *baseline,
                     const struct options *options)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    size_t checked_count = 0;
    bool is_good = check_unread(check, side, &err);
    for (size_t at = 0; at < side->count && is_good; at++) {
        const struct modules_entry *entry = side->entries[at];
        if (!is_wanted(options, entry))
            continue;
        checked_count++;
        is_good = check_one(check, store, side, entry, baseline, &err);
    }
    const struct check_snapshots snapshots = {check, store, side->path, side->is_folder};
    if (is_good && !options->module)
        is_good = check_snapshots_all(&snapshots, side->snapshot, baseline->side.snapshot, &checked_count, &err);
    if (is_good && checked_count == 0 && analysis_check_counts(check).faults == 0) {
        log_line(options->module ? "%s: has no module with that name" : "%s: has no HLO module", side->path);
        return COMMANDS_UNUSABLE;
    }
    is_good = is_good && analysis_check_write(check, options->format, &out, &err);
    if (is_good)
        (void)!output_data(stdout, out.data, out.length);
    else
        log_line("%s", err.text);
    buf_free(&out);
    return is_good ? status_of(check, options) : COMMANDS_UNUSABLE;
}

/* "2%", "0.5": millionths. */
static bool tolerance_read(const char *text, uint64_t *ppm)
{
    char *end;
    double percent = strtod(text, &end);
    end += *end == '%';
    if (end == text || *end || !(percent >= 0 && percent <= 10000)) {
        log_line("--tolerance: \"%s\" is not a percentage: 2%%, 0.5%%", text);
        return false;
    }
    *ppm = (uint64_t)llround(percent * 10000);
    return true;
}

static bool max_total_read(const char *text, struct analysis_check_limits *limits)
{
    struct capacity capacity;
    bool is_read = capacity_option_read("max-total", text, &capacity);
    limits->max_total_bytes = is_read ? (int64_t)capacity.bytes : -1;
    limits->is_physical = is_read && capacity.is_physical;
    limits->is_of_gpu = is_read && capacity.is_of_gpu;
    return is_read;
}

/* What is allowed; false: it is not understood, and was said. */
static bool limits_read(const struct options *options, struct analysis_check_limits *limits)
{
    struct err err = ERR_INIT;
    *limits = (struct analysis_check_limits){.max_total_bytes = -1, .has_baseline = options->baseline != NULL};
    if (options->paths.count != 1)
        log_line("check wants one PATH: a trace, an HLO file, a snapshot of PyTorch or a folder of them (--help tells "
                 "more)");
    else if (!options->max_total && !options->baseline)
        log_line("check wants --max-total=SIZE or --baseline=PATH: what a module may need");
    else if (!analysis_check_format_is_known(options->format, &err))
        log_line("--%s", err.text);
    else
        return (!options->max_total || max_total_read(options->max_total, limits)) &&
               tolerance_read(options->tolerance, &limits->tolerance_ppm);
    return false;
}

int cmd_check(const struct options *options)
{
    struct analysis_check_limits limits;
    struct side side = {0};
    struct baseline baseline = {.is_wanted = options->baseline != NULL};
    int status = COMMANDS_UNUSABLE;
    if (!limits_read(options, &limits))
        return status;
    struct store *store = store_new(account_default_limit());
    struct analysis_check *check = analysis_check_new(&limits);
    baseline.is_of_catalog = baseline.is_wanted && check_catalog_is(options->baseline);
    bool is_open =
        check && side_open(&side, store, options->paths.items[0]) && baseline_open(&baseline, store, options);
    if (is_open && options->baseline && !baseline.is_of_catalog && baseline.side.count == 0 &&
        !check_snapshots_are_in(baseline.side.snapshot))
        log_line("%s: has no HLO module", options->baseline);
    else if (is_open)
        status = check_all(check, store, &side, &baseline, options);
    analysis_check_free(check);
    side_close(&side);
    baseline_close(&baseline);
    store_free(store);
    return status;
}
