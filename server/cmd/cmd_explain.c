/* SPDX-License-Identifier: Apache-2.0
 * cmd_explain.c: what an out-of-memory text says, in a terminal or as JSON. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/cmd/commands.h"
#include "server/cmd/explain.h"
#include "server/cmd/options.h"

#include "base/json.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 32 };

struct explaining {
    bool is_json;
    bool has_names;   /* several logs: each failure says where it is from */
    struct json json; /* of --json: the array of all failures */
    size_t read_count;
    size_t unreadable_count;
    size_t understood_count; /* with failures, or with the report of a compile that went well */
};

static void explain_log(struct explaining *explaining, const char *path, bool is_named)
{
    struct err err = ERR_INIT;
    struct analysis_subject *text = explain_read(path, &err);
    if (!text) {
        log_line("%s: %s", path, err.text);
        explaining->unreadable_count++;
        return;
    }
    const struct oom_report *report = analysis_text_report(text);
    explaining->read_count++;
    explaining->understood_count += report->found.failure_count > 0 || report->found.report_line_count > 0;
    if (explaining->is_json)
        analysis_oom_write_failures(report, explaining->has_names ? path : NULL, &explaining->json);
    else if (is_named || report->found.failure_count > 0)
        explain_text(path, report);
    analysis_subject_free(text);
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = strlen(ending);
    return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

static bool is_log_name(const char *name)
{
    return has_ending(name, ".log") || has_ending(name, ".txt") || has_ending(name, ".log.gz") ||
           has_ending(name, ".txt.gz");
}

static void explain_folder(struct explaining *explaining, const char *path, int depth)
{
    struct dirent **names = NULL;
    int count = depth < DEEPEST ? scandir(path, &names, NULL, alphasort) : 0;
    if (count < 0) {
        log_line("%s: cannot be listed", path);
        explaining->unreadable_count++;
    }
    for (int at = 0; at < count; at++) {
        struct stat status;
        char *inner = memory_format("%s/%s", path, names[at]->d_name);
        bool is_there = names[at]->d_name[0] != '.' && lstat(inner, &status) == 0;
        if (is_there && S_ISDIR(status.st_mode))
            explain_folder(explaining, inner, depth + 1);
        else if (is_there && S_ISREG(status.st_mode) && is_log_name(inner))
            explain_log(explaining, inner, false);
        free(inner);
        free(names[at]);
    }
    free(names);
}

static void explain_path(struct explaining *explaining, const char *path)
{
    struct stat status;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        explain_folder(explaining, path, 0);
    else
        explain_log(explaining, path, true);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void say_what_was_looked_for(void)
{
    fprintf(stderr, "memviewd: no out-of-memory text that is known here; looked for:\n");
    for (size_t at = 0; analysis_oom_looked_for(at) != NULL; at++)
        fprintf(stderr, "  %s\n", analysis_oom_looked_for(at));
}

/* False when there was no memory for all of them. */
static bool print_json(struct buf *all)
{
    bool is_whole = !all->failed;
    if (is_whole) {
        fwrite(all->data, 1, all->length, stdout);
        putchar('\n');
    } else {
        log_line("there is no memory for the answer");
    }
    buf_free(all);
    return is_whole;
}

int cmd_explain(const struct options *options)
{
    struct buf all = BUF_INIT;
    struct explaining explaining = {.is_json = options->is_json, .json = JSON_INIT(&all)};
    const char *standard_input = "-";
    size_t count = options->paths.count > 0 ? options->paths.count : 1;
    const char *const *paths = options->paths.count > 0 ? options->paths.items : &standard_input;
    explaining.has_names = count > 1 || is_folder(paths[0]);
    json_array_begin(&explaining.json);
    for (size_t at = 0; at < count; at++)
        explain_path(&explaining, paths[at]);
    json_array_end(&explaining.json);
    if (explaining.is_json && !print_json(&all))
        return COMMANDS_UNUSABLE;
    buf_free(&all);
    if (explaining.understood_count > 0)
        return COMMANDS_DONE;
    if (explaining.unreadable_count > 0)
        return COMMANDS_UNUSABLE;
    say_what_was_looked_for();
    return COMMANDS_FINDING;
}
