/* SPDX-License-Identifier: Apache-2.0
 * views.h: the views of the memory profile, and what they read and write
 * alike. What each answers is documented in docs/openapi.yaml. */
#pragma once

#include "base/json.h"
#include "model/memory_profile/moment.h"
#include "model/memory_profile/replay.h"
#include "model/memory_profile/what.h"
#include "views/tool.h"

bool memory_profile_summary(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_timeline(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_lanes(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_live(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_events(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_event(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_block(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_growth(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_addresses(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_fragmentation(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_holes(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_segments(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_whose(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_whatif(const struct tool_request *request, struct json *json, struct err *err);
bool memory_profile_xprof(const struct tool_request *request, struct json *json, struct err *err);

/* The pool that the parameter `memory` names; the worst without it. NULL with a `notfound` report. */
const struct memory_profile_pool *memory_profile_views_pool(const struct tool_request *request, struct err *err);

/* The pool of that name, the worst without one; NULL when there is none. */
const struct memory_profile_pool *memory_profile_views_pool_named(const struct memory_profile *profile,
                                                                  const char *name);

/* The window of the parameters from and to (ps, whole trace without them); *first and *end are the
 * pool's events in it, counted from its first. */
struct memory_profile_window {
    int64_t from_ps, to_ps;
    uint32_t first, end;
};
bool memory_profile_views_window(const struct tool_request *request, const struct memory_profile_pool *pool,
                                 struct memory_profile_window *out, struct err *err);

/* The moment of the parameters `event` and `time` (the peak without them). */
bool memory_profile_views_moment(const struct tool_request *request, const struct memory_profile_pool *pool,
                                 struct memory_profile_moment *out, struct err *err);

/* Writes an object with the state after an event of the pool, counted from its first. */
void memory_profile_views_point(struct json *json, const struct memory_profile_pool *pool, uint32_t at);
/* Writes the members of the state, without braces: in_use_bytes … fragmentation. With count = 0: before the first
 * event. */
void memory_profile_views_state(struct json *json, const struct memory_profile_pool *pool, uint32_t count);
/* The same after the pool's first `count` events, at a time at which none of them need be; its event is the last
 * one. */
void memory_profile_views_level(struct json *json, const struct memory_profile_pool *pool, uint32_t count,
                                int64_t time_ps);
/* "memory": NAME. */
void memory_profile_views_memory(struct json *json, const struct memory_profile_pool *pool);
/* "reason": {code, text}; no member without a code. */
void memory_profile_views_reason(struct json *json, const char *code, const char *text);
void memory_profile_views_text(struct json *json, const char *key, struct str text); /* no member when empty */
void memory_profile_views_bytes(struct json *json, const char *key, int64_t bytes);  /* no member when unknown */
/* "0x7f…" or null; an item of a list when `key` is NULL. */
void memory_profile_views_address(struct json *json, const char *key, uint64_t address, bool is_known);
/* Who asked for it, the innermost frame first: [{file, function, line, is_library}]; json_null() where the file tells
 * no stack. */
void memory_profile_views_stack(struct json *json, const char *key, const struct memory_profile *profile,
                                uint32_t stack);
/* What a guess rests on: "rule", "rule_text"; no members without one. */
void memory_profile_views_rule(struct json *json, const struct memory_profile *profile, const struct memory_what *what);
/* May `typed` follow "cat:" in a filter? */
bool memory_profile_views_is_category(struct str typed);
/* "named": how much of what is in use programs name; null in a trace where they name nothing. */
void memory_profile_views_named(struct json *json, const struct memory_profile *profile,
                                const struct memory_profile_tally *tally, int64_t in_use_bytes);
/* "g:…": a group's identity, from its texts and a number; in `scratch`. */
struct str memory_profile_views_key(struct buf *scratch, const struct str *parts, size_t count, int64_t number);
/* Adds the notes of the file and of the pool to the answer. */
void memory_profile_views_notes(const struct tool_request *request, const struct memory_profile_pool *pool);
/* "categories": [{category, size_bytes, guessed_bytes, count}], those that have bytes, in the order of
 * category.def; null without sums. */
void memory_profile_views_categories(struct json *json, const char *name,
                                     const struct memory_profile_category_sum *sums);
/* Member "end": an object; none where there is no such moment. */
void memory_profile_views_end(struct json *json, const struct memory_profile_pool *pool);
/* An object of one of the pool's failures. */
void memory_profile_views_failure(struct json *json, const struct memory_profile_pool *pool,
                                  const struct memory_profile_failure *failure);
/* "failures": [{…}], the latest ones last; "failure_count". */
void memory_profile_views_failures(struct json *json, const struct memory_profile_pool *pool, uint32_t from,
                                   uint32_t to);

/* summary.c: hosts and pools of the view "summary", one at a time, so that a caller with several hosts need not hold
 * all their models at once. */
/* What the daemon calls a host; texts may be NULL. */
struct memory_profile_summary_names {
    const char *host, *host_name, *file;
};

/* One object each. */
void memory_profile_summary_host(struct json *json, const struct memory_profile *profile,
                                 const struct memory_profile_summary_names *names);
void memory_profile_summary_pool(struct json *json, const struct memory_profile_pool *pool,
                                 const struct memory_profile_summary_names *names);

/* replay_write.c: how far a snapshot was replayed, as JSON; for the views of this folder. */
/* The member "replay"; `replay` NULL: none. */
void memory_profile_replay_write(struct json *json, const struct memory_profile_replay *replay);
