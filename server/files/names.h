/* SPDX-License-Identifier: Apache-2.0
 * names.h: what the name of a file says about it.
 *
 * Names only decide what is listed and what belongs together; what a file
 * really is, the core tells from its bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum names_kind {
    NAMES_OTHER,        /* nothing that is shown */
    NAMES_TRACE,        /* HOST.xplane.pb[.gz] */
    NAMES_SNAPSHOT,     /* NAME.pickle[.gz], .pkl, .json, .html, .zip: may be a snapshot of PyTorch; the bytes decide */
    NAMES_XPROF_CACHE,  /* NAME.hlo_proto.pb[.gz]: XProf writes them beside traces */
    NAMES_HLO,          /* NAME.hlo.pb[.gz], NAME.hlo.txt, outside the scheme of XLA's dumps */
    NAMES_ASSIGNMENT,   /* NAME.buffer_assignment.pb, buffer_assignment.pb: a BufferAssignmentProto beside its module */
    NAMES_DUMP_MODULE,  /* module_NNNN.NAME.STAGE.hlo.pb[.gz] */
    NAMES_DUMP_SIBLING, /* module_NNNN.NAME… of any other kind */
    NAMES_ERROR_TEXT,   /* error.txt */
    NAMES_LOG,          /* NAME.log, NAME.txt: shown when it tells of a lack of memory */
    NAMES_PROFILE,      /* NAME.prof, NAME.pb… and others that may be: the bytes decide */
    NAMES_FOREIGN,      /* any of these, packed as none is read ("job.log.xz"): told as that */
};

enum names_kind names_kind_of(const char *name);
/* A list of a server keeps it: it is shown, or it is read beside what is, as "topology.textproto" of a dump. */
bool names_is_listed(const char *name);
/* The same once its bytes were looked into: a snapshot is a trace; what is not as its name says is NAMES_OTHER. */
enum names_kind names_kind_confirmed(enum names_kind kind, bool is_as_named);

/* How far XLA had come when it wrote a module; a greater one is the better to open. */
enum names_stage { NAMES_STAGE_NONE, NAMES_STAGE_BEFORE, NAMES_STAGE_OOM, NAMES_STAGE_AFTER };

/* "after_optimizations", …; NULL for NAMES_STAGE_NONE. */
const char *names_stage_text(enum names_stage stage);

struct names_module {
    size_t stem_length; /* "module_0006.jit_step" of a name; what files of one module share */
    enum names_stage stage;
};
/* For any name of a dump; the stem of an HLO file outside the scheme is its name without the endings. */
struct names_module names_module_of(const char *name);

/* Length of "1700000000000000." in front of a name of a dump, which tells apart what several processes write into one
 * folder; 0: it has none. */
size_t names_stamp_length(const char *name);

/* "module_0006.NAME.STAGE.txt": the text of a module at a stage, nothing else that is dumped as text. */
bool names_is_module_text(const char *name);
/* Length of "module_0006.NAME.STAGE" in "….STAGE-buffer-assignment.txt"; 0 for any other name. */
size_t names_assignment_text_length(const char *name);
/* Length of NAME in "NAME.buffer_assignment.pb" or with other marks between; 0 where there is none. */
size_t names_assignment_length(const char *name);

/* Length of a name without ".xplane.pb", ".hlo.pb", ".gz" and the like: a title for a lone file. */
size_t names_title_length(const char *name);

/* Length of HOST in HOST.xplane.pb[.gz]; 0 for any other name. */
size_t names_host_length(const char *name);

/* A word for the page: "trace", "hlo", "buffer_assignment", "live_range",
 * "memory_usage_report", "error_text", "log", "profile", "other". */
const char *names_word(const char *name);

bool names_is_gzip(const char *name);

/* NAME.prof and the like: the name says that the file is meant to be a profile. */
bool names_claims_profile(const char *name);
/* The same, or NAME.pickle and the like: meant to be a snapshot. */
bool names_claims_kind(const char *name);
/* Does it end as names of archives do, of kinds too that are not read (7z)? */
bool names_is_archive(const char *name);
