/* SPDX-License-Identifier: Apache-2.0
 * advice_runtime.c: what lies outside of the program: blocks of a kernel, flags, what else takes the device's memory,
 * another chip. Its effects are stated where a file tells them; else they are guesses. */
#include "verdict/advice.h"

#include "base/sum.h"
#include "model/memory_profile/model.h"
#include "plan/memory_fit.h"
#include "read/device.h"
#include "read/hlo/chip.h"
#include "read/hlo/shape.h"

/* A program that is over by more than this is not on the edge: more recomputation by the compiler will not do. */
enum { EDGE_PERCENT = 25, LITTLE = 10 };

static const char RESERVE_MORE[] = "XLA_PYTHON_CLIENT_MEM_FRACTION=.95  # or XLA_PYTHON_CLIENT_ALLOCATOR=platform, "
                                   "XLA_PYTHON_CLIENT_PREALLOCATE=false";

static struct verdict_advice guess_of(const char *title, const char *call)
{
    return (struct verdict_advice){.title = title,
                                   .saves_bytes = -1,
                                   .lands_at_bytes = -1,
                                   .confidence = VERDICT_GUESS,
                                   .call = call,
                                   .extra_flops_percent = -1};
}

static bool is_run_time(const struct advice *advice)
{
    return advice->facts->failure != NULL && advice->facts->is_jax && !advice->facts->is_compile &&
           !advice->facts->is_host;
}

static bool is_of_gpu(const struct advice *advice)
{
    const struct oom_failure *failure = advice->facts->failure;
    return failure != NULL && (failure->family == OOM_FAMILY_gpu_xla || failure->family == OOM_FAMILY_gpu_bfc);
}

static const char *text_evidence(const struct advice *advice)
{
    return facts_sentence(advice->facts, &advice->facts->parts->failure->answer);
}

/* ---- a kernel ---- */

/* "[16384,4096]" in a text like "f32[16384,4096]{1,0}", as numbers; how many; 0: none. */
static uint32_t dimensions_read(struct str text, int64_t *dimensions, uint32_t max)
{
    const char *at = memchr(text.data, '[', text.length), *end = text.data + text.length;
    uint32_t count = 0;
    while (at != NULL && ++at < end && count < max && *at >= '0' && *at <= '9') {
        int64_t value = 0;
        for (; at < end && *at >= '0' && *at <= '9' && value < INT32_MAX; at++)
            value = 10 * value + (*at - '0');
        dimensions[count++] = value;
        if (at >= end || *at != ',')
            break;
    }
    return count;
}

/* The shape of the block that is too large, halved in its first dimension until it fits; NULL where the text names
 * none. A window's own shape stands in its label. */
static const char *smaller_block(const struct advice *advice, const struct oom_buffer *buffer)
{
    const struct verdict_fit *fit = &advice->facts->out->fit;
    static const char window[] = "The window shape is ";
    struct str text = oom_bare_shape(buffer->shape.text), label = buffer->label.text;
    const char *found = label.data == NULL ? NULL : memmem(label.data, label.length, window, sizeof(window) - 1);
    int64_t dimensions[8], needed = fit->needed_bytes;
    if (found != NULL)
        text = oom_bare_shape((struct str){found + sizeof(window) - 1,
                                           (size_t)(label.data + label.length - found) - (sizeof(window) - 1)});
    if (text.data == NULL || buffer->is_shape_of_result || needed <= 0 || fit->capacity_bytes <= 0)
        return NULL;
    uint32_t count = dimensions_read(text, dimensions, 8);
    size_t type = 0;
    while (type < text.length && text.data[type] != '[')
        type++;
    if (count == 0)
        return NULL;
    while (needed > fit->capacity_bytes / 2 && dimensions[0] > 8) {
        needed /= 2;
        dimensions[0] /= 2;
    }
    const char *shape = arena_format(advice->facts->arena, "%.*s[%lld", (int)type, text.data, (long long)dimensions[0]);
    for (uint32_t i = 1; i < count; i++)
        shape = arena_format(advice->facts->arena, "%s,%lld", shape, (long long)dimensions[i]);
    return arena_format(advice->facts->arena, "%s] (%s) instead of %.*s", shape, facts_size(advice->facts, needed),
                        (int)(type + 1 <= text.length ? strcspn(text.data, "]") + 1 : text.length), text.data);
}

