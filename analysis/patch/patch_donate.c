/* SPDX-License-Identifier: Apache-2.0
 * patch_donate.c: donate_argnums in the one place where the program's function is jitted. */
#include "patch/patch_files.h"

#include "plan/plan.h"
#include "whatif/call.h"

/* Where the function is jitted. */
struct jitted {
    const struct patch_file *file;
    uint32_t first, last; /* of "@jax.jit" the tokens of the dotted name; else not set */
    uint32_t open;        /* bracket of a call; PYTHON_NONE: of "@jax.jit" */
    bool is_bound;        /* "jax.jit(self.step)": without the function's first argument */
};

static bool is_jit(const char *path)
{
    static const char *const paths[] = {"jax.jit", "jax.experimental.pjit.pjit", "flax.nnx.jit", NULL};
    return str_is_one_of(str_of(path), paths);
}

/* ---- the function ---- */

/* NULL with a reason: it is not in one place. */
static const struct patch_file *function_find(const struct patch_files *files, struct str name, uint32_t *def,
                                              struct patch *why)
{
    const struct patch_file *found = NULL;
    const char *printable = patch_function_name(files, name);
    for (uint32_t i = 0; i < files->hlo->frame_count; i++) {
        const struct hlo_frame *frame = &files->hlo->frames[i];
        if (frame->library != LIBRARY_USER || !patch_function_is(frame->function, name))
            continue;
        const struct patch_file *file = patch_files_find(files, frame->file);
        if (file == NULL || !file->is_python) {
            *why = patch_refuse_file(files, frame->file, file);
            return NULL;
        }
        uint32_t at = patch_def_of(file, frame);
        if (at == PYTHON_NONE || (found != NULL && (found != file || at != *def))) {
            *why = at == PYTHON_NONE ? patch_refuse_frame(files, file, frame)
                                     : patch_refuse(files, file, patch_frame_line(frame),
                                                    "several functions are called %s", printable);
            return NULL;
        }
        found = file;
        *def = at;
    }
    if (found == NULL)
        *why = patch_refuse(files, NULL, 0, "no stack frame of the dump is in a function %s", printable);
    return found;
}

/* ---- the call or decorator ---- */

/* "@jax.jit", "@jax.jit(…)", "@partial(jax.jit, …)" above the function. */
static bool decorator_find(const struct patch_files *files, const struct patch_file *file, uint32_t def,
                           struct jitted *out, struct patch *why)
{
    const struct python_source *source = &file->source;
    struct arena *arena = files->asked->arena;
    uint32_t at;
    for (uint32_t nth = 0; (at = python_source_decorator(source, def, nth)) != PYTHON_NONE; nth++) {
        uint32_t first = source->statements[at].first + 1, last = python_source_dotted_last(source, first);
        const char *path = python_names_from(&file->names, first);
        bool is_call = last != PYTHON_NONE && python_source_is(source, last + 1, "(");
        struct python_item *items;
        if (is_jit(path)) {
            *out = (struct jitted){file, first, last, is_call ? last + 1 : PYTHON_NONE, false};
            return true;
        }
        if (is_call && strcmp(path, "functools.partial") == 0 &&
            python_source_items(source, last + 1, arena, &items) > 0 &&
            is_jit(python_names_from(&file->names, items[0].first)) &&
            python_source_dotted_last(source, items[0].first) + 1 == items[0].first + items[0].count) {
            *out = (struct jitted){.file = file, .open = last + 1};
            return true;
        }
        *why =
            patch_refuse(files, file, source->statements[at].line, "this decorator may change the arguments of %s",
                         patch_function_name(files, python_source_text(source, python_source_def_name(source, def))));
        return false;
    }
    return false;
}

/* Is it the bracket of "jax.jit(train_step, …)"? */
static bool is_call_of(const struct patch_file *file, uint32_t open, struct str name, struct arena *arena,
                       struct jitted *out)
{
    const struct python_source *source = &file->source;
    struct python_item *items;
    if (!is_jit(python_names_called(&file->names, open)) || python_source_items(source, open, arena, &items) == 0 ||
        items[0].is_named)
        return false;
    uint32_t last = python_source_dotted_last(source, items[0].first);
    *out = (struct jitted){.file = file, .open = open, .is_bound = last > items[0].first};
    return last != PYTHON_NONE && last + 1 == items[0].first + items[0].count &&
           str_equal(python_source_text(source, last), name);
}

