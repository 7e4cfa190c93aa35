/* SPDX-License-Identifier: Apache-2.0
 * options.h: the command line, by the table options.def.
 *
 * --name=VALUE and --name VALUE are the same; "--" ends the options; everything
 * that is no option is a path. Of `run` the first of these is the command, and what follows is its own. */
#pragma once

#include "server/cmd/commands.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options_list {
    const char **items;
    size_t count, capacity;
};

/* Filters of profiles, in the order they are applied. */
enum options_filter {
    OPTIONS_FOCUS,
    OPTIONS_IGNORE,
    OPTIONS_HIDE,
    OPTIONS_SHOW,
    OPTIONS_SHOW_FROM,
    OPTIONS_TAG,
    OPTIONS_TAGFOCUS,
    OPTIONS_TAGIGNORE,
    OPTIONS_FILTER_COUNT,
};

struct options {
    struct options_list logdirs, paths, changes, bases, diff_bases, source_roots, captures, modules, spaces, steps,
        moments, labels, label_paths, device_names, filters[OPTIONS_FILTER_COUNT];
    int64_t port, space, memory_limit_mib, cache_limit_mib, limit, limit_seconds, program_count, dump_limit_mib,
        history_count, list_every_s, part_count, capture_seconds, capture_wait_s;
    const char *bind, *allowed_hosts, *web_folder, *token_file, *log_format, *listen, *path_prefix, *frame_ancestors,
        *cache_folder, *module, *moment, *base_moment, *memory, *by, *metric, *category_rules, *libraries, *capacity,
        *libtpu, *cuda_plugin, *topology, *plan_folder, *max_total, *baseline, *tolerance, *format, *out_path,
        *run_logdir, *shard, *schema, *catalog, *endpoint_url, *capture_logdir, *older_than, *objects, *patch_change,
        *watch_every;
    const char *notify_url, *notify_format, *notify_secret; /* of --notify */
    bool is_fit, is_confirmed, is_patch, is_demo, is_waiting, is_without_token, is_shared, is_without_uploads,
        is_without_sandbox, is_verbose, is_json, is_csv, is_markdown, is_normalized, has_machinery, is_without_inlined,
        is_kept, has_no_hook, is_quiet, is_help, is_version, is_licenses;
    struct options_list kept; /* texts that are the options' own */
};

/* Reads the arguments (they end with NULL and must outlive `options`). False
 * and a line in `reason` when one is not understood. */
bool options_read(enum commands_bit_at command, char *const *arguments, struct options *options, char *reason,
                  size_t reason_size);
void options_free(struct options *options);
/* Takes a text that is freed with the options; returns it. */
const char *options_keep(struct options *options, char *text);
/* Of `serve`, which nothing was named to: the folder that `run` leaves in the working folder, if it is there. */
void options_take_runs(struct options *options);

/* What the help says of an option; NULL: the command has none of that name. */
const char *options_help(enum commands_bit_at command, const char *name);
/* Prints the help of a command to stdout. */
void options_print_help(enum commands_bit_at command);

/* --help, --version and --licenses: true when one was given and answered. */
bool options_answer(enum commands_bit_at command, const struct options *options);
