/* SPDX-License-Identifier: Apache-2.0
 * analysis.h: the one door into the analysis core; the daemon knows nothing else of it.
 *
 * In:      sources (base/source.h) and names; Out: structs below and JSON bytes.
 * Units:   bytes unless a name says otherwise.
 * Threads: no globals, none of its own. A subject is immutable once read: any number of threads may ask it at once.
 * Errors:  false or NULL, with the reason in `err` (base/err.h). */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/source.h"
#include "base/str.h"
#include "base/workers.h"
#include "door/analysis_capacity.h"
#include "door/analysis_compile.h"
#include "door/analysis_device_fit.h"
#include "door/analysis_fleet.h"
#include "door/analysis_live.h"
#include "door/analysis_members.h"
#include "door/analysis_oom.h"
#include "door/analysis_pool.h"
#include "door/analysis_profiler.h"
#include "door/analysis_verdict.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- What a file is -------------------------------------------------------- */

enum analysis_kind {
    ANALYSIS_KIND_UNKNOWN,
    ANALYSIS_KIND_EMPTY,               /* 0 bytes (XProf's NO_MODULE marker, a trace that was never written) */
    ANALYSIS_KIND_XSPACE,              /* profiler trace */
    ANALYSIS_KIND_HLO_PROTO,           /* HloProto: module and, mostly, buffer assignment */
    ANALYSIS_KIND_HLO_MODULE,          /* bare HloModuleProto */
    ANALYSIS_KIND_HLO_SNAPSHOT,        /* HloSnapshot: HloProto and literals */
    ANALYSIS_KIND_PPROF,               /* profile.proto */
    ANALYSIS_KIND_MEMORY_USAGE_REPORT, /* MemoryUsageReportProto of a dump */
    ANALYSIS_KIND_BUFFER_ASSIGNMENT,   /* bare BufferAssignmentProto */
    ANALYSIS_KIND_HLO_PARTS,      /* texts of an HLO program, or several of its files, framed: read/hlo/hlo_parts.h */
    ANALYSIS_KIND_TORCH_SNAPSHOT, /* of torch.cuda.memory._dump_snapshot: pickle, JSON, page */
    ANALYSIS_KIND_PICKLE,         /* any other pickle of Python */
    ANALYSIS_KIND_TEXT,           /* UTF-8 text */
    ANALYSIS_KIND_ARCHIVE,        /* a zip of several files: door/analysis_members.h */
};

/* "xspace", "hlo_proto", …; static storage. */
const char *analysis_kind_name(enum analysis_kind kind);

/* Tells the kind from the bytes, looking through gzip (`gzip` true then; may be NULL) and into a zip of one file. Reads
 * little: the first two levels of fields. False only if the bytes cannot be read or inflated, or are a zip without
 * files, a damaged one, or a checkpoint. */
bool analysis_identify(const struct source *source, enum analysis_kind *kind, bool *gzip, struct err *err);
/* The same for a file that was passed by itself. Of a pickle that is no allocator snapshot it reports what the pickle
 * holds; of a kind that is known and not read (compressed otherwise, a database, …) what to open instead. */
bool analysis_identify_whole(const struct source *source, enum analysis_kind *kind, struct err *err);
/* What a file is that is not read, by the ending of its name, and what to open instead ("is compressed by xz, …");
 * `stem_length`: of the name without that ending. NULL: its name has none. Static. */
const char *analysis_foreign_name(const char *name, size_t *stem_length);

/* ---- What a file holds ----------------------------------------------------- */

/* One HLO program of a file. */
struct analysis_program {
    const char *name;      /* HLO module name without "(id)"; NUL-terminated, bytes as in the file */
    const char *key;       /* XProf's spelling: "name(program id)"; a lone HLO file: same as name */
    uint64_t program_id;   /* 64-bit pattern, printed unsigned; 0 for a lone HLO file without one */
    uint64_t offset_bytes; /* where its HloProto starts in the uncompressed file */
    uint64_t size_bytes;   /* of that HloProto */
    bool is_of_gpu;        /* its trace is one of GPUs */
};

struct analysis_note {
    const char *code; /* stable word: "duplicate_program", … */
    uint64_t count;   /* how often */
    const char *text; /* one sentence: what, where, effect */
};

