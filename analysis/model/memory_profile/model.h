/* SPDX-License-Identifier: Apache-2.0
 * model.h: the model of the memory profile: what the allocators of one host did.
 *
 * In:     memory_events (input), in file order.
 * Out:    the same events by pool and time, paired by address; each pool's figures.
 * Units:  bytes; ps from the origin of times.
 * Memory: 63 bytes an event in the arena; columns of the input become its own.
 *
 * In use = stack (bytes_reserved) + heap (bytes_allocated), after an event, as the
 * allocator says it. At every event: the allocations that are open there, the
 * memory that only a later free speaks of, and what is left over, add up to it. */
#pragma once

#include "base/note.h"
#include "memory/extremes.h"
#include "memory/pairs.h"
#include "plan/category.h"
#include "read/trace/memory_events.h"

#define PROFILE_NONE UINT32_MAX

#define COLUMN(name, ordered_name, type) sizeof(type) +
enum {
    PROFILE_EVENT_BYTES = /* in all columns together */
#include "read/trace/memory_columns.def"
    sizeof(uint16_t) + sizeof(uint8_t)
};
#undef COLUMN

enum memory_profile_flag {
    PROFILE_SIZE_INFERRED = 64, /* from the allocation, or from the change of bytes in use */
    PROFILE_OFF_CHAIN = 128,    /* bytes in use before, and the size, do not give bytes in use after */
};

enum memory_profile_kind { PROFILE_DEVICE, PROFILE_HOST, PROFILE_OTHER };

enum { PROFILE_NOTES_MAX = 32 };
struct memory_profile_notes {
    struct note items[PROFILE_NOTES_MAX];
    size_t count;
};

/* In what XProf's order of a pool's events is the pool's own; see memory_profile_snapshots.h. */
struct memory_profile_likeness {
    bool is_sorted, is_seen, has_addresses, has_steps, has_gaps; /* has_gaps: some are outside of all steps */
};

/* What allocations may be: that no op names, by the programs of a trace (naming.h); of a snapshot's stacks, whose
 * memory they are (categories.h). */
struct memory_profile_guess {
    struct str program; /* "jit_conv(15)", without the id where several of the name fit; empty: several names fit */
    struct str module;  /* the same without the id */
    struct str role;    /* "temporaries", "output", "argument 1 params['w']" */
    uint8_t rule;       /* enum naming_rule; of a category its own rule is in `choice` */
    bool has_category;  /* then there is neither program nor role */
    struct category_choice choice;
};

/* Bytes of a category that are there at a moment. */
struct memory_profile_category_sum {
    int64_t bytes, guessed_bytes; /* guessed: by a rule that is a guess; these included */
    uint64_t count;
};

/* What is open in a pool at a moment, by who named it. */
struct memory_profile_tally {
    int64_t unnamed_bytes; /* without an op, named or not */
    int64_t named_bytes;   /* of these, from a program */
    uint32_t module_count; /* that named them */
    uint32_t main_guess;   /* one of the module that named most; PROFILE_NONE */
};

/* What an allocator snapshot tells of a pool's device beside allocations and frees. */
struct memory_profile_torch {
    bool is_known;                    /* false: a trace, or several lists of the file are one pool */
    const struct torch_event *events; /* in the order of the file: segments, failed requests, frees that wait */
    uint32_t event_count;
    /* Blocks of the end that no event allocates: they were there all the time. Numbers of the snapshot's blocks. */
    const uint32_t *kept;
    uint32_t kept_count;
};

/* Why a request of a snapshot failed, by what was free at that moment. */
enum memory_profile_failure_kind {
    PROFILE_FAILURE_FRAGMENTATION, /* enough is free where it could have been put, in pieces that are too small */
    PROFILE_FAILURE_ELSEWHERE,     /* enough is free in segments, but of other streams, pools or sizes of requests */
    PROFILE_FAILURE_PIECES,        /* what is free in segments and on the device would do together */
    PROFILE_FAILURE_SHORTAGE,      /* not even that: see missing_bytes */
    PROFILE_FAILURE_LIMIT,         /* the device had room: PyTorch was not to take it */
    PROFILE_FAILURE_FITS,          /* a hole is large enough: why it was not taken is not told */
    PROFILE_FAILURE_UNKNOWN, /* the snapshot does not tell what segments there were, or there are too many failures */
};

