/* SPDX-License-Identifier: Apache-2.0
 * remedy_host.c: what texts about the host's memory say of their remedies: arrays, and limits that killed a process. */
#include "model/oom/meaning.h"
#include "verdict/remedy.h"

/* What a smaller type takes of it is half; NULL: there is none. */
static const char *half_type(struct str type)
{
    static const char *const halves[][2] = {{"float64", "float32"},      {"int64", "int32"},     {"uint64", "uint32"},
                                            {"complex128", "complex64"}, {"float32", "float16"}, {"int32", "int16"}};
    for (size_t i = 0; type.data != NULL && i < sizeof(halves) / sizeof(halves[0]); i++)
        if (str_equal(type, str_of(halves[i][0])))
            return halves[i][1];
    return NULL;
}

bool remedy_numpy_half(const struct advice *advice, struct verdict_advice *item)
{
    const struct oom_buffers *listed = &advice->facts->failure->lists[OOM_ALLOCATIONS];
    const struct verdict_facts *facts = advice->facts;
    int64_t needed = facts_figure(facts, OOM_needed_bytes);
    struct str type = listed->count > 0 ? listed->items[0].allocation_type.text : STR("");
    const char *half = half_type(type);
    if (half == NULL || remedy_is_small_of_host(advice) || fit_wrong_size(facts) != NULL)
        return false;
    item->title = arena_format(facts->arena, "Use elements of half the size: %s instead of %.*s", half,
                               (int)type.length, type.data);
    item->call = arena_format(facts->arena, "dtype=numpy.%s", half);
    item->reason = "Each element has half the bytes; the text does not say what the host has.";
    if (needed > 0) {
        item->saves_bytes = needed / 2;
        item->lands_at_bytes = needed - needed / 2;
        item->confidence = VERDICT_EXACT;
        item->fits = VERDICT_FITS_PERHAPS;
    }
    return true;
}

bool remedy_wrong_size(const struct advice *advice, struct verdict_advice *item)
{
    item->title = fit_wrong_size(advice->facts);
    item->reason = FIT_WRONG_SIZE_REASON;
    item->is_of_cause = true;
    return item->title != NULL;
}

bool remedy_loader(const struct advice *advice, struct verdict_advice *item)
{
    (void)item;
    return advice->facts->failure->has_loader && !oom_is_form(advice->facts->failure, "lmkd");
}

/* Build tools start the virtual machine themselves, each with its own setting. */
bool remedy_java(const struct advice *advice, struct verdict_advice *item)
{
    bool is_classes = oom_is_form(advice->facts->failure, "java_classes");
    switch (advice->facts->failure->program) {
    case OOM_PROGRAM_gradle:
        item->call =
            is_classes
                ? "org.gradle.jvmargs=-Xmx4g -XX:MaxMetaspaceSize=1g  # in gradle.properties; "
                  "kotlin.daemon.jvmargs for Kotlin's own process"
                : "org.gradle.jvmargs=-Xmx4g  # in gradle.properties, more than now; kotlin.daemon.jvmargs=-Xmx4g "
                  "for Kotlin's own process";
        break;
    case OOM_PROGRAM_maven:
        item->call =
            is_classes
                ? "MAVEN_OPTS=\"-XX:MaxMetaspaceSize=1g\"  # tests run in a process of their own: argLine of Surefire"
                : "MAVEN_OPTS=-Xmx4g  # more than now; tests run in a process of their own: argLine of Surefire";
        break;
    case OOM_PROGRAM_sbt:
        item->call = is_classes ? "sbt -J-XX:MaxMetaspaceSize=1g …  # or SBT_OPTS, .jvmopts"
                                : "sbt -J-Xmx4g …  # more than now; or SBT_OPTS, .jvmopts";
        break;
    default: break;
    }
    return true;
}

/* "python", or "the process". */
static const char *who(const struct advice *advice)
{
    const struct str name = advice->facts->failure->module.text;
    return name.data != NULL ? arena_text(advice->facts->arena, name) : "The process";
}

static const char growing[] = "It was killed while it grew: the text does not say how much it would have taken.";

