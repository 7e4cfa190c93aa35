/* SPDX-License-Identifier: Apache-2.0
 * model.c: facts of a failure that several parts of its verdict need; see verdict.h. */
#include "tool/oom/verdict.h"

#include <ctype.h>
#include <string.h>

const char *oom_figure_key(enum oom_figure_at at)
{
    static const char *const keys[] = {
#define FIGURE(name, line, word) #name,
#include "input/oom/figures.def"
#undef FIGURE
    };
    return keys[at];
}

const struct oom_figure *oom_figure(const struct oom_failure *failure, enum oom_figure_at at)
{
    return at < OOM_FIGURE_COUNT && failure->figures[at].is_known ? &failure->figures[at] : NULL;
}

bool oom_is_form(const struct oom_failure *failure, const char *form)
{
    return failure->form != NULL && strcmp(failure->form, form) == 0;
}

bool oom_is_compile(const struct oom_failure *failure)
{
    return failure->phase != NULL && strcmp(failure->phase, "compile") == 0;
}

bool oom_has_assignment(const struct oom_failure *failure)
{
    return !oom_is_compile(failure) && oom_figure(failure, OOM_total_bytes) != NULL &&
           failure->figures[OOM_total_bytes].value > 0 && oom_figure(failure, OOM_arguments_bytes) != NULL;
}

bool oom_is_kind(const struct oom_verdict *verdict, const struct oom_kind *kind)
{
    const struct oom_failure *failure = verdict->failure;
    return kind->family == failure->family &&
           (kind->framework == OOM_FRAMEWORK_not_known || kind->framework == failure->framework) &&
           (kind->memory == OOM_MEMORY_not_known || kind->memory == failure->memory_class) &&
           (kind->cause == OOM_CAUSE_NOT_KNOWN || kind->cause == verdict->cause) &&
           (kind->form == NULL || oom_is_form(failure, kind->form));
}

static enum oom_figure_at first_known(const struct oom_failure *failure, const enum oom_figure_at *figures,
                                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (failure->figures[figures[i]].is_known)
            return figures[i];
    return OOM_FIGURE_COUNT;
}

/* While compiling the capacity decides; later what is free, and of that the largest piece. */
enum oom_figure_at oom_limit_of(const struct oom_failure *failure)
{
    static const enum oom_figure_at limits[] = {OOM_largest_free_bytes, OOM_available_bytes, OOM_free_bytes,
                                                OOM_capacity_bytes};
    size_t first = oom_is_compile(failure) ? 3 : 0;
    return first_known(failure, limits + first, 4 - first);
}

enum oom_figure_at oom_hole_of(const struct oom_failure *failure)
{
    static const enum oom_figure_at holes[] = {OOM_largest_free_bytes, OOM_available_bytes};
    return first_known(failure, holes, 2);
}

const char *oom_space_name(const struct oom_failure *failure, struct arena *arena)
{
    static const char *const known[] = {"hbm", "vmem", "smem", "cmem"};
    const struct str space = failure->memory_space.text;
    if (space.data == NULL)
        return "";
    char *name = arena_text(arena, space);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_equal(space, str_of(known[i])))
            for (char *c = name; *c != '\0'; c++)
                *c = (char)toupper((unsigned char)*c);
    return name;
}

bool oom_is_of_device(const struct oom_failure *failure)
{
    const enum oom_memory memory = failure->memory_class;
    bool is_device = memory == OOM_MEMORY_hbm || memory == OOM_MEMORY_gpu || memory == OOM_MEMORY_not_known;
    return is_device && failure->memory_space.text.data == NULL;
}

bool oom_is_space(const struct oom_failure *failure, const char *name)
{
    const struct str space = failure->memory_space.text;
    if (space.data != NULL)
        return str_equal_any_case(space, str_of(name));
    return oom_is_of_device(failure) && str_equal_any_case(STR("hbm"), str_of(name));
}

struct str oom_bare_shape(struct str shape)
{
    const char *layout = shape.length > 0 && shape.data[0] != '(' ? memchr(shape.data, '{', shape.length) : NULL;
    return layout != NULL ? (struct str){shape.data, (size_t)(layout - shape.data)} : shape;
}

bool oom_is_kill(const struct oom_failure *failure)
{
    static const enum oom_family kills[] = {OOM_FAMILY_linux_kill, OOM_FAMILY_systemd_kill, OOM_FAMILY_kubernetes,
                                            OOM_FAMILY_slurm,      OOM_FAMILY_ray,          OOM_FAMILY_killed};
    for (size_t i = 0; i < sizeof(kills) / sizeof(kills[0]); i++)
        if (failure->family == kills[i])
            return true;
    return failure->family == OOM_FAMILY_torch_host && oom_is_form(failure, "worker");
}

bool oom_is_host(const struct oom_failure *failure)
{
    return failure->memory_class == OOM_MEMORY_host || failure->memory_class == OOM_MEMORY_page_locked ||
           failure->memory_class == OOM_MEMORY_shared_memory;
}

uint64_t oom_unallocated(const struct oom_failure *failure)
{
    const struct oom_figure *kept = oom_figure(failure, OOM_unallocated_bytes),
                            *reserved = oom_figure(failure, OOM_reserved_bytes),
                            *allocated = oom_figure(failure, OOM_allocated_bytes);
    if (kept != NULL)
        return kept->value;
    return reserved != NULL && allocated != NULL && reserved->value > allocated->value
               ? reserved->value - allocated->value
               : 0;
}

/* ---- sentences ---- */

void oom_say_part(struct oom_sentence *sentence, struct oom_part part)
{
    if (sentence->count < OOM_SENTENCE_PARTS)
        sentence->parts[sentence->count++] = part;
}

void oom_say(struct oom_sentence *sentence, const char *words)
{
    oom_say_part(sentence, (struct oom_part){.kind = OOM_PART_WORDS, .text = str_of(words)});
}

void oom_say_name(struct oom_sentence *sentence, struct str name)
{
    oom_say_part(sentence, (struct oom_part){.kind = OOM_PART_NAME, .text = name});
}

void oom_say_figure(struct oom_sentence *sentence, const struct oom_failure *failure, enum oom_figure_at at,
                    const char *role)
{
    oom_say_part(sentence, (struct oom_part){.kind = OOM_PART_SIZE,
                                             .bytes = failure->figures[at].value,
                                             .key = oom_figure_key(at),
                                             .role = role});
}

void oom_say_size(struct oom_sentence *sentence, uint64_t bytes)
{
    oom_say_part(sentence, (struct oom_part){.kind = OOM_PART_SIZE, .bytes = bytes});
}
