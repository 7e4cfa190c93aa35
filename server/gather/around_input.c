/* SPDX-License-Identifier: Apache-2.0
 * around_input.c: see around.h. What a path is: a log, or something that the scanner shows. */
#include "server/gather/around.h"

#include "server/files/files.h"
#include "server/files/names.h"
#include "server/gather/index.h"

#include <string.h>

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = strlen(ending);
    return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

bool around_is_log_name(const char *name)
{
    return has_ending(name, ".log") || has_ending(name, ".txt") || has_ending(name, ".log.gz") ||
           has_ending(name, ".txt.gz");
}

/* Does its name say that it is a trace, a program or a profile? Faults of such a file are reported as faults of that
 * kind. */
static bool is_named_otherwise(const char *path)
{
    enum names_kind kind = names_kind_of(path_kind_name(path));
    return kind != NAMES_OTHER && kind != NAMES_LOG && kind != NAMES_ERROR_TEXT && kind != NAMES_DUMP_SIBLING;
}

/* `is_foreign`: of a kind that is known and not read; the scanner tells what it is. */
static enum analysis_kind kind_of_bytes(const char *path, bool *is_foreign)
{
    struct err err = ERR_INIT;
    enum analysis_kind kind = ANALYSIS_KIND_TEXT;
    const struct files_place place = {.root = path, .path = ""};
    struct file *file = files_open(&place, &err);
    if (file && !analysis_identify(files_source(file), &kind, NULL, &err)) /* of an archive the scanner tells why */
        kind = files_is_packed(file) && !files_is_gzip(file) ? ANALYSIS_KIND_UNKNOWN : ANALYSIS_KIND_TEXT;
    else if (file && kind == ANALYSIS_KIND_UNKNOWN)
        *is_foreign = !analysis_identify_whole(files_source(file), &kind, &err) && err.code == ERR_unsupported;
    files_close(file);
    return kind;
}

/* A text that the compiler dumped: the scanner takes it for a program, whatever it is named. */
static bool is_program_text(const char *path)
{
    if (!(has_ending(path, ".txt") || has_ending(path, ".txt.gz")))
        return false;
    struct index *index = index_new();
    index_add(index, path);
    index_scan_once(index);
    struct snapshot *snapshot = index_hold(index);
    bool is_program = snapshot->session_count > 0 && snapshot->sessions[0]->group_count > 0;
    index_release(index, snapshot);
    index_free(index);
    return is_program;
}

void around_input_look(const char *path, struct around_input *input)
{
    *input = (struct around_input){.path = path, .place = PATH_KIND_NONE, .kind = ANALYSIS_KIND_TEXT};
    bool is_foreign = false;
    if (strcmp(path, "-") != 0)
        input->place = path_kind_of(path, false);
    if (input->place == PATH_KIND_FOLDER)
        return;
    if (input->place == PATH_KIND_MEMBER) {
        input->kind = ANALYSIS_KIND_ARCHIVE;
        input->is_member_log = around_is_log_name(path);
        return;
    }
    if (input->place == PATH_KIND_FILE && !around_is_log_name(path))
        input->kind = kind_of_bytes(path, &is_foreign);
    bool is_of_no_kind = input->kind == ANALYSIS_KIND_EMPTY || input->kind == ANALYSIS_KIND_UNKNOWN;
    input->is_log = input->kind == ANALYSIS_KIND_TEXT ? input->place != PATH_KIND_FILE || !is_program_text(path)
                                                      : is_of_no_kind && !is_named_otherwise(path) && !is_foreign;
}