/* "": of a kernel in CUDA nothing is known that it is written with. */
static const char *gpu_block_call(const struct oom_failure *failure)
{
    if (failure->family == OOM_FAMILY_triton)
        return "triton.Config({\"BLOCK_M\": …, \"BLOCK_N\": …}, num_stages=…)";
    return failure->framework == OOM_FRAMEWORK_jax || oom_is_form(failure, "mosaic") ? "pl.BlockSpec(block_shape=…)"
                                                                                     : "";
}

void advice_find_block_size(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct verdict_fit *fit = &facts->out->fit;
    if (!facts->is_on_chip)
        return;
    const struct oom_group group = oom_group_largest(facts->failure);
    const char *block = group.count > 0 ? smaller_block(advice, group.buffer) : NULL;
    bool is_scratch = group.count > 0 && group.buffer->label.text.data != NULL &&
                      memmem(group.buffer->label.text.data, group.buffer->label.text.length, "scratch", 7) != NULL;
    bool is_smem = strcmp(fit->space, "SMEM") == 0, is_prefetched = is_smem && !is_scratch;
    struct verdict_advice item = {
        .title = is_prefetched
                     ? "Make the tables that the kernel prefetches as scalars smaller, or split the call"
                     : arena_format(facts->arena, "Make the kernel's %s smaller", is_scratch ? "scratch" : "blocks"),
        .saves_bytes = fit->over_bytes,
        .lands_at_bytes = fit->over_bytes < 0 ? -1 : fit->capacity_bytes,
        .confidence = VERDICT_BOUND,
        .reason = "At least this much has to go; the text does not say what else the kernel keeps on the chip.",
        .evidence = text_evidence(advice),
        .extra_flops_percent = -1,
    };
    const char *what = facts->failure->memory_class == OOM_MEMORY_gpu_shared ? gpu_block_call(facts->failure)
                       : is_prefetched ? "pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=…, …)"
                       : !is_scratch   ? "pl.BlockSpec(block_shape=…)"
                       : is_smem       ? "scratch_shapes=[pltpu.SMEM(…)]"
                                       : "scratch_shapes=[pltpu.VMEM(…)]";
    item.call = what[0] == '\0' ? ""
                : is_prefetched ? arena_format(facts->arena, "%s  # fewer or smaller scalars", what)
                : block != NULL ? arena_format(facts->arena, "%s  # %s", what, block)
                                : arena_format(facts->arena, "%s  # half of the block in one dimension", what);
    advice_add(advice, item);
}

/* ---- flags ---- */

struct flag {
    const char *title, *call, *reason;
};

static void flag_add(struct advice *advice, const struct flag *flag, const char *evidence, uint32_t effort)
{
    struct verdict_advice item = guess_of(flag->title, flag->call);
    item.reason = flag->reason;
    item.evidence = evidence;
    item.effort = effort;
    advice_add(advice, item);
}

static const struct flag recompute_flags[] = {
    {"Let the compiler recompute at the peak", "LIBTPU_INIT_ARGS=\"--xla_tpu_rematerialization_algo=PEAK_PRIORITY\"",
     "It recomputes where the peak is; the step may be slower. How much it saves is known only by compiling."},
    {"Let the compiler recompute as if there were less memory", NULL /* smaller_limit */,
     "Its recomputation pass works harder to fit a smaller limit; the step may be slower. What it saves is known only "
     "by compiling."},
    {"Let the compiler recompute larger blocks",
     "LIBTPU_INIT_ARGS=\"--xla_tpu_rematerialization_max_block_size_limit=32 "
     "--xla_tpu_rematerialization_block_effort_factor=10.0\"",
     "It looks at more ways to recompute; compiling takes longer. What it saves is known only by compiling."},
    {"Let the compiler recompute before it fuses", "LIBTPU_INIT_ARGS=\"--xla_tpu_pre_fusion_remat=true\"",
     "A further pass before fusion; compiling takes longer, and results may differ in their last digits. What it saves "
     "is known only by compiling."},
};

