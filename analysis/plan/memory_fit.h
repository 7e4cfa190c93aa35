/* SPDX-License-Identifier: Apache-2.0
 * memory_fit.h: does a program fit: what it needs beside what a device has, as a word, figures and a sentence.
 *
 * Every answer that says whether something fits has it from here. The compiler's total decides, not the peak.
 * Units:  bytes; -1: not known.
 * Memory: the arena. */
#pragma once

#include "base/arena.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

/* What a device has in one memory space, and who says so. */
struct memory_capacity {
    int64_t bytes;       /* -1: no source gives it; the rest is not used */
    int64_t half_bytes;  /* as a text rounds it, exact to ± this; 0: exact */
    int64_t asked_bytes; /* that the same text asked for; -1 */
    const char *source;  /* "error.txt", "TPU v5e, from target_arguments.pb" */
    const char *device;  /* row of the table of devices that it is of; NULL: of none */
    bool is_physical;    /* of the whole device: a program gets less */
    bool is_of_gpu;
};

enum memory_fit_word {
    MEMORY_FIT_NOT_KNOWN,
    MEMORY_FIT_FITS,
    MEMORY_FIT_CLOSE,   /* too close to tell */
    MEMORY_FIT_DEFAULT, /* over what JAX takes of the device by default, not over the device */
    MEMORY_FIT_OVER
};

/* A piece of the sentence. */
struct memory_fit_part {
    const char *text;
    int64_t bytes;    /* of a size; else -1 */
    const char *role; /* of a size: "needed", "asked", "capacity", "share", "over", "free"; NULL: words */
};

enum { MEMORY_FIT_PARTS_MAX = 12 };

struct memory_fit {
    enum memory_fit_word word;
    struct memory_capacity capacity;
    int64_t needed_bytes, over_bytes, free_bytes;
    int64_t share_bytes; /* of the device that JAX takes by default; -1: that is no question here */
    struct memory_fit_part parts[MEMORY_FIT_PARTS_MAX];
    uint32_t part_count;
    const char *sentence; /* its parts */
};

/* JAX reserves this share of a GPU for a program by default (XLA_PYTHON_CLIENT_MEM_FRACTION changes it), and less if
 * other programs hold some of the memory. */
#define MEMORY_FIT_SHARE_PERCENT 75
/* "75 %" */
#define MEMORY_FIT_SHARE_WORDS MEMORY_FIT_TEXT(MEMORY_FIT_SHARE_PERCENT) " %"
#define MEMORY_FIT_TEXT(number) MEMORY_FIT_TEXT_OF(number)
#define MEMORY_FIT_TEXT_OF(number) #number

/* JAX's default share of a GPU with that memory. */
int64_t memory_fit_share(int64_t physical_bytes);
/* The most that fits in it without doubt. */
int64_t memory_fit_share_safe(int64_t share_bytes);

/* The largest size that memory_fit_judge reports as fitting, for a program without an error text (asked_bytes -1); -1:
 * the capacity is not known. */
int64_t memory_fit_room(const struct memory_capacity *capacity);

/* Orders what a job needs by what to look at first. It is worse if it takes a larger share of its capacity than
 * `other`; the size in an error text counts if that is over the capacity and the plan is not. Those without a capacity
 * come last, the larger first. */
bool memory_fit_is_worse(const struct memory_capacity *capacity, int64_t needed_bytes,
                         const struct memory_capacity *other, int64_t other_needed_bytes);

/* "fits", "over", "too close", "over by default", "capacity not known". */
const char *memory_fit_word_name(enum memory_fit_word word);

/* Judges a program that needs `needed_bytes` of the memory space named `space`. */
void memory_fit_judge(const struct memory_capacity *capacity, int64_t needed_bytes, const char *space,
                      struct arena *arena, struct memory_fit *out);
/* The member `key`, an object; of a row of the table of devices it says where the table has the figure from. */
void memory_fit_write(struct json *json, const char *key, const struct memory_fit *fit);