static uint32_t calls_find(const struct patch_files *files, struct str name, struct jitted *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < files->count; i++) {
        const struct patch_file *file = &files->items[i];
        for (uint32_t at = 0; file->is_python && at < file->source.token_count; at++) {
            struct jitted found;
            if (is_call_of(file, at, name, files->asked->arena, &found)) {
                *out = found;
                count++;
            }
        }
    }
    return count;
}

static uint32_t defs_count(const struct patch_file *file, struct str name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < file->source.statement_count; i++) {
        uint32_t def = python_source_def_name(&file->source, i);
        count += def != PYTHON_NONE && str_equal(python_source_text(&file->source, def), name);
    }
    return count;
}

/* "train_step = functools.partial(train_step, model)": jax.jit sees other arguments than the function has. */
static bool is_rebound(const struct patch_file *file, struct str name, const struct jitted *jitted)
{
    const struct python_source *source = &file->source;
    for (uint32_t at = 0; at < source->token_count; at++) {
        if (source->tokens[at].kind != PYTHON_NAME || source->tokens[at].depth != 0 ||
            !(python_source_is(source, at + 1, "=") || python_source_is(source, at + 1, ":=")) ||
            !str_equal(python_source_text(source, at), name))
            continue;
        if (jitted->is_bound && (at == 0 || !python_source_is(source, at - 1, ".")))
            continue;                                              /* another one than self.train_step */
        uint32_t last = python_source_dotted_last(source, at + 2); /* train_step = jax.jit(train_step) */
        if (file != jitted->file || last == PYTHON_NONE || last + 1 != jitted->open)
            return true;
    }
    return false;
}

static bool jitted_find(const struct patch_files *files, const struct patch_file *file, uint32_t def,
                        struct jitted *out, struct patch *why)
{
    const struct python_source *source = &file->source;
    struct str name = python_source_text(source, python_source_def_name(source, def));
    const char *printable = patch_function_name(files, name);
    uint32_t line = source->statements[def].line;
    *why = (struct patch){.file = NULL};
    if (decorator_find(files, file, def, out, why))
        return true;
    if (why->reason != NULL)
        return false;
    uint32_t count = calls_find(files, name, out);
    if (count == 1 && (is_rebound(file, name, out) || is_rebound(out->file, name, out))) {
        *why = patch_refuse(files, file, line, "%s is given to something else, too", printable);
        return false;
    }
    if (count == 1 && defs_count(file, name) == 1 && files->is_all)
        return true;
    if (count > 1)
        *why = patch_refuse(files, out->file, out->file->source.tokens[out->open].line,
                            "jax.jit(%s) is written in %u places", printable, count);
    else if (count == 1 && defs_count(file, name) > 1)
        *why = patch_refuse(files, file, line, "there are several functions %s in the files of the program", printable);
    else if (!files->is_all)
        *why = patch_refuse_unread(files, file, line);
    else
        *why = patch_refuse(files, file, line, "no jax.jit(%s) and no @jax.jit above it is in the files of the program",
                            printable);
    return false;
}

/* ---- which arguments ---- */

/* The number that jit counts an argument of the dump as, by the function's own parameters. PYTHON_NONE: it is none of
 * those that are given by position. */
static uint32_t number_of(const struct patch_file *file, const struct python_item *parameters, uint32_t count,
                          struct str path)
{
    struct str name = call_argument(path);
    uint32_t number = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct python_item *parameter = &parameters[i];
        bool is_star = python_source_is(&file->source, parameter->first, "*");
        if (python_source_is(&file->source, parameter->first, "/"))
            continue;
        if (python_source_is(&file->source, parameter->first, "**") || (is_star && parameter->count == 1))
            return PYTHON_NONE;
        if (!str_equal(python_source_text(&file->source, parameter->first + is_star), name)) {
            if (is_star)
                return PYTHON_NONE;
            number++;
            continue;
        }
        if (!is_star)
            return number;
        struct str rest = {path.data + name.length, path.length - name.length};
        size_t digits = rest.length > 1 ? str_digits(rest, 1) : 0;
        uint64_t nth = 0;
        bool is_nth =
            digits > 0 && rest.data[0] == '[' && str_number_read((struct str){rest.data + 1, digits}, 1000, &nth);
        return is_nth ? number + (uint32_t)nth : PYTHON_NONE;
    }
    return PYTHON_NONE;
}

