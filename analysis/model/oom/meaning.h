/* SPDX-License-Identifier: Apache-2.0
 * meaning.h: from what a text states to what it means. */
#pragma once

#include "base/arena.h"
#include "model/oom/model.h"

/* The meaning of each failure, in their order. `found` must live as long. */
const struct oom_meaning *oom_meanings_make(const struct oom_result *found, struct arena *arena);

/* Its parts, each from those before it. */
void oom_limits_set(struct oom_meaning *meaning, struct arena *arena); /* over by; shortage or fragmentation */
void oom_groups_set(struct oom_meaning *meaning, struct arena *arena); /* equal buffers, what is listed in all */
void oom_bar_set(struct oom_meaning *meaning, struct arena *arena);
void oom_rows_set(struct oom_meaning *meaning, struct arena *arena);
void oom_sentences_set(struct oom_meaning *meaning, struct arena *arena);
void oom_next_steps_set(struct oom_meaning *meaning, struct arena *arena);

/* Adds to a sentence: any part; words (static or the report's), a name out of the text, a size that the text states,
 * one that it does not. What does not fit in is left out. */
void oom_say_part(struct oom_sentence *sentence, struct oom_part part);
void oom_say(struct oom_sentence *sentence, const char *words);
void oom_say_name(struct oom_sentence *sentence, struct str name);
void oom_say_figure(struct oom_sentence *sentence, const struct oom_failure *failure, enum oom_figure_at at,
                    const char *role);
void oom_say_size(struct oom_sentence *sentence, uint64_t bytes);
/* A shape without its layout; of a tuple all of it. */
struct str oom_bare_shape(struct str shape);
/* A further stretch, unless it is empty or there is no room. */
void oom_bar_add(struct oom_bar *bar, const char *word, uint64_t bytes, const char *key, const char *look);

/* Kinds of failures, for rows of a table: not_known, NOT_KNOWN and NULL are any. */
struct oom_kind {
    enum oom_family family;
    enum oom_framework framework;
    enum oom_memory memory;
    enum oom_cause cause;
    const char *form;
};
bool oom_is_kind(const struct oom_meaning *meaning, const struct oom_kind *kind);

/* Does it speak of device memory, and name no space of it? */
bool oom_is_of_device(const struct oom_failure *failure);
/* Is it the memory space that a failure is about? A text that names none speaks of device memory. */
bool oom_is_space(const struct oom_failure *failure, const char *name);

/* The figure of a failure, or NULL when the text does not state it. */
const struct oom_figure *oom_figure(const struct oom_failure *failure, enum oom_figure_at at);
const char *oom_figure_key(enum oom_figure_at at);
bool oom_is_form(const struct oom_failure *failure, const char *form);
bool oom_is_compile(const struct oom_failure *failure);
/* "HBM", "VMEM", …; other names as they are; "" when it is not stated. */
const char *oom_space_name(const struct oom_failure *failure, struct arena *arena);
/* Was the program killed from outside, rather than refused what it asked for? */
bool oom_is_kill(const struct oom_failure *failure);
/* Is it memory of the host, in whatever way? */
bool oom_is_host(const struct oom_failure *failure);
/* What an allocator of PyTorch keeps and has not given out, stated or worked out; 0 when the text does not say. */
uint64_t oom_unallocated(const struct oom_failure *failure);
/* How much of the results takes the memory of arguments (donated ones), stated or worked out from the plan's total; 0
 * when the text does not say. At most what the smaller of the two takes where it is worked out. */
uint64_t oom_shared_output_bytes(const struct oom_failure *failure);
/* Is that more than any allocator keeps, beside what it has given out? */
bool oom_keeps_much(const struct oom_failure *failure);
/* What other processes hold on the device: as the text lists them, else what neither is free nor its own; 0: not
 * known. */
uint64_t oom_others(const struct oom_failure *failure);
/* May it be of a program that XLA compiled? Texts of other runtimes say nothing of such a program. */
bool oom_may_be_of_xla(const struct oom_failure *failure);
/* Is it one of XLA's families, whoever called it? */
bool oom_is_of_xla_family(const struct oom_failure *failure);
/* Was that asked for at run time in one piece? XLA asks so for all temporaries of a program, and for an output. */
bool oom_asks_for_piece(const struct oom_failure *failure, uint64_t bytes);
/* Did the compiler ask for that as the total of a program? */
bool oom_asks_for_total(const struct oom_failure *failure, uint64_t total_bytes);
/* Is more asked for in one piece than there is in all? Where more is free than there is in all, that is a limit which
 * was set. */
bool oom_is_past_capacity(const struct oom_failure *failure);
/* Whose allocator has given out what it has: PyTorch's, or one that is not named. Static. */
const char *oom_rows_allocated_word(const struct oom_failure *failure);
/* Is it how large one buffer may be that stands in the way, not the memory of the device? */
bool oom_is_limit_of_buffer(const struct oom_failure *failure);
/* Is more asked of a device in one piece than any one device has? Then its size need not be known. */
bool oom_is_past_any_device(const struct oom_failure *failure);
/* Does it print the buffer assignment of a whole GPU program? */
bool oom_has_assignment(const struct oom_failure *failure);
/* What the request is held against: OOM_FIGURE_COUNT when the text gives nothing. */
enum oom_figure_at oom_limit_of(const struct oom_failure *failure);
/* The largest piece that was to be had; OOM_FIGURE_COUNT when the text does not say. */
enum oom_figure_at oom_hole_of(const struct oom_failure *failure);
/* The group of equal buffers that takes most, of all lists; count 0 when none has a size. */
struct oom_group oom_group_largest(const struct oom_failure *failure);
