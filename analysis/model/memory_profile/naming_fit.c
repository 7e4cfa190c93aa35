/* SPDX-License-Identifier: Apache-2.0
 * naming_fit.c: see naming_fit.h. */
#include "model/memory_profile/naming_fit.h"

#include "base/select.h"
#include "base/sort.h"

#include <stdlib.h>

enum {
    CHUNK_BYTES = 256,     /* a BFC allocator rounds sizes up to it */
    SIZE_MIN_BYTES = 4096, /* a smaller size alone says nothing: scalars and keys are everywhere */
};

static int by_size_and_program(const void *left, const void *right, void *context)
{
    const struct program_figure *figures = context, *a = &figures[*(const uint32_t *)left],
                                *b = &figures[*(const uint32_t *)right];
    return ORDER(a->bytes, b->bytes) ?: ORDER(a->program, b->program) ?: ORDER(a->role, b->role)
               ?: ORDER(a->number, b->number);
}

void naming_fit_programs(struct naming *naming)
{
    const struct program_figures *figures = naming->figures;
    struct arena *scratch = naming->scratch;
    naming->module_of = arena_array(scratch, uint32_t, (size_t)figures->program_count + 1);
    naming->programs = arena_array(scratch, uint32_t, (size_t)figures->program_count + 1);
    for (uint32_t i = 0; i < figures->program_count; i++)
        naming->module_of[i] =
            intern_number(&naming->runs->modules, host_runs_name(scratch, "", figures->programs[i].name));
    naming->module_count = naming->runs->modules.map.count;
    naming->first_of = arena_array(scratch, uint32_t, (size_t)naming->module_count + 2);
    naming->has_run = arena_array(scratch, bool, (size_t)naming->module_count + 1);
    for (uint32_t i = 0; i < figures->program_count; i++)
        naming->first_of[naming->module_of[i] + 2]++;
    for (uint32_t i = 2; i <= naming->module_count + 1; i++)
        naming->first_of[i] += naming->first_of[i - 1];
    for (uint32_t i = 0; i < figures->program_count; i++) /* afterwards first_of[m] is where m begins */
        naming->programs[naming->first_of[naming->module_of[i] + 1]++] = i;
    for (size_t i = 0; i < naming->runs->count; i++)
        naming->has_run[naming->runs->items[i].module] |= !naming->runs->items[i].is_call;
    naming->needed = arena_array(scratch, uint32_t, (size_t)figures->program_count + 1);
    naming->fitting = arena_array(scratch, uint32_t, (size_t)figures->program_count + 1);
    for (uint32_t i = 0; i < figures->count; i++)
        naming->needed[figures->figures[i].program] += figures->figures[i].role != PROGRAM_ARGUMENT &&
                                                       figures->programs[figures->figures[i].program].has_assignment;
    naming->by_size = arena_array(scratch, uint32_t, (size_t)figures->count + 1);
    for (uint32_t i = 0; i < figures->count; i++)
        naming->by_size[i] = i;
    arena_work(scratch, select_work(figures->count));
    sort_items(naming->by_size, figures->count, sizeof(*naming->by_size), by_size_and_program, figures->figures);
}

