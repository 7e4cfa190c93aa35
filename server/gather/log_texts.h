/* SPDX-License-Identifier: Apache-2.0
 * log_texts.h: which of the texts on disk tell of a lack of memory, and the first figures.
 *
 * The scanner asks while it builds a snapshot. Small texts are read at once, as long as
 * that takes no noticeable time; the others by a thread of its own, which rests as long
 * as it works, and from large ones only the last 256 MiB: a failure is at the end of a
 * log. What is read is kept under the identity of its file. A log that grows is read
 * again only after twenty times what the last reading took, and then once more at its end.
 * Threads: log_texts_begin, log_texts_look and log_texts_end from the scanner's alone. */
#pragma once

#include "base/err.h"
#include "server/files/files.h"
#include "server/gather/facts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first failure of a text. Numbers below 0 and empty words: not stated. */
struct log_text_failure {
    size_t failure_count;
    bool may_be_of_xla; /* one of them; false: another runtime says them all */
    char family[20], memory_class[16], phase[12], memory_space[16], module[128], title[64], over_text[24],
        limit_phrase[32];
    int64_t needed_bytes, capacity_bytes, exceeded_bytes, free_bytes, largest_free_bytes, limit_bytes, over_bytes;
    const struct analysis_subject *text; /* all of it, where it was kept as it was read; NULL: read the file again */
};

/* Texts with failures that are kept as they were read, so that no one reads these files again. */
struct log_texts_kept {
    struct analysis_subject **items;
    size_t count, capacity;
    uint64_t left_bytes; /* so much more may be kept */
};
void log_texts_kept_free(struct log_texts_kept *kept);

struct log_texts;

/* `changed` is called, from another thread, when there is something new to ask for. */
struct log_texts *log_texts_new(void (*changed)(void *context), void *context);
/* False when no thread could be made; small texts are read all the same. */
bool log_texts_start(struct log_texts *texts);
void log_texts_free(struct log_texts *texts);

/* Around the questions for one snapshot. With `is_complete`, what was not asked for is forgotten. */
void log_texts_begin(struct log_texts *texts);
void log_texts_end(struct log_texts *texts, bool is_complete);
/* What is known of the text at `place`, which may be of a little earlier; false when nothing is yet, or with `err`
 * when it cannot be read. */
bool log_texts_look(struct log_texts *texts, const struct files_place *place, const struct files_identity *identity,
                    struct log_text_failure *failure, struct err *err);
/* Was anything read since the last time this was asked, or has the time come to read a text again? */
bool log_texts_have_news(struct log_texts *texts);

/* The failure of a text that is read now. False and `err` when it cannot be read, or `is_stopping` became true
 * meanwhile. `kept`: takes the text if there is room; NULL: it is not kept. */
bool log_texts_read(const struct files_place *place, const atomic_bool *is_stopping, struct log_texts_kept *kept,
                    struct log_text_failure *failure, struct err *err);
/* The same, unless `facts` (NULL: none) tell what was read of this state of the file before. */
bool log_texts_read_once(const struct facts *facts, const struct files_place *place,
                         const struct files_identity *identity, const atomic_bool *is_stopping,
                         struct log_texts_kept *kept, struct log_text_failure *failure, struct err *err);
