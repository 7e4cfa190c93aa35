/* SPDX-License-Identifier: Apache-2.0
 * patch_checkpoint.c: the decorator that computes a layer again in the backward pass. */
#include "patch/patch_layers.h"
#include "whatif/call_library.h"

/* What an argument of the layer is. */
enum given { GIVEN_ARRAYS, GIVEN_STATIC, GIVEN_UNCLEAR };

/* ---- which library ---- */

/* By the class around the function. NULL: one that is no module of a library that is known. */
static const struct call_library_names *wrapper_of(const struct patch_file *file, uint32_t def, bool *is_method)
{
    const struct python_source *source = &file->source;
    uint32_t class = source->statements[def].parent;
    while (class != PYTHON_NONE && python_source_def_name(source, class) == PYTHON_NONE)
        class = source->statements[class].parent;
    *is_method = class != PYTHON_NONE && python_source_is_class(source, class);
    if (!*is_method) {
        /* Within a method of a module: it may call modules, which jax.checkpoint does not support. */
        for (; class != PYTHON_NONE; class = source->statements[class].parent)
            if (python_source_is_class(source, class) &&
                python_source_is(source, python_source_def_name(source, class) + 1, "("))
                return NULL;
        return call_library_names(CALL_JAX);
    }
    uint32_t open = python_source_def_name(source, class) + 1;
    struct python_item *bases;
    uint32_t count =
        python_source_is(source, open, "(") ? python_source_items(source, open, file->names.arena, &bases) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *path = python_names_from(&file->names, bases[i].first);
        for (unsigned k = 0; k < CALL_LIBRARY_COUNT; k++) {
            const struct call_library_names *names = call_library_names((enum call_library)k);
            if (names->module != NULL && strcmp(path, names->module) == 0)
                return names;
        }
    }
    return NULL;
}

/* Flax functions that make modules inside of a Haiku transform need Haiku's own. */
static bool uses_haiku(const struct patch_file *file, uint32_t def)
{
    const struct python_source *source = &file->source;
    const struct python_statement *first = &source->statements[def];
    const struct python_statement *last = &source->statements[first->block_last];
    for (uint32_t at = first->first; at < last->first + last->count; at++)
        if (source->tokens[at].kind == PYTHON_NAME && !python_source_is(source, at - 1, ".") &&
            strncmp(python_names_path(&file->names, at, at), "haiku", 5) == 0)
            return true;
    return false;
}

/* The bracket of a call that makes a module of more than one state: then the gradient is of some of them. */
static uint32_t partial_merge(const struct patch_file *file)
{
    const struct python_source *source = &file->source;
    for (uint32_t at = 0; at < source->token_count; at++) {
        struct python_item *items;
        if (str_equal(str_of(python_names_called(&file->names, at)), STR("flax.nnx.merge")) &&
            python_source_items(source, at, file->names.arena, &items) > 2)
            return at;
    }
    return PYTHON_NONE;
}

/* A decorator of Haiku at the level of the module is called outside of hk.transform, and that of NNX sets all of a
 * module's states, also those that were made outside of the gradient. */
static bool wrapper_may_stand(const struct patch_files *files, const struct patch_layer *layer,
                              const struct call_library_names *wrapper, struct patch *why)
{
    const struct python_source *source = &layer->file->source;
    const char *function = patch_function_name(files, layer->frame->function);
    uint32_t line = source->statements[layer->def].line;
    if (wrapper == call_library_names(CALL_HAIKU) && source->statements[layer->def].parent == PYTHON_NONE) {
        *why = patch_refuse(files, layer->file, line,
                            "hk.remat may only be called inside of hk.transform, and %s is defined outside: "
                            "hk.remat(%s)(…) where it is called",
                            function, function);
        return false;
    }
    for (uint32_t i = 0; i < files->count && wrapper == call_library_names(CALL_NNX); i++) {
        const struct patch_file *file = &files->items[i];
        uint32_t at = file->is_python ? partial_merge(file) : PYTHON_NONE;
        if (at == PYTHON_NONE)
            continue;
        *why = patch_refuse(files, file, file->source.tokens[at].line,
                            "nnx.merge joins several states here, and nnx.remat would set those that the gradient is "
                            "not of: jax.checkpoint(layer)(x) where the layers are called");
        return false;
    }
    return true;
}

/* ---- is it wrapped? ---- */

static bool is_checkpoint(const char *path)
{
    static const char *const paths[] = {"jax.checkpoint",
                                        "jax.remat",
                                        "jax.ad_checkpoint.checkpoint",
                                        "flax.linen.remat",
                                        "flax.linen.checkpoint",
                                        "flax.nnx.remat",
                                        "haiku.remat",
                                        "equinox.filter_checkpoint",
                                        NULL};
    return str_is_one_of(str_of(path), paths);
}

