/* SPDX-License-Identifier: Apache-2.0
 * replay_write.c: see views.h. */
#include "views/memory_profile/views.h"

static int64_t size_of(int64_t bytes) { return bytes < 0 ? -bytes : bytes; }

static void figures_write(struct json *json, const struct memory_profile_replay *replay)
{
    json_key_bool(json, "is_whole", replay->is_whole);
    json_key_bool(json, "is_exact", replay->is_exact);
    json_key_bool(json, "is_unchecked", replay->is_unchecked);
    if (json_key_object_if(json, "difference", !replay->is_exact && !replay->is_unchecked)) {
        json_key_uint(json, "event", replay->differs_at);
        json_key_bool(json, "is_given_back", replay->recorded_bytes < 0 || replay->made_bytes < 0);
        json_key_int(json, "recorded_bytes", size_of(replay->recorded_bytes));
        json_key_int(json, "made_bytes", size_of(replay->made_bytes));
        json_object_end(json);
    }
    json_key_uint(json, "segment_count", replay->segment_count);
    json_key_uint(json, "made_segment_count", replay->made_count);
    json_key_uint(json, "moved_block_count", replay->moved_count);
    json_key_int(json, "peak_bytes", replay->requested_bytes);
    json_key_int(json, "allocated_bytes", replay->allocated_bytes);
    json_key_int(json, "reserved_bytes", replay->reserved_bytes);
    json_key_int(json, "made_reserved_bytes", replay->made_reserved_bytes);
    json_key_known(json, "limit_bytes", replay->limit_bytes > 0 ? replay->limit_bytes : -1);
}

void memory_profile_replay_write(struct json *json, const struct memory_profile_replay *replay)
{
    if (!json_key_object_if(json, "replay", replay != NULL))
        return;
    json_key_text(json, "sentence", replay->sentence);
    json_key_bool(json, "is_known", replay->why_not == NULL);
    if (replay->why_not == NULL)
        figures_write(json, replay);
    json_object_end(json);
}
