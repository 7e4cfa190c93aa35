/* SPDX-License-Identifier: Apache-2.0
 * door/analysis.c: see analysis.h. Subjects are read in
 * door/analysis_subject.c, what is asked of them in door/analysis_answer.c. */
#include "analysis.h"

#include "base/arena.h"
#include "base/size_text.h"
#include "door/analysis_subject.h"
#include "door/job.h"
#include "read/gpu_target.h"
#include "read/hlo/chip.h"
#include "read/hlo/hlo.h"
#include "read/hlo/hlo_parts.h"
#include "read/hlo/hlo_totals.h"
#include "read/kind.h"
#include "read/trace/xspace.h"

/* Listing needs little; this bounds what a hostile file can make it take. */
#define LISTING_LIMIT_BYTES ((uint64_t)1 << 30)
/* Steps of a module's decoding and replay: real modules take one or two a byte.
 * A step costs 1 to 10 ns, so a small file about 1 s. */
#define MIN_WORK ((uint64_t)1 << 27)
#define WORK_PER_BYTE 64

static enum analysis_kind kind_outside(enum kind kind)
{
    switch (kind) {
    case KIND_EMPTY: return ANALYSIS_KIND_EMPTY;
    case KIND_XSPACE: return ANALYSIS_KIND_XSPACE;
    case KIND_HLO_PROTO: return ANALYSIS_KIND_HLO_PROTO;
    case KIND_HLO_MODULE: return ANALYSIS_KIND_HLO_MODULE;
    case KIND_HLO_SNAPSHOT: return ANALYSIS_KIND_HLO_SNAPSHOT;
    case KIND_PPROF: return ANALYSIS_KIND_PPROF;
    case KIND_MEMORY_USAGE_REPORT: return ANALYSIS_KIND_MEMORY_USAGE_REPORT;
    case KIND_BUFFER_ASSIGNMENT: return ANALYSIS_KIND_BUFFER_ASSIGNMENT;
    case KIND_HLO_PARTS: return ANALYSIS_KIND_HLO_PARTS;
    case KIND_TORCH_SNAPSHOT: return ANALYSIS_KIND_TORCH_SNAPSHOT;
    case KIND_PICKLE: return ANALYSIS_KIND_PICKLE;
    case KIND_TEXT: return ANALYSIS_KIND_TEXT;
    case KIND_UNKNOWN: break;
    }
    return ANALYSIS_KIND_UNKNOWN;
}

const char *analysis_kind_name(enum analysis_kind kind)
{
    if (kind == ANALYSIS_KIND_ARCHIVE)
        return "archive";
    for (enum kind inside = KIND_UNKNOWN; inside <= KIND_TEXT; inside++)
        if (kind_outside(inside) == kind)
            return kind_name(inside);
    return "unknown";
}

/* ---- what a file is ---- */

struct identity {
    enum analysis_kind kind;
    bool is_gzip;
};

static void analysis_identify_job(struct job *job, const void *in, void *out, struct err *err)
{
    (void)in;
    struct identity *identity = out;
    identity->is_gzip = job->gzip != NULL;
    identity->kind = kind_outside(job_kind(job, &job->arena, err));
}

/* A tar file, whatever is in it, or a zip of several files; else false, with a report if it is another archive that
 * cannot be read. */
static bool is_archive(const struct source *source, struct err *err)
{
    struct err why = ERR_INIT;
    if (source->unpacked != NULL)
        return false;
    if (analysis_members_is_tar(source))
        return true;
    struct analysis_members *members = analysis_members_read(source, 2, &why);
    bool is = members != NULL;
    analysis_members_free(members);
    if (err_is_set(&why) && why.code != ERR_notfound)
        *err = why;
    return is;
}

bool analysis_identify(const struct source *source, enum analysis_kind *kind, bool *gzip, struct err *err)
{
    struct job job;
    struct identity identity = {ANALYSIS_KIND_UNKNOWN, false};
    if (is_archive(source, err)) {
        *kind = ANALYSIS_KIND_ARCHIVE;
        if (gzip != NULL)
            *gzip = false;
        return true;
    }
    if (err_is_set(err))
        return false;
    if (!job_run(&job, source, LISTING_LIMIT_BYTES, analysis_identify_job, NULL, &identity, err))
        return false;
    arena_free(&job.arena);
    *kind = identity.kind;
    if (gzip != NULL)
        *gzip = identity.is_gzip;
    return true;
}

/* ---- contents ---- */

static void note_add(struct analysis_contents *contents, struct analysis_note *notes, const char *code, uint64_t count,
                     const char *text)
{
    if (count > 0)
        notes[contents->note_count++] = (struct analysis_note){code, count, text};
}

