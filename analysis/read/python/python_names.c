/* SPDX-License-Identifier: Apache-2.0 */
#include "read/python/python_names.h"

static struct str dotted_text(const struct python_source *source, uint32_t first, uint32_t last)
{
    uint32_t begin = source->tokens[first].begin;
    return (struct str){source->text.data + begin, source->tokens[last].end - begin};
}

/* The most parts of a dotted name: no code searches for longer ones. */
enum { PARTS_MAX = 32 };

static void import_add(struct python_names *out, struct str name, const char *path, uint32_t statement)
{
    bool is_top = out->source->statements[statement].parent == PYTHON_NONE;
    arena_work(out->arena, out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        struct python_import *other = &out->imports[i];
        if (!str_equal(other->name, name))
            continue;
        other->is_module_level |= is_top;
        if (strcmp(other->path, path) != 0)
            other->path = "";
        return;
    }
    out->imports[out->count++] = (struct python_import){name, path, statement, is_top};
}

/* Name or "*" behind a comma: "a.b as c". `before`: "jax." of "from jax import …", or "". */
static void one_take(struct python_names *out, uint32_t at, uint32_t end, const char *before, uint32_t statement)
{
    const struct python_source *source = out->source;
    uint32_t last = at < end ? python_source_dotted_last(source, at) : PYTHON_NONE;
    if (last == PYTHON_NONE)
        return;
    struct str path = dotted_text(source, at, last), name = python_source_text(source, at);
    const char *whole = arena_format(out->arena, "%s%.*s", before, (int)path.length, path.data);
    if (python_source_is(source, last + 1, "as") && last + 2 < end)
        import_add(out, python_source_text(source, last + 2), whole, statement);
    else /* "import jax.numpy" binds jax */
        import_add(out, name, before[0] != '\0' ? whole : arena_text(out->arena, name), statement);
}

static void import_take(struct python_names *out, uint32_t statement)
{
    const struct python_source *source = out->source;
    const struct python_statement *taken = &source->statements[statement];
    uint32_t at = taken->first + 1, end = taken->first + taken->count;
    const char *before = "";
    if (python_source_is(source, taken->first, "from")) {
        uint32_t last = python_source_dotted_last(source, at);
        if (last == PYTHON_NONE || !python_source_is(source, last + 1, "import"))
            return; /* a relative one: its names are the program's own */
        struct str path = dotted_text(source, at, last);
        before = arena_format(out->arena, "%.*s.", (int)path.length, path.data);
        at = last + 2;
        at += python_source_is(source, at, "(");
    }
    for (uint32_t first = at; at <= end; at++)
        if (at == end || python_source_is(source, at, ",")) {
            one_take(out, first, end, before, statement);
            first = at + 1;
        }
}

/* A name that the file binds to something else as well says nothing. */
static void bound_take(struct python_names *out, uint32_t statement)
{
    const struct python_source *source = out->source;
    const struct python_statement *taken = &source->statements[statement];
    uint32_t def = python_source_def_name(source, statement);
    for (uint32_t i = 0; i < out->count; i++) {
        struct python_import *import = &out->imports[i];
        bool is_bound = def != PYTHON_NONE && str_equal(python_source_text(source, def), import->name);
        for (uint32_t at = taken->first; at + 1 < taken->first + taken->count && !is_bound; at++) {
            const struct python_token *token = &source->tokens[at];
            bool is_target = token->kind == PYTHON_NAME && token->depth == 0 &&
                             str_equal(python_source_text(source, at), import->name);
            is_bound = is_target && (python_source_is(source, at + 1, "=") || python_source_is(source, at + 1, ":=")) &&
                       !(at > taken->first && python_source_is(source, at - 1, "."));
        }
        if (is_bound)
            import->path = "";
    }
}

static bool is_import(const struct python_source *source, uint32_t statement)
{
    uint32_t first = source->statements[statement].first;
    return python_source_is(source, first, "import") || python_source_is(source, first, "from");
}

void python_names_read(const struct python_source *source, struct arena *arena, struct python_names *out)
{
    uint32_t most = 0;
    *out = (struct python_names){.source = source, .arena = arena};
    for (uint32_t i = 0; i < source->statement_count; i++)
        most += is_import(source, i) ? source->statements[i].count : 0;
    out->imports = arena_array(arena, struct python_import, (size_t)most + 1);
    for (uint32_t i = 0; i < source->statement_count; i++)
        if (is_import(source, i))
            import_take(out, i);
    for (uint32_t i = 0; i < source->statement_count; i++) {
        arena_work(arena, (uint64_t)source->statements[i].count * (out->count + 1));
        if (!is_import(source, i))
            bound_take(out, i);
    }
}

const char *python_names_path(const struct python_names *names, uint32_t first, uint32_t last)
{
    const struct python_source *source = names->source;
    const char *path = arena_text(names->arena, python_source_text(source, first));
    for (uint32_t i = 0; i < names->count; i++)
        if (str_equal(names->imports[i].name, python_source_text(source, first)))
            path = names->imports[i].path;
    for (uint32_t at = first + 2, parts = 0; at <= last && parts < PARTS_MAX; at += 2, parts++) {
        struct str name = python_source_text(source, at);
        path = arena_format(names->arena, "%s.%.*s", path, (int)name.length, name.data);
    }
    return path;
}

const char *python_names_from(const struct python_names *names, uint32_t first)
{
    uint32_t last = python_source_dotted_last(names->source, first);
    return last != PYTHON_NONE ? python_names_path(names, first, last) : "";
}

const char *python_names_called(const struct python_names *names, uint32_t open)
{
    bool is_call = open > 0 && python_source_is(names->source, open, "(");
    uint32_t first = is_call ? python_source_dotted_first(names->source, open - 1) : PYTHON_NONE;
    return first != PYTHON_NONE ? python_names_path(names, first, open - 1) : "";
}

const char *python_names_of(const struct python_names *names, const char *path)
{
    const char *found = NULL;
    size_t best = 0;
    uint32_t code = 0; /* the first function or class: what is imported behind it may not be there yet */
    while (code < names->source->statement_count && python_source_def_name(names->source, code) == PYTHON_NONE)
        code++;
    for (uint32_t i = 0; i < names->count; i++) {
        const struct python_import *import = &names->imports[i];
        if (import->statement > code)
            continue;
        size_t length = strlen(import->path);
        bool is_of =
            length > 0 && strncmp(path, import->path, length) == 0 && (path[length] == '.' || path[length] == '\0');
        if (!import->is_module_level || !is_of || length <= best)
            continue;
        best = length;
        found = arena_format(names->arena, "%.*s%s", (int)import->name.length, import->name.data, path + length);
    }
    return found;
}

uint32_t python_names_place(const struct python_names *names)
{
    const struct python_source *source = names->source;
    for (uint32_t i = 0; i < source->statement_count; i++) {
        const struct python_statement *statement = &source->statements[i];
        bool is_future = python_source_is(source, statement->first, "from") &&
                         python_source_is(source, statement->first + 1, "__future__");
        if (is_import(source, i) && !is_future && statement->parent == PYTHON_NONE && !statement->is_behind_another)
            return statement->line_begin;
    }
    return PYTHON_NONE;
}
