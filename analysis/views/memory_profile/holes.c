/* SPDX-License-Identifier: Apache-2.0
 * holes.c: the view "holes": a request against the largest hole of a moment, and who pins the holes: of all stretches
 * of addresses that would hold the request if they were empty, the one with the fewest bytes still allocated in it.
 *
 * A hole may be memory from before the trace, whose address nothing tells: `unknown_bytes` says how much of it there
 * is. In a snapshot holes are those inside segments; where a request of it failed, the view opens there, and holes are
 * those into which it could have been put. */
#include "base/size_text.h"
#include "model/finding.h"
#include "model/memory_profile/address_blocks.h"
#include "model/memory_profile/failures.h"
#include "model/memory_profile/waste.h"
#include "views/finding_write.h"
#include "views/memory_profile/views.h"

enum { PINS_SHOWN = 50 };

struct holes {
    const struct tool_request *request;
    const struct memory_profile *profile;
    const struct memory_profile_pool *pool;
    const struct memory_profile_failure *failure; /* that the view is of; NULL */
    struct memory_profile_moment moment;
    struct memory_profile_address_blocks blocks;
    uint64_t *ends; /* of all blocks up to this one: they may overlap */
    int64_t request_bytes;
    uint64_t largest, largest_at, sum; /* of the holes between blocks */
    uint32_t count;
    uint32_t first_pin, end_pin; /* blocks between holes that would hold the request without them; equal: none */
    uint64_t pinned, joined;     /* bytes of these blocks, and of the hole without them */
    int64_t told;                /* largest free chunk by the allocator's figures; MEMORY_UNKNOWN */
};

/* The hole behind block `at`. */
static uint64_t hole_behind(const struct holes *holes, uint32_t at)
{
    uint64_t next = at + 1 < holes->blocks.count ? holes->blocks.items[at + 1].address : 0;
    return next > holes->ends[at] ? next - holes->ends[at] : 0;
}

static void holes_find(struct holes *holes)
{
    const struct memory_profile_address_blocks *blocks = &holes->blocks;
    uint64_t end = 0;
    holes->ends = arena_array(holes->request->arena, uint64_t, (size_t)blocks->count + 1);
    for (uint32_t i = 0; i < blocks->count; i++) {
        uint64_t own = blocks->items[i].address + blocks->items[i].size;
        own = own < blocks->items[i].address ? UINT64_MAX : own;
        holes->ends[i] = end = own > end ? own : end;
        uint64_t hole = hole_behind(holes, i);
        holes->count += hole > 0;
        holes->sum += hole;
        if (hole > holes->largest) {
            holes->largest = hole;
            holes->largest_at = end;
        }
    }
}

/* Holes from behind block `left` to before block `right` make one stretch. Both ends move up only. */
static void pins_find(struct holes *holes)
{
    const struct memory_profile_block *items = holes->blocks.items;
    uint64_t wanted = (uint64_t)holes->request_bytes, free_bytes = 0, least = UINT64_MAX;
    for (uint32_t left = 0, right = 1; right < holes->blocks.count; right++) {
        if (items[right - 1].is_wall) {
            left = right - 1;
            free_bytes = 0;
        }
        free_bytes += hole_behind(holes, right - 1);
        while (left + 1 < right && items[right].address > holes->ends[left + 1] &&
               items[right].address - holes->ends[left + 1] >= wanted)
            free_bytes -= hole_behind(holes, left++);
        uint64_t span = items[right].address > holes->ends[left] ? items[right].address - holes->ends[left] : 0;
        if (span < wanted || span - free_bytes >= least)
            continue;
        least = holes->pinned = span - free_bytes;
        holes->joined = span;
        holes->first_pin = left + 1;
        holes->end_pin = right;
    }
}

/* ---- output ---- */

/* Addresses come from the file: the distance between two may exceed what a size can hold. */
static int64_t at_most(uint64_t bytes) { return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes; }

static void say_hole(struct finding *finding, uint64_t bytes)
{
    if (bytes > INT64_MAX)
        finding_text(finding, "more than ");
    finding_size(finding, at_most(bytes));
}