/* A request that failed (action oom). Bytes; MEMORY_UNKNOWN where not told or not known. */
struct memory_profile_failure {
    int64_t time_ps;
    uint32_t count;      /* events of the pool that had happened */
    uint32_t rare_count; /* and of pool->torch.events: it is the next one of these */
    uint32_t stack;      /* of the snapshot; TORCH_NO_STACK */
    int64_t stream;
    int64_t requested_bytes;   /* as the allocator rounded it */
    int64_t device_free_bytes; /* of the device, by CUDA, beside what all processes hold */
    int64_t active_bytes;      /* in use, as the curve has it: what was asked for */
    int64_t reserved_bytes;    /* in segments */
    int64_t free_bytes;        /* of these, in no block: "inactive" */
    int64_t pending_bytes;     /* of these, in blocks whose free waits for a stream */
    int64_t
        usable_free_bytes; /* of these, where it could have been put: its stream, its size of requests, default pool */
    int64_t largest_hole_bytes; /* of these holes; 0: there is none */
    int64_t largest_any_bytes;  /* of all holes in segments */
    int64_t missing_bytes;      /* for PROFILE_FAILURE_SHORTAGE: how much would be missing even with all free memory */
    enum memory_profile_failure_kind kind;
    bool is_expandable; /* some segment where it could have been put can grow */
};

struct memory_profile;
struct memory_profile_waste_range;
struct finding;

struct memory_profile_pool {
    const struct memory_profile *profile;
    struct str name;
    enum memory_profile_kind kind;
    int64_t device;            /* of an allocator snapshot, see memory_pool */
    int64_t device_bytes;      /* size that a trace of torch.profiler tells; MEMORY_UNKNOWN */
    const char *device_source; /* NULL with MEMORY_UNKNOWN */
    uint32_t first, count;     /* its events */
    uint32_t allocation_count, deallocation_count;
    struct pairs_counts pairs;
    uint32_t link_count, break_count; /* of the chain of bytes in use */
    uint32_t peak_at, min_at;         /* events: first largest, first smallest in use */
    int64_t capacity_bytes;           /* MEMORY_UNKNOWN when not told */
    const char *capacity_source;      /* what says so; NULL with MEMORY_UNKNOWN */
    bool capacity_is_physical;        /* the size of the device, not the limit of its allocator */
    int64_t lifetime_peak_bytes;      /* largest that the allocator told; MEMORY_UNKNOWN */
    bool has_free, has_fragmentation, has_addresses;
    bool is_unpaired;              /* no event tells an address: each is its own partner */
    struct extremes extremes;      /* of bytes in use; places count from `first` */
    struct extremes fragmentation; /* empty without has_fragmentation */
    uint32_t *peaks;               /* events of local peaks, largest first */
    uint32_t peak_count;
    int64_t base_bytes;       /* in use before the first event */
    uint32_t largest_request; /* event with the largest one; PROFILE_NONE */
    int64_t largest_request_bytes;
    struct memory_profile_tally peak_named;     /* at peak_at; all 0 without guesses */
    struct memory_profile_category_sum *before; /* of each category, what was there before the first event and is never
                                                   freed; NULL where there are no categories */
    struct memory_profile_category_sum
        *at_peak; /* of each category, after peak_at; they add up to what is in use there;
                                                    NULL */
    struct memory_profile_category_sum *at_failure; /* the same when the last request failed; NULL: none did */
    struct memory_profile_waste_range *waste;       /* of blocks of events; see memory_profile_waste.h */
    /* as XProf reads a file: */
    uint32_t xprof_peak_at;
    int64_t xprof_lifetime_peak_bytes;
    struct memory_profile_likeness likeness;
    struct memory_profile_torch torch;       /* nothing in a trace */
    struct memory_profile_failure *failures; /* requests that failed, in the order of time */
    uint32_t failure_count;
    struct memory_profile_notes notes;
    struct finding *finding; /* the finding shown first (finding.h of the tools); NULL: nothing */
    struct finding *course;  /* its allocations and frees in sentences; NULL: only its end is known */
};

struct memory_profile {
    struct memory_events events; /* its columns are gone, the rest is used */
    uint32_t count;
#define COLUMN(name, ordered_name, type) type *ordered_name;
#include "read/trace/memory_columns.def"
#undef COLUMN
    uint32_t *partner;
    uint8_t *flags; /* enum memory_flag and memory_profile_flag */
    struct memory_profile_pool
        *pools; /* device memory first, of that where requests failed, then by peak, largest first */
    uint32_t pool_count;
    struct trace_step *steps; /* by begin */
    struct str *step_names;
    uint32_t step_count;
    int64_t start_ps, end_ps; /* of the memory events; 0, 0 without any */
    int64_t recorded_ps;      /* the last moment that is surely recorded: end of the capture, last memory event */
    const struct category_choice *block_choices; /* of each block of the snapshot that no event allocates; NULL */
    const struct memory_profile_guess *guesses;  /* by memory_what.guess */
    uint32_t guess_count;
    struct memory_profile_notes notes; /* of the file */
    const char *cut_reason;            /* why a file that ends in the middle has no curve; NULL */
    bool lacks_room;                   /* memory_profile_note_room was called for it */
};

