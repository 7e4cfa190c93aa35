/* SPDX-License-Identifier: Apache-2.0
 * oom.h: what the out-of-memory texts of a log say.
 *
 * Out: one struct oom_failure for each distinct failure, in the order of the log.
 *      Equal ones (replicas, a log line and its exception) are counted, not repeated.
 * Units: bytes, as printed: a printed 17.60G is round(17.60 · 2^30). A figure that the
 *      text does not state is not known; nothing is computed from others.
 * Memory: all in the arena that the reader was given. */
#pragma once

#include "base/str.h"
#include "base/sum.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum oom_family {
#define FAMILY(name, framework, memory, phase, title, heading, who) OOM_FAMILY_##name,
#include "read/oom/families.def"
};

enum oom_framework {
#define FRAMEWORK(name) OOM_FRAMEWORK_##name,
#include "read/oom/families.def"
};

enum oom_memory {
#define MEMORY(name) OOM_MEMORY_##name,
#include "read/oom/families.def"
};

enum oom_program {
#define PROGRAM(name, title) OOM_PROGRAM_##name,
#include "read/oom/around.def"
};

enum oom_activity {
#define ACTIVITY(name, phrase) OOM_ACTIVITY_##name,
#include "read/oom/around.def"
};

enum oom_sign {
#define SIGN(name) OOM_SIGN_##name,
#include "read/oom/signs.def"
    OOM_SIGN_COUNT
};
_Static_assert(OOM_SIGN_COUNT <= 32, "signs are bits of 32");

enum oom_figure_at {
#define FIGURE(name, line, word) OOM_##name,
#include "read/oom/figures.def"
#undef FIGURE
    OOM_FIGURE_COUNT
};

struct oom_figure {
    uint64_t value;
    uint64_t half_unit; /* printed to ± this; 0: exact */
    uint64_t at;        /* byte of the (uncompressed) input */
    uint32_t length;    /* bytes there; line breaks and prefixes inside count */
    bool is_known;
};

struct oom_words {
    struct str text; /* UTF-8 as far as the input is; data NULL: not stated */
    uint64_t at;
    uint32_t length;
};

struct oom_buffer {
    struct oom_figure size, unpadded, padding;
    struct oom_figure source_line, stack_frame_id; /* numbers, not bytes */
    struct oom_words shape, op_name, source_file, label, allocation_type;
    bool is_shape_of_result; /* the size is that of a kernel's stack, the shape that of what the kernel returns */
};

enum oom_list { OOM_ALLOCATIONS, OOM_ARGUMENTS_AND_OUTPUTS, OOM_LIST_COUNT };

struct oom_buffers {
    struct oom_buffer *items;
    size_t count;
    bool is_stated; /* false: the text has no such list; its count is then not known */
};

struct oom_note {
    const char *code; /* a stable word; static */
    const char *text; /* one sentence */
};

struct oom_failure {
    enum oom_family family;
    enum oom_framework framework;   /* the family's, or the one whose words stand around the sentence */
    enum oom_memory memory_class;   /* of the memory space that the text names, else of the family */
    enum oom_program program;       /* that people start, of the lines around the sentence */
    enum oom_activity activity;     /* what it was doing, of the same */
    struct oom_words activity_line; /* the line that says so; text NULL: the sentence itself does */
    uint32_t signs;                 /* settings that the lines before it show: 1 << OOM_SIGN_… */
    bool has_no_gradients;          /* a frame before it turned them off */
    bool has_loss;                  /* a line before it makes a loss, or calls backward() of one */
    bool has_loader;                /* the lines around it tell of a program in Python or of one that loads data */
    bool is_past_limit;             /* a compiler said before it that the program cannot be made to fit the device */
    bool has_own_limit;             /* the capacity is what the program allowed itself, not the device's */
    bool has_other_reason;          /* lines around a kill say why, and it is not memory */
    bool is_given_up;               /* tried and taken back: the lines behind say that the program went on */
    unsigned share_percent;         /* of the device that a server was told to take; 0: the text does not say */
    const char *form;  /* a stable word for the kind of sentence; static; NULL: a sentence that is not known */
    const char *phase; /* "compile", "load", "run"; NULL when the text does not tell */
    struct oom_words error_code, memory_space, module, device;
    struct oom_figure figures[OOM_FIGURE_COUNT];
    struct oom_figure asked_tokens, held_tokens; /* numbers: that a request may have, that there is memory for */
    struct oom_buffers lists[OOM_LIST_COUNT];
    uint64_t begin_at, end_at; /* the text of the first of its replicas */
    uint64_t last_end_at;      /* of the last of them */
    uint64_t replica_count;
    const char *devices;                           /* "0, 1, 2": of replicas on several; NULL: of one at most */
    const struct oom_failure *const *consequences; /* that followed from it, in the order of the log */
    size_t consequence_count;
    const struct oom_note *notes;
    size_t note_count;
};

/* What a compile that went well says of a memory space: the fullest one of the log. */
struct oom_usage {
    struct oom_words memory_space;
    struct oom_figure used, capacity;
};

struct oom_result {
    const struct oom_failure *failures;
    size_t failure_count;
    const struct oom_failure *given_up; /* that the log takes back: no failures */
    size_t given_up_count;
    uint64_t left_out_count;    /* failures past the most that are kept */
    uint64_t report_line_count; /* lines of a compiler's or allocator's report outside any failure */
    struct oom_usage usage;     /* used.is_known false: no such line */
    uint64_t size_bytes;        /* of the log, unpacked */
    const char *encoding;       /* "utf-8" for all that is read byte by byte, "utf-16le", "utf-16be"; static */
};

/* How far a size may be from a printed figure that says the same: its half unit and a little, as not every printer
 * rounds half up. Bytes, 0 for an exact one. */
static inline uint64_t oom_figure_rounding(const struct oom_figure *printed)
{
    return printed->half_unit + printed->half_unit / 50 + (printed->half_unit > 0);
}

/* May a size have been printed as that figure? */
static inline bool oom_figure_is(const struct oom_figure *printed, uint64_t bytes)
{
    return sum_apart(printed->value, bytes) <= oom_figure_rounding(printed);
}

/* "PyTorch GPU OOM" */
const char *oom_family_title(enum oom_family family);
const char *oom_family_name(enum oom_family family);
/* NULL: not known. */
const char *oom_framework_name(enum oom_framework framework);
const char *oom_program_name(enum oom_program program);
const char *oom_program_title(enum oom_program program);
const char *oom_activity_name(enum oom_activity activity);
/* "in the backward pass": behind "was ". */
const char *oom_activity_phrase(enum oom_activity activity);
/* "PyTorch"; NULL: not known, or one of several. */
const char *oom_framework_title(enum oom_framework framework);
const char *oom_memory_name(enum oom_memory memory);
/* What a family is about unless a text says otherwise. */
enum oom_memory oom_family_memory(enum oom_family family);
/* Row `at` of the kinds of sentences that are looked for; NULL past the end. */
const char *oom_looked_for(size_t at);
static inline bool oom_has_sign(const struct oom_failure *failure, enum oom_sign sign)
{
    return (failure->signs >> sign & 1) != 0;
}

/* Of a program that was ended from outside, rather than refused what it asked for. */
bool oom_family_is_kill(enum oom_family family);
