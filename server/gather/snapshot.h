/* SPDX-License-Identifier: Apache-2.0
 * snapshot.h: what can be opened, at one moment.
 *
 * Built from the scanner's trees (sessions.h), then never changed: any number
 * of requests look at one while the next is being made. Everything in it lives
 * in its pool until the last holder releases it.
 * Ids are stable from start to start: they come from the kind and the path. */
#pragma once

#include "base/err.h"
#include "base/hash.h"
#include "server/base/memory.h"
#include "server/files/files.h"
#include "server/files/names.h"
#include "server/gather/log_texts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How hosts, profiles and modules are named in URLs: twelve hex digits of a hash, and a NUL. */
enum { SNAPSHOT_PART_ID_SIZE = 13 };
void snapshot_write_id(char id[SNAPSHOT_PART_ID_SIZE], uint64_t hash);

struct snapshot_file {
    const char *name; /* last component */
    const char *path; /* below its root */
    struct files_place place;
    struct files_identity identity;
    int reason; /* 0, or the errno that says why it cannot be read */
};

/* One trace of a session. */
struct snapshot_host {
    char id[SNAPSHOT_PART_ID_SIZE];
    const char *name;
    const struct snapshot_file *file;
    bool is_allocator; /* an allocator snapshot of PyTorch */
};

/* One module of a dump: the best of its HLO files. */
struct snapshot_group {
    const char *stem; /* module_0006.jit_step */
    enum names_stage stage;
    const struct snapshot_file *file;
};

/* A text of a session that tells of a lack of memory, or is its error.txt. */
struct snapshot_text {
    const struct snapshot_file *file;
    bool is_read; /* false: `failure` is not known yet */
    struct log_text_failure failure;
};

/* One device profile of a series. */
struct snapshot_profile {
    char id[SNAPSHOT_PART_ID_SIZE];
    const struct snapshot_file *file;
};

enum snapshot_kind { SNAPSHOT_TRACE, SNAPSHOT_DUMP, SNAPSHOT_HLO, SNAPSHOT_TEXT, SNAPSHOT_PROFILES };
const char *snapshot_kind_name(enum snapshot_kind kind);

enum { SNAPSHOT_ID_SIZE = 48 };

/* What becomes known by reading a session. */
struct snapshot_known {
    _Atomic int64_t module_count, largest_total_bytes; /* -1 until its modules were counted, and added up */
    _Atomic(char *) worst;   /* the object SessionWorst of docs/openapi.yaml; NULL: not known, or there is none */
    _Atomic(char *) devices; /* the array `devices` of ModuleList there, of a dump; NULL: not known */
};

/* What a person opens. */
struct snapshot_session {
    char id[SNAPSHOT_ID_SIZE];
    enum snapshot_kind kind;
    const char *name;
    int64_t modified_at_ms; /* of its newest file; Unix time */
    uint64_t size_bytes;    /* of its traces or HLO files */
    size_t host_count, group_count, file_count;
    size_t allocator_count;              /* of the hosts, allocator snapshots of PyTorch */
    const struct snapshot_host *hosts;   /* by name; empty unless a trace */
    const struct snapshot_group *groups; /* by stem; empty for a trace */
    size_t program_file_count;
    const struct snapshot_file *const *program_files; /* of a trace: HLO files beside it, of any session */
    const struct snapshot_file *const *files;         /* all that belong to it, by name */
    struct snapshot_known *known;                     /* nothing else changes */
    size_t text_count;
    const struct snapshot_text *texts; /* error.txt first, then those with failures */
    size_t profile_count;
    struct snapshot_profile *profiles; /* by name, 2 before 10; only of SNAPSHOT_PROFILES */
    bool is_text_only;                 /* a dump without any HLO file that can be opened */
};

/* What XProf calls a run. */
struct snapshot_run {
    const char *name;
    const struct snapshot_session *session; /* NULL for a folder without traces */
};

/* A file that cannot be shown, as the scanner saw it. */
struct snapshot_problem {
    const char *file;               /* path below the root */
    const struct snapshot_file *of; /* the same; NULL: a folder, or what a server does not list */
    struct err why;
    const struct snapshot_session *session; /* or NULL */
};

struct snapshot_root {
    const char *path;
    bool is_readable;
    bool is_missing;      /* not there; looked for again at each scan */
    bool is_cut;          /* there are more folders, or deeper ones, than are looked at */
    const char *reason;   /* "" when it is */
    int64_t last_scan_ms; /* Unix time; 0 before the first scan ended */
    uint64_t file_count;  /* files that may be shown */
    uint64_t depth;       /* of the deepest folder that holds one */
};

struct snapshot {
    struct memory_pool pool;
    int holders; /* of index.c */
    uint64_t generation;
    size_t root_count, session_count, run_count, problem_count;
    struct snapshot_root *roots;
    const struct snapshot_session **sessions; /* newest first */
    struct snapshot_run *runs;                /* by name, descending, as XProf lists them */
    struct snapshot_problem *problems;
};

/* NULL when there is none. */
const struct snapshot_session *snapshot_session(const struct snapshot *snapshot, const char *id);
const struct snapshot_host *snapshot_host(const struct snapshot_session *session, const char *id);

/* The profile of that id; the last one without (NULL). NULL: there is none. */
const struct snapshot_profile *snapshot_profile(const struct snapshot_session *session, const char *id);
/* The text of that name; without (NULL or ""), the first that tells of a failure or was not read yet. NULL: there is
 * none. */
const struct snapshot_text *snapshot_text(const struct snapshot_session *session, const char *name);
/* May it hold programs: is it a trace, a dump or HLO files? */
bool snapshot_has_programs(const struct snapshot_session *session);

/* How far a walk over the allocator snapshots has come; zeroed at its begin. */
struct snapshot_walk {
    size_t session_at, host_at;
    const struct snapshot_session *session; /* of the host that was given last */
};
/* The next allocator snapshot of PyTorch, session by session; NULL: there are no more. `snapshot` may be NULL. */
const struct snapshot_host *snapshot_next_allocator(const struct snapshot *snapshot, struct snapshot_walk *walk);

/* The first one that its texts tell of, of those that were read; NULL. */
const struct log_text_failure *snapshot_failure(const struct snapshot_session *session);

/* The id of a module of a session: `name` is its key in a trace, its group's stem elsewhere. */
void snapshot_module_id(char id[SNAPSHOT_PART_ID_SIZE], const struct snapshot_session *session, const char *name);
