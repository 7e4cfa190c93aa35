/* SPDX-License-Identifier: Apache-2.0
 * torch_reading.h: a snapshot on its way from a pickle into columns: between torch_snapshot.c and torch_events.c. */
#pragma once

#include "base/intern.h"
#include "read/torch/pickle.h"
#include "read/torch/torch_snapshot.h"
#include "read/trace/memory_reading.h"

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
    KEY(small)                                                                                                         \
    KEY(START)                                                                                                         \
    KEY(END)

#define KEY(word) TORCH_KEY_##word,
enum torch_key { TORCH_KEYS(KEY) TORCH_KEY_COUNT };
#undef KEY

/* As a segment's device, until all are read. */
#define TORCH_UNKNOWN_DEVICE INT64_C(-2)

struct torch_reading {
    struct pickle *pickle;
    struct arena *arena;   /* of the result */
    struct arena *scratch; /* released at the end */
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
    int64_t *devices;                     /* of each provisional pool; -1: of none */
    uint64_t odd_counts[TORCH_KEY_COUNT]; /* values of each key that cannot be */
};

static inline struct pickle_value torch_reading_get(const struct torch_reading *reading, struct pickle_value dict,
                                                    enum torch_key key)
{
    return pickle_value_get(reading->pickle, dict, reading->keys[key]);
}
static inline bool torch_reading_is_word(const struct torch_reading *reading, struct pickle_value value,
                                         enum torch_key word)
{
    return value.bits == reading->keys[word].bits;
}
static inline bool torch_reading_is_there(const struct torch_reading *reading, struct pickle_value value)
{
    return pickle_value_kind(reading->pickle, value) != PICKLE_NONE;
}
/* Addresses are below this one, times in microseconds since 1970 below the other. */
#define TORCH_MAX_ADDRESS ((INT64_C(1) << 60) - 1)
#define TORCH_MAX_TIME_US ((INT64_C(1) << 53) - 1)
#define TORCH_ODD_TIME INT64_C(-2) /* of an event that tells one that cannot be; -1: it tells none */
#define TORCH_PS_PER_US INT64_C(1000000)
#define TORCH_MAX_US (TRACE_TIME_MAX_PS / TORCH_PS_PER_US)
/* Where more events than these tell no address, which is which cannot be known. */
enum { TORCH_MAX_LOST = 64, TORCH_MAX_DEVICE = MEMORY_POOLS_MAX - 1 };

/* A whole number between two others. `default_value` where none is given, or one that cannot be: that is counted. */
static inline int64_t torch_reading_int(struct torch_reading *reading, struct pickle_value dict, enum torch_key key,
                                        int64_t min, int64_t max, int64_t default_value)
{
    return pickle_value_whole(reading->pickle, torch_reading_get(reading, dict, key), min, max, default_value,
                              &reading->odd_counts[key]);
}
/* An address; 0 where none is given. */
static inline uint64_t torch_reading_address(struct torch_reading *reading, struct pickle_value dict,
                                             enum torch_key key)
{
    return (uint64_t)torch_reading_int(reading, dict, key, 1, TORCH_MAX_ADDRESS, 0);
}

/* A text, or None. */
static inline uint64_t torch_reading_text(struct torch_reading *reading, struct pickle_value dict, enum torch_key key)
{
    struct pickle_value value = torch_reading_get(reading, dict, key);
    enum pickle_kind kind = pickle_value_kind(reading->pickle, value);
    reading->odd_counts[key] += kind != PICKLE_TEXT && kind != PICKLE_NONE;
    return kind == PICKLE_TEXT ? value.bits : pickle_value_none().bits;
}

/* What is in the place of a dict or list that was taken: its kind in the three lowest bits, so that it is small. */
enum torch_taken {
    TORCH_TAKEN_FRAME,
    TORCH_TAKEN_BLOCK,
    TORCH_TAKEN_SEGMENT,
    TORCH_TAKEN_STACK,
    TORCH_TAKEN_KINDS = 8
};
#define TORCH_TAKEN_MAX ((UINT32_C(1) << 29) - 1)

static inline uint32_t torch_taken_as(enum torch_taken kind, uint32_t number)
{
    return number * TORCH_TAKEN_KINDS + kind;
}

/* The number of what was taken as this kind; UINT32_MAX: it is none. */
static inline uint32_t torch_taken_number(uint32_t taken, enum torch_taken kind)
{
    return taken < PICKLE_GONE && taken % TORCH_TAKEN_KINDS == kind ? taken / TORCH_TAKEN_KINDS : UINT32_MAX;
}

/* A list of frames becomes the number of a stack, and represents it from then on. TORCH_NO_STACK: it is none. */
uint32_t torch_stacks_of(struct torch_reading *reading, struct pickle_value frames);
/* The number of a frame. */
uint32_t torch_stacks_frame(struct torch_reading *reading, struct pickle_value dict);
/* What the blocks of a segment and the segment tell of each other; its blocks are known. */
void torch_blocks_settle(struct torch_reading *reading, struct torch_segment *segment);
/* Which allocation a free ends, where an event does not tell its address or its size: torch_mend.c. */
void torch_mend_rows(struct memory_events *out, struct torch_snapshot *snapshot, struct arena *scratch);
/* For a trace of torch.profiler, which records what is in use after each event: corrects impossible sums and sizes of
 * single events by means of the events beside them. */
struct torch_chains {
    uint64_t total_count, size_count; /* odd ones */
    uint64_t foreign_count;           /* events that change nothing on their device: they are of another */
};
void torch_chains_settle(struct memory_events *out, struct arena *scratch, struct torch_chains *found);
/* Where no allocation and no free was read: rows and pools that represent the snapshot's end (is_end_alone). */
void torch_end_take(struct torch_reading *reading);
/* The next rare event that happened before row `row` of the file, NULL if none is left. */
struct torch_event *torch_times_before(const struct torch_reading *reading, size_t row, size_t *next);
/* When each row and event happened; what is in use and reserved at each. */
void torch_times_set(struct torch_reading *reading);
void torch_levels_set(struct torch_reading *reading);
/* Of `count` keys: how many of its values cannot be, in words. */
void torch_events_odd_words(struct torch_snapshot *snapshot, const char *const *keys, const uint64_t *odd_counts,
                            size_t count, struct arena *arena);
/* When all is read: what is in use at each event, what is reserved, texts, pools, steps, from `root`. */
void torch_events_finish(struct torch_reading *reading, struct pickle_value root);
