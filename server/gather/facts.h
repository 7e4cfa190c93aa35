/* SPDX-License-Identifier: Apache-2.0
 * facts.h: what was found out by reading a file, kept by somebody over many scans: as long as the file has the same
 * identity, it is not read for that again.
 *
 * A fact is a short text that only whoever wrote it reads. What could not be found out now is none. */
#pragma once

#include "base/buf.h"
#include "server/files/files.h"

enum facts_kind {
    FACTS_TEXT,   /* the first failure of a text, or that it has none */
    FACTS_NAMED,  /* is it a profile or a snapshot, as its name says? */
    FACTS_LABELS, /* the text of a memviewd.json */
};

/* Who keeps them. Both functions may be called by several threads at a time. */
struct facts {
    /* Adds what is kept to `value`, which was empty; false: nothing is. */
    bool (*find)(void *context, enum facts_kind kind, const struct files_place *place,
                 const struct files_identity *identity, struct buf *value);
    void (*keep)(void *context, enum facts_kind kind, const struct files_place *place,
                 const struct files_identity *identity, const struct buf *value);
    void *context;
};

/* The same; `facts` NULL, or a place in memory: nothing is kept. What is found ends with a NUL, which is not counted in
 * its length. */
bool facts_find(const struct facts *facts, enum facts_kind kind, const struct files_place *place,
                const struct files_identity *identity, struct buf *value);
void facts_keep(const struct facts *facts, enum facts_kind kind, const struct files_place *place,
                const struct files_identity *identity, const struct buf *value);