/* Devices of a trace that say the same of themselves. */
struct analysis_trace_device {
    const char *kind;  /* "TPU v6 Lite" as in the file; "" when not said */
    const char *plane; /* of the first: "/device:TPU:0" */
    uint64_t count;
    uint64_t memory_bytes;    /* physical, as recorded; 0 when not said */
    const char *name;         /* row of the table of devices that is meant, or NULL */
    uint64_t available_bytes; /* of that row, else the limit of the allocator; 0 = not known */
    bool is_of_allocator;     /* it is the allocator's limit, as the first memory event of a GPU tells it */
};

struct analysis_contents {
    enum analysis_kind kind;
    size_t program_count; /* in file order, first of equal program ids only */
    const struct analysis_program *programs;
    size_t hostname_count; /* XSpace.hostnames */
    const char *const *hostnames;
    size_t device_count;
    const struct analysis_trace_device *devices;
    bool has_hlo_stat; /* /host:metadata names the HLO stat (XProf then offers its memory viewer) */
    bool has_gpu_plane, has_tpu_plane, has_host_plane;
    bool has_memory_events; /* the host's plane names memory events, or is cut before their names */
    bool is_cut;            /* the file ends in the middle; what came before is listed */
    uint64_t cut_offset_bytes;
    size_t note_count;
    const struct analysis_note *notes;
};

/* Lists the programs of a trace, an HloProto, a bare module or a snapshot (gzip or not), reading only headers and the
 * /host:metadata plane. A cut or partly damaged file gives what can be had and says so in `is_cut` and notes.
 * NULL on error. Free with analysis_contents_free. */
struct analysis_contents *analysis_contents_read(const struct source *source, struct err *err);
uint64_t analysis_contents_memory_bytes(const struct analysis_contents *contents);
void analysis_contents_free(struct analysis_contents *contents);
/* Appends them as bytes, from which analysis_contents_of_bytes of the same build on a machine of the same kind makes
 * them again, as of totals below; `malformed` or `truncated`, and NULL, where the bytes are none. */
void analysis_contents_write(const struct analysis_contents *contents, struct buf *out);
struct analysis_contents *analysis_contents_of_bytes(struct str bytes, struct err *err);

/* Sums of the allocations of one memory space, read without decoding the program. */
struct analysis_space_total {
    int64_t space;        /* colour of the allocations */
    const char *name;     /* "HBM", "memory space 9 (name not known)", …; static or owned by the list */
    uint64_t total_bytes; /* Σ allocation sizes, thread-local ones left out (XProf 2.24.2's total) */
    uint64_t temporary_bytes,
        largest_output_bytes; /* of these bytes, temporaries; the largest allocation for outputs alone */
};
struct analysis_totals {
    bool has_buffer_assignment;
    size_t space_count; /* ascending by space; only spaces that have an allocation */
    const struct analysis_space_total *spaces;
};
struct analysis_totals *analysis_totals_read(const struct source *source, const struct analysis_program *program,
                                             struct err *err);
uint64_t analysis_totals_memory_bytes(const struct analysis_totals *totals);
void analysis_totals_free(struct analysis_totals *totals);
void analysis_totals_write(const struct analysis_totals *totals, struct buf *out);
struct analysis_totals *analysis_totals_of_bytes(struct str bytes, struct err *err);

/* ---- One subject: read it, ask it a view, free it ------------------------------ */

enum analysis_subject_kind {
    ANALYSIS_MODULE,  /* one HLO program, decoded and replayed */
    ANALYSIS_TRACE,   /* the memory events of a trace's host: what its allocators did over time */
    ANALYSIS_PROFILE, /* a device profile (profile.proto, gzip or not, by any producer) */
    ANALYSIS_TEXT,    /* the out-of-memory texts of a log (gzip or not, of any size) */
    ANALYSIS_FIGURES, /* of one HLO program only what it takes in each memory space: small */
    ANALYSIS_RUNS,    /* how often and when each program of a trace ran: small */
    ANALYSIS_FLEET,   /* no subject: what many jobs took (door/analysis_fleet.h) */
};