static const struct flag shared_memory = {
    "Give programs a smaller share for temporaries",
    "LIBTPU_INIT_ARGS=\"--tpu_shared_memory_percent=50\"  # of the memory; lower leaves more to arrays",
    "Programs reserve less in advance, and may run slower. How much it saves is known only by running."};
static const struct flag scoped_limit = {
    "Let the kernel have more of the on-chip memory",
    "pltpu.CompilerParams(vmem_limit_bytes=…)  # of all kernels: "
    "LIBTPU_INIT_ARGS=\"--xla_tpu_scoped_vmem_limit_kib=…\"",
    "The limit is the compiler's own, not the chip's; what is left for other uses of the memory shrinks."};

/* The compiler's own limit for one kernel is 16 or 32 MiB, on TPU v7x 64; chips from v5e on have more. */
enum { SCOPED_VMEM_BYTES = 64 << 20 };

static bool is_scoped_vmem(const struct verdict_facts *facts)
{
    int64_t capacity = facts->out->fit.capacity_bytes;
    return facts->is_on_chip && facts->failure->memory_class == OOM_MEMORY_vmem &&
           (oom_is_form(facts->failure, "scoped_vmem") || (capacity >= 0 && capacity <= SCOPED_VMEM_BYTES));
}

/* The most that recomputing can save: of a plan what the forward pass saves for the backward pass, for other
 * temporaries are products, gradients, sorted arrays, which nothing cheap makes again; but nothing of what a loop
 * stacks, which the compiler never makes again, and nothing where it recomputes already and that was not enough. Else
 * the temporaries that the text states. -1: not known. */
static int64_t recomputable_bytes(const struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t bytes = 0;
    if (facts->space == NULL || facts->total_bytes <= 0)
        return facts_figure(facts, OOM_program_bytes);
    if (advice->has_program && advice->start.without_remat != NULL)
        return 0;
    for (uint32_t i = 0; i < facts->space->row_count; i++) {
        const struct plan_row *row = &facts->space->rows[i];
        if (row->choice.category == CATEGORY_SAVED_ACTIVATION && plan_row_is_alive(row, facts->space->peak_step) &&
            (row->patterns & 1U << PATTERN_SCAN_RESIDUALS) == 0)
            bytes = sum_add(bytes, row->bytes);
    }
    return bytes;
}

/* As if the chip had less by what is missing. */
static const char *smaller_limit(const struct verdict_facts *facts)
{
    const struct verdict_fit *fit = &facts->out->fit;
    return arena_format(facts->arena, "LIBTPU_INIT_ARGS=\"--xla_tpu_max_hbm_size_mib=%lld\"",
                        (long long)((fit->capacity_bytes - fit->over_bytes) >> 20));
}

