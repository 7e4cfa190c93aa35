/* SPDX-License-Identifier: Apache-2.0
 * explain_patch.c: see explain_patch.h. The core finds the places and writes the diffs (analysis/patch). */
#include "server/cmd/explain_patch.h"
#include "server/files/path_kind.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/files/source_files.h"

#include "base/size_text.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_MAX_BYTES = 4 << 20, ALL_MAX_BYTES = 64 << 20 };

struct explain_patch_text {
    struct explain_patch_text *next;
    char *name, *path;
    struct buf text;
};

/* ---- source files ---- */

static bool text_read(void *context, const struct files_place *place)
{
    struct explain_patch_text *text = context;
    struct err err = ERR_INIT;
    struct file *file = files_open(place, &err);
    if (!file)
        return false;
    const struct source *source = files_source(file);
    bool is_small = source->size_bytes <= TEXT_MAX_BYTES && !files_is_packed(file);
    char *room = is_small ? buf_reserve(&text->text, (size_t)source->size_bytes + 1) : NULL;
    int64_t count = room ? source->read(source->context, 0, room, (size_t)source->size_bytes) : -1;
    bool is_read = count >= 0 && (uint64_t)count == source->size_bytes && files_unchanged(file, &err);
    if (is_read) {
        text->text.length = (size_t)count;
        text->path = memory_text(place->path);
    }
    files_close(file);
    return is_read;
}

static bool text_give(const struct explain_patch_text *text, struct str *out, const char **path)
{
    *out = (struct str){text->text.length > 0 ? text->text.data : "", text->text.length};
    *path = text->path;
    return text->path != NULL;
}

static bool source_open(void *context, const char *name, struct str *out, const char **path)
{
    struct explain_patch *patch = context;
    size_t held = 0;
    for (const struct explain_patch_text *text = patch->texts; text; text = text->next) {
        held += text->text.length;
        if (strcmp(text->name, name) == 0)
            return text_give(text, out, path);
    }
    struct explain_patch_text *text = memory_new(sizeof(*text));
    text->name = memory_text(name);
    text->next = patch->texts;
    patch->texts = text;
    for (size_t at = 0; at < patch->root_count && !text->path && held < ALL_MAX_BYTES; at++)
        source_files_find(patch->roots[at], name, text_read, text);
    return text_give(text, out, path);
}

bool explain_patch_open(struct explain_patch *patch, const struct options *options)
{
    const struct options_list *roots = &options->source_roots;
    if ((options->is_patch && roots->count == 0) || (options->patch_change && !options->is_patch)) {
        log_line(options->is_patch ? "--patch needs --source-root=DIR, the folder of the program's source files"
                                   : "--change needs --patch");
        return false;
    }
    patch->sources = (struct patch_sources){patch, source_open};
    patch->roots = memory_new((roots->count + 1) * sizeof(*patch->roots));
    for (size_t at = 0; at < roots->count; at++) {
        struct stat status;
        char *real = path_kind_real(roots->items[at]);
        if (!real || stat(real, &status) != 0 || !S_ISDIR(status.st_mode)) {
            log_line("--source-root=%s: there is no such folder", roots->items[at]);
            free(real);
            return false;
        }
        patch->roots[patch->root_count++] = real;
    }
    return true;
}

const struct patch_sources *explain_patch_sources(const struct explain_patch *patch)
{
    return patch->root_count > 0 ? &patch->sources : NULL;
}

void explain_patch_free(struct explain_patch *patch)
{
    while (patch->texts) {
        struct explain_patch_text *text = patch->texts;
        patch->texts = text->next;
        free(text->name);
        free(text->path);
        buf_free(&text->text);
        free(text);
    }
    for (size_t at = 0; at < patch->root_count; at++)
        free(patch->roots[at]);
    free(patch->roots);
}

/* ---- what is printed ---- */

static const char *member(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static bool is_chosen(const struct options *options, const cJSON *advice)
{
    const char *kind = member(advice, "kind"), *change = member(advice, "change"), *wanted = options->patch_change;
    return !wanted || (kind && strcmp(kind, wanted) == 0) || (change && strcmp(change, wanted) == 0);
}

static void refused_say(const cJSON *advice, const cJSON *patch)
{
    const char *file = member(patch, "file");
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(patch, "line");
    char place[32] = "";
    if (file && cJSON_IsNumber(line))
        (void)snprintf(place, sizeof(place), ":%lld", (long long)line->valuedouble);
    log_line("%s: not written, because %s%s%s%s%s", member(advice, "kind"), member(patch, "reason"), file ? " (" : "",
             file ? file : "", place, file ? ")" : "");
}

static void written_say(const cJSON *advice)
{
    const cJSON *saves = cJSON_GetObjectItemCaseSensitive(advice, "saves_bytes");
    const cJSON *lands = cJSON_GetObjectItemCaseSensitive(advice, "lands_at_bytes");
    char saved[SIZE_TEXT_BYTES] = "", landed[SIZE_TEXT_BYTES] = "";
    if (cJSON_IsNumber(saves) && cJSON_IsNumber(lands) && saves->valuedouble > 0) {
        size_text(saved, (uint64_t)saves->valuedouble);
        size_text(landed, (uint64_t)lands->valuedouble);
        log_line("%s: %s. It saves %s and lands at %s (%s).", member(advice, "kind"), member(advice, "title"), saved,
                 landed, member(advice, "confidence"));
    } else {
        log_line("%s: %s.", member(advice, "kind"), member(advice, "title"));
    }
}

struct printing {
    const struct options *options;
    size_t kind_count; /* of advice that a patch was tried for */
    bool is_written;
};

static void advice_print(struct printing *printing, const cJSON *all)
{
    const cJSON *advice;
    cJSON_ArrayForEach(advice, all)
    {
        const cJSON *patch = cJSON_GetObjectItemCaseSensitive(advice, "patch");
        const char *diff = member(patch, "diff");
        if (!patch || printing->is_written || !is_chosen(printing->options, advice))
            continue;
        printing->kind_count++;
        if (!diff) {
            refused_say(advice, patch);
            continue;
        }
        written_say(advice);
        if (!printing->options->is_json)
            (void)!output_data(stdout, diff, strlen(diff));
        printing->is_written = true;
    }
}

bool explain_patch_print(const struct options *options, const struct buf *answers)
{
    struct printing printing = {.options = options};
    cJSON *tree = answers->failed ? NULL : cJSON_ParseWithLength(answers->data, answers->length);
    const cJSON *answer;
    cJSON_ArrayForEach(answer, tree) advice_print(
        &printing, cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(answer, "answer"), "advice"));
    cJSON_Delete(tree);
    if (printing.kind_count == 0)
        log_line("--patch: no change%s%s is advised that a patch can be written for", options->patch_change ? " " : "",
                 options->patch_change ? options->patch_change : "");
    return printing.is_written;
}
