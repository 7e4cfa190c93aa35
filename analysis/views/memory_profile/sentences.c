/* SPDX-License-Identifier: Apache-2.0 */
#include "views/memory_profile/sentences.h"

#include "base/size_text.h"
#include "model/memory_profile/end.h"
#include "model/memory_profile/finding.h"
#include "model/memory_profile/replay.h"
#include "model/memory_profile/waste.h"

const struct finding *memory_profile_sentences_addresses(const struct memory_profile_sentences_holes *holes,
                                                         struct arena *arena)
{
    struct finding *said = finding_begin(arena, "addresses", NULL);
    finding_count(said, "", holes->block_count, "block");
    finding_count(said, " and ", holes->hole_count, "hole");
    if (holes->largest_bytes > 0) {
        finding_text(said, ". The largest hole between them has ");
        finding_figure(said, (int64_t)holes->largest_bytes, "largest_hole");
    }
    finding_text(said, ".");
    if (holes->unknown_bytes != 0) {
        finding_text(said, " ");
        finding_figure(said, holes->unknown_bytes, "unknown");
        finding_text(said, " are in use at addresses that are not in the trace: a hole may be one of these.");
    }
    return finding_end(said);
}

/* Nothing where there are no such bytes. */
static void sentences_also(struct finding *said, uint64_t bytes, const char *words)
{
    if (bytes == 0)
        return;
    finding_text(said, " ");
    finding_size(said, (int64_t)bytes);
    finding_text(said, "%s", words);
}

const struct finding *memory_profile_sentences_segments(const struct memory_profile_held *held,
                                                        const struct memory_profile_sentences_sums *sums,
                                                        struct arena *arena)
{
    if (held->segment_count == 0)
        return NULL;
    uint64_t rounding = held->used_bytes > held->requested_bytes ? held->used_bytes - held->requested_bytes : 0;
    struct finding *said = finding_begin(arena, "segments", NULL);
    finding_size(said, (int64_t)held->reserved_bytes);
    finding_count(said, " in ", held->segment_count, "segment");
    finding_text(said, ", ");
    finding_size(said, (int64_t)sums->free_bytes);
    finding_text(said, " of it free");
    if (sums->largest_hole_bytes > 0) {
        finding_count(said, " in ", sums->hole_count, "hole");
        finding_text(said, "; the largest has ");
        finding_figure(said, (int64_t)sums->largest_hole_bytes, "largest_hole");
    }
    finding_text(said, ".");
    if (sums->unused_bytes > 0) {
        sentences_also(said, sums->unused_bytes, " in segments without a block, which ");
        finding_name(said, STR("torch.cuda.empty_cache()"));
        finding_text(said, " gives back.");
    }
    sentences_also(said, held->pending_bytes, " are freed, but a stream still uses them.");
    sentences_also(said, rounding, " are lost to rounding.");
    sentences_also(said, held->outside_bytes, " lie in segments that are not in the snapshot.");
    return finding_end(said);
}

/* "850 ns", "12.3 us", "4.12 ms", "12.34 s": a length of time in its own unit, as the pages print it. */
static void sentences_duration(struct finding *said, int64_t ps)
{
    static const struct {
        const char *name;
        double ps;
    } units[] = {{"s", 1e12}, {"ms", 1e9}, {"\xC2\xB5s", 1e6}, {"ns", 1e3}};
    size_t unit = 0;
    while (unit < 3 && (double)ps < units[unit].ps)
        unit++;
    double value = (double)ps / units[unit].ps;
    char seconds[COUNT_TEXT_BYTES];
    bool is_whole = value >= 100 || value == (double)(int64_t)value;
    if (value >= 1000) /* of seconds alone */
        finding_text(said, "%s s", size_text_count(seconds, (uint64_t)(value + 0.5)));
    else
        finding_text(said, "%.*f %s", is_whole ? 0 : value >= 10 ? 1 : 2, value, units[unit].name);
}

const struct finding *memory_profile_sentences_fragmentation(const struct memory_profile_pool *pool, uint32_t worst,
                                                             int64_t failing_ps, struct arena *arena)
{
    const struct memory_profile *profile = pool->profile;
    if (worst == PROFILE_NONE)
        return NULL;
    struct finding *said = finding_begin(arena, "fragmentation", NULL);
    finding_text(said, "Worst");
    memory_profile_finding_time(said, profile->time_ps[worst]);
    finding_text(said, ": ");
    finding_size(said, memory_profile_free_bytes(profile, worst));
    finding_text(said, " free, the largest free chunk ");
    finding_figure(said, memory_profile_waste_chunk(profile, worst), "largest_chunk");
    finding_text(said, ".");
    if (pool->largest_request != PROFILE_NONE) {
        struct str op = memory_profile_text(profile, profile->events.whats[profile->what[pool->largest_request]].op);
        finding_text(said, " The largest request asked for ");
        finding_figure(said, pool->largest_request_bytes, "largest_request");
        if (op.length > 0) {
            finding_text(said, " (");
            finding_name(said, op);
            finding_text(said, ")");
        }
        if (failing_ps > 0) {
            finding_text(said, "; it would have failed for ");
            sentences_duration(said, failing_ps);
            finding_text(said, " of the time.");
        } else {
            finding_text(said, "; it would have fitted at any time.");
        }
    }
    return finding_end(said);
}

const char *memory_profile_sentences_balance(const struct memory_profile_live *live, int64_t total_bytes,
                                             struct arena *arena)
{
    struct memory_profile_end end;
    int64_t in_use_bytes = memory_profile_in_use_after(live->pool, live->count);
    struct finding *said = finding_begin(arena, "balance", NULL);
    finding_size(said, total_bytes);
    if (live->unaccounted_bytes == 0) {
        finding_text(said, " = %s", memory_profile_end_of(live->pool, &end) ? "in use" : "curve at this time");
    } else if (total_bytes == in_use_bytes) {
        finding_text(said, " = curve at this time, ");
        finding_change(said, live->unaccounted_bytes);
        finding_text(said, " of it not explained by any event");
    } else {
        finding_text(said, ", but the curve says ");
        finding_size(said, in_use_bytes);
        finding_text(said, ": ");
        finding_change(said, in_use_bytes - total_bytes);
        finding_text(said, " unexplained");
    }
    return finding_end(said)->sentence;
}
