/* SPDX-License-Identifier: Apache-2.0
 * sums.h: what each frame holds by itself (pprof's flat) and with all it calls
 * (cum): a sample counts once for a frame, however often it is in its stack. */
#pragma once

#include "base/intern.h"
#include "views/device_memory/model.h"

/* In a difference self and total are what is left; before_… is the base's. */
struct sums_row {
    int64_t self, total, before_self, before_total;
    int64_t count, executable_count; /* buffers (or what else has no label kind=executable), and executables */
    int64_t each_min, each_max;      /* exact sizes of the buffers in total; -1: none is known */
};

struct sums {
    const struct model *model;
    struct sums_row *rows; /* of each frame */
    uint32_t *listed;      /* frames that hold anything */
    uint32_t listed_count;
};

void sums_make(const struct model *model, struct sums *sums);
/* Adds a sample to a row that is part of its stack, or its leaf. */
void sums_add(const struct model *model, const struct model_sample *sample, bool is_leaf, struct sums_row *row);

/* Writes the two sides and "change" of a difference. */
void sums_sides_write(const struct model *model, const struct sums_row *row, struct json *json);
/* "new", "gone", "grown", "shrunk", "same". */
const char *sums_change(int64_t before, int64_t after);

/* ---- call sites: the user's own line that made a buffer, and what it called ---- */

struct sites_key {
    uint32_t frame;
    struct str callee; /* the function of the machinery that was called there; empty without one */
};

struct sites {
    struct arena *arena;
    struct map table;
    struct sites_key *keys;
    size_t capacity;
};

void sums_sites_init(struct sites *sites, struct arena *arena);
/* The site of a stack, new or known. */
uint32_t sums_site_of(struct sites *sites, const struct model *model, const struct model_walk *walk);
/* "frame" and "callee" */
void sums_site_write(const struct sites *sites, uint32_t at, const struct model *model, struct json *json);

/* ---- labels ---- */

struct label_value {
    struct str text;
    int64_t total, count;
    uint32_t number; /* in the order of meeting */
};

/* One label over all sets: its values, and which of them each set has. */
struct label_values {
    struct label_value *values;
    uint32_t count;
    uint32_t *of_sets; /* MAP_NONE: the set has no such label, unless that counts as "" */
};

/* Sums the samples by the values of a label. */
void sums_of_label(const struct model *model, const char *key, bool counts_absent, struct label_values *label);
/* Sorts the values: the largest first. */
void sums_rank_label(struct label_values *label);
