/* SPDX-License-Identifier: Apache-2.0
 * verdict_near.h: a program that was looked for, in the sessions of a snapshot: the nearest first.
 *
 * Near is what is few folders away (up and down to the other), of equally many what is near in time. The first
 * VERDICT_NEAR_SESSIONS are looked into: each costs the reading of its file. */
#pragma once

#include "server/store/modules.h"

enum { VERDICT_NEAR_SESSIONS = 16 };

/* What a program has to be. Borrowed. */
struct verdict_near_program {
    struct str name;
    bool has_total;
    uint64_t total_bytes;
    uint64_t rounding_bytes; /* how far a total may be from it: it was printed with few digits */
    uint64_t least_bytes;    /* the size of one piece of the program: a smaller program cannot be it; 0: not known */
};

/* Where it is looked for. Borrowed. */
struct verdict_near_place {
    const struct snapshot *snapshot;
    const struct snapshot_session *but[2]; /* which are left out; NULL */
    const char *folder;                    /* that sessions are near to, root and path; NULL: nothing is near */
    int64_t at_ms;                         /* Unix time; 0: not known */
    bool only_traces;                      /* with memory events; else programs of dumps, HLO files and traces */
};

struct verdict_near {
    const struct snapshot_session *session; /* NULL: there is none */
    const struct modules_entry *entry;
    struct modules modules; /* that `entry` is of; modules_close */
    size_t count;           /* sessions that hold such a program, of those that were looked into */
    bool is_loose;          /* its total may have been up to 2 % apart */
};

/* Always fills `found`. For a program beside, above or below the folder, the total may differ by up to 2 %, because a
 * log may print the total of another attempt. For a trace, and elsewhere, it has to be equal. For a trace it has to be
 * at least 1 MiB too, because smaller totals are equal by chance. */
void verdict_near_find(struct store *store, const struct verdict_near_place *place,
                       const struct verdict_near_program *program, struct verdict_near *found);
/* "root/path" of a file without the last component; free(). */
char *verdict_near_folder(const struct files_place *place);
/* Does a file on disk or on a server lie in just this folder, as verdict_near_folder names it? One in memory lies in
 * none. */
bool verdict_near_is_in(const struct files_place *place, const char *folder);
/* The file by which a session is found; NULL: it has none. */
const struct snapshot_file *verdict_near_file(const struct snapshot_session *session);
/* "jit_step"; of a file that cannot be read that of its group. */
const char *verdict_near_name(const struct modules_entry *entry);
