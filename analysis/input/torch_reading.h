/* SPDX-License-Identifier: Apache-2.0
 * torch_reading.h: a snapshot on its way from a pickle into columns: between torch_snapshot.c and torch_events.c. */
#pragma once

#include "base/intern.h"
#include "input/memory_reading.h"
#include "input/pickle.h"
#include "input/torch_snapshot.h"

/* Keys of the dicts, and the words that some of their values are. */
#define TORCH_KEYS(KEY)                                                                                                \
    KEY(action)                                                                                                        \
    KEY(addr)                                                                                                          \
    KEY(size)                                                                                                          \
    KEY(time_us)                                                                                                       \
    KEY(frames)                                                                                                        \
    KEY(device_free)                                                                                                   \
    KEY(compile_context)                                                                                               \
    KEY(user_metadata)                                                                                                 \
    KEY(filename)                                                                                                      \
    KEY(name)                                                                                                          \
    KEY(line)                                                                                                          \
    KEY(blocks)                                                                                                        \
    KEY(state)                                                                                                         \
    KEY(address)                                                                                                       \
    KEY(requested_size)                                                                                                \
    KEY(history)                                                                                                       \
    KEY(real_size)                                                                                                     \
    KEY(device)                                                                                                        \
    KEY(stream)                                                                                                        \
    KEY(total_size)                                                                                                    \
    KEY(allocated_size)                                                                                                \
    KEY(active_size)                                                                                                   \
    KEY(segment_pool_id)                                                                                               \
    KEY(segment_type)                                                                                                  \
    KEY(is_expandable)                                                                                                 \
    KEY(segments)                                                                                                      \
    KEY(device_traces)                                                                                                 \
    KEY(allocator_settings)                                                                                            \
    KEY(external_annotations)                                                                                          \
    KEY(stage)                                                                                                         \
    KEY(alloc)                                                                                                         \
    KEY(free_requested)                                                                                                \
    KEY(free_completed)                                                                                                \
    KEY(segment_alloc)                                                                                                 \
    KEY(segment_free)                                                                                                  \
    KEY(segment_map)                                                                                                   \
    KEY(segment_unmap)                                                                                                 \
    KEY(oom)                                                                                                           \
    KEY(snapshot)                                                                                                      \
    KEY(active_allocated)                                                                                              \
    KEY(active_pending_free)                                                                                           \
    KEY(active_awaiting_free)                                                                                          \
    KEY(large)                                                                                                         \
    KEY(START)                                                                                                         \
    KEY(END)

#define KEY(word) TORCH_KEY_##word,
enum torch_key { TORCH_KEYS(KEY) TORCH_KEY_COUNT };
#undef KEY

struct torch_reading {
    struct pickle *pickle;
    struct arena *arena;   /* of the result */
    struct arena *scratch; /* let go at the end */
    struct memory_events *out;
    struct torch_snapshot *snapshot;
    struct pickle_value keys[TORCH_KEY_COUNT];
    struct table frames;        /* function, file, line, as values */
    struct map stack_map;       /* hashes of frames to stacks */
    struct column stack_frames; /* uint32_t */
    struct chunks stacks;       /* struct torch_stack */
    struct chunks blocks, segments, events;
    struct table whats;  /* stack, compile_context, user_metadata */
    struct table traces; /* pickle_value_list_number of lists of events: provisional pools */
    uint32_t last_what, last_trace;
    uint32_t *own_frames; /* frames of the stack at hand */
    size_t own_frame_capacity;
    int64_t sum_bytes;
    struct torch_event
        *asked; /* of each provisional pool: a free that was requested by the event before; size −1: none */
    size_t asked_count, asked_capacity;
    int64_t *devices;       /* of each provisional pool; -1: of none */
    uint64_t untimed_count; /* events that tell no time */
};

static inline struct pickle_value torch_reading_get(const struct torch_reading *reading, struct pickle_value dict,
                                                    enum torch_key key)
{
    return pickle_value_get(reading->pickle, dict, reading->keys[key]);
}
/* A whole number, however large; `default_value` where there is none. */
static inline int64_t torch_reading_int(const struct torch_reading *reading, struct pickle_value dict,
                                        enum torch_key key, int64_t default_value)
{
    int64_t number;
    return pickle_value_int(reading->pickle, torch_reading_get(reading, dict, key), &number) ? number : default_value;
}

/* Where no allocation and no free was read: rows and pools that stand for the snapshot's end (is_end_alone). */
void torch_end_take(struct torch_reading *reading);
/* When all is read: what is in use at each event, what is reserved, texts, pools, steps, from `root`. */
void torch_events_finish(struct torch_reading *reading, struct pickle_value root);