/* The first figure in by_size that has at least so many bytes. */
static uint32_t size_find(const struct naming *naming, int64_t bytes)
{
    uint32_t low = 0, high = naming->figures->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (naming->figures->figures[naming->by_size[middle]].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- figures that fit ---- */

struct naming_sizes naming_fit_sizes(const struct memory_profile *profile, uint32_t event)
{
    int64_t bytes = profile->size_bytes[event];
    if ((profile->flags[event] & MEMORY_HAS_REQUESTED) != 0)
        return (struct naming_sizes){memory_profile_requested_bytes(profile, event),
                                     memory_profile_requested_bytes(profile, event)};
    return (struct naming_sizes){bytes > CHUNK_BYTES ? bytes - CHUNK_BYTES + 1 : 1, bytes};
}

void naming_fit_add(const struct naming *naming, struct naming_fit *fit, const struct program_figure *figure,
                    uint32_t *last)
{
    bool is_new = fit->program_count == 0 || figure->program != *last;
    if (fit->program_count == 0)
        fit->program = figure->program;
    fit->is_one_module = (fit->program_count == 0 || fit->is_one_module) &&
                         naming->module_of[figure->program] == naming->module_of[fit->program];
    fit->program_count += is_new;
    *last = figure->program;
    fit->has_role[figure->role] = true;
    if (figure->role != PROGRAM_ARGUMENT)
        return;
    for (uint32_t i = 0; i < fit->argument_count && i < NAMING_ARGUMENTS_SHOWN; i++)
        if (fit->arguments[i] == figure->number)
            return;
    if (fit->argument_count < NAMING_ARGUMENTS_SHOWN)
        fit->arguments[fit->argument_count] = figure->number;
    fit->argument_count++;
}

/* The fit of these sizes among the programs of one module; with NAMING_NONE among modules that ran, or else all. */
static struct naming_fit fit_sizes(struct naming *naming, struct naming_sizes sizes, uint32_t module)
{
    struct naming_fit fits[2] = {{.program_count = 0}, {.program_count = 0}}; /* of those that ran, of all */
    uint32_t lasts[2] = {0, 0};
    for (uint32_t i = size_find(naming, sizes.min); i < naming->figures->count && naming_charge(naming, 1); i++) {
        const struct program_figure *figure = &naming->figures->figures[naming->by_size[i]];
        uint32_t its = naming->module_of[figure->program];
        if (figure->bytes > sizes.max)
            break;
        if (module != NAMING_NONE && its != module)
            continue;
        if (naming->has_run[its])
            naming_fit_add(naming, &fits[0], figure, &lasts[0]);
        naming_fit_add(naming, &fits[1], figure, &lasts[1]);
    }
    return module == NAMING_NONE && fits[0].program_count > 0 ? fits[0] : fits[1];
}

/* ---- what a guess says ---- */

static const char *arguments_text(const struct naming *naming, const struct naming_fit *fit)
{
    const struct program *program = &naming->figures->programs[fit->program];
    const uint32_t *numbers = fit->arguments;
    switch (fit->argument_count) {
    case 1:
        if (numbers[0] < program->argument_count && program->arguments[numbers[0]].length > 0)
            return arena_format(naming->scratch, "argument %u %.*s", numbers[0],
                                (int)program->arguments[numbers[0]].length, program->arguments[numbers[0]].data);
        return arena_format(naming->scratch, "argument %u", numbers[0]);
    case 2: return arena_format(naming->scratch, "argument %u or %u", numbers[0], numbers[1]);
    case 3: return arena_format(naming->scratch, "argument %u, %u or %u", numbers[0], numbers[1], numbers[2]);
    default: return arena_format(naming->scratch, "one of %u arguments", fit->argument_count);
    }
}

/* "output or argument 1 params['w']" */
static const char *role_text(const struct naming *naming, const struct naming_fit *fit, bool is_host)
{
    const char *parts[PROGRAM_ROLES], *text;
    int count = 0;
    if (fit->has_role[PROGRAM_OUTPUT])
        parts[count++] = "output";
    if (fit->has_role[PROGRAM_TEMPORARY])
        parts[count++] = "temporaries";
    if (fit->has_role[PROGRAM_ARGUMENT])
        parts[count++] = arguments_text(naming, fit);
    if (count == 3)
        text = arena_format(naming->scratch, "%s, %s or %s", parts[0], parts[1], parts[2]);
    else
        text = count == 2 ? arena_format(naming->scratch, "%s or %s", parts[0], parts[1]) : parts[0];
    return is_host ? arena_format(naming->scratch, "%s, in host memory", text) : text;
}

/* The place of the guess; NAMING_NONE where nothing fits. Equal guesses are one. */
uint32_t naming_fit_guess(struct naming *naming, const struct naming_fit *fit, enum naming_rule rule, bool is_host)
{
    const struct program *program = &naming->figures->programs[fit->program];
    const char *name = "", *role;
    if (fit->program_count == 0)
        return NAMING_NONE;
    if (!fit->is_one_module) {
        rule = NAMING_AMBIGUOUS;
        role = arena_format(naming->scratch, "%u programs have this size", fit->program_count);
    } else {
        bool is_one = fit->program_count == 1 && program->id != 0; /* an HLO file may tell no id */
        name = arena_format(naming->scratch, is_one ? "%.*s(%llu)" : "%.*s", (int)program->name.length,
                            program->name.data, (unsigned long long)program->id);
        role = role_text(naming, fit, is_host);
    }
    uint32_t number =
        intern_number(&naming->texts, str_of(arena_format(naming->scratch, "%s\n%s\n%d", name, role, rule)));
    if (number == naming->guesses.count)
        *(struct memory_profile_guess *)chunks_add(&naming->guesses) =
            (struct memory_profile_guess){.program = str_of(arena_text(naming->arena, str_of(name))),
                                          .module = {fit->is_one_module ? arena_text(naming->arena, program->name) : "",
                                                     fit->is_one_module ? program->name.length : 0},
                                          .role = str_of(arena_text(naming->arena, str_of(role))),
                                          .rule = (uint8_t)rule};
    return number;
}

/* ---- questions, each answered once ---- */

uint32_t *naming_fit_answer(struct naming *naming, const uint64_t key[4], bool *is_new)
{
    uint32_t number = table_number(&naming->keys, key);
    *is_new = number == naming->answers.count;
    if (*is_new)
        CHUNKS_ADD(&naming->answers, uint32_t, NAMING_NONE);
    return &CHUNKS_AT(&naming->answers, uint32_t, number);
}

/* By size, among the figures of a module (NAMING_NONE: of all). */
uint32_t naming_fit_by_size(struct naming *naming, const struct naming_item *item, uint32_t module,
                            enum naming_rule rule)
{
    struct naming_sizes sizes = naming_fit_sizes(naming->profile, item->event);
    bool is_new;
    uint64_t key[4] = {(uint64_t)rule << 1 | item->is_host, module, (uint64_t)sizes.min, (uint64_t)sizes.max};
    if (sizes.max <= 0 || (module == NAMING_NONE && sizes.max < SIZE_MIN_BYTES))
        return NAMING_NONE;
    uint32_t *answer = naming_fit_answer(naming, key, &is_new);
    if (is_new) {
        struct naming_fit fit = fit_sizes(naming, sizes, module);
        *answer = naming_fit_guess(naming, &fit, rule, item->is_host);
    }
    return *answer;
}
