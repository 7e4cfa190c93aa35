/* SPDX-License-Identifier: Apache-2.0
 * patch_files.h: source files of a program, read as Python, and places in them; for patch*.c alone. */
#pragma once

#include "patch/diff.h"
#include "patch/patch.h"
#include "read/hlo/hlo.h"
#include "read/python/python_names.h"

enum { PATCH_FILES_MAX = 64, PATCH_EDITS_MAX = 4, PATCH_NUMBERS_MAX = 64 };

struct patch_file {
    struct str name; /* as the dump has it */
    const char *path;
    bool is_here;   /* below a root, with a path that a diff can have */
    bool is_python; /* and read */
    struct python_source source;
    struct python_names names;
};

struct patch_files {
    const struct patch_asked *asked;
    const struct hlo *hlo;
    struct patch_file items[PATCH_FILES_MAX];
    uint32_t count;
    bool is_all; /* no further one is named */
};

/* NULL: it is no file of the user's, or one of those that were not read. */
const struct patch_file *patch_files_find(const struct patch_files *files, struct str name);

/* Says why there is no diff, "… at FILE:LINE" from what is known. */
struct patch patch_refuse(const struct patch_files *files, const struct patch_file *file, uint32_t line,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
/* More files are named than are read, and what is looked for may be in another one. */
struct patch patch_refuse_unread(const struct patch_files *files, const struct patch_file *file, uint32_t line);
/* Says why the file cannot be used. `file`: the result of patch_files_find. */
struct patch patch_refuse_file(const struct patch_files *files, struct str name, const struct patch_file *file);
/* The frame's line is not in its function, as it is in this file. */
struct patch patch_refuse_frame(const struct patch_files *files, const struct patch_file *file,
                                const struct hlo_frame *frame);
/* patch_name found no place. */
struct patch patch_refuse_import(const struct patch_files *files, const struct patch_file *file, uint32_t line);
/* The diff of these edits, in any order. `line`: that of the change. */
struct patch patch_write(const struct patch_files *files, const struct patch_file *file, struct diff_edit *edits,
                         uint32_t count, uint32_t line);

/* "block" of "adam.<locals>.block", with nothing in it that a terminal would act upon; in the arena. */
const char *patch_function_name(const struct patch_files *files, struct str function);
/* Is it that, of its qualified name the last part or more? */
bool patch_function_is(struct str function, struct str name);
/* From 1; 0: none is known. */
uint32_t patch_frame_line(const struct hlo_frame *frame);
/* The def that a frame is in: its line, and all that its qualified name says. PYTHON_NONE: the file has none such. */
uint32_t patch_def_of(const struct patch_file *file, const struct hlo_frame *frame);
/* The bracket behind the name of a def. PYTHON_NONE: type parameters or something else is there. */
uint32_t patch_def_open(const struct patch_file *file, uint32_t def);
/* What to call `path` in this file; where it has no name for it, an import of `module` is added to the edits. NULL:
 * there is no place for one. */
const char *patch_name(const struct patch_files *files, const struct patch_file *file, const char *path,
                       const char *import, const char *imported, struct diff_edit *edits, uint32_t *count);

/* Numbers of arguments, ascending. */
struct patch_numbers {
    uint32_t items[PATCH_NUMBERS_MAX];
    uint32_t count;
};

/* False: there is no room for it. */
bool patch_numbers_add(struct patch_numbers *numbers, uint32_t number);
/* "(0, 2)", "(1,)"; in the arena. */
const char *patch_numbers_text(const struct patch_numbers *numbers, struct arena *arena);
/* "keyword=value" behind the last argument of the call with this bracket. */
struct diff_edit patch_keyword_edit(const struct patch_file *file, uint32_t open, const char *keyword,
                                    const char *value);