/* For a GPU: the limit of its allocator, if the table of devices does not give what programs may use. */
static void limit_take(const struct xspace *xspace, struct analysis_trace_device *device)
{
    uint64_t limit_bytes = xspace->allocator_limit_bytes;
    bool is_gpu = str_starts(str_of(device->plane), STR("/device:GPU:"));
    device->is_of_allocator = is_gpu && device->available_bytes == 0 && limit_bytes > 0 &&
                              (device->memory_bytes == 0 || limit_bytes < device->memory_bytes);
    if (device->is_of_allocator)
        device->available_bytes = limit_bytes;
}

static const struct analysis_trace_device *devices_of_trace(const struct xspace *xspace, struct arena *arena)
{
    struct analysis_trace_device *devices = arena_array(arena, struct analysis_trace_device, xspace->device_count + 1);
    for (size_t i = 0; i < xspace->device_count; i++) {
        const struct trace_device *first = &xspace->devices[i].first;
        const struct device *row = device_of_kind(first->kind);
        devices[i] = (struct analysis_trace_device){
            .kind = arena_text(arena, first->kind),
            .plane = arena_text(arena, first->plane),
            .count = xspace->devices[i].count,
            .memory_bytes = first->memory_bytes,
            .name = row != NULL ? row->name : NULL,
            .available_bytes = row != NULL ? (uint64_t)row->available_bytes : 0,
        };
        limit_take(xspace, &devices[i]);
    }
    return devices;
}

static void contents_of_trace(const struct xspace *xspace, struct arena *arena, struct analysis_contents *out)
{
    struct analysis_program *programs = arena_array(arena, struct analysis_program, xspace->program_count + 1);
    for (size_t i = 0; i < xspace->program_count; i++) {
        const struct xspace_program *program = &xspace->programs[i];
        const char *name = arena_text(arena, program->name);
        const char *key = arena_format(arena, "%s(%llu)", name, (unsigned long long)program->program_id);
        programs[i] = (struct analysis_program){name,
                                                key,
                                                program->program_id,
                                                program->hlo.at,
                                                program->hlo.end - program->hlo.at,
                                                xspace->has_gpu_plane && !xspace->has_tpu_plane};
    }
    const char **hostnames = arena_array(arena, const char *, xspace->hostname_count + 1);
    for (size_t i = 0; i < xspace->hostname_count; i++)
        hostnames[i] = arena_text(arena, xspace->hostnames[i]);
    out->programs = programs;
    out->program_count = xspace->program_count;
    out->hostnames = hostnames;
    out->hostname_count = xspace->hostname_count;
    out->devices = devices_of_trace(xspace, arena);
    out->device_count = xspace->device_count;
    out->has_hlo_stat = xspace->has_hlo_stat;
    out->has_gpu_plane = xspace->has_gpu_plane;
    out->has_tpu_plane = xspace->has_tpu_plane;
    out->has_host_plane = xspace->has_host_plane;
    out->has_memory_events = xspace->has_memory_events;
    out->is_cut = xspace->cut.is;
    out->cut_offset_bytes = xspace->cut.at_bytes;
    struct analysis_note *notes = arena_array(arena, struct analysis_note, 4);
    out->notes = notes;
    note_add(out, notes, "cut", xspace->cut.is, cut_sentence(&xspace->cut, arena));
    note_add(out, notes, "clipped_program", xspace->clipped_count,
             "Programs whose bytes are cut off; they are not shown.");
    note_add(out, notes, "duplicate_program", xspace->duplicate_count,
             "Programs with an id that came before; the first of each is shown.");
    note_add(out, notes, "damaged_entry", xspace->damaged_count,
             "Planes or metadata entries that do not decode; the rest is shown.");
}

/* A program that was joined from texts and parts takes the place of the file as job->source. The caller has allotted no
 * work yet. */
static enum kind program_open(struct job *job, unsigned *lacks, struct err *err)
{
    enum kind kind = job_kind(job, &job->arena, err);
    struct hlo_parts *parts;
    *lacks = 0;
    if (err_is_set(err) || (kind != KIND_HLO_PARTS && kind != KIND_BUFFER_ASSIGNMENT))
        return kind;
    struct stream stream;
    stream_init(&stream, job->source, &job->arena, err);
    arena_allot_work(&job->arena, MIN_WORK + WORK_PER_BYTE * stream_size(&stream));
    parts = arena_array(&job->arena, struct hlo_parts, 1);
    if (!hlo_parts_join(job->source, &job->arena, parts, err))
        return kind;
    job->source = &parts->source;
    *lacks = parts->lacks;
    return KIND_HLO_PROTO;
}

