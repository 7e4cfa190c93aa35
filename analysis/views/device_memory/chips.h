/* SPDX-License-Identifier: Apache-2.0
 * chips.h: the filters of a question, one expression each, and what became of them. */
#pragma once

#include "base/regex.h"
#include "read/pprof/pprof.h"
#include "views/tool.h"

enum chip_kind {
    CHIP_FOCUS,     /* samples with such a frame */
    CHIP_IGNORE,    /* samples without */
    CHIP_HIDE,      /* frames that go */
    CHIP_SHOW,      /* frames that stay */
    CHIP_SHOW_FROM, /* callers above the outermost such frame go */
    CHIP_TAG,       /* key=VALUE, exact; -key=VALUE leaves out */
    CHIP_TAGFOCUS,  /* pprof's own syntax */
    CHIP_TAGIGNORE,
    CHIP_KIND_COUNT,
};

struct chip {
    enum chip_kind kind;
    const char *expression;
    struct regex *regex; /* of a kind that looks at frames */
    bool is_literal;     /* broken, so it is looked for as it is: see fault */
    struct regex_fault fault;
    uint64_t matched_count; /* frames; samples for the kinds that look at labels */
    struct str nearest;     /* when nothing matched: the function whose name is most like it, or empty */
};

struct chips {
    struct buf *scratch; /* the request's */
    struct chip *items;
    uint32_t count;
};

/* Reads the filters of a request. */
void chips_read(const struct tool_request *request, struct chips *chips);
/* Does a function's name or file, or a mapping's file, match? */
bool chips_match_function(const struct chip *chip, const struct pprof_function *function);
/* Fills `nearest` of those that matched nothing. */
void chips_find_nearest(struct chips *chips, const struct pprof *pprof, struct arena *arena);
/* "filters": […] */
void chips_write(const struct chips *chips, struct json *json);

/* For each set of labels of the profile: is it kept by the chips that look at
 * labels? Counts the samples that each chip matches. NULL when there is no such
 * chip, and with a report when one is broken. */
bool *chips_keep(struct chips *chips, const struct pprof *pprof, struct arena *arena, struct err *err);

/* The text of a label of a set, empty without it; numbers as they are printed. Lives in `scratch`. */
struct str chips_label_text(const struct pprof *pprof, uint32_t set, const char *key, struct buf *scratch);
