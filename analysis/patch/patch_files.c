/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/patch_files.h"

#include "plan/plan.h"

#include <stdarg.h>
#include <stdio.h>

static void file_open(struct patch_files *files, struct str name)
{
    const struct patch_sources *sources = files->asked->sources;
    struct arena *arena = files->asked->arena;
    struct patch_file *file = &files->items[files->count++];
    struct str text;
    *file = (struct patch_file){.name = name};
    if (memchr(name.data, '\0', name.length) != NULL ||
        !sources->open(sources->context, arena_text(arena, name), &text, &file->path) || !diff_is_path(file->path))
        return;
    file->is_here = true;
    file->is_python = python_source_read(text, arena, &file->source);
    if (file->is_python)
        python_names_read(&file->source, arena, &file->names);
}

const struct patch_files *patch_files_open(const struct patch_asked *asked)
{
    const struct hlo *hlo = &asked->plan->hlo;
    struct patch_files *out = arena_array(asked->arena, struct patch_files, 1);
    *out = (struct patch_files){.asked = asked, .hlo = hlo, .is_all = true};
    for (uint32_t i = 0; i < hlo->frame_count; i++) {
        const struct hlo_frame *frame = &hlo->frames[i];
        arena_work(asked->arena, PATCH_FILES_MAX);
        if (frame->library != LIBRARY_USER || frame->file.length == 0 || patch_files_find(out, frame->file) != NULL)
            continue;
        out->is_all = out->is_all && out->count < PATCH_FILES_MAX;
        if (out->is_all)
            file_open(out, frame->file);
    }
    return out;
}

const struct patch_file *patch_files_find(const struct patch_files *files, struct str name)
{
    for (uint32_t i = 0; i < files->count; i++)
        if (str_equal(files->items[i].name, name))
            return &files->items[i];
    return NULL;
}

/* ---- answers ---- */

static const char *patch_files_printable(const struct patch_files *files, struct str text)
{
    struct buf *scratch = files->asked->scratch;
    buf_free(scratch);
    buf_printable(scratch, text);
    const char *made =
        scratch->failed ? "" : arena_text(files->asked->arena, (struct str){scratch->data, scratch->length});
    buf_free(scratch);
    return made;
}

struct patch patch_refuse(const struct patch_files *files, const struct patch_file *file, uint32_t line,
                          const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    struct str whole = str_of(text);
    whole.length = str_cut(whole, sizeof(text) - 4);
    return (struct patch){
        .file = file == NULL    ? NULL
                : file->is_here ? file->path
                                : patch_files_printable(files, file->name),
        .line = line,
        .reason = arena_text(files->asked->arena, whole),
    };
}

struct patch patch_refuse_unread(const struct patch_files *files, const struct patch_file *file, uint32_t line)
{
    return patch_refuse(files, file, line, "the dump names more than %d source files, and only the first %d are read",
                        PATCH_FILES_MAX, PATCH_FILES_MAX);
}

struct patch patch_refuse_file(const struct patch_files *files, struct str name, const struct patch_file *file)
{
    if (file == NULL && !files->is_all && name.length > 0)
        return patch_refuse_unread(files, &(const struct patch_file){.name = name}, 0);
    if (file == NULL)
        return patch_refuse(files, NULL, 0, "%s is no file of the user's code", patch_files_printable(files, name));
    if (!file->is_here)
        return patch_refuse(files, file, 0, "there is no such file below --source-root");
    return patch_refuse(files, file, file->source.why_line, "the file cannot be edited safely: %s", file->source.why);
}

struct patch patch_refuse_frame(const struct patch_files *files, const struct patch_file *file,
                                const struct hlo_frame *frame)
{
    return patch_refuse(files, file, patch_frame_line(frame),
                        "this line is not in a function %s: the file is not the one that ran",
                        patch_function_name(files, frame->function));
}

struct patch patch_refuse_import(const struct patch_files *files, const struct patch_file *file, uint32_t line)
{
    return patch_refuse(files, file, line, "there is no import that one more could be put beside");
}

struct patch patch_write(const struct patch_files *files, const struct patch_file *file, struct diff_edit *edits,
                         uint32_t count, uint32_t line)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && edits[k].begin < edits[k - 1].begin; k--) {
            struct diff_edit moved = edits[k];
            edits[k] = edits[k - 1];
            edits[k - 1] = moved;
        }
    const char *diff =
        diff_write(file->path, file->source.text, edits, count, files->asked->scratch, files->asked->arena);
    if (diff == NULL)
        return patch_refuse(files, file, line, "there is no memory for it");
    return (struct patch){.file = file->path, .line = line, .diff = diff};
}

