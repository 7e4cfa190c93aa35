/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/unread_files.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unread_file {
    char *file;
    struct err err;
};

void unread_files_add(struct unread_files *files, const char *file, const struct err *err)
{
    char why[ERR_DESCRIPTION_SIZE];
    for (size_t at = 0; at < files->count; at++)
        if (strcmp(files->items[at].file, file) == 0 && strcmp(files->items[at].err.text, err->text) == 0)
            return;
    log_line("%s: %s", file, err_describe(err, why));
    files->items = memory_grow(files->items, &files->capacity, files->count + 1, sizeof(*files->items));
    files->items[files->count++] = (struct unread_file){memory_format("%s", file), *err};
}

void unread_files_move(struct unread_files *to, struct unread_files *from, const char *folder)
{
    for (size_t at = 0; at < from->count; at++) {
        const struct unread_file *file = &from->items[at];
        to->items = memory_grow(to->items, &to->capacity, to->count + 1, sizeof(*to->items));
        to->items[to->count++] = (struct unread_file){
            folder ? memory_format("%s/%s", folder, file->file) : memory_text(file->file), file->err};
    }
    unread_files_free(from);
}

void unread_files_add_problems(struct unread_files *files, const struct snapshot *snapshot)
{
    for (size_t at = 0; at < snapshot->problem_count; at++) {
        const struct snapshot_problem *problem = &snapshot->problems[at];
        unread_files_add(files, problem->file[0] ? problem->file : snapshot->roots[0].path, &problem->why);
    }
}

bool unread_files_lost(const struct modules_file *file, struct err *err)
{
    const struct analysis_contents *contents = file->opened.contents;
    for (size_t at = 0; contents && at < contents->note_count; at++) {
        const struct analysis_note *note = &contents->notes[at];
        bool is_cut = strcmp(note->code, "cut") == 0;
        bool is_damaged = strcmp(note->code, "damaged_entry") == 0 && contents->program_count == 0;
        if (is_cut || is_damaged || strcmp(note->code, "clipped_program") == 0)
            err_set(err, is_cut ? ERR_truncated : ERR_malformed, is_cut ? contents->cut_offset_bytes : ERR_NO_OFFSET,
                    "%s", note->text);
    }
    return err_is_set(err);
}

void unread_files_add_of(struct unread_files *files, const struct modules *modules, const struct snapshot_host *host)
{
    for (size_t at = 0; at < modules->file_count; at++) {
        const struct modules_file *file = &modules->files[at];
        if (!file->host || (host && file->host != host)) /* an unreadable dump is an entry without a program */
            continue;
        struct err err = file->err;
        if (err_is_set(&err) || unread_files_lost(file, &err))
            unread_files_add(files, file->file->path, &err);
    }
}

void unread_files_add_module(struct unread_files *files, const struct modules_entry *entry, const struct err *err)
{
    struct err of_module = ERR_INIT;
    err_set(&of_module, err->code, err->offset_bytes, "%s: %s", entry->program->key, err->text);
    unread_files_add(files, entry->file->file->path, &of_module);
}

void unread_files_write(const struct unread_files *files, struct json *json)
{
    json_key_array(json, "not_read");
    for (size_t at = 0; at < files->count; at++) {
        json_object_begin(json);
        json_keys_of_err(json, files->items[at].file, &files->items[at].err);
        json_object_end(json);
    }
    json_array_end(json);
}

void unread_files_add_end(const struct unread_files *files, struct buf *out)
{
    struct json json = JSON_INIT(out);
    json.needs_comma = true;
    buf_char(out, ']');
    unread_files_write(files, &json);
    buf_text(out, "}\n");
}

void unread_files_print_end(const struct unread_files *files, bool is_json)
{
    struct buf out = BUF_INIT;
    if (!is_json)
        return;
    unread_files_add_end(files, &out);
    (void)!output_data(stdout, out.data, out.length);
    buf_free(&out);
}

void unread_files_free(struct unread_files *files)
{
    for (size_t at = 0; at < files->count; at++)
        free(files->items[at].file);
    free(files->items);
    *files = (struct unread_files){0};
}
