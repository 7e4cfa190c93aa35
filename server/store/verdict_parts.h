/* SPDX-License-Identifier: Apache-2.0
 * verdict_parts.h: what there is for the verdict of a failure or a session: the program, what allocators did, device
 * profiles, and how much the device has.
 *
 * A session has its own. A log may also lie beside, above or below the dump of its program, or elsewhere: then the
 * program is found in another session, by its name and by its total. So is a trace of the program. A text that is of no
 * program of XLA is joined with none. */
#pragma once

#include "server/store/capacity.h"
#include "server/store/subjects.h"
#include "server/store/verdict_near.h"

struct verdict_parts {
    struct analysis_verdict_parts core;            /* for analysis_verdict */
    const struct snapshot_session *module_session; /* of core.module; NULL: there is none */
    const struct modules_entry *entry;             /* the same */
    struct modules modules;                        /* that `entry` is of */
    struct subject module, trace, *profiles;
    struct analysis_use *uses; /* of the profiles */
    size_t profile_count;
    const struct snapshot_session *profile_session; /* of the profiles; NULL: there are none */
    struct capacity capacity;                       /* bytes 0: nothing says it */
    struct capacity chip;                           /* its source is core.around.device */
    const struct snapshot_session *trace_session;   /* of core.trace; NULL: there is none */
    const struct snapshot_host *trace_host;         /* the same, where it was chosen; NULL: the worst */
    char *joined[2];                                /* of core.around.joined */
    struct torch_choice choice;                     /* of core.around.choice */
    struct verdict_unread
        *unread; /* of core.around.unread: files that this would have come from; their names are its own */
    size_t unread_count, unread_capacity;
    const char *refused_file; /* after a failure: the file that `err` is about; NULL: it is about none */
    bool is_transient;        /* after a failure: asking again may help */
    bool lacks_file;          /* is without something that could not be read now, and another time may be */
};

/* What is asked for. Borrowed. */
struct verdict_parts_wanted {
    const struct snapshot *snapshot;        /* in which other sessions are looked at; NULL: in none */
    const struct snapshot_session *session; /* NULL: of an uploaded text alone */
    const struct snapshot_host *host;       /* of the module and the trace; NULL: the largest, the worst */
    const char *module_id;                  /* NULL: that of the failure, else the largest */
    const struct modules_entry *module;     /* the same, where its modules are open; NULL */
    const char *text;                       /* name of the log that the failure is of; NULL: it has none */
    bool takes_given;                       /* of snapshots of PyTorch only files that were named themselves */
    const char *folder;                     /* of a log that is in no session: root and path; NULL */
    const struct oom_meaning *failure;      /* NULL */
};

/* Fills `parts` (zeroed). What cannot be read is left out and named in `unread`. False when what was asked for by name
 * cannot be had, and where nothing is left of a session without a failure: `err` says why, of `refused_file`.
 * verdict_parts_close in any case. */
bool verdict_parts_open(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts,
                        struct err *err);
void verdict_parts_close(struct verdict_parts *parts);

/* The folder of the log or the session, where files beside it are searched: root and path; NULL: it is in memory, or
 * not known. free() */
char *verdict_parts_folder(const struct verdict_parts_wanted *wanted);

/* Notes that `subject` could not be made of the file, because of `err`. A file is named once, with the first reason. */
void verdict_parts_unread(struct verdict_parts *parts, const struct snapshot_file *file, const struct subject *subject,
                          const struct err *err);
/* The same of a file by its name alone; copied. */
void verdict_parts_unread_name(struct verdict_parts *parts, const char *file, const struct err *err);

/* What the verdict is of, as its JSON names it. Borrowed. */
struct verdict_parts_about {
    const char *session; /* id, or NULL */
    const char *file;    /* name of the text, or NULL */
    uint64_t report;     /* which of its failures, from 1; 0: none */
    uint64_t report_count;
};
/* Appends the verdict as GET /api/v1/verdict answers (Verdict in docs/openapi.yaml), one JSON object. False: see err;
 * what was appended is then of no use. */
bool verdict_parts_write(const struct verdict_parts *parts, const struct verdict_parts_about *about, struct buf *out,
                         struct err *err);

/* The place of the module that a failure is about, in one session; NULL: none is. Totals are read where there are
 * several. */
const struct modules_entry *verdict_parts_module(struct store *store, struct modules *modules,
                                                 const struct oom_meaning *failure);
