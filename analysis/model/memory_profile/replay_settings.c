/* SPDX-License-Identifier: Apache-2.0
 * replay_settings.c: the settings of the allocator, as a snapshot tells them and as people change them. */
#include "model/memory_profile/replay_settings.h"

#include "base/size_text.h"
#include "model/memory_profile/replay_program.h"
#include "read/torch/torch_snapshot.h"

#include <stdlib.h>

enum { LAST_DIVISIONS = 1 << 20 };

_Static_assert((int)TORCH_SEGMENT_UNIT_BYTES == (int)CACHING_SMALL_SEGMENT, "one unit of segments");

/* ---- texts ---- */

static struct str cut_at(struct str *rest, char end)
{
    struct str part = *rest;
    for (size_t i = 0; i < rest->length; i++)
        if (rest->data[i] == end) {
            part.length = i;
            *rest = (struct str){rest->data + i + 1, rest->length - i - 1};
            return part;
        }
    *rest = (struct str){rest->data + rest->length, 0};
    return part;
}

static bool is_divisions(uint64_t number) { return number == 0 || (number & (number - 1)) == 0; }

/* "256:1,512:2,>:8": steps from sizes of so many MiB on; ">" is all that are larger, and the first is of all below,
 * too. */
static bool by_size_read(struct str text, uint32_t roundup[CACHING_ROUNDUP_INTERVALS])
{
    uint32_t last = 0;
    bool is_first = true;
    while (text.length > 0) {
        struct str pair = cut_at(&text, ','), size = cut_at(&pair, ':');
        uint64_t mib, divisions;
        bool is_rest = str_equal(size, STR(">"));
        if (!str_number_read(pair, LAST_DIVISIONS, &divisions) || !is_divisions(divisions) ||
            (!is_rest && (!str_number_read(size, LAST_DIVISIONS, &mib) || mib == 0 || !is_divisions(mib))))
            return false;
        uint32_t at = is_rest ? last + 1 : caching_settings_interval((int64_t)mib << 20);
        uint32_t from = is_rest ? at : is_first ? 0 : at, to = is_rest ? CACHING_ROUNDUP_INTERVALS : at + 1;
        for (uint32_t i = from; i < to; i++)
            roundup[i] = (uint32_t)divisions;
        last = is_rest ? CACHING_ROUNDUP_INTERVALS - 1 : at;
        is_first = false;
    }
    return !is_first;
}

static bool roundup_read(struct str text, uint32_t roundup[CACHING_ROUNDUP_INTERVALS])
{
    uint64_t divisions;
    if (str_starts(text, STR("[")) && str_ends(text, STR("]")) && text.length > 1)
        text = (struct str){text.data + 1, text.length - 2};
    if (!str_number_read(text, LAST_DIVISIONS, &divisions))
        return by_size_read(text, roundup);
    for (uint32_t i = 0; i < CACHING_ROUNDUP_INTERVALS; i++)
        roundup[i] = (uint32_t)divisions;
    return is_divisions(divisions);
}

/* Between 0 and 1, written with a point. */
static bool share_read(struct str text, double *share)
{
    char copy[24];
    char *end;
    if (text.length == 0 || text.length >= sizeof(copy) || !(text.data[0] >= '0' && text.data[0] <= '9'))
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    if (copy[strspn(copy, "0123456789.")] != '\0')
        return false;
    *share = strtod(copy, &end);
    return *end == '\0' && *share > 0 && *share <= 1;
}

/* ---- of a snapshot ---- */

static bool has_pages(const struct memory_profile_pool *pool)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    bool has = false;
    for (uint32_t i = 0; i < pool->torch.event_count; i++)
        has |= pool->torch.events[i].action == TORCH_SEGMENT_MAP;
    for (size_t i = 0; i < snapshot->segment_count; i++)
        has |= snapshot->segments[i].device == pool->device && snapshot->segments[i].is_expandable;
    return has;
}

void memory_profile_replay_settings(const struct memory_profile_pool *pool, struct caching_settings *out)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    uint64_t bytes;
    bool is_told = false;
    *out = (struct caching_settings){.is_expandable = false};
    for (size_t i = 0; i < snapshot->setting_count; i++) {
        const struct torch_setting *setting = &snapshot->settings[i];
        if (str_equal(setting->name, STR("expandable_segments"))) {
            is_told = true;
            out->is_expandable = str_equal(setting->value, STR("True"));
        } else if (str_equal(setting->name, STR("max_split_size"))) {
            if (str_number_read(setting->value, (uint64_t)SUM_MAX_BYTES, &bytes))
                out->max_split_bytes = (int64_t)bytes;
        } else if (str_equal(setting->name, STR("garbage_collection_threshold"))) {
            share_read(setting->value, &out->collect_threshold);
        } else if (str_equal(setting->name, STR("roundup_power2_divisions"))) {
            uint32_t roundup[CACHING_ROUNDUP_INTERVALS] = {0};
            if (roundup_read(setting->value, roundup))
                memcpy(out->roundup, roundup, sizeof(roundup));
        }
    }
    if (!is_told)
        out->is_expandable = has_pages(pool);
}