/* Line of a call that wraps something of this name already; 0: there is none. */
static uint32_t wrapped_line(const struct patch_file *file, struct str name)
{
    const struct python_source *source = &file->source;
    for (uint32_t at = 0; at < source->token_count; at++) {
        if (!is_checkpoint(python_names_called(&file->names, at)))
            continue;
        for (uint32_t within = at + 1; within < source->tokens[at].match; within++)
            if (source->tokens[within].kind == PYTHON_NAME && str_equal(python_source_text(source, within), name))
                return source->tokens[at].line;
    }
    return 0;
}

/* Are the layer's decorators known? False, and why, if one may not work below a further decorator. */
static bool decorators_are_known(const struct patch_files *files, const struct patch_layer *layer, struct patch *why)
{
    static const char *const known[] = {"jax.jit", "flax.linen.compact", "flax.linen.nowrap", NULL};
    const struct patch_file *file = layer->file;
    const struct python_source *source = &file->source;
    uint32_t at;
    for (uint32_t nth = 0; (at = python_source_decorator(source, layer->def, nth)) != PYTHON_NONE; nth++) {
        const char *path = python_names_from(&file->names, source->statements[at].first + 1);
        if (str_is_one_of(str_of(path), known))
            continue;
        *why = patch_refuse(files, file, source->statements[at].line,
                            is_checkpoint(path) ? "%s has a checkpoint already"
                                                : "this decorator of %s may not allow another one",
                            patch_function_name(files, layer->frame->function));
        return false;
    }
    return true;
}

/* ---- arguments that are no arrays ---- */

static bool is_literal(const struct python_source *source, uint32_t first, uint32_t count)
{
    enum python_kind kind = source->tokens[first].kind;
    return count == 1 && (kind == PYTHON_NUMBER || kind == PYTHON_STRING || python_source_is(source, first, "True") ||
                          python_source_is(source, first, "False"));
}

/* "HEADS" of the file's own, a number. */
static bool is_constant(const struct python_source *source, uint32_t token)
{
    for (uint32_t i = 0; i < source->statement_count; i++) {
        const struct python_statement *statement = &source->statements[i];
        if (statement->parent == PYTHON_NONE && statement->count == 3 &&
            python_source_is(source, statement->first + 1, "=") &&
            str_equal(python_source_text(source, statement->first), python_source_text(source, token)) &&
            is_literal(source, statement->first + 2, 1))
            return true;
    }
    return false;
}

/* Names that are hardly ever those of arrays. */
static const char *const plain_names[] = {"cfg",         "config",        "conf",         "train", "training",
                                          "is_training", "deterministic", "causal",       "heads", "num_heads",
                                          "n_heads",     "n_head",        "head_dim",     "mode",  "axis",
                                          "dtype",       "dropout",       "dropout_rate", "args",  "hparams",
                                          "i",           "idx",           "layer_idx",    "index", NULL};

/* Does the function's body ask it what only a plain number or word answers? */
static bool is_asked_plainly(const struct python_source *source, uint32_t def, struct str name)
{
    static const char *const askers[] = {"if", "elif", "while", "not", "and", "or", "range", NULL};
    static const char *const behind[] = {"is", ".", "[", "(", NULL};
    const struct python_statement *last = &source->statements[source->statements[def].block_last];
    for (uint32_t at = source->statements[def].first + 1; at < last->first + last->count; at++) {
        uint32_t before = at - 1 - python_source_is(source, at - 1, "(");
        if (source->tokens[at].kind == PYTHON_NAME && str_equal(python_source_text(source, at), name) &&
            str_is_one_of(python_source_text(source, before), askers) &&
            !str_is_one_of(python_source_text(source, at + 1), behind))
            return true;
    }
    return false;
}

static enum given parameter_given(const struct python_source *source, uint32_t def, const struct python_item *parameter)
{
    static const char *const plain_types[] = {"int", "bool", "str", NULL};
    static const char *const array_types[] = {"Array",  "ndarray", "dict", "list",  "tuple",     "Params", "Any",
                                              "PyTree", "Dict",    "List", "Tuple", "ArrayLike", NULL};
    struct str name = python_source_text(source, parameter->first);
    bool has_type = python_source_is(source, parameter->first + 1, ":");
    uint32_t equals = PYTHON_NONE, end = parameter->first + parameter->count;
    for (uint32_t at = parameter->first; at < end; at++)
        if (python_source_is(source, at, "=") && source->tokens[at].depth == source->tokens[parameter->first].depth)
            equals = at;
    uint32_t type_end = equals != PYTHON_NONE ? equals : end;
    if ((has_type && type_end - parameter->first == 3 &&
         str_is_one_of(python_source_text(source, parameter->first + 2), plain_types)) ||
        (equals != PYTHON_NONE && is_literal(source, equals + 1, end - equals - 1)))
        return GIVEN_STATIC;
    bool is_array_type = !has_type;
    for (uint32_t at = parameter->first + 2; has_type && at < type_end; at++)
        is_array_type |= str_is_one_of(python_source_text(source, at), array_types);
    return str_is_one_of(name, plain_names) || !is_array_type || is_asked_plainly(source, def, name) ? GIVEN_UNCLEAR
                                                                                                     : GIVEN_ARRAYS;
}