/* ---- places ---- */

static struct str last_name(struct str function)
{
    size_t from = function.length;
    while (from > 0 && function.data[from - 1] != '.')
        from--;
    return (struct str){function.data + from, function.length - from};
}

const char *patch_function_name(const struct patch_files *files, struct str function)
{
    return patch_files_printable(files, last_name(function));
}

bool patch_function_is(struct str function, struct str name)
{
    return str_ends(function, name) &&
           (function.length == name.length || function.data[function.length - name.length - 1] == '.');
}

uint32_t patch_frame_line(const struct hlo_frame *frame) { return frame->line > 0 ? (uint32_t)frame->line : 0; }

/* Does the def with the classes and functions around it have the qualified name? Of Python before 3.11 only the last
 * part is recorded. */
static bool is_named(const struct python_source *source, uint32_t def, struct str function)
{
    bool is_qualified = memchr(function.data, '.', function.length) != NULL;
    while (def != PYTHON_NONE) {
        struct str name = last_name(function);
        uint32_t named = python_source_def_name(source, def);
        if (named != PYTHON_NONE) {
            if (!str_equal(name, python_source_text(source, named)))
                return false;
            if (!is_qualified)
                return true;
            function.length -= function.length > name.length ? name.length + 1 : name.length;
            if (str_equal(last_name(function), STR("<locals>")))
                function.length -= function.length > 8 ? 9 : 8;
        }
        def = source->statements[def].parent;
        if (function.length == 0)
            break;
    }
    for (; def != PYTHON_NONE; def = source->statements[def].parent)
        if (python_source_def_name(source, def) != PYTHON_NONE)
            return false;
    return function.length == 0;
}

uint32_t patch_def_of(const struct patch_file *file, const struct hlo_frame *frame)
{
    const struct python_source *source = &file->source;
    uint32_t at = python_source_statement_of_line(source, patch_frame_line(frame));
    while (at != PYTHON_NONE &&
           (python_source_def_name(source, at) == PYTHON_NONE || python_source_is_class(source, at)))
        at = source->statements[at].parent;
    return at != PYTHON_NONE && is_named(source, at, frame->function) ? at : PYTHON_NONE;
}

uint32_t patch_def_open(const struct patch_file *file, uint32_t def)
{
    uint32_t open = python_source_def_name(&file->source, def) + 1;
    return python_source_is(&file->source, open, "(") ? open : PYTHON_NONE;
}

const char *patch_name(const struct patch_files *files, const struct patch_file *file, const char *path,
                       const char *import, const char *imported, struct diff_edit *edits, uint32_t *count)
{
    const char *name = python_names_of(&file->names, path);
    if (name != NULL)
        return name;
    uint32_t place = python_names_place(&file->names);
    if (place == PYTHON_NONE)
        return NULL;
    edits[(*count)++] =
        (struct diff_edit){place, place, arena_format(files->asked->arena, "%s%s", import, file->source.newline)};
    return imported;
}

/* ---- arguments ---- */

bool patch_numbers_add(struct patch_numbers *numbers, uint32_t number)
{
    uint32_t at = numbers->count;
    while (at > 0 && numbers->items[at - 1] > number)
        at--;
    if (at > 0 && numbers->items[at - 1] == number)
        return true;
    if (numbers->count == PATCH_NUMBERS_MAX)
        return false;
    for (uint32_t i = numbers->count++; i > at; i--)
        numbers->items[i] = numbers->items[i - 1];
    numbers->items[at] = number;
    return true;
}

const char *patch_numbers_text(const struct patch_numbers *numbers, struct arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < numbers->count; i++)
        text = arena_format(arena, "%s%s%u", text, i > 0 ? ", " : "", numbers->items[i]);
    return arena_format(arena, "(%s%s)", text, numbers->count == 1 ? "," : "");
}

struct diff_edit patch_keyword_edit(const struct patch_file *file, uint32_t open, const char *keyword,
                                    const char *value)
{
    struct arena *arena = file->names.arena;
    struct python_item *items;
    uint32_t count = python_source_items(&file->source, open, arena, &items);
    uint32_t last = count > 0 ? items[count - 1].first + items[count - 1].count - 1 : open;
    uint32_t end = file->source.tokens[last].end;
    return (struct diff_edit){end, end, arena_format(arena, "%s%s=%s", count > 0 ? ", " : "", keyword, value)};
}