/* Takes `events` over. `workers` may be NULL. */
void memory_profile_model_build(struct memory_profile *profile, struct memory_events *events,
                                const struct workers *workers, struct arena *arena);

static inline int64_t memory_profile_stack_bytes(const struct memory_profile *profile, uint32_t event)
{
    int64_t reserved = profile->events.figure_sets[profile->figures[event]].reserved_bytes;
    return reserved == MEMORY_UNKNOWN ? 0 : reserved;
}
static inline int64_t memory_profile_in_use_bytes(const struct memory_profile *profile, uint32_t event)
{
    return memory_profile_stack_bytes(profile, event) + profile->heap_bytes[event];
}
/* MEMORY_UNKNOWN when not told. */
static inline int64_t memory_profile_free_bytes(const struct memory_profile *profile, uint32_t event)
{
    int64_t limit = profile->events.figure_sets[profile->figures[event]].limit_bytes;
    return limit == MEMORY_UNKNOWN ? limit : limit - memory_profile_in_use_bytes(profile, event);
}
static inline bool memory_profile_is_free(const struct memory_profile *profile, uint32_t event)
{
    return (profile->flags[event] & MEMORY_FREED) != 0;
}
/* Is an event's memory there after the pool's first `count` events? Allocated in them, and not freed in them; or there
 * before them all, and freed by an event after them. */
static inline bool memory_profile_is_open(const struct memory_profile_pool *pool, uint32_t event, uint32_t count)
{
    uint32_t end = pool->first + count, partner = pool->profile->partner[event];
    if (memory_profile_is_free(pool->profile, event))
        return partner == PROFILE_NONE && event >= end;
    return event < end && (partner == PROFILE_NONE || partner >= end);
}
/* Told, or inferred with a result. */
static inline bool memory_profile_has_size(const struct memory_profile *profile, uint32_t event)
{
    return (profile->flags[event] & MEMORY_HAS_SIZE) != 0 || profile->size_bytes[event] > 0;
}
/* Call where MEMORY_HAS_REQUESTED is set. Events of PyTorch record only the requested size. */
static inline int64_t memory_profile_requested_bytes(const struct memory_profile *profile, uint32_t event)
{
    return profile->events.snapshot != NULL ? profile->size_bytes[event] : profile->requested_bytes[event];
}
/* The first event of the pool after `time_ps`, counted from the pool's first; pool->count past the last. */
uint32_t memory_profile_after(const struct memory_profile_pool *pool, int64_t time_ps);
/* 0 to 1, with the digits that were recorded. */
double memory_profile_fragmentation_of(const struct memory_profile *profile, uint32_t event);
/* A text of what was allocated; empty when not told. */
static inline struct str memory_profile_text(const struct memory_profile *profile, uint32_t text)
{
    return text == MEMORY_NO_TEXT ? (struct str){"", 0} : profile->events.texts[text];
}
/* What an event may be; NULL where nothing is known, or its op tells. */
static inline const struct memory_profile_guess *memory_profile_guess_of(const struct memory_profile *profile,
                                                                         const struct memory_what *what)
{
    return what->guess == MEMORY_NO_TEXT ? NULL : &profile->guesses[what->guess];
}
/* Name of a TensorFlow data type; NULL for 0, "unknown dtype enum (N)" is not made here. */
const char *memory_profile_data_type(int32_t number);

void memory_profile_note(struct memory_profile_notes *notes, const char *code, uint64_t count, const char *text);
/* A note, if the arena of some part of the work was full, that this part is left out. Whoever keeps answers has to
 * know: with more memory they would be others. */
void memory_profile_note_room(struct memory_profile *profile, const char *code, const struct arena *arena,
                              const char *text);
/* The most that the allocator took of the device, as the pool's events tell it, and the first event that does; -1: none
 * does. */
int64_t memory_profile_taken_bytes(const struct memory_profile_pool *pool, uint32_t *event);
/* Bytes in use after the pool's first `count` events. */
int64_t memory_profile_in_use_after(const struct memory_profile_pool *pool, uint32_t count);

/* model_build.c: parts of building the model that have a file of their own. */
/* The steps by begin; where the file numbers them itself, their spans are those of their memory events. */
void memory_profile_steps_build(struct memory_profile *profile, struct arena *arena);