/* Where the call is written: the bracket, or PYTHON_NONE. By the frame's column, which is where the expression begins;
 * else the one call of that name in the line. */
static uint32_t call_open(const struct patch_layer *layer)
{
    const struct python_source *source = &layer->call_file->source;
    struct str name =
        python_source_text(&layer->file->source, python_source_def_name(&layer->file->source, layer->def));
    uint32_t found = PYTHON_NONE, line = patch_frame_line(layer->call);
    for (uint32_t at = 0; at < source->token_count && source->tokens[at].line <= line; at++) {
        uint32_t begin = source->tokens[at].begin;
        if (source->tokens[at].line != line)
            continue;
        uint32_t column = 0;
        while (column < begin && source->text.data[begin - 1 - column] != '\n')
            column++;
        uint32_t last = python_source_dotted_last(source, at);
        if (layer->call->column >= 0 && column == (uint32_t)layer->call->column && last != PYTHON_NONE) {
            uint32_t open = python_source_is(source, last + 1, "(") ? last + 1 : PYTHON_NONE;
            while (open != PYTHON_NONE && python_source_is(source, source->tokens[open].match + 1, "("))
                open = source->tokens[open].match + 1;
            return open;
        }
        if (str_equal(python_source_text(source, at), name) && python_source_is(source, at + 1, "("))
            found = found == PYTHON_NONE ? at + 1 : found;
    }
    return found;
}

static enum given argument_given(const struct patch_file *file, const struct python_item *item)
{
    static const char *const roots[] = {"cfg", "config", "conf", "args", "hparams", "self", NULL};
    const struct python_source *source = &file->source;
    uint32_t count = item->count - (item->value - item->first);
    if (is_literal(source, item->value, count) || (count == 1 && is_constant(source, item->value)))
        return GIVEN_STATIC;
    bool is_plain = count == 1 && str_is_one_of(python_source_text(source, item->value), plain_names);
    bool is_of_root = count > 1 && python_source_is(source, item->value + 1, ".") &&
                      str_is_one_of(python_source_text(source, item->value), roots);
    return is_plain || is_of_root ? GIVEN_UNCLEAR : GIVEN_ARRAYS;
}

/* If a name is bound to functools.partial, or to another function, the arguments in the brackets may be incomplete. A
 * module is called by its own name: Block(128)(x, train), block(x, train). */
static bool is_call_by_name(const struct patch_layer *layer, uint32_t open, bool is_method)
{
    const struct python_source *source = &layer->file->source;
    if (is_method && python_source_is(source, python_source_def_name(source, layer->def), "__call__"))
        return true;
    return open > 0 && str_equal(python_source_text(&layer->call_file->source, open - 1),
                                 python_source_text(source, python_source_def_name(source, layer->def)));
}

/* Which arguments are to be static. False: one is not clear. */
static bool statics_find(const struct patch_files *files, const struct patch_layer *layer, bool is_method,
                         struct patch_numbers *out, struct patch *why)
{
    const struct python_source *source = &layer->file->source;
    struct arena *arena = files->asked->arena;
    struct python_item *parameters, *items = NULL;
    uint32_t open = patch_def_open(layer->file, layer->def), call = call_open(layer), item_count = 0;
    const char *function = patch_function_name(files, layer->frame->function);
    if (layer->is_of_loop_call)
        call = PYTHON_NONE; /* of a loop: jax gives it what it carries and scans over */
    uint32_t count = open != PYTHON_NONE ? python_source_items(source, open, arena, &parameters) : 0;
    if (call != PYTHON_NONE && is_call_by_name(layer, call, is_method))
        item_count = python_source_items(&layer->call_file->source, call, arena, &items);
    else
        call = PYTHON_NONE;
    for (uint32_t k = 0; k < item_count; k++)
        if (items[k].is_spread)
            call = PYTHON_NONE;
    item_count = call != PYTHON_NONE ? item_count : 0;
    uint32_t number = 0;
    for (uint32_t i = is_method; i < count; i++) {
        const struct python_item *parameter = &parameters[i];
        struct str name = python_source_text(source, parameter->first);
        const struct python_item *given = NULL;
        if (python_source_is(source, parameter->first, "/") || parameter->is_spread)
            continue;
        uint32_t at = number++;
        for (uint32_t k = 0; k < item_count; k++)
            if (items[k].is_named ? str_equal(python_source_text(&layer->call_file->source, items[k].first), name)
                                  : k == at)
                given = &items[k];
        if (call != PYTHON_NONE && given == NULL)
            continue; /* not given: not traced either */
        enum given is = given != NULL ? argument_given(layer->call_file, given) : GIVEN_ARRAYS;
        if (is != GIVEN_STATIC)
            is = parameter_given(source, layer->def, parameter) ?: is;
        if (is == GIVEN_ARRAYS)
            continue;
        /* Flax counts self */
        if (is == GIVEN_UNCLEAR || given == NULL || given->is_named || !patch_numbers_add(out, at + is_method)) {
            *why = patch_refuse(files, layer->file, source->statements[layer->def].line,
                                "%s may take something else than arrays as %s, which a checkpoint would trace; "
                                "static_argnums is for those",
                                function, patch_function_name(files, name));
            return false;
        }
    }
    return true;
}

