/* SPDX-License-Identifier: Apache-2.0
 * patch_optimizer.c: the type of the first moment, in the one call of optax that makes the optimizer. */
#include "patch/patch_files.h"

/* Those that take mu_dtype. */
static bool has_moment(const char *path)
{
    static const char *const paths[] = {"optax.adam",          "optax.adamw",
                                        "optax.nadam",         "optax.nadamw",
                                        "optax.lion",          "optax.amsgrad",
                                        "optax.scale_by_adam", "optax.scale_by_amsgrad",
                                        "optax.scale_by_lion", NULL};
    return str_is_one_of(str_of(path), paths);
}

/* The position of mu_dtype among the arguments; optax 0.2. */
static uint32_t moment_position(struct str name)
{
    bool is_scale = str_starts(name, STR("scale_by_"));
    return (str_ends(name, STR("lion")) ? 3U : 5U) - is_scale; /* without a learning rate */
}

static uint32_t calls_find(const struct patch_files *files, const struct patch_file **found, uint32_t *open)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < files->count; i++) {
        const struct patch_file *file = &files->items[i];
        for (uint32_t at = 0; file->is_python && at < file->source.token_count; at++) {
            if (!has_moment(python_names_called(&file->names, at)))
                continue;
            *found = file;
            *open = at;
            count++;
        }
    }
    return count;
}

struct patch patch_optimizer(const struct patch_files *files)
{
    const struct patch_file *file = NULL;
    struct python_item *items;
    struct diff_edit edits[PATCH_EDITS_MAX];
    uint32_t open = 0, count = 0;
    uint32_t call_count = calls_find(files, &file, &open);
    for (uint32_t i = 0; i < files->count && call_count == 0; i++)
        if (!files->items[i].is_python)
            return patch_refuse_file(files, files->items[i].name, &files->items[i]);
    if (call_count == 0 && files->is_all)
        return patch_refuse(files, NULL, 0,
                            "no call of optax.adam or another optimizer with mu_dtype is in the files "
                            "of the program");
    uint32_t line = file != NULL ? file->source.tokens[open].line : 0;
    if (call_count > 1)
        return patch_refuse(files, file, line, "optimizers are made in %u places", call_count);
    if (!files->is_all)
        return patch_refuse_unread(files, file, line);
    uint32_t item_count = python_source_items(&file->source, open, files->asked->arena, &items);
    uint32_t position = moment_position(python_source_text(&file->source, open - 1));
    if (item_count > position && !items[position].is_named)
        return patch_refuse(files, file, line, "one of the arguments by position may be mu_dtype");
    for (uint32_t i = 0; i < item_count; i++)
        if (items[i].is_spread || python_source_is(&file->source, items[i].first, "mu_dtype"))
            return patch_refuse(files, file, line,
                                items[i].is_spread ? "what this call spreads may have mu_dtype already"
                                                   : "the call has mu_dtype already");
    const char *type =
        patch_name(files, file, "jax.numpy.bfloat16", "import jax.numpy as jnp", "jnp.bfloat16", edits, &count);
    if (type == NULL)
        return patch_refuse_import(files, file, line);
    edits[count++] = patch_keyword_edit(file, open, "mu_dtype", type);
    return patch_write(files, file, edits, count, line);
}