/* ---- as people change them ---- */

static bool replay_settings_refuse(struct err *err, const char *text, const char *why)
{
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "change \"%.60s\": %s", text, why);
}

static bool expandable_apply(struct replay_settings_change *change, struct str value)
{
    change->words = "segments that grow, one for each stream";
    bool is_on = value.length == 0 || str_equal(value, STR("True")) || str_equal(value, STR("true")) ||
                 str_equal(value, STR("1"));
    change->settings.is_expandable = is_on;
    change->call = is_on ? "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
                         : "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False";
    return is_on || str_equal(value, STR("False")) || str_equal(value, STR("false")) || str_equal(value, STR("0"));
}

static bool split_apply(struct replay_settings_change *change, struct str value, struct arena *arena)
{
    uint64_t bytes;
    change->words = "larger blocks stay whole";
    if (!size_text_read(arena_text(arena, value), &bytes) || bytes <= CACHING_LARGE_SEGMENT ||
        bytes % (UINT64_C(1) << 20) != 0)
        return false;
    change->settings.max_split_bytes = (int64_t)bytes;
    change->call =
        arena_format(arena, "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:%llu", (unsigned long long)(bytes >> 20));
    return true;
}

static bool collect_apply(struct replay_settings_change *change, struct str value, struct arena *arena)
{
    change->words = "old free segments are returned above this share of what the process may take";
    if (!share_read(value, &change->settings.collect_threshold) || change->settings.collect_threshold >= 1)
        return false;
    change->call =
        arena_format(arena, "PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:%.*s", (int)value.length, value.data);
    return true;
}

static bool fraction_apply(struct replay_settings_change *change, struct str value, int64_t capacity_bytes,
                           struct arena *arena)
{
    double share;
    change->words = "the process takes no more than this share of the device";
    if (!share_read(value, &share))
        return false;
    change->settings.fraction_bytes = sum_of_real(share * (double)capacity_bytes);
    change->call =
        arena_format(arena, "torch.cuda.set_per_process_memory_fraction(%.*s)", (int)value.length, value.data);
    return true;
}

bool replay_settings_apply(struct replay_settings_change *change, const char *text, int64_t capacity_bytes,
                           struct arena *arena, struct err *err)
{
    struct str value = str_of(text);
    const struct str name = cut_at(&value, '=');
    change->call = change->words = "";
    if (str_equal(name, STR("expandable_segments")))
        return expandable_apply(change, value) ||
               replay_settings_refuse(err, text, "write expandable_segments, or …=False");
    if (str_equal(name, STR("max_split_size")))
        return split_apply(change, value, arena) ||
               replay_settings_refuse(err, text,
                                      "write max_split_size=64MiB: whole MiB, more than 20, as PyTorch requires");
    if (str_equal(name, STR("gc_threshold")))
        return collect_apply(change, value, arena) ||
               replay_settings_refuse(err, text, "write gc_threshold=0.6: above 0 and below 1");
    if (str_equal(name, STR("roundup"))) {
        change->words = "sizes are rounded to steps between powers of two";
        change->call =
            arena_format(arena, "PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:%.*s", (int)value.length, value.data);
        return roundup_read(value, change->settings.roundup) ||
               replay_settings_refuse(err, text, "write roundup=4, or roundup=[256:1,512:2,>:8]: powers of two");
    }
    if (str_equal(name, STR("memory_fraction")) && capacity_bytes < 0)
        return replay_settings_refuse(err, text,
                                      "a fraction of what? Say what the device has: capacity_bytes (--capacity)");
    if (str_equal(name, STR("memory_fraction")))
        return fraction_apply(change, value, capacity_bytes, arena) ||
               replay_settings_refuse(err, text, "write memory_fraction=0.9: above 0, at most 1");
    if (str_equal(name, STR("dtype")) || str_equal(name, STR("autocast")))
        return replay_settings_refuse(
            err, text,
            "snapshots hold no element types and no operations, and norms, softmax and losses stay in float32; "
            "estimate the changed script: `python -m memviewd estimate SCRIPT`");
    return err_set(
        err, ERR_argument, ERR_NO_OFFSET,
        "no such change, but expandable_segments, max_split_size, gc_threshold, roundup, memory_fraction, %s",
        replay_program_names(arena));
}