/* Offsets in a joined program mean nothing to the user, who has only its files. */
static void place_forget(const struct job *job, const struct source *file, struct err *err)
{
    if (job->source != file)
        err->offset_bytes = ERR_NO_OFFSET;
}

/* A lone HLO file is one program. */
static void contents_of_hlo(const struct source *source, enum kind kind, struct arena *arena,
                            struct analysis_contents *out, struct err *err)
{
    struct analysis_program *program = arena_array(arena, struct analysis_program, 1);
    struct str name = hlo_totals_name(source, kind, arena, err);
    program->name = program->key = arena_text(arena, name);
    program->size_bytes = source->size_bytes;
    out->programs = program;
    out->program_count = 1;
    out->has_hlo_stat = true;
}

static void contents_fill(struct job *job, const void *in, void *to, struct err *err)
{
    (void)in;
    struct analysis_contents *out = to;
    struct xspace xspace;
    unsigned lacks;
    const struct source *file = job->source;
    enum kind kind = program_open(job, &lacks, err);
    out->kind = kind_outside(kind);
    switch (kind) {
    case KIND_XSPACE:
        if (xspace_read(job->source, &job->arena, &xspace, err))
            contents_of_trace(&xspace, &job->arena, out);
        break;
    case KIND_HLO_PROTO:
    case KIND_HLO_MODULE:
    case KIND_HLO_SNAPSHOT: contents_of_hlo(job->source, kind, &job->arena, out, err); break;
    case KIND_TORCH_SNAPSHOT: out->has_memory_events = true; break; /* and no program */
    case KIND_HLO_PARTS:
    case KIND_BUFFER_ASSIGNMENT: break; /* said already why they cannot be joined */
    case KIND_EMPTY: err_set(err, ERR_truncated, 0, "the file is empty"); break;
    default:
        err_set(err, ERR_unsupported, 0, "neither a profiler trace (XSpace) nor an HLO proto; it looks like: %s",
                kind_name(kind));
        break;
    }
    place_forget(job, file, err);
}

struct analysis_contents *analysis_contents_read(const struct source *source, struct err *err)
{
    return job_make(source, LISTING_LIMIT_BYTES, sizeof(struct analysis_contents), contents_fill, NULL, err);
}

uint64_t analysis_contents_memory_bytes(const struct analysis_contents *contents) { return job_made_bytes(contents); }

void analysis_contents_free(struct analysis_contents *contents) { job_made_free(contents); }

/* Where a program's bytes lie, and what message they are. One that starts at
 * byte 0 is its file: no program of a trace does. */
static struct stream_scope program_scope(struct job *job, const struct analysis_program *program, enum kind *kind,
                                         unsigned *lacks, struct err *err)
{
    struct stream stream;
    *kind = KIND_HLO_PROTO;
    *lacks = 0;
    if (program->offset_bytes > 0)
        return (struct stream_scope){program->offset_bytes, program->offset_bytes + program->size_bytes};
    *kind = program_open(job, lacks, err);
    if (*kind != KIND_HLO_PROTO && *kind != KIND_HLO_MODULE && *kind != KIND_HLO_SNAPSHOT)
        err_set(err, ERR_unsupported, 0, "not an HLO proto; it looks like: %s", kind_name(*kind));
    stream_init(&stream, job->source, &job->arena, err);
    return (struct stream_scope){0, stream_size(&stream)};
}

/* A program may be too small to say what it was compiled for; its trace tells. */
static enum space_platform platform_of(enum space_platform said, const struct analysis_program *program)
{
    return said == SPACE_PLATFORM_UNKNOWN && program->is_of_gpu ? SPACE_PLATFORM_GPU : said;
}

/* ---- totals ---- */

static void totals_fill(struct job *job, const void *in, void *to, struct err *err)
{
    const struct analysis_program *program = in;
    struct analysis_totals *out = to;
    struct hlo_totals totals;
    enum kind kind;
    unsigned lacks;
    const struct source *file = job->source;
    struct stream_scope scope = program_scope(job, program, &kind, &lacks, err);
    bool is_read = hlo_totals_read(job->source, scope, kind, &job->arena, &totals, err);
    place_forget(job, file, err);
    if (!is_read)
        return;
    totals.platform = platform_of(totals.platform, program);
    struct analysis_space_total *spaces = arena_array(&job->arena, struct analysis_space_total, totals.space_count + 1);
    for (size_t i = 0; i < totals.space_count; i++) {
        const char *name = space_name(totals.platform, totals.spaces[i].space);
        if (name == NULL)
            name = arena_format(&job->arena, "memory space %lld (name not known)", (long long)totals.spaces[i].space);
        spaces[i] = (struct analysis_space_total){totals.spaces[i].space, name, (uint64_t)totals.spaces[i].total_bytes,
                                                  (uint64_t)totals.spaces[i].temporary_bytes,
                                                  (uint64_t)totals.spaces[i].largest_output_bytes};
    }
    out->has_buffer_assignment = totals.has_assignment;
    out->spaces = spaces;
    out->space_count = totals.space_count;
}