/* The name of the parameter with this number; "" for those that "*rest" takes. */
static struct str name_of(const struct patch_file *file, const struct python_item *parameters, uint32_t count,
                          uint32_t number)
{
    for (uint32_t i = 0; i < count; i++) {
        if (python_source_is(&file->source, parameters[i].first, "/"))
            continue;
        if (parameters[i].is_spread)
            break;
        if (number-- == 0)
            return python_source_text(&file->source, parameters[i].first);
    }
    return (struct str){"", 0};
}

/* "2", "(0, 2)", "[0]"; false: it is computed. */
static bool written_read(const struct python_source *source, const struct python_item *item, struct patch_numbers *out)
{
    uint32_t end = item->first + item->count;
    bool is_list = python_source_is(source, item->value, "(") || python_source_is(source, item->value, "[");
    if (is_list && source->tokens[item->value].match + 1 != end)
        return false;
    if (!is_list && end - item->value != 1)
        return false;
    for (uint32_t at = item->value + is_list; at < end - is_list; at++) {
        uint64_t number;
        if (is_list && python_source_is(source, at, ","))
            continue;
        if (source->tokens[at].kind != PYTHON_NUMBER ||
            !str_number_read(python_source_text(source, at), 1000, &number) ||
            !patch_numbers_add(out, (uint32_t)number))
            return false;
    }
    return true;
}

/* Those of the call, if there are any, and the new ones. False: nothing is new; `value` stays NULL where the call's are
 * computed. */
static bool numbers_join(const struct python_source *source, const struct python_item *numbers,
                         const struct patch_numbers *donated, struct arena *arena, const char **value)
{
    struct patch_numbers all = {.count = 0};
    if (numbers != NULL && !written_read(source, numbers, &all))
        return false;
    uint32_t before = all.count;
    for (uint32_t i = 0; i < donated->count; i++)
        if (!patch_numbers_add(&all, donated->items[i]))
            return false;
    *value = patch_numbers_text(&all, arena);
    return all.count > before;
}

/* The same of names: "params", ("params", "opt_state"). */
static bool names_join(const struct python_source *source, const struct python_item *named,
                       const struct patch_numbers *donated, const struct str *names, struct arena *arena,
                       const char **value)
{
    uint32_t end = named->first + named->count, count = 0;
    bool is_list = python_source_is(source, named->value, "(") || python_source_is(source, named->value, "["),
         is_new = false;
    const char *all = "";
    if (is_list && source->tokens[named->value].match + 1 != end)
        return false;
    for (uint32_t at = named->value + is_list; at < end - is_list; at++) {
        struct str text = python_source_text(source, at);
        if (is_list && python_source_is(source, at, ","))
            continue;
        if (source->tokens[at].kind != PYTHON_STRING || source->tokens[at + 1].kind == PYTHON_STRING)
            return false;
        all = arena_format(arena, "%s%s%.*s", all, count++ > 0 ? ", " : "", (int)text.length, text.data);
    }
    for (uint32_t i = 0; i < donated->count; i++) {
        const char *quoted = arena_format(arena, "%.*s", (int)names[i].length, names[i].data);
        bool is_there = strstr(all, arena_format(arena, "\"%s\"", quoted)) != NULL ||
                        strstr(all, arena_format(arena, "'%s'", quoted)) != NULL;
        if (names[i].length == 0)
            return false;
        if (!is_there)
            all = arena_format(arena, "%s%s\"%s\"", all, count++ > 0 ? ", " : "", quoted);
        is_new |= !is_there;
    }
    *value = arena_format(arena, "(%s%s)", all, count == 1 ? "," : "");
    return is_new;
}

/* ---- the edit ---- */

static struct patch bare_write(const struct patch_files *files, const struct jitted *jitted, const char *keyword)
{
    const struct patch_file *file = jitted->file;
    const struct python_token *tokens = file->source.tokens;
    struct diff_edit edits[PATCH_EDITS_MAX];
    uint32_t count = 0;
    const char *partial =
        patch_name(files, file, "functools.partial", "import functools", "functools.partial", edits, &count);
    if (partial == NULL)
        return patch_refuse_import(files, file, tokens[jitted->first].line);
    uint32_t begin = tokens[jitted->first].begin, end = tokens[jitted->last].end;
    edits[count++] = (struct diff_edit){begin, end,
                                        arena_format(files->asked->arena, "%s(%.*s, %s)", partial, (int)(end - begin),
                                                     file->source.text.data + begin, keyword)};
    return patch_write(files, file, edits, count, tokens[jitted->first].line);
}

