/* SPDX-License-Identifier: Apache-2.0
 * model.c: facts of a failure that several parts of its meaning need; see meaning.h. */
#include "base/sum.h"
#include "model/oom/meaning.h"

#include <ctype.h>
#include <string.h>

const char *oom_figure_key(enum oom_figure_at at)
{
    static const char *const keys[] = {
#define FIGURE(name, line, word) #name,
#include "read/oom/figures.def"
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

bool oom_is_kind(const struct oom_meaning *meaning, const struct oom_kind *kind)
{
    const struct oom_failure *failure = meaning->failure;
    return kind->family == failure->family &&
           (kind->framework == OOM_FRAMEWORK_not_known || kind->framework == failure->framework) &&
           (kind->memory == OOM_MEMORY_not_known || kind->memory == failure->memory_class) &&
           (kind->cause == OOM_CAUSE_NOT_KNOWN || kind->cause == meaning->cause) &&
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
    return oom_family_is_kill(failure->family) ||
           (failure->family == OOM_FAMILY_torch_host && oom_is_form(failure, "worker"));
}

bool oom_is_of_xla_family(const struct oom_failure *failure)
{
    static const enum oom_family families[] = {OOM_FAMILY_tpu_compile, OOM_FAMILY_tpu_program_load,
                                               OOM_FAMILY_tpu_buffer, OOM_FAMILY_gpu_xla, OOM_FAMILY_gpu_bfc};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (failure->family == families[i])
            return true;
    return false;
}

bool oom_may_be_of_xla(const struct oom_failure *failure)
{
    return oom_is_of_xla_family(failure) || failure->family == OOM_FAMILY_cpu_alloc ||
           failure->framework == OOM_FRAMEWORK_xla || failure->framework == OOM_FRAMEWORK_jax ||
           (failure->family == OOM_FAMILY_other && failure->framework == OOM_FRAMEWORK_not_known);
}

/* Smaller requests are equal by chance. Allocators of XLA round up to this unit, and may print what they made of it. */
#define PIECE_MIN_BYTES (UINT64_C(1) << 20)
#define ROUNDED_TO_BYTES 256

bool oom_asks_for_piece(const struct oom_failure *failure, uint64_t bytes)
{
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes);
    if (needed == NULL || !oom_may_be_of_xla(failure) || oom_is_compile(failure) || oom_is_kill(failure) ||
        bytes < PIECE_MIN_BYTES || bytes > INT64_MAX)
        return false;
    return oom_figure_is(needed, bytes) ||
           oom_figure_is(needed, (bytes + ROUNDED_TO_BYTES - 1) / ROUNDED_TO_BYTES * ROUNDED_TO_BYTES);
}

bool oom_asks_for_total(const struct oom_failure *failure, uint64_t total_bytes)
{
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes);
    return oom_may_be_of_xla(failure) && oom_is_compile(failure) && !oom_is_form(failure, "allocation_exceeds") &&
           total_bytes >= PIECE_MIN_BYTES && needed != NULL && oom_figure_is(needed, total_bytes);
}

bool oom_is_host(const struct oom_failure *failure)
{
    return failure->memory_class == OOM_MEMORY_host || failure->memory_class == OOM_MEMORY_page_locked ||
           failure->memory_class == OOM_MEMORY_shared_memory;
}

bool oom_is_past_capacity(const struct oom_failure *failure)
{
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes),
                            *capacity = oom_figure(failure, OOM_capacity_bytes),
                            *left = oom_figure(failure, OOM_free_bytes);
    bool is_limited = left != NULL && capacity != NULL && left->value > capacity->value;
    return needed != NULL && capacity != NULL && needed->value > capacity->value && !is_limited;
}

bool oom_is_limit_of_buffer(const struct oom_failure *failure)
{
    bool is_of_metal = failure->family == OOM_FAMILY_metal && oom_is_form(failure, "buffer") &&
                       oom_figure(failure, OOM_capacity_bytes) != NULL;
    return is_of_metal || oom_is_form(failure, "four_gigabytes") || oom_is_form(failure, "buffer_limit");
}

