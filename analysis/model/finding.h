/* SPDX-License-Identifier: Apache-2.0
 * finding.h: what a person is told first of a trace or of profiles: one clause, and where its evidence is.
 *
 * The clause has no capital and no full stop, so that a face can put a name before it: "grows 64.0 KiB a step in 6,934
 * of 6,934 steps: metrics_append". Memory: the arena; texts that are given are copied. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum { FINDING_PARTS_MAX = 24, FINDING_PARAMS_MAX = 4 };

struct finding_part {
    enum { FINDING_TEXT, FINDING_SIZE, FINDING_NAME } kind;
    const char *text;
    int64_t bytes;      /* of a size */
    const char *figure; /* which one it is, for a face that explains it; NULL: it need not be told */
};

struct finding {
    struct arena *arena;
    const char *kind;     /* "grows"; NULL: there is none */
    const char *sentence; /* all parts as one text; finding_end makes it */
    const char *view;     /* of the same tool, that shows it; NULL: none */
    struct finding_part parts[FINDING_PARTS_MAX];
    struct {
        const char *name, *value;
    } params[FINDING_PARAMS_MAX]; /* of that view */
    uint32_t part_count, param_count;
};

/* `kind` and `view` are static. */
struct finding *finding_begin(struct arena *arena, const char *kind, const char *view);
/* By printf rules. */
void finding_text(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "1,024 frees", "1 free" behind `before`. */
void finding_count(struct finding *finding, const char *before, uint64_t count, const char *one);
void finding_size(struct finding *finding, int64_t bytes);
/* The same, with the name by which a face explains it; static. */
void finding_figure(struct finding *finding, int64_t bytes, const char *figure);
/* "+3.00 GiB", "−96.0 KiB", "0 B". */
void finding_change(struct finding *finding, int64_t bytes);
/* Out of a file. */
void finding_name(struct finding *finding, struct str name);
void finding_param(struct finding *finding, const char *name, struct str value);
/* No part is added behind it. */
struct finding *finding_end(struct finding *finding);
