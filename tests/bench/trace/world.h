/* SPDX-License-Identifier: Apache-2.0
 * world.h: a training loop on one or more devices, and the events that a profiler would have
 * recorded of it. Ids of names and texts are those of the plane's two maps. */
#pragma once

#include "tests/bench/trace/bytes.h"
#include "tests/bench/trace/options.h"
#include "tests/bench/trace/pool.h"

#include <sys/types.h>

enum {
    SLOTS = 3, /* memory events of one op */
    LAYERS = 8,
    KINDS = 5,
    NAME_BYTES = 96,
    TICK_PS = 20000000,
    START_PS = 2000000000
};

enum stat_id {
    S_ALLOCATOR_NAME = 1,
    S_BYTES_RESERVED,
    S_BYTES_ALLOCATED,
    S_BYTES_AVAILABLE,
    S_FRAGMENTATION,
    S_PEAK_BYTES_IN_USE,
    S_REQUESTED_BYTES,
    S_ALLOCATION_BYTES,
    S_ADDR,
    S_TF_OP,
    S_ID,
    S_REGION_TYPE,
    S_DATA_TYPE,
    S_SHAPE,
    S_INDEX_ON_HOST,
    S_STEP_NUM,
    S_R,
    S_PT,
    S_P,
    S_CT,
    S_C,
    S_ITER_NUM,
    S_END,
    S_POOLS = 100,
    S_TENSORS = 1000
};
enum event_id { E_ALLOCATION = 1, E_DEALLOCATION, E_TRAIN, E_FUNCTION_RUN, E_EXECUTOR, E_RECORD, E_OPS = 100 };

/* Activations by layer and kind, then what has a role of its own. */
enum { T_SCRATCH = LAYERS * KINDS, T_SLOT, T_BATCH, T_LEAK, T_CACHE, T_SMALL, TENSORS };

struct line {
    char name[NAME_BYTES];
    int64_t id, timestamp_ns;
    uint64_t size_bytes; /* of its events */
    off_t at;
    uint8_t *buffer;
    size_t buffered;
    struct bytes kept; /* an event that is written after the next one */
};

struct world {
    struct options options;
    int file;
    bool is_writing;
    uint64_t state;
    int64_t done_events, steps, chunks_per_step, now_ps;
    struct tensor tensors[TENSORS];
    char names[TENSORS][2][NAME_BYTES];
    char pool_names[OPTIONS_ALLOCATORS_MAX][NAME_BYTES];
    struct pool pools[OPTIONS_ALLOCATORS_MAX];
    struct line lines[OPTIONS_LINES_MAX];
};

_Noreturn void world_stop(const char *what);

/* events.c: each writes one event to its line. */
void events_begin(struct bytes *event, const struct line *line, int64_t id, int64_t at_ps, int64_t duration_ps);
void events_add_int(struct bytes *event, enum stat_id id, int64_t value);
void events_put(struct world *world, struct line *line, const struct bytes *event);
void events_put_kept(struct world *world, struct line *line);
void events_flush(const struct world *world, struct line *line);
void events_memory(struct world *world, struct pool *pool, struct line *line, int64_t at_ps, const struct chunk *chunk,
                   bool is_allocation);
void events_write_at(const struct world *world, const void *data, size_t length, off_t at);

/* steps.c */
void steps_plan(struct world *world);
int64_t steps_length_ps(const struct world *world);
/* Plays the whole run: counts the bytes of each line, or writes them. */
void steps_play(struct world *world);
