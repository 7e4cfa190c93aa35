/* SPDX-License-Identifier: Apache-2.0
 * model.h: what the out-of-memory texts of a log mean: each failure with its meaning.
 *
 * Command line, JSON and page print what is here; none of them works a figure or a sentence out of others.
 * Sizes are bytes. Texts and lists lie in the arena of the report, or are static. */
#pragma once

#include "read/oom/mentions.h"
#include "read/oom/oom.h"

/* A piece of a sentence: words of ours, a name out of the text, or a size. */
struct oom_part {
    enum { OOM_PART_WORDS, OOM_PART_NAME, OOM_PART_SIZE } kind;
    struct str text;  /* of words and names; of a size as it is to be printed, or NULL: in its own unit */
    uint64_t bytes;   /* of a size */
    const char *key;  /* of a size: the member of "ranges" that it is in; NULL: worked out */
    const char *role; /* of a size: "main", "over" or NULL */
};

enum { OOM_SENTENCE_PARTS = 20 };
struct oom_sentence {
    struct oom_part parts[OOM_SENTENCE_PARTS];
    size_t count; /* 0: there is nothing to say */
};

/* A figure with its name. */
struct oom_row {
    const char *word;  /* "capacity"; static */
    const char *line;  /* the same as the command line says it: "there was"; static; NULL: it does not */
    const char *key;   /* as in struct oom_part */
    const char *text;  /* the size as it is to be printed; NULL: in its own unit */
    const char *after; /* what it is of: "HBM"; "" */
    uint64_t bytes;
    bool is_over;
};

/* One stretch of the bar. */
struct oom_stretch {
    struct str word;
    const char *key;  /* as in struct oom_part */
    const char *look; /* "temporary", "parameter", "output", "constant", "unknown": its colour; static */
    uint64_t bytes;
    uint64_t lost_bytes;  /* of these, fragmentation */
    const char *lost_key; /* as in struct oom_part */
};

enum { OOM_BAR_STRETCHES = 16, OOM_ROW_COUNT = OOM_FIGURE_COUNT + 1 };

/* Where the memory went. */
struct oom_bar {
    struct oom_stretch stretches[OOM_BAR_STRETCHES];
    size_t count;                       /* 0: the text does not say */
    uint64_t whole_bytes;               /* the sum of the stretches */
    const char *of;                     /* what the whole is, if it is not what was asked for; "" */
    const char *limit_word, *limit_key; /* NULL: not known */
    uint64_t limit_bytes;
    uint64_t over_bytes; /* 0: it fits */
    const char *over_word, *over_text;
    bool is_itemised; /* false: one stretch, of which the text does not say what it is */
};

/* Equal buffers of a list. */
struct oom_group {
    const struct oom_buffer *buffer; /* the first of them */
    enum oom_list list;
    size_t at; /* its index in the list */
    size_t count;
};

enum oom_cause {
    OOM_CAUSE_NOT_KNOWN,
    OOM_CAUSE_SHORTAGE,      /* less is free than was asked for */
    OOM_CAUSE_FRAGMENTATION, /* enough is free, in pieces that are too small */
    OOM_CAUSE_UNPLACED,      /* enough is free; how large the pieces are is not known */
    OOM_CAUSE_OTHER_PROCESS, /* what other processes hold would have sufficed */
    OOM_CAUSE_TOO_LARGE,     /* more is asked for in one piece than the device has in all */
    OOM_CAUSE_LIMIT,         /* a limit that the program or its surroundings set; the device itself may have room */
    OOM_CAUSE_HOST,          /* it is the host's memory that was short, not the device's */
};

struct oom_step {
    bool is_command;     /* to be run as it is; else a sentence */
    bool is_for_dump;    /* it makes the compiler write down the plan, or says how: not said where that is at hand */
    bool is_for_profile; /* the same of a device profile */
    const char *text;
};

struct oom_meaning {
    const struct oom_failure *failure;
    const char *title;   /* "TPU compile-time OOM (E1000)" */
    const char *heading; /* "TPU compiler: the program does not fit"; static */
    const char *fits;    /* "No, it does not fit."; static */
    struct oom_sentence answer, more;
    const char *whose; /* "ComfyUI was decoding or encoding with the VAE."; NULL: the lines around do not tell */
    enum oom_cause cause;
    const char *cause_name;         /* "shortage", …; NULL: not known; static */
    const char *cause_line;         /* one line for a terminal; NULL; static */
    struct oom_sentence cause_text; /* why; empty when the text does not tell */
    const char *advice;             /* who yields to whom; NULL; static */
    bool is_limit_known;
    uint64_t limit_bytes;     /* what the request is held against */
    const char *limit_phrase; /* "are available", "are free", …; static */
    bool is_over_known;
    uint64_t over_bytes; /* of what was asked, past what there was */
    const char *over_text, *over_key;
    struct oom_row rows[OOM_ROW_COUNT]; /* did it fit? */
    size_t row_count;
    struct oom_row others[OOM_ROW_COUNT]; /* what else the text states */
    size_t other_count;
    struct oom_row lines[OOM_ROW_COUNT]; /* all figures that a terminal prints, in its order */
    size_t line_count;
    struct oom_bar bar;
    uint64_t listed_bytes;                    /* of all listed buffers, each place in memory once */
    uint64_t listed_shared_bytes;             /* of outputs that lie in the memory of arguments: not in listed_bytes */
    struct oom_group *groups[OOM_LIST_COUNT]; /* equal buffers of each list, largest sum first */
    size_t group_counts[OOM_LIST_COUNT];
    const char *sureness, *sureness_of, *sureness_reason; /* static */
    const struct oom_step *steps;                         /* what to run next */
    size_t step_count;
};

/* A buffer of a program's plan. */
struct oom_match {
    const char *id; /* as pins of the Memory Viewer have it; NULL: none is meant */
    const char *name;
    const char *category, *confidence; /* whose memory it is, as in plan/category.h */
};

/* A failure beside the plan of its program, where that is at hand. */
struct oom_comparison {
    int64_t space;                             /* that the failure is about; -1: the plan has nothing of that name */
    struct oom_sentence agreement;             /* do they say the same, and what makes the difference */
    struct oom_sentence largest;               /* of the plan, where the text lists no buffer; else empty */
    struct oom_bar bar;                        /* of the plan, where the text gives a total alone; else count 0 */
    struct oom_match *matches[OOM_LIST_COUNT]; /* for each listed buffer that of the plan */
};

struct oom_report {
    struct oom_result found;
    const struct oom_meaning *meanings;  /* one a failure of `found` */
    const struct oom_mentions *mentions; /* NULL: not looked for */
};