static void say_request(const struct holes *holes, struct finding *finding)
{
    bool is_failed = holes->failure != NULL && holes->request_bytes == holes->failure->requested_bytes;
    bool is_largest = !is_failed && holes->request_bytes == holes->pool->largest_request_bytes;
    finding_text(finding, "a request of ");
    finding_size(finding, holes->request_bytes);
    finding_text(finding, is_failed ? ", which failed, " : is_largest ? ", the largest of the trace, " : " ");
}

/* The finding about the hole; NULL if the file has no addresses. */
static const struct finding *finding_of(const struct holes *holes)
{
    char count[COUNT_TEXT_BYTES];
    struct arena *arena = holes->request->arena;
    uint32_t pin_count = holes->end_pin - holes->first_pin;
    bool fits_hole = at_most(holes->largest) >= holes->request_bytes, fits_told = holes->told >= holes->request_bytes;
    const char *kind = fits_hole || fits_told ? "fits" : pin_count > 0 ? "pinned" : "short";
    struct finding *finding = finding_begin(arena, kind, NULL);
    say_request(holes, finding);
    if (!fits_hole && !fits_told && holes->largest == 0) {
        finding_text(finding, "meets no free piece that it could use");
    } else {
        finding_text(finding, fits_hole || fits_told ? "fits: the largest %s has " : "meets a largest %s of ",
                     fits_told && !fits_hole ? "free chunk by the allocator's figures" : "hole");
        say_hole(finding, fits_told && !fits_hole ? (uint64_t)holes->told : holes->largest);
    }
    if (pin_count > 0 && !fits_hole) {
        finding_text(finding, "; %s %s, ", size_text_count(count, pin_count),
                     pin_count == 1 ? "allocation" : "allocations");
        say_hole(finding, holes->pinned);
        finding_text(finding, pin_count == 1 ? ", lies between holes that would be one of "
                                             : " together, lie between holes that would be one of ");
        say_hole(finding, holes->joined);
        finding_text(finding, pin_count == 1 ? " without it" : " without them");
    }
    if (pin_count == 0 && !fits_hole && holes->largest > 0 && holes->failure != NULL)
        finding_text(finding, "; no segment into which it could have been put is as large");
    if (holes->blocks.unknown_bytes > 0) {
        finding_text(finding, "; ");
        finding_size(finding, holes->blocks.unknown_bytes);
        finding_text(finding, " in use have no address in the trace: a hole may be one of these");
    }
    return finding_end(finding);
}

static void pin_write(struct json *json, const struct holes *holes, uint32_t at)
{
    const struct memory_profile *profile = holes->profile;
    const struct memory_profile_block *block = &holes->blocks.items[at];
    const struct memory_what *what = memory_profile_what_at(profile, block->event, block->kept);
    bool is_before = memory_profile_address_blocks_is_before(profile, block);
    uint32_t freed = is_before ? block->event : profile->partner[block->event];
    int64_t born_ps = is_before ? MEMORY_UNKNOWN : profile->time_ps[block->event];
    json_object_begin(json);
    memory_profile_views_address(json, "address", block->address, true);
    json_key_uint(json, "size_bytes", block->size);
    bool is_told = block->event != PROFILE_NONE;
    json_key_known(json, "event", is_told ? (int64_t)(block->event - holes->pool->first) : -1);
    memory_profile_views_text(json, "op", memory_profile_text(profile, what->op));
    memory_profile_views_text(json, "dtype", memory_profile_what_data_type(profile, what));
    memory_profile_views_text(json, "shape", memory_profile_text(profile, what->shape));
    memory_profile_views_text(json, "program", memory_profile_what_program(profile, what));
    memory_profile_views_text(json, "role", memory_profile_what_role(profile, what));
    memory_profile_views_text(json, "confidence", memory_profile_what_confidence(profile, what));
    json_key_known(json, "step", is_told ? profile->step[block->event] : -1);
    memory_profile_views_bytes(json, "born_ps", born_ps);
    memory_profile_views_bytes(json, "age_ps",
                               born_ps == MEMORY_UNKNOWN ? MEMORY_UNKNOWN : holes->moment.time_ps - born_ps);
    memory_profile_views_bytes(json, "freed_ps", freed == PROFILE_NONE ? MEMORY_UNKNOWN : profile->time_ps[freed]);
    json_key_uint(json, "hole_before_bytes", hole_behind(holes, at - 1));
    json_key_uint(json, "hole_after_bytes", hole_behind(holes, at));
    json_object_end(json);
}