struct analysis_subject; /* opaque */

/* Other files of the session that may hold programs: traces of other hosts, HLO files. They are opened only if they are
 * needed. */
struct analysis_beside {
    size_t count;
    void *context;
    /* File `at`, or NULL if it cannot be opened; it lasts until the next is opened. */
    const struct source *(*open)(void *context, size_t at);
};

/* What is to be read, and how. */
struct analysis_reading {
    enum analysis_subject_kind kind;
    const struct analysis_program *program; /* of a module, and its figures: which one of the file */
    const struct analysis_beside *beside;   /* of a trace: where programs may be that it does not hold; or NULL */
    const struct workers *workers; /* of a trace: read a large one side by side, if its source can be; or NULL */
    bool with_mentions;            /* of a text without a failure: its lines that speak of memory as well */
    uint64_t limit_bytes;          /* memory that it may take; 0 = no limit */
    const atomic_int *wanted;      /* it is read while this is above 0, else `stopped`; NULL: to its end */
    const char *libraries; /* of a module: lines as of library_of (read/library.h), which must outlive it; NULL: none */
    const char *category_rules; /* of the figures of a module: lines of plan/person_rules.h, good ones
                                   (analysis_category_rules_check); NULL: none */
    bool without_owners;        /* of a module: see analysis_module_complete */
};

/* A gzip file from which several programs are read one after the other, in their order in the file. It is inflated once
 * for all of them. Its source belongs to one thread. NULL: there is no memory, or `err` is left alone because the
 * source is not packed or is held inflated already (source.unpacked). */
struct analysis_unpacked;
struct analysis_unpacked *analysis_unpack(const struct source *source, struct err *err);
const struct source *analysis_unpacked_source(const struct analysis_unpacked *unpacked);
void analysis_unpacked_free(struct analysis_unpacked *unpacked);

/* To how many bytes a gzip, or a zip of one file, inflates by its own words (of a gzip modulo 4 GiB); 0: it is not
 * packed, or does not say. */
uint64_t analysis_packed_says_bytes(const struct source *source);
/* Inflates the whole source into `out`, which is empty and gets room for `size_bytes`; the bytes may become
 * source.unpacked. Errors: malformed if there are more or fewer bytes, unsupported if they are packed once more, those
 * of reading, and exhausted; then the content of `out` is of no use. */
bool analysis_inflate(const struct source *source, uint64_t size_bytes, struct buf *out, struct err *err);

/* A text is read in one pass and needs less than this. */
#define ANALYSIS_TEXT_MAX_BYTES ((uint64_t)48 << 20)

/* NULL on error: `unsupported` for other files, `malformed` for what cannot be decoded, `limit` past the limit. A
 * trace without memory events gives a subject without pools, and the reason (analysis_trace_reason); of the others 63
 * bytes an event stay. A text without a failure, and bytes that are no text, give one without failures. Free with
 * analysis_subject_free. */
struct analysis_subject *analysis_subject_read(const struct source *source, const struct analysis_reading *reading,
                                               struct err *err);
/* Memory that it holds, for a cache's accounts. */
uint64_t analysis_subject_memory_bytes(const struct analysis_subject *subject);
/* Was something left out that had no room in limit_bytes, as a note says? With more memory answers would be others. */
bool analysis_subject_lacks_room(const struct analysis_subject *subject);
void analysis_subject_free(struct analysis_subject *subject);
/* Adds to a module that was read without_owners whose memory its buffers are, once; questions that need it
 * (analysis_question_needs_owners) come afterwards, others may be answered meanwhile. After an error (limit, memory,
 * stopped) the module is as before. */
bool analysis_module_complete(struct analysis_subject *module, uint64_t limit_bytes, const atomic_int *wanted,
                              struct err *err);

/* ---- Modules -------------------------------------------------------------------- */

/* A memory space of a module. `name` belongs to the module. */
struct analysis_module_space {
    int64_t space;
    const char *name; /* "HBM" */
    bool has_peak_step;
    int64_t peak_step;
};
/* In the order of the view "summary"; false past the end. */
bool analysis_module_space_at(const struct analysis_subject *module, size_t at, struct analysis_module_space *space);