bool remedy_group_limit(const struct advice *advice, struct verdict_advice *item)
{
    const char *limit = remedy_size(advice, OOM_capacity_bytes), *held = remedy_size(advice, OOM_process_bytes);
    struct arena *arena = advice->facts->arena;
    item->title = limit[0] == '\0' ? "Raise the limit of its group"
                                   : arena_format(arena, "Raise the limit of its group, %s", limit);
    item->reason = growing;
    if (held[0] != '\0')
        item->evidence = arena_format(arena, "%s held %s%s.", who(advice), held,
                                      limit[0] == '\0' ? "" : arena_format(arena, " of the %s of its group", limit));
    return true;
}

bool remedy_host_full(const struct advice *advice, struct verdict_advice *item)
{
    const char *held = remedy_size(advice, OOM_process_bytes);
    item->title = held[0] == '\0' ? "Run it on a host with more memory"
                                  : arena_format(advice->facts->arena, "Run it where more than %s are free", held);
    item->reason = growing;
    if (held[0] != '\0')
        item->evidence = arena_format(advice->facts->arena, "%s held %s when the host ran out.", who(advice), held);
    return true;
}

/* A host that refuses so little was full before: what asked last is not what fills it. */
enum { SMALL_OF_HOST_BYTES = 1 << 30 };

bool remedy_is_small_of_host(const struct advice *advice)
{
    int64_t asked = facts_figure(advice->facts, OOM_needed_bytes);
    return advice->facts->is_host && asked >= 0 && asked < SMALL_OF_HOST_BYTES;
}

bool remedy_host_room(const struct advice *advice, struct verdict_advice *item)
{
    item->evidence = arena_format(advice->facts->arena, "Only %s were asked for: the memory was full before.",
                                  remedy_size(advice, OOM_needed_bytes));
    item->reason = "The text does not say what held it.";
    return remedy_is_small_of_host(advice);
}

/* A limit that the program set for itself is what stands in the way, whatever the host has. */
bool remedy_own_limit(const struct advice *advice, struct verdict_advice *item)
{
    const char *limit = remedy_size(advice, OOM_capacity_bytes), *held = remedy_size(advice, OOM_total_bytes),
               *needed = remedy_size(advice, OOM_needed_bytes);
    struct arena *arena = advice->facts->arena;
    item->is_of_cause = true;
    if (limit[0] != '\0')
        item->evidence =
            arena_format(arena, "The limit is %s%s%s%s%s.", limit, held[0] == '\0' ? "" : "; in use: ", held,
                         needed[0] == '\0' ? "" : "; requested: ", needed);
    return true;
}

bool remedy_killed(const struct advice *advice, struct verdict_advice *item)
{
    const char *held = remedy_size(advice, OOM_process_bytes), *left = remedy_size(advice, OOM_free_bytes);
    item->reason = growing;
    if (held[0] != '\0')
        item->evidence =
            arena_format(advice->facts->arena, "The container held %s%s.", held,
                         left[0] == '\0' ? "" : arena_format(advice->facts->arena, "; %s were free on the node", left));
    return true;
}

/* At least what it held when it went past its limit, in whole MiB. */
bool remedy_slurm(const struct advice *advice, struct verdict_advice *item)
{
    int64_t held = facts_figure(advice->facts, OOM_total_bytes),
            limit = facts_figure(advice->facts, OOM_capacity_bytes);
    struct arena *arena = advice->facts->arena;
    item->reason = growing;
    item->call = "sbatch --mem=… JOB.sh  # or --mem-per-cpu; --mem=0 is all of the node";
    if (held < 0 || limit < 0)
        return true;
    item->evidence = arena_format(arena, "The job held %s of %s.", facts_size_beside(advice->facts, held, limit),
                                  facts_size_beside(advice->facts, limit, held));
    item->call = arena_format(arena, "sbatch --mem=%lldM JOB.sh  # at least; it was still growing",
                              (long long)(held / (1 << 20) + 1));
    return true;
}

bool remedy_ray(const struct advice *advice, struct verdict_advice *item)
{
    const char *total = remedy_size(advice, OOM_total_bytes), *capacity = remedy_size(advice, OOM_capacity_bytes),
               *held = remedy_size(advice, OOM_process_bytes);
    struct arena *arena = advice->facts->arena;
    item->reason = "The text does not say what the other workers on the node hold.";
    if (total[0] != '\0' && capacity[0] != '\0')
        item->evidence =
            arena_format(arena, "%s of the %s of the node were in use%s.", total, capacity,
                         held[0] == '\0' ? "" : arena_format(arena, ", %s of it by the worker that was killed", held));
    return true;
}