static void pins_write(struct json *json, const struct holes *holes)
{
    json_key_uint(json, "pin_count", holes->end_pin - holes->first_pin);
    json_key_uint(json, "pinned_bytes", holes->pinned);
    if (holes->end_pin > holes->first_pin)
        json_key_uint(json, "joined_bytes", holes->joined);
    json_key_array(json, "pins");
    for (uint32_t at = holes->first_pin; at < holes->end_pin && at - holes->first_pin < PINS_SHOWN; at++)
        pin_write(json, holes, at);
    json_array_end(json);
}

/* Reads the moment of the requested failure, or of the failure at the requested time; without either, of the last
 * failure. */
static bool moment_read(struct holes *holes, struct err *err)
{
    const struct tool_request *request = holes->request;
    const struct memory_profile_pool *pool = holes->pool;
    bool is_anywhere = tool_param_text(request, "time") == NULL && tool_param_text(request, "event") == NULL;
    int64_t at, last = is_anywhere ? (int64_t)pool->failure_count - 1 : -1;
    if (!tool_param_number(request, "failure", 0, (int64_t)pool->failure_count - 1, last, &at, err))
        return false;
    if (at < 0 && !memory_profile_views_moment(request, pool, &holes->moment, err))
        return false;
    bool is_of_time = at < 0 && tool_param_text(request, "event") == NULL;
    holes->failure = at >= 0      ? &pool->failures[at]
                     : is_of_time ? memory_profile_failures_at(pool, holes->moment.time_ps)
                                  : NULL;
    if (holes->failure != NULL)
        holes->moment = memory_profile_failures_moment(holes->failure);
    return true;
}

bool memory_profile_holes(const struct tool_request *request, struct json *json, struct err *err)
{
    struct holes holes = {
        .request = request, .profile = request->model, .pool = memory_profile_views_pool(request, err)};
    if (holes.pool == NULL || !moment_read(&holes, err))
        return false;
    int64_t largest = holes.failure != NULL                         ? holes.failure->requested_bytes
                      : holes.pool->largest_request == PROFILE_NONE ? 0
                                                                    : holes.pool->largest_request_bytes;
    if (!tool_param_number(request, "request", 0, INT64_MAX, largest, &holes.request_bytes, err))
        return false;
    memory_profile_address_blocks_find(holes.pool, &holes.moment, holes.failure, request->arena, &holes.blocks);
    bool has_addresses = holes.blocks.first < holes.blocks.last;
    uint32_t event = holes.pool->first + (holes.moment.count > 0 ? holes.moment.count - 1 : 0);
    holes.told = memory_profile_waste_chunk(holes.profile, event);
    holes_find(&holes);
    if (holes.request_bytes > 0 && at_most(holes.largest) < holes.request_bytes)
        pins_find(&holes);
    json_object_begin(json);
    memory_profile_views_memory(json, holes.pool);
    json_key_int(json, "time_ps", holes.moment.time_ps);
    json_key_known(json, "event", (int64_t)holes.moment.count - 1);
    json_key(json, "reason");
    memory_profile_views_reason(json, has_addresses ? NULL : "no_addresses",
                                "The events of this memory tell no addresses.");
    json_key_known(json, "failure", holes.failure != NULL ? holes.failure - holes.pool->failures : -1);
    json_key_int(json, "request_bytes", holes.request_bytes);
    json_key_uint(json, "hole_count", holes.count);
    json_key_uint(json, "holes_bytes", holes.sum);
    if (json_key_object_if(json, "largest_hole", holes.largest > 0)) {
        memory_profile_views_address(json, "address", holes.largest_at, true);
        json_key_uint(json, "size_bytes", holes.largest);
        json_object_end(json);
    }
    memory_profile_views_bytes(json, "largest_free_bytes", holes.told);
    json_key_int(json, "unknown_bytes", holes.blocks.unknown_bytes);
    finding_write(json, has_addresses ? finding_of(&holes) : NULL);
    pins_write(json, &holes);
    json_object_end(json);
    return true;
}