/* ---- Tools and answers ------------------------------------------------------ */

/* One parameter of a view, as text; the view checks it. */
struct analysis_param {
    const char *name;
    const char *value;
};

/* A tool's views, for the menu, the routes and the documentation. */
struct analysis_view {
    const char *tool;                    /* "memory_viewer" */
    const char *tool_title;              /* "Memory Viewer" */
    enum analysis_subject_kind kind;     /* what its questions are about: of profiles any number, else one, */
    bool is_of_two;                      /* or two: before and after */
    const char *view;                    /* "summary" */
    const char *const *param_names;      /* ends with NULL */
    const char *const *repeatable_names; /* of them those that may come more than once; ends with NULL; may be NULL */
};
/* Row `at` of the table of views; false past the end. Texts are static. */
bool analysis_view_at(size_t at, struct analysis_view *view);
/* The row of a view; false when there is none. */
bool analysis_view_find(const char *tool, const char *name, struct analysis_view *view);

/* One of the subjects that a question is about. Only `subject` counts but for profiles. Texts are borrowed. Instead of
 * a profile it may be the trace of an allocator snapshot: then what was live there at a moment is the profile. */
struct analysis_use {
    const struct analysis_subject
        *subject;       /* NULL: it could not be read: code and reason; ERR_none: it is not asked for */
    const char *moment; /* of a snapshot: "peak", "end", "12.5ms", … (model/memory_profile/moment.h); NULL: the peak */
    const char *memory; /* of a snapshot: the name of the pool, "GPU 0"; NULL: the worst */
    const char *id, *name;
    uint64_t size_bytes;
    int64_t modified_at_ms; /* of the file, Unix time; 0: not known */
    bool is_base;           /* to be subtracted; of two that are compared the first is, whatever is here */
    enum err_code code;
    const char *reason;
};

/* One module of a session, on one host: what a question about all of them is about. Texts are borrowed. */
struct analysis_module_use {
    const char *id, *name, *key; /* key: "name(program id)", or the name of its file */
    const char *host_id, *host;  /* NULL unless a trace */
    const char *file;
    const struct analysis_subject *figures; /* NULL: not read yet, or not readable: then code and reason */
    const struct analysis_subject *runs;    /* of its trace; NULL: not known (yet) */
    struct capacity_stated capacity;        /* of a device there; 0 bytes: not known */
    enum err_code code;
    const char *reason;
};

/* How far the reading of a session has come. */
struct analysis_modules_read {
    uint64_t host_count;                   /* traces of the session, those that cannot be read among them */
    uint64_t runs_count, runs_known_count; /* traces that may tell of runs; those that were read */
    uint64_t distinct_count;               /* programs that had to be decoded: equal bytes are decoded once */
};

struct analysis_groundwork; /* opaque */

struct analysis_question {
    const char *tool, *view;
    const struct analysis_use *uses; /* of the kind that the tool is about */
    size_t use_count;
    const struct analysis_module_use *modules; /* of a view of all modules, instead of uses */
    size_t module_count;
    struct analysis_modules_read modules_read;
    const struct analysis_fleet *fleet; /* of a view of many jobs, instead of uses: built */
    const struct analysis_param *params;
    size_t param_count;
    const struct analysis_groundwork *groundwork; /* of the module; NULL: made for this answer alone */
    const atomic_int *wanted; /* it is answered while this is above 0, else `stopped`; NULL: in any case */
    bool has_source;          /* source lines may be shown: --source-root */
    const struct capacity_stated *capacities; /* of the module's device, for its summary; each space once */
    size_t capacity_count;
    bool is_bare;                /* of the JSON below the value of "data" alone */
    const char *category_rules;  /* of a module: lines behind those of the parameter category_rules; NULL: none */
    const struct csv_cell *lead; /* of a table as lines (csv, ndjson): cells before those of each row; NULL: none */
    size_t lead_count;
    bool is_headless; /* CSV without a line of heads */
};
/* What every prediction about a module begins with, found once for all of them. Immutable. NULL on error: notfound (no
 * program with memory of its own), limit past so many bytes. The module must live as long. Free with
 * analysis_groundwork_free. */
