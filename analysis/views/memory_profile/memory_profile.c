/* SPDX-License-Identifier: Apache-2.0
 * memory_profile.c: the memory profile's table of views. */
#include "views/memory_profile/views.h"

static const char *const no_params[] = {NULL};
static const char *const timeline_params[] = {"memory", "from", "to", "width", "details", "stack", "blocks", NULL};
static const char *const lanes_params[] = {"from", "to", "width", NULL};
static const char *const live_params[] = {"memory", "time",   "event",  "group", "a",      "b",
                                          "sort",   "filter", "offset", "limit", "format", NULL};
static const char *const events_params[] = {"memory", "from",  "to",     "sort", "filter",
                                            "offset", "limit", "format", NULL};
static const char *const event_params[] = {"memory", "id", NULL};
static const char *const block_params[] = {"memory", "id", NULL};
static const char *const growth_params[] = {"memory", "boundary", "sort", "filter", "offset", "limit", "format", NULL};
static const char *const addresses_params[] = {"memory", "time", "event", "width", "low", "high", NULL};
static const char *const holes_params[] = {"memory", "time", "event", "failure", "request", NULL};
static const char *const segments_params[] = {"memory", "time",   "event", "width",  "scale", "sort",
                                              "filter", "offset", "limit", "format", NULL};
static const char *const whatif_params[] = {"memory", "change", "capacity_bytes", "fit", "width", "format", NULL};
static const char *const whatif_repeatable[] = {"change", NULL};
static const char *const whose_params[] = {"memory", "format", NULL};
static const char *const fragmentation_params[] = {"memory", "from", "to", "width", NULL};

static const struct tool_view views[] = {
    {"summary", no_params, memory_profile_summary, false, NULL},
    {"timeline", timeline_params, memory_profile_timeline, false, NULL},
    {"lanes", lanes_params, memory_profile_lanes, false, NULL},
    {"live", live_params, memory_profile_live, false, NULL},
    {"events", events_params, memory_profile_events, false, NULL},
    {"event", event_params, memory_profile_event, false, NULL},
    {"block", block_params, memory_profile_block, false, NULL},
    {"growth", growth_params, memory_profile_growth, false, NULL},
    {"addresses", addresses_params, memory_profile_addresses, false, NULL},
    {"fragmentation", fragmentation_params, memory_profile_fragmentation, false, NULL},
    {"holes", holes_params, memory_profile_holes, false, NULL},
    {"segments", segments_params, memory_profile_segments, false, NULL},
    {"whose", whose_params, memory_profile_whose, false, NULL},
    {"whatif", whatif_params, memory_profile_whatif, false, whatif_repeatable},
    {"xprof", no_params, memory_profile_xprof, true, NULL},
};

const struct tool tool_memory_profile = {
    .name = "memory_profile",
    .title = "Memory Profile",
    .model = TOOL_OF_TRACE,
    .views = views,
    .view_count = sizeof(views) / sizeof(views[0]),
};