/* ---- the edit ---- */

static struct patch decorate(const struct patch_files *files, const struct patch_layer *layer,
                             const struct call_library_names *wrapper, const struct patch_numbers *statics)
{
    const struct patch_file *file = layer->file;
    const struct python_source *source = &file->source;
    struct arena *arena = files->asked->arena;
    struct diff_edit edits[PATCH_EDITS_MAX];
    uint32_t count = 0, top = layer->def, at;
    for (uint32_t nth = 0; (at = python_source_decorator(source, layer->def, nth)) != PYTHON_NONE; nth++)
        top = at;
    const struct python_statement *statement = &source->statements[top];
    uint32_t begin = source->tokens[statement->first].begin;
    const char *name = patch_name(files, file, wrapper->remat, wrapper->import ?: "", wrapper->imported, edits, &count);
    const char *partial =
        statics->count > 0 && name != NULL
            ? patch_name(files, file, "functools.partial", "import functools", "functools.partial", edits, &count)
            : "";
    if (name == NULL || partial == NULL || statement->is_behind_another)
        return patch_refuse_import(files, file, statement->line);
    const char *decorator = statics->count > 0 ? arena_format(arena, "%s(%s, static_argnums=%s)", partial, name,
                                                              patch_numbers_text(statics, arena))
                                               : name;
    edits[count++] =
        (struct diff_edit){statement->line_begin, statement->line_begin,
                           arena_format(arena, "%.*s@%s%s", (int)(begin - statement->line_begin),
                                        source->text.data + statement->line_begin, decorator, source->newline)};
    struct patch patch = patch_write(files, file, edits, count, statement->line);
    patch.call =
        arena_format(arena, "@%s  # above def %s", decorator, patch_function_name(files, layer->frame->function));
    return patch;
}

struct patch patch_checkpoint(const struct patch_files *files)
{
    struct patch_layer layer;
    struct patch_numbers statics = {.count = 0};
    struct patch why;
    bool is_method;
    if (!patch_layers_find(files, &layer, &why))
        return why;
    const struct python_source *source = &layer.file->source;
    const char *function = patch_function_name(files, layer.frame->function);
    uint32_t line = source->statements[layer.def].line;
    struct str name = python_source_text(source, python_source_def_name(source, layer.def));
    const struct call_library_names *wrapper = wrapper_of(layer.file, layer.def, &is_method);
    if (wrapper == NULL)
        return patch_refuse(files, layer.file, line,
                            is_method ? "%s is a method of a class that is no module of Flax or Equinox"
                                      : "%s is inside a method, and may call what jax.checkpoint does not support",
                            function);
    if (wrapper->module == NULL && uses_haiku(layer.file, layer.def))
        wrapper = call_library_names(CALL_HAIKU);
    if (!wrapper_may_stand(files, &layer, wrapper, &why))
        return why;
    if (!decorators_are_known(files, &layer, &why))
        return why;
    for (uint32_t i = 0; i < files->count && !is_method; i++) {
        uint32_t wrapped = files->items[i].is_python ? wrapped_line(&files->items[i], name) : 0;
        if (wrapped > 0)
            return patch_refuse(files, &files->items[i], wrapped, "%s is given to a checkpoint here", function);
    }
    bool is_of_arrays = wrapper == call_library_names(CALL_EQUINOX); /* it leaves alone what is none */
    if (!is_of_arrays && !statics_find(files, &layer, is_method, &statics, &why))
        return why;
    return decorate(files, &layer, wrapper, &statics);
}