struct analysis_groundwork *analysis_groundwork_make(const struct analysis_subject *module, uint64_t limit_bytes,
                                                     struct err *err);
/* Is it about a prediction, which is answered sooner with a groundwork? */
bool analysis_question_predicts(const struct analysis_question *question);
/* For a module: does the answer name the owners of buffers, or depend on them? */
bool analysis_question_needs_owners(const struct analysis_question *question);
uint64_t analysis_groundwork_memory_bytes(const struct analysis_groundwork *groundwork);
void analysis_groundwork_free(struct analysis_groundwork *groundwork);

/* Are these lines rules of whose memory a buffer is (plan/person_rules.h)? False with the report that a question with
 * them would get. */
bool analysis_category_rules_check(const char *lines, struct err *err);
/* The same of the lines of one question's parameter category_rules, which may be 4,096 characters long. */
bool analysis_own_rules_check(const char *lines, struct err *err);

/* Answers a view of a tool. On success `out` holds the answer's bytes: JSON
 * {"tool","view","params","data","notes"}; for the view "xprof" the bare object
 * that XProf sends; for "report" of a text a bare object as well; for a table with format=csv, CSV, with
 * format=ndjson one object a line.
 * Errors: notfound (tool, view, space, buffer), argument (unknown or broken
 * parameter; a subject of another kind than the view's), limit, malformed (the module cannot be replayed: view
 * "xprof"). */
bool analysis_answer(const struct analysis_question *question, struct buf *out, struct err *err);

struct analysis_pieces; /* opaque */
/* The same, but of CSV and NDJSON of more than some MiB about a module or a trace `out` stays empty, and *rest (NULL
 * before) writes it piece by piece: four bytes a row are kept. The subject must live as long. */
bool analysis_answer_begin(const struct analysis_question *question, struct buf *out, struct analysis_pieces **rest,
                           struct err *err);
/* Appends whole lines from *at on, which is 0 at first, until `out` has `size_bytes`; nothing at the end. From one
 * thread at a time; several may write it all, each with a place of its own. */
bool analysis_pieces_next(struct analysis_pieces *pieces, uint64_t *at, size_t size_bytes, struct buf *out,
                          struct err *err);
void analysis_pieces_free(struct analysis_pieces *pieces);

/* ---- Changed programs ---------------------------------------------------------- */

/* A program with changes applied, for the compiler to judge, and the prediction for it. */
struct analysis_changed {
    struct buf program;                 /* a HloModuleProto */
    int64_t partition_count;            /* over which it is split by a change; 0: as before */
    uint64_t changed_count, left_count; /* arguments, shapes or layers; those that were asked for and stay */
    int64_t predicted_total_bytes, predicted_peak_bytes;
    /* Why the changed program may be another one than the author would get ("…, because" goes before it); static
     * storage, NULL: it is that program. */
    const char *partial;
};
/* Does changes, as the view "whatif" takes them (whatif/change.def), in their order, to `before`: the program of
 * `module` as it was before optimizations, not packed. Errors: argument (not understood, does not apply, or the
 * compiler cannot be asked), conflict, unsupported, malformed, limit. analysis_changed_free afterwards, not after an
 * error. */
bool analysis_change(const struct analysis_subject *module, struct str before, const char *const *changes, size_t count,
                     struct analysis_changed *out, struct err *err);
void analysis_changed_free(struct analysis_changed *changed);

/* ---- Checks --------------------------------------------------------------------- */

/* What a program may need: see check/check.h. */
struct analysis_check_limits {
    int64_t max_total_bytes; /* of each module; −1: no limit */
    bool has_baseline;
    uint64_t tolerance_ppm;      /* growth that is none yet, in millionths of the baseline's total */
    bool is_physical, is_of_gpu; /* of a device that was named as the limit: as struct capacity_stated has them */
};
struct analysis_check; /* opaque */
/* NULL without memory; analysis_check_free. */
struct analysis_check *analysis_check_new(const struct analysis_check_limits *limits);
/* What a module is held against: what it was before, or, where that cannot be read any more, what it needed. {0}:
 * nothing. */