void advice_find_flags(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct verdict_fit *fit = &facts->out->fit;
    const char *evidence = facts->parts->failure != NULL ? text_evidence(advice) : fit->sentence;
    bool is_tpu = facts->failure != NULL
                      ? facts->failure->family == OOM_FAMILY_tpu_compile
                      : facts->parts->plan != NULL && facts->parts->plan->platform == SPACE_PLATFORM_TPU;
    bool is_on_edge =
        fit->over_bytes > 0 && fit->capacity_bytes > 0 && fit->over_bytes <= fit->capacity_bytes / 100 * EDGE_PERCENT;
    int64_t recomputable = recomputable_bytes(advice);
    is_on_edge = is_on_edge && (recomputable < 0 || recomputable >= fit->over_bytes);
    if (is_tpu && !facts->is_on_chip && facts->out->fits == VERDICT_FITS_NO && is_on_edge)
        for (uint32_t i = 0; i < sizeof(recompute_flags) / sizeof(recompute_flags[0]); i++) {
            struct flag flag = recompute_flags[i];
            flag.call = flag.call != NULL ? flag.call : smaller_limit(facts);
            flag_add(advice, &flag, evidence, i);
        }
    if (facts->failure == NULL)
        return;
    if (is_scoped_vmem(facts))
        flag_add(advice, &scoped_limit, evidence, 0);
    if (facts->failure->family == OOM_FAMILY_tpu_program_load)
        flag_add(advice, &shared_memory, evidence, 5);
}

/* ---- what else is there ---- */

int64_t advice_line_bytes(const struct verdict_facts *facts, const char *filter)
{
    for (uint32_t i = 0; i < facts->live.line_count; i++)
        if (facts->live.lines[i].filter != NULL && strcmp(facts->live.lines[i].filter, filter) == 0)
            return facts->live.lines[i].bytes;
    return -1;
}

static const char let_go[] = "del x  # or keep numbers, not arrays: losses.append(float(loss))";

/* What grows from profile to profile. */
static void growth_say(const struct verdict_facts *facts, struct verdict_advice *item)
{
    const struct profiles_growth *growth = &facts->growth;
    item->saves_bytes = growth->bytes;
    item->confidence = VERDICT_BOUND;
    item->reason = "This much more is alive in the last profile than in the first; some of it may be needed.";
    item->evidence = arena_format(facts->arena, "Live arrays grow by %s from %s to %s.",
                                  facts_size(facts, growth->bytes), growth->first_name, growth->last_name);
    if (growth->place != NULL)
        item->title = arena_format(facts->arena, "Free what %s allocates and keeps", growth->place);
}

/* What the line made that holds most; of a program whose plan is known, no more than its arguments leave. */
static void line_say(const struct verdict_facts *facts, struct verdict_advice *item)
{
    const struct live_line *line = &facts->live.lines[0];
    int64_t besides = facts_live_besides_bytes(facts), needed = facts->out->fit.needed_bytes;
    item->title = arena_format(facts->arena, "Free what %s makes and keeps", line->place);
    item->saves_bytes = line->bytes < besides ? line->bytes : besides;
    item->confidence = VERDICT_BOUND;
    item->reason = "This much was live when the request failed; whether it is still needed is not known.";
    item->evidence =
        arena_format(facts->arena, "%s of the %s of live arrays are from %s.", facts_size(facts, line->bytes),
                     facts_size(facts, facts->live.array_bytes), line->place);
    item->filter = line->filter;
    item->is_of_cause = item->saves_bytes >= needed;
}

void advice_find_leak(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct profiles_growth *growth = &facts->growth;
    if (facts->failure != NULL ? !is_run_time(advice) || fit_is_past_device(facts) : !growth->grows)
        return;
    /* what is known to be little is not worth freeing */
    if (!growth->grows && facts->is_live_known && facts->live.array_bytes < facts->out->fit.needed_bytes / LITTLE)
        return;
    struct verdict_advice item = guess_of("Free arrays that are no longer needed", let_go);
    item.reason = "A device profile shows which arrays are alive, and since when; the text does not.";
    if (facts->failure != NULL)
        item.evidence = text_evidence(advice);
    if (growth->grows)
        growth_say(facts, &item);
    else if (facts->out->cause.kind == VERDICT_CAUSE_LIVE_ARRAYS && facts->is_live_known)
        line_say(facts, &item);
    else if (facts->out->cause.kind == VERDICT_CAUSE_LIVE_ARRAYS && advice->has_program)
        item.is_of_cause = true;
    if (facts->parts->profiles != NULL) {
        item.tool = "device_memory";
        item.effort = 1;
    }
    advice_add(advice, item);
}

