/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/dump.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/other_systems.h"
#include "server/files/files.h"

#include "base/sum.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEFORE ".before_optimizations.hlo.pb"
#define AFTER ".after_optimizations.hlo.pb"
#define FINAL ".after_optimizations_after_buffer_assignment.hlo.pb"
#define GPU_NEXT ".debug_options"
#define GPU_AFTER "_gpu_after_optimizations.hlo.pb" /* behind "module_0001.jit_f.sm_9.0a" */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

/* Path of the first program's file of that stage, or NULL. */
static char *stage_path(const char *folder, const char *stem, const char *stage)
{
    char *path = memory_format("%s/%s%s", folder, stem, stage);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* The first dump of that program for a GPU: its architecture is in the name. NULL: none. */
static char *gpu_path(const char *folder, const char *stem)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    char *name = NULL;
    size_t length = strlen(stem);
    while (open && !name && (entry = readdir(open)) != NULL)
        if (strncmp(entry->d_name, stem, length) == 0 && entry->d_name[length] == '.' &&
            ends_with(entry->d_name, GPU_AFTER))
            name = memory_text(entry->d_name);
    if (open)
        closedir(open);
    char *path = name ? memory_format("%s/%s", folder, name) : NULL;
    free(name);
    return path;
}

/* Was the file that comes next written after the one at `path`? */
static bool is_behind(const char *folder, const char *stem, const char *path)
{
    char *next = memory_format("%s/%s" GPU_NEXT, folder, stem);
    struct stat one, other;
    bool is_there = stat(path, &one) == 0 && stat(next, &other) == 0;
    free(next);
    return is_there && clock_file_ns(other.st_mtim) >= clock_file_ns(one.st_mtim);
}

char *dump_find(const char *folder, bool *is_final)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    char *stem = NULL, *path = NULL, *final = NULL;
    *is_final = false;
    while (open && (entry = readdir(open)) != NULL) {
        if (!ends_with(entry->d_name, BEFORE) || (stem && strcmp(entry->d_name, stem) >= 0))
            continue;
        free(stem);
        stem = memory_text(entry->d_name);
    }
    if (open)
        closedir(open);
    if (!stem)
        return NULL;
    stem[strlen(stem) - strlen(BEFORE)] = '\0';
    path = stage_path(folder, stem, AFTER);
    final = path ? stage_path(folder, stem, FINAL) : NULL;
    *is_final = final != NULL;
    if (!path) {
        path = gpu_path(folder, stem);
        *is_final = path && is_behind(folder, stem, path);
    }
    free(final);
    free(stem);
    return path;
}

static bool dump_take(const cJSON *space, const char *name, int64_t *out)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(space, name);
    *out = cJSON_IsNumber(member) ? sum_of_real(member->valuedouble) : -1;
    return *out >= 0;
}

/* From the view "summary" of the module. */
static bool figures_take(const struct buf *answer, struct confirmed_figures *figures, int64_t *peak_bytes)
{
    int64_t number, parameters, outputs, reused, temporaries;
    cJSON *tree = cJSON_ParseWithLength(answer->data, answer->length);
    const cJSON *data = cJSON_GetObjectItemCaseSensitive(tree, "data"), *space;
    const cJSON *module = cJSON_GetObjectItemCaseSensitive(data, "module");
    const char *platform = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(module, "platform"));
    bool is_found = false, is_gpu = platform && strcmp(platform, "gpu") == 0;
    cJSON_ArrayForEach(space, cJSON_GetObjectItemCaseSensitive(data, "spaces"))
    {
        if (!dump_take(space, "space", &number) || number != 0)
            continue;
        is_found = dump_take(space, "parameter_bytes", &parameters) && dump_take(space, "output_bytes", &outputs) &&
                   dump_take(space, "output_reused_bytes", &reused) &&
                   dump_take(space, "temporary_bytes", &temporaries) && dump_take(space, "peak_bytes", peak_bytes);
        if (is_found && is_gpu)
            *figures = (struct confirmed_figures){parameters, outputs, reused, temporaries};
        else if (is_found)
            *figures = analysis_confirmed_of_assignment(parameters, outputs, reused, temporaries);
    }
    cJSON_Delete(tree);
    return is_found;
}

bool dump_subject_figures(const struct analysis_subject *module, struct confirmed_figures *figures, int64_t *peak_bytes,
                          struct err *err)
{
    struct buf answer = BUF_INIT;
    const struct analysis_use use = {.subject = module};
    const struct analysis_question question = {
        .tool = "memory_viewer", .view = "summary", .uses = &use, .use_count = 1};
    bool is_done = analysis_answer(&question, &answer, err);
    if (is_done && !figures_take(&answer, figures, peak_bytes))
        is_done = err_set(err, ERR_notfound, ERR_NO_OFFSET, "it has no buffer assignment of memory space 0");
    buf_free(&answer);
    return is_done;
}

static bool module_ask(const struct source *source, const struct analysis_program *program,
                       struct confirmed_figures *figures, int64_t *peak_bytes, struct err *err)
{
    const struct analysis_reading reading = {.kind = ANALYSIS_MODULE, .program = program};
    struct analysis_subject *subject = analysis_subject_read(source, &reading, err);
    bool is_done = subject && dump_subject_figures(subject, figures, peak_bytes, err);
    analysis_subject_free(subject);
    return is_done;
}

bool dump_figures(const char *path, struct confirmed_figures *figures, int64_t *peak_bytes, struct err *err)
{
    const struct files_place place = {.root = path, .path = ""};
    struct file *file = files_open(&place, err);
    struct analysis_contents *contents = file ? analysis_contents_read(files_source(file), err) : NULL;
    bool is_done = false;
    if (contents && contents->program_count == 0)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "it holds no program");
    else if (contents)
        is_done = module_ask(files_source(file), &contents->programs[0], figures, peak_bytes, err);
    analysis_contents_free(contents);
    if (file)
        files_close(file);
    return is_done;
}