struct analysis_totals *analysis_totals_read(const struct source *source, const struct analysis_program *program,
                                             struct err *err)
{
    return job_make(source, LISTING_LIMIT_BYTES, sizeof(struct analysis_totals), totals_fill, program, err);
}

uint64_t analysis_totals_memory_bytes(const struct analysis_totals *totals) { return job_made_bytes(totals); }

void analysis_totals_free(struct analysis_totals *totals) { job_made_free(totals); }

/* ---- a module ---- */

void analysis_module_fill(struct job *job, const void *in, void *to, struct err *err)
{
    const struct analysis_reading *reading = in;
    const struct analysis_program *program = reading->program;
    struct str libraries = reading->libraries == NULL ? (struct str){"", 0} : str_of(reading->libraries);
    struct plan *plan = &((struct analysis_subject *)to)->plan;
    struct stream stream;
    enum kind kind;
    unsigned lacks;
    const struct source *file = job->source;
    struct stream_scope scope = program_scope(job, program, &kind, &lacks, err);
    stream_init(&stream, job->source, &job->arena, err);
    struct str bytes = stream_copy(&stream, scope, &job->arena);
    arena_allot_work(&job->arena, MIN_WORK + WORK_PER_BYTE * (uint64_t)bytes.length);
    if (!err_is_set(err) && hlo_read(bytes, program->offset_bytes, kind, libraries, &job->arena, &plan->hlo, err)) {
        plan->hlo.lacks = lacks;
        plan->hlo.platform = platform_of(plan->hlo.platform, program);
        (reading->without_owners ? plan_lay_out : plan_build)(plan, &job->arena);
    }
    place_forget(job, file, err);
}

/* ---- capacity ---- */

bool analysis_device_topology(const char *name, char topology[ANALYSIS_TOPOLOGY_SIZE], struct err *err)
{
    _Static_assert((int)ANALYSIS_TOPOLOGY_SIZE >= (int)CHIP_TOPOLOGY_SIZE, "a topology fits");
    const struct device *device = device_named(name);
    struct chip chip;
    topology[0] = '\0';
    if (device == NULL)
        return err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "device: there is none of that name; /api/v1/devices lists them");
    return !chip_of_device(device, &chip) || chip_topology(&chip, topology, err);
}

static bool device_take(const struct device *row, struct analysis_device *device)
{
    if (row == NULL)
        return false;
    *device = (struct analysis_device){row->name,
                                       row->title,
                                       space_platform_name(row->platform),
                                       (uint64_t)row->physical_bytes,
                                       (uint64_t)row->available_bytes,
                                       row->source};
    return true;
}

bool analysis_chip_read(struct str file, struct analysis_chip *out, struct err *err)
{
    struct chip chip;
    struct err ignored = ERR_INIT;
    if (!chip_read(file, &chip, err))
        return false;
    *out = (struct analysis_chip){.memory_bytes = chip.memory_bytes};
    device_take(chip.device, &out->device);
    if (!chip_topology(&chip, out->topology, &ignored))
        out->topology[0] = '\0';
    return true;
}

bool analysis_device_at(size_t at, struct analysis_device *device) { return device_take(device_at(at), device); }

bool analysis_device_find(const char *name, struct analysis_device *device)
{
    return device_take(device_of_family(name), device);
}

bool analysis_device_target(const char *name, struct buf *out)
{
    const struct device *device = device_named(name);
    return device != NULL && gpu_target_write(device, out);
}

bool analysis_capacity_read(const char *text, uint64_t *bytes, struct analysis_device *device)
{
    *device = (struct analysis_device){0};
    for (size_t at = 0; device_at(at) != NULL; at++)
        if (str_equal_any_case(str_of(device_at(at)->name), str_of(text)) && analysis_device_at(at, device)) {
            (void)analysis_capacity_usable(device->available_bytes, device->physical_bytes, bytes);
            return true;
        }
    return size_text_read(text, bytes);
}