void advice_find_fewer_programs(struct advice *advice)
{
    if (!is_run_time(advice) || advice->facts->failure->family != OOM_FAMILY_tpu_program_load)
        return;
    struct verdict_advice item =
        guess_of("Load fewer programs at a time", "jax.clear_caches()  # or: one jitted function instead of several");
    item.reason = "Each jitted function is a separate program on the device for each shape that it is called with.";
    item.evidence = text_evidence(advice);
    advice_add(advice, item);
}

void advice_find_fragmentation(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    bool is_of_text = facts->failure != NULL; /* else of a trace */
    if (facts->moment != NULL || facts->out->cause.kind != VERDICT_CAUSE_FRAGMENTATION ||
        (is_of_text && !is_run_time(advice)))
        return;
    bool is_bfc = is_of_text && facts->failure->family == OOM_FAMILY_gpu_bfc;
    struct verdict_advice item =
        guess_of("Allocate first what is large and stays alive",
                 is_bfc              ? "TF_GPU_ALLOCATOR=cuda_malloc_async"
                 : is_of_gpu(advice) ? "XLA_PYTHON_CLIENT_ALLOCATOR=platform  # slow, but leaves no holes"
                                     : "state = jax.device_put(state)  # before anything that is small and kept");
    item.reason = "Enough is free, but no piece is large enough: earlier allocations that stay alive split it.";
    item.evidence = is_of_text ? text_evidence(advice) : facts->out->cause.text;
    advice_add(advice, item);
}

/* Beside what was taken in advance there was no room. */
static void reserve_less(struct advice *advice)
{
    bool is_tensorflow = advice->facts->failure->framework == OOM_FRAMEWORK_tensorflow;
    struct verdict_advice item =
        guess_of(is_tensorflow ? "Let TensorFlow take memory as needed" : "Let JAX reserve less of the device",
                 is_tensorflow ? "TF_FORCE_GPU_ALLOW_GROWTH=true"
                               : "XLA_PYTHON_CLIENT_MEM_FRACTION=.6  # or XLA_PYTHON_CLIENT_PREALLOCATE=false");
    item.evidence = advice->facts->out->cause.text;
    item.reason = "The text does not say how much the allocator took, nor how much the driver needs outside of it.";
    advice_add(advice, item);
}

/* The device is large enough, but JAX's default share of it is not. */
static void reserve_more(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    struct verdict_advice item = guess_of("Let JAX reserve more of the device", RESERVE_MORE);
    item.evidence =
        arena_format(facts->arena, "JAX takes %s of the %s by default.", facts_size(facts, facts->out->fit.share_bytes),
                     facts_size(facts, facts->out->fit.capacity_bytes));
    item.reason = "How much of the device other processes hold is not known.";
    item.is_of_cause = true;
    advice_add(advice, item);
}

void advice_find_preallocation(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    if (facts->out->cause.kind == VERDICT_CAUSE_PREALLOCATION) {
        reserve_less(advice);
        return;
    }
    int64_t capacity = facts_figure(facts, OOM_capacity_bytes), left = facts_figure(facts, OOM_free_bytes),
            total = facts_figure(facts, OOM_total_bytes), device = fit_device_bytes(facts);
    if (device >= 0 && total > device)
        return; /* no share of the device holds all that the program was given */
    if (facts->out->fits == VERDICT_FITS_PERHAPS && facts->out->fit.share_bytes >= 0) {
        reserve_more(advice);
        return;
    }
    if (!is_of_gpu(advice) || !is_run_time(advice) || fit_is_past_device(facts))
        return;
    bool is_other = facts->out->cause.kind == VERDICT_CAUSE_OTHER_PROCESS;
    struct verdict_advice item = guess_of(
        is_other ? "Make room: another process holds memory on the device" : "Let JAX reserve more of the device",
        is_other ? "nvidia-smi  # which process; then: XLA_PYTHON_CLIENT_PREALLOCATE=false" : RESERVE_MORE);
    item.evidence = text_evidence(advice);
    if (is_other && capacity >= 0 && left >= 0)
        item.evidence = arena_format(facts->arena, "Others hold %s of %s.", facts_size(facts, capacity - left),
                                     facts_size(facts, capacity));
    item.reason =
        "JAX takes " MEMORY_FIT_SHARE_WORDS " of the device by default; the text does not say what others hold.";
    advice_add(advice, item);
}