bool oom_is_past_any_device(const struct oom_failure *failure)
{
    const uint64_t largest_bytes = UINT64_C(640) << 30; /* the largest that is sold has 512 GiB, shared with its host */
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes);
    const enum oom_memory memory = failure->memory_class;
    bool is_of_device = memory == OOM_MEMORY_hbm || memory == OOM_MEMORY_gpu || memory == OOM_MEMORY_device;
    return needed != NULL && needed->value >= largest_bytes && is_of_device && !oom_is_compile(failure);
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

/* A plan's rows count an allocation twice that is both a parameter and a result; its total counts it once. */
uint64_t oom_shared_output_bytes(const struct oom_failure *failure)
{
    enum { ROUNDING_PARTS = 100 };
    const struct oom_figure *stated = oom_figure(failure, OOM_shared_bytes),
                            *arguments = oom_figure(failure, OOM_arguments_bytes),
                            *results = oom_figure(failure, OOM_output_bytes),
                            *temporaries = oom_figure(failure, OOM_program_bytes);
    if (stated != NULL)
        return stated->value;
    if (!oom_has_assignment(failure) || results == NULL)
        return 0;
    uint64_t total = failure->figures[OOM_total_bytes].value;
    uint64_t sum = sum_add_unsigned(arguments->value, results->value);
    sum = sum_add_unsigned(sum, temporaries != NULL ? temporaries->value : 0);
    uint64_t twice = sum > total ? sum - total : 0;
    uint64_t most = arguments->value < results->value ? arguments->value : results->value;
    return twice <= total / ROUNDING_PARTS ? 0 : twice < most ? twice : most;
}

/* Less than this part of what is allocated is what any allocator keeps, and no reason; this much is a reason on any
 * device. */
enum { PIECES_PARTS = 20, PIECES_BYTES = 1 << 30 };

bool oom_keeps_much(const struct oom_failure *failure)
{
    const struct oom_figure *allocated = oom_figure(failure, OOM_allocated_bytes);
    uint64_t kept = oom_unallocated(failure);
    return kept >= PIECES_BYTES || kept >= (allocated != NULL ? allocated->value / PIECES_PARTS : 0);
}

/* What a context, libraries and the driver take besides is no other process. */
#define BESIDES_BYTES (UINT64_C(2) << 30)

uint64_t oom_others(const struct oom_failure *failure)
{
    const struct oom_figure *others = oom_figure(failure, OOM_others_bytes),
                            *left = oom_figure(failure, OOM_free_bytes),
                            *capacity = oom_figure(failure, OOM_capacity_bytes),
                            *own = oom_figure(failure, OOM_process_bytes);
    uint64_t held = own != NULL ? own->value : 0, reserved = oom_unallocated(failure);
    const struct oom_figure *allocated = oom_figure(failure, OOM_allocated_bytes);
    /* Without "this process" a list may hold the process itself, unless it is less than its allocator has. */
    bool is_told_apart = own != NULL || (others != NULL && allocated != NULL &&
                                         others->value < sum_add_unsigned(allocated->value, reserved));
    if (others != NULL || left == NULL || capacity == NULL)
        return others != NULL && is_told_apart ? others->value : 0;
    if (failure->family == OOM_FAMILY_vllm)
        return capacity->value > left->value ? capacity->value - left->value : 0;
    if (failure->family != OOM_FAMILY_torch_gpu || oom_figure(failure, OOM_allocated_bytes) == NULL)
        return 0;
    reserved = sum_add_unsigned(reserved, failure->figures[OOM_allocated_bytes].value);
    if (held < reserved)
        held = sum_add_unsigned(reserved, BESIDES_BYTES);
    held = sum_add_unsigned(held, left->value);
    return capacity->value > held ? capacity->value - held : 0;
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
