/* SPDX-License-Identifier: Apache-2.0
 * replay_driver.c: see replay_driver.h. */
#include "model/memory_profile/replay_driver.h"

uint32_t replay_driver_run_end(const struct memory_profile_torch *torch, uint32_t at)
{
    const uint32_t event_at = torch->events[at].event_at;
    while (at < torch->event_count && torch->events[at].event_at == event_at &&
           torch_snapshot_driver_sign(&torch->events[at]) < 0)
        at++;
    return at;
}

/* Right behind segments that went back, without anything between, a segment was asked for, or a request failed. */
static const struct torch_event *asked_behind(const struct memory_profile_torch *torch, uint32_t first, uint32_t end)
{
    if (end == torch->event_count || torch->events[end].event_at != torch->events[first].event_at)
        return NULL;
    const struct torch_event *behind = &torch->events[end];
    return torch_snapshot_driver_sign(behind) > 0 || behind->action == TORCH_OOM ? behind : NULL;
}

/* Where as much was held at some time, it was not refused. */
bool replay_driver_is_emptied(const struct memory_profile_torch *torch, const struct replay_driver *driver,
                              uint32_t first, uint32_t end, int64_t before_bytes)
{
    const struct torch_event *behind = asked_behind(torch, first, end);
    return behind == NULL || (behind->action != TORCH_OOM && before_bytes + behind->size_bytes <= driver->peak_bytes);
}

static int64_t peak_of(const struct memory_profile_torch *torch, int64_t first_bytes)
{
    int64_t bytes = first_bytes, peak_bytes = first_bytes;
    for (uint32_t i = 0; i < torch->event_count; i++) {
        bytes += torch_snapshot_driver_bytes(&torch->events[i]);
        peak_bytes = bytes > peak_bytes ? bytes : peak_bytes;
    }
    return peak_bytes;
}

static int64_t lesser(int64_t limit, int64_t bytes) { return limit == 0 || bytes < limit ? bytes : limit; }

/* By segments that went back from event `at` on; else `limit`. */
static int64_t limit_by_run(const struct memory_profile_torch *torch, const struct replay_driver *driver, uint32_t at,
                            uint32_t end, int64_t bytes, int64_t limit)
{
    const struct torch_event *behind = asked_behind(torch, at, end);
    bool is_refused =
        behind != NULL && behind->action != TORCH_OOM && !replay_driver_is_emptied(torch, driver, at, end, bytes);
    return is_refused ? lesser(limit, bytes + behind->size_bytes - 1) : limit;
}

/* Never less than what it had. */
static int64_t limit_of(const struct memory_profile_torch *torch, const struct replay_driver *driver)
{
    int64_t bytes = driver->first_bytes, limit = 0;
    for (uint32_t i = 0, end = 0; i < torch->event_count; i++) {
        const struct torch_event *event = &torch->events[i];
        if (i >= end && torch_snapshot_driver_sign(event) < 0) {
            end = replay_driver_run_end(torch, i);
            limit = limit_by_run(torch, driver, i, end, bytes, limit);
        }
        if (event->action == TORCH_OOM && event->device_free_bytes != MEMORY_UNKNOWN)
            limit = lesser(limit, bytes + event->device_free_bytes);
        bytes += torch_snapshot_driver_bytes(event);
    }
    return limit > 0 && limit < driver->peak_bytes ? driver->peak_bytes : limit;
}

void replay_driver_find(const struct memory_profile_torch *torch, int64_t first_bytes, struct replay_driver *out)
{
    *out = (struct replay_driver){.first_bytes = first_bytes, .peak_bytes = peak_of(torch, first_bytes)};
    out->limit_bytes = limit_of(torch, out);
}

int64_t replay_driver_retry_count(const struct memory_profile_torch *torch)
{
    int64_t count = 0;
    for (uint32_t at = 0; at < torch->event_count; at++) {
        if (torch_snapshot_driver_sign(&torch->events[at]) >= 0)
            continue;
        uint32_t end = replay_driver_run_end(torch, at);
        count += asked_behind(torch, at, end) != NULL;
        at = end - 1;
    }
    return count;
}