/* ---- another chip ---- */

/* Compiles for that chip without having one; "" where libtpu is not what compiles for it. */
static const char *topology_call(const struct verdict_facts *facts, const struct device *device)
{
    char name[CHIP_TOPOLOGY_SIZE];
    struct err err = ERR_INIT;
    struct chip chip;
    if (!facts->is_jax || !chip_of_device(device, &chip) || !chip_topology(&chip, name, &err))
        return "";
    return arena_format(
        facts->arena,
        "jax.experimental.topologies.get_topology_desc(\"%s\", platform=\"tpu\")  # compiles for it, no chip is needed",
        name);
}

/* The platform of the device that was too small. A program that is not optimized yet does not name its target. */
static enum space_platform platform_of(const struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct device *device =
        facts->parts->around.capacity.device != NULL ? device_named(facts->parts->around.capacity.device) : NULL;
    if (facts->parts->plan != NULL && facts->parts->plan->platform != SPACE_PLATFORM_UNKNOWN)
        return facts->parts->plan->platform;
    if (device != NULL)
        return device->platform;
    bool is_gpu = facts->failure != NULL && facts->failure->memory_class == OOM_MEMORY_gpu;
    if (is_gpu || is_of_gpu(advice) || facts->parts->around.capacity.is_of_gpu)
        return SPACE_PLATFORM_GPU;
    return facts->failure != NULL && facts->failure->family == OOM_FAMILY_tpu_compile ? SPACE_PLATFORM_TPU
                                                                                      : SPACE_PLATFORM_UNKNOWN;
}

void advice_find_larger_chip(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct verdict_fit *fit = &facts->out->fit;
    const struct device *best = NULL, *device;
    enum space_platform platform = platform_of(advice);
    /* Else what was needed is not the whole program. */
    bool is_of_device = facts->failure == NULL ? facts->moment == NULL : facts->is_compile && !facts->is_on_chip;
    if (facts->out->fits != VERDICT_FITS_NO || !is_of_device || fit->needed_bytes < 0 || fit->capacity_bytes < 0)
        return;
    for (size_t i = 0; (device = device_at(i)) != NULL; i++) {
        int64_t has = device->available_bytes > 0 ? device->available_bytes : device->physical_bytes;
        int64_t least = best == NULL                ? INT64_MAX
                        : best->available_bytes > 0 ? best->available_bytes
                                                    : best->physical_bytes;
        if (platform != SPACE_PLATFORM_UNKNOWN && device->platform == platform && has >= fit->needed_bytes &&
            has > fit->capacity_bytes && has < least)
            best = device;
    }
    if (best == NULL)
        return;
    int64_t has = best->available_bytes > 0 ? best->available_bytes : best->physical_bytes;
    struct verdict_advice item = {
        .title = arena_format(facts->arena, "Run it on a larger chip: %s has %s", best->title, facts_size(facts, has)),
        .saves_bytes = -1,
        .lands_at_bytes = -1,
        .confidence = VERDICT_BOUND,
        .reason = "For another chip the compiler makes a new layout, which may need more or less.",
        .evidence = arena_format(facts->arena, "%s is the smallest in the table of devices that has %s.", best->title,
                                 facts_size(facts, fit->needed_bytes)),
        .call = topology_call(facts, best),
        .extra_flops_percent = -1,
    };
    struct verdict_advice *added = advice_add(advice, item);
    added->lands_at_bytes = fit->needed_bytes;
    added->fits = VERDICT_FITS_PERHAPS;
}