static struct patch call_write(const struct patch_files *files, const struct jitted *jitted,
                               struct patch_numbers *donated, const struct str *names)
{
    const struct patch_file *file = jitted->file;
    const struct python_source *source = &file->source;
    struct arena *arena = files->asked->arena;
    struct python_item *items, *numbers = NULL, *named = NULL;
    uint32_t count = python_source_items(source, jitted->open, arena, &items), line = source->tokens[jitted->open].line;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].is_spread)
            return patch_refuse(files, file, line, "what this call spreads may donate already");
        if (items[i].is_named && python_source_is(source, items[i].first, "donate_argnums"))
            numbers = &items[i];
        if (items[i].is_named && python_source_is(source, items[i].first, "donate_argnames"))
            named = &items[i];
    }
    const char *value = NULL, *keyword = "donate_argnums";
    struct python_item *written = numbers ?: named;
    /* With both, names are of what is given by keyword alone: what has names gets further ones. */
    bool is_new = written == named && named != NULL ? names_join(source, named, donated, names, arena, &value)
                                                    : numbers_join(source, numbers, donated, arena, &value);
    if (value == NULL)
        return patch_refuse(files, file, line, "%s is no plain list of %s here",
                            written == named ? "donate_argnames" : keyword, written == named ? "names" : "numbers");
    if (!is_new)
        return patch_refuse(files, file, line, "the call donates them already: the dump is of another version of it");
    struct diff_edit edit = patch_keyword_edit(file, jitted->open, keyword, value);
    if (written != NULL)
        edit = (struct diff_edit){source->tokens[written->value].begin,
                                  source->tokens[written->first + written->count - 1].end, value};
    return patch_write(files, file, &edit, 1, line);
}

struct patch patch_donate(const struct patch_files *files, const bool *flags)
{
    const struct patch_asked *asked = files->asked;
    struct patch_numbers donated = {.count = 0};
    struct str names[PATCH_NUMBERS_MAX] = {{"", 0}}, name = call_function(asked->plan);
    struct jitted jitted = {.file = NULL};
    struct patch why;
    struct python_item *parameters;
    uint32_t def = PYTHON_NONE;
    const struct patch_file *file = function_find(files, name, &def, &why);
    if (file == NULL || !jitted_find(files, file, def, &jitted, &why))
        return why;
    uint32_t line = file->source.statements[def].line, open = patch_def_open(file, def);
    if (open == PYTHON_NONE)
        return patch_refuse(files, file, line, "the parameters of %s are not clear", patch_function_name(files, name));
    uint32_t count = python_source_items(&file->source, open, asked->arena, &parameters);
    bool has_self = count > 0 && (python_source_is(&file->source, parameters[0].first, "self") ||
                                  python_source_is(&file->source, parameters[0].first, "cls"));
    bool is_shifted = jitted.is_bound && has_self;
    const struct python_source *caller = &jitted.file->source;
    if (is_shifted && !python_source_is(caller, jitted.open + 1, "self") &&
        !python_source_is(caller, jitted.open + 1, "cls"))
        return patch_refuse(files, jitted.file, caller->tokens[jitted.open].line,
                            "whether %s is taken of an object or of its class is not clear",
                            patch_function_name(files, name));
    for (uint32_t i = 0; i < asked->plan->argument_count; i++) {
        struct str path = asked->plan->arguments[i].path;
        uint32_t number = flags[i] ? number_of(file, parameters, count, path) : 0;
        if (!flags[i])
            continue;
        if (number == PYTHON_NONE || number < is_shifted || !patch_numbers_add(&donated, number - is_shifted))
            return patch_refuse(files, file, line, "the argument %s is no parameter of %s that is given by position",
                                patch_function_name(files, call_argument(path)), patch_function_name(files, name));
    }
    for (uint32_t i = 0; i < donated.count; i++)
        names[i] = name_of(file, parameters, count, donated.items[i] + is_shifted);
    if (donated.count == 0)
        return patch_refuse(files, file, line, "it is not known which arguments results can replace");
    if (jitted.open == PYTHON_NONE)
        return bare_write(files, &jitted,
                          arena_format(asked->arena, "donate_argnums=%s", patch_numbers_text(&donated, asked->arena)));
    return call_write(files, &jitted, &donated, names);
}