struct analysis_check_baseline {
    const struct analysis_subject *module;
    const char *space_name; /* the memory space; NULL: nothing is known */
    int64_t total_bytes;
};
/* Decides about one module and keeps the sentences, none of the subjects. Why one could not be decided about is in
 * the report. Errors: argument, limit (there is no memory for the report). */
bool analysis_check_module(struct analysis_check *check, const char *file, const char *name,
                           const struct analysis_subject *module, const struct analysis_check_baseline *against,
                           struct err *err);
/* The same of pool `at` of an allocator snapshot: what the process took of the device, with a request that failed. Held
 * against are figures alone. */
bool analysis_check_snapshot(struct analysis_check *check, const char *file, const char *name,
                             const struct analysis_subject *trace, size_t at,
                             const struct analysis_check_baseline *against, struct err *err);
/* One that could not be read, and why. */
bool analysis_check_fault(struct analysis_check *check, const char *file, const char *name, const char *reason,
                          struct err *err);
/* Appends what a module was compiled for: "8 devices, mesh data=4 model=2, batch 64x1024" (plan/configuration.h).
 * False, with nothing appended: it is no program, or its configuration is not known. */
bool analysis_module_configuration(const struct analysis_subject *module, struct buf *out);
/* Counts of all modules, of findings, of modules that could not be checked, and of modules that the baseline has. */
struct analysis_check_counts {
    size_t modules, findings, faults, compared;
};
struct analysis_check_counts analysis_check_counts(const struct analysis_check *check);
/* False with an `argument` report that names the formats there are (check/formats.def). */
bool analysis_check_format_is_known(const char *format, struct err *err);
bool analysis_check_write(const struct analysis_check *check, const char *format, struct buf *out, struct err *err);
void analysis_check_free(struct analysis_check *check);

/* ---- What a profile or a trace says of itself ------------------------------------- */

uint64_t analysis_profile_sample_count(const struct analysis_subject *profile);
/* Name and unit of a sample type, borrowed; false past the end. */
bool analysis_profile_type_at(const struct analysis_subject *profile, size_t at, struct str *name, struct str *unit);

/* Pool `at`, worst first: those where requests failed, then the largest; false past the end. */
bool analysis_trace_pool_at(const struct analysis_subject *trace, size_t at, struct analysis_trace_pool *pool);
/* Can what is live at its moments be looked at by call stack (analysis_use)? */
bool analysis_trace_has_stacks(const struct analysis_subject *trace);
/* A moment of a snapshot, as it is named in analysis_use, and what is live then. */
enum { ANALYSIS_MOMENT_TEXT_SIZE = 32, ANALYSIS_MOMENT_WORDS_SIZE = 64 };
struct analysis_moment {
    char text[ANALYSIS_MOMENT_TEXT_SIZE];   /* "peak", "step3", "12500us" */
    char words[ANALYSIS_MOMENT_WORDS_SIZE]; /* "the peak, 25.412 ms" */
    int64_t time_ps, in_use_bytes;
};
/* Moments of pool `pool` to choose from: the peak, the end, the start, where steps begin; and those that make a series:
 * where steps begin, or evenly spread, and the end, in the order of time. At most some fifty; false past the end, and
 * of a trace without stacks. */
bool analysis_trace_moment_at(const struct analysis_subject *trace, size_t pool, size_t at,
                              struct analysis_moment *moment);
bool analysis_trace_series_at(const struct analysis_subject *trace, size_t pool, size_t at,
                              struct analysis_moment *moment);
/* Why there is no pool, as a code and a sentence; false when there is one. They last as long as the trace. */
bool analysis_trace_reason(const struct analysis_subject *trace, const char **code, const char **text);
/* True of a file that ends in the middle: `err` says so, and where. */
bool analysis_trace_cut(const struct analysis_subject *trace, struct err *err);

/* What the daemon calls a host, written into its objects; texts may be NULL. */
struct analysis_trace_host {
    const char *id, *name, *file;
};
/* The host's object of the view "summary", and that of its pool `at`. */
void analysis_trace_host_write(const struct analysis_subject *trace, const struct analysis_trace_host *host,
                               struct buf *out);
void analysis_trace_pool_write(const struct analysis_subject *trace, const struct analysis_trace_host *host, size_t at,
                               struct buf *out);
