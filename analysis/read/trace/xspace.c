/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/xspace.h"

#include "base/map.h"
#include "hlo.fields.h"
#include "read/trace/allocator.h"
#include "read/trace/trace_plane.h"
#include "xplane.fields.h"

enum { NAME_MAX = 16 * 1024 };

/* Scopes of one kind in a plane. */
struct scopes {
    struct stream_scope *items;
    size_t count, capacity;
};

static void scopes_add(struct scopes *scopes, struct arena *arena, struct stream_scope scope)
{
    scopes->items = arena_grown(arena, scopes->items, scopes->count + 1, &scopes->capacity, sizeof(*scopes->items));
    scopes->items[scopes->count++] = scope;
}

struct plane {
    bool has_name;
    struct str name;
    struct scopes event_metadata, stat_metadata;
    uint64_t end;
};

/* Ids that the metadata plane gives to the stats that matter; several ids may carry one name. */
struct stat_ids {
    int64_t hlo[8];
    bool is_legacy[8]; /* spelled "HLO Proto" */
    size_t hlo_count;
    bool takes_any; /* the plane is cut before these names: whatever bytes are an HLO proto */
    int64_t program_id;
    bool has_program_id;
};

static bool is_metadata_plane(const struct plane *plane)
{
    return plane->has_name && str_equal(plane->name, STR("/host:metadata"));
}

/* Collects the plane's parts; leaves the plane as soon as its name shows that it is not needed. */
static void plane_scan(struct stream *stream, struct stream_scope scope, struct arena *arena, struct plane *plane)
{
    struct stream_field field;
    plane->end = scope.end;
    while (stream_next(stream, &scope, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == XPLANE_NAME) {
            plane->name = stream_text(stream, field.payload, NAME_MAX, arena);
            plane->has_name = true;
            if (!is_metadata_plane(plane))
                return;
        } else if (field.number == XPLANE_EVENT_METADATA) {
            scopes_add(&plane->event_metadata, arena, field.payload);
        } else if (field.number == XPLANE_STAT_METADATA) {
            scopes_add(&plane->stat_metadata, arena, field.payload);
        }
    }
}

/* Opens the value of a map entry; false if the entry has none. */
static bool entry_value(struct stream *stream, struct stream_scope entry, int64_t *key, struct stream_field *value)
{
    struct stream_field field;
    bool has_value = false;
    *key = 0;
    while (stream_next(stream, &entry, &field)) {
        if (field.number == XPLANE_EVENT_METADATA_ENTRY_KEY && field.type == WIRE_VARINT)
            *key = (int64_t)field.value;
        if (field.number == XPLANE_EVENT_METADATA_ENTRY_VALUE && field.type == WIRE_BYTES) {
            *value = field;
            has_value = true;
        }
    }
    return has_value;
}

static void stat_metadata_read(struct stream *stream, struct stream_scope entry, struct arena *arena,
                               struct stat_ids *ids)
{
    struct stream_field value, field;
    int64_t id;
    if (!entry_value(stream, entry, &id, &value))
        return;
    while (stream_next(stream, &value.payload, &field)) {
        if (field.number != XSTAT_METADATA_NAME || field.type != WIRE_BYTES ||
            field.payload.end - field.payload.at > 32)
            continue;
        struct str name = stream_text(stream, field.payload, NAME_MAX, arena);
        if (str_equal_any_case(name, STR("Hlo Proto")) && ids->hlo_count < 8) {
            ids->is_legacy[ids->hlo_count] = str_equal(name, STR("HLO Proto"));
            ids->hlo[ids->hlo_count++] = id;
        } else if (str_equal(name, STR("program_id"))) {
            ids->program_id = id;
            ids->has_program_id = true;
        }
    }
}

/* One entry of event_metadata, as far as a program is concerned. */
struct entry {
    int64_t id;
    struct str name;
    bool has_hlo, is_clipped, is_legacy, has_program_id;
    struct stream_scope hlo;
    uint64_t program_id;
};

static void stat_read(struct stream *stream, struct stream_scope scope, const struct stat_ids *ids, struct entry *entry)
{
    struct stream_field field, bytes = {0};
    int64_t id = 0;
    uint64_t number = 0;
    bool has_bytes = false, has_number = false;
    while (stream_next(stream, &scope, &field)) {
        if (field.number == XSTAT_METADATA_ID && field.type == WIRE_VARINT) {
            id = (int64_t)field.value;
        } else if (field.number == XSTAT_BYTES_VALUE && field.type == WIRE_BYTES) {
            bytes = field;
            has_bytes = true;
        } else if ((field.number == XSTAT_UINT64_VALUE || field.number == XSTAT_INT64_VALUE) &&
                   field.type == WIRE_VARINT) {
            number = field.value;
            has_number = true;
        }
    }
    if (has_number && ids->has_program_id && id == ids->program_id) {
        entry->program_id = number;
        entry->has_program_id = true;
    }
    if (has_bytes && ids->takes_any) {
        entry->has_hlo = entry->is_legacy = true; /* its name ends with the program's id, as nearly all do */
        entry->hlo = bytes.payload;
        entry->is_clipped = bytes.is_clipped;
    }
    for (size_t i = 0; has_bytes && i < ids->hlo_count; i++)
        if (ids->hlo[i] == id) {
            entry->has_hlo = true;
            entry->hlo = bytes.payload;
            entry->is_clipped = bytes.is_clipped;
            entry->is_legacy = ids->is_legacy[i];
        }
}

static struct entry entry_read(struct stream *stream, struct stream_scope scope, struct arena *arena,
                               const struct stat_ids *ids)
{
    struct entry entry = {0};
    struct stream_field value, field;
    if (!entry_value(stream, scope, &entry.id, &value))
        return entry;
    while (stream_next(stream, &value.payload, &field)) {
        if (field.number == XEVENT_METADATA_NAME && field.type == WIRE_BYTES)
            entry.name = stream_text(stream, field.payload, NAME_MAX, arena);
        else if (field.number == XEVENT_METADATA_STATS && field.type == WIRE_BYTES)
            stat_read(stream, field.payload, ids, &entry);
    }
    return entry;
}

/* The digits of "name(digits)"; without them false and the name is left whole. */
static bool name_split(struct str *name, uint64_t *number)
{
    size_t end = name->length;
    if (end < 3 || name->data[end - 1] != ')')
        return false;
    size_t open = end - 1;
    while (open > 0 && name->data[open - 1] >= '0' && name->data[open - 1] <= '9')
        open--;
    if (open == 0 || name->data[open - 1] != '(' || open == end - 1 || end - 1 - open > 20)
        return false;
    *number = 0;
    for (size_t i = open; i < end - 1; i++)
        *number = *number * 10 + (uint64_t)(name->data[i] - '0');
    name->length = open - 1;
    return true;
}

/* HloProto.hlo_module.name, or nothing. */
static struct str hlo_name(struct stream *stream, struct stream_scope hlo, struct arena *arena)
{
    struct stream_field field;
    while (stream_next(stream, &hlo, &field)) {
        if (field.number != HLO_PROTO_HLO_MODULE || field.type != WIRE_BYTES)
            continue;
        struct stream_scope module = field.payload;
        while (stream_next(stream, &module, &field))
            if (field.number == HLO_MODULE_PROTO_NAME && field.type == WIRE_BYTES)
                return stream_text(stream, field.payload, NAME_MAX, arena);
        return (struct str){"", 0};
    }
    return (struct str){"", 0};
}

/* Without a name if the bytes may be anything, and are no HLO proto. */
static struct xspace_program program_of(struct stream *stream, struct arena *arena, struct entry *entry, bool takes_any)
{
    struct xspace_program program = {.hlo = entry->hlo, .program_id = (uint64_t)entry->id};
    uint64_t number;
    bool has_number = name_split(&entry->name, &number);
    if (entry->is_legacy && has_number)
        program.program_id = number;
    else if (entry->has_program_id)
        program.program_id = entry->program_id;
    program.name = hlo_name(stream, entry->hlo, arena);
    if (program.name.length == 0 && !takes_any)
        program.name = entry->name;
    return program;
}

/* Damage inside one entry costs that entry alone. */
static bool take_damage(struct stream *stream, struct xspace *out)
{
    if (stream->err->code != ERR_malformed && stream->err->code != ERR_truncated)
        return err_is_set(stream->err);
    *stream->err = (struct err)ERR_INIT;
    out->damaged_count++;
    return true;
}

static void metadata_plane_read(struct stream *stream, const struct plane *plane, struct arena *arena,
                                struct xspace *out)
{
    struct stat_ids ids = {0};
    for (size_t i = 0; i < plane->stat_metadata.count; i++) {
        stat_metadata_read(stream, plane->stat_metadata.items[i], arena, &ids);
        take_damage(stream, out);
    }
    ids.takes_any = ids.hlo_count == 0 && stream->is_cut && plane->end >= stream->source->size_bytes;
    out->has_hlo_stat |= ids.hlo_count > 0;
    size_t max = out->program_count + plane->event_metadata.count;
    struct xspace_program *programs = arena_array(arena, struct xspace_program, max);
    struct map seen;
    map_init(&seen, arena, max);
    for (size_t i = 0; i < out->program_count; i++) {
        programs[i] = out->programs[i];
        map_put(&seen, programs[i].program_id, (uint32_t)i, false);
    }
    out->programs = programs;
    for (size_t i = 0; i < plane->event_metadata.count && !err_is_set(stream->err); i++) {
        struct entry entry = entry_read(stream, plane->event_metadata.items[i], arena, &ids);
        if (take_damage(stream, out) || !entry.has_hlo)
            continue;
        if (entry.is_clipped) {
            out->clipped_count++;
            continue;
        }
        struct xspace_program program = program_of(stream, arena, &entry, ids.takes_any);
        take_damage(stream, out);
        if (program.name.length == 0 && ids.takes_any)
            continue;
        out->has_hlo_stat = true;
        if (map_put(&seen, program.program_id, (uint32_t)out->program_count, false))
            programs[out->program_count++] = program;
        else
            out->duplicate_count++;
    }
}

/* Names of events come after the lines, which are skipped. */
static void host_plane_look(struct stream *stream, struct stream_scope scope, struct arena *arena, struct xspace *out)
{
    struct trace_plane plane;
    struct arena *scratch = arena_child(arena);
    trace_plane_read(stream, scope, scratch, &plane);
    trace_plane_resolve(stream, scratch, &plane);
    out->has_memory_events |= plane.has_memory_events || plane.has_unparsed || plane.is_cut;
    arena_free(scratch);
}

/* Of GPUs alone: a TPU's memory is in the table of devices, and that it is a GPU's trace is known at its end. */
static void limit_look(struct stream *stream, struct stream_scope scope, struct arena *arena, struct xspace *out)
{
    struct trace_plane plane;
    struct arena *scratch = arena_child(arena);
    trace_plane_read(stream, scope, scratch, &plane);
    trace_plane_resolve(stream, scratch, &plane);
    if (plane.has_memory_events && !plane.lacks_figures)
        out->allocator_limit_bytes = allocator_limit_find(stream, &plane, scratch);
    arena_free(scratch);
    if (stream->err->code == ERR_malformed || stream->err->code == ERR_truncated) /* it was counted with the plane */
        *stream->err = (struct err)ERR_INIT;
}

/* Devices of one kind and size are one row. */
static void device_look(struct stream *stream, struct stream_scope scope, struct str name, struct arena *arena,
                        struct xspace *out)
{
    struct trace_device device;
    if (!trace_device_read(stream, scope, name, arena, &device))
        return;
    for (size_t i = 0; i < out->device_count; i++)
        if (out->devices[i].first.memory_bytes == device.memory_bytes &&
            str_equal(out->devices[i].first.kind, device.kind)) {
            out->devices[i].count++;
            return;
        }
    if (out->device_count < XSPACE_DEVICES_MAX)
        out->devices[out->device_count++] = (struct xspace_device){device, 1};
}

static void hostname_add(struct xspace *out, struct arena *arena, struct str name)
{
    if (out->hostname_count % 8 == 0) {
        struct str *names = arena_array(arena, struct str, out->hostname_count + 8);
        if (out->hostname_count > 0)
            memcpy(names, out->hostnames, out->hostname_count * sizeof(*names));
        out->hostnames = names;
    }
    out->hostnames[out->hostname_count++] = name;
}

/* Only the end of a gzip stream shows in which programs it ends. */
static void clipped_drop(struct xspace *out, uint64_t size_bytes)
{
    while (out->program_count > 0 && out->programs[out->program_count - 1].hlo.end > size_bytes) {
        out->program_count--;
        out->clipped_count++;
    }
}

bool xspace_read(const struct source *source, struct arena *arena, struct xspace *out, struct err *err)
{
    struct stream stream;
    struct stream_field field;
    stream_open(&stream, source, arena, err);
    struct stream_scope scope = stream_whole(&stream), host = {0, 0};
    *out = (struct xspace){0};
    while (stream_next(&stream, &scope, &field)) {
        if (field.number == XSPACE_HOSTNAMES && field.type == WIRE_BYTES && out->hostname_count < 4096)
            hostname_add(out, arena, stream_text(&stream, field.payload, NAME_MAX, arena));
        if (field.number != XSPACE_PLANES || field.type != WIRE_BYTES)
            continue;
        struct plane plane = {0};
        plane_scan(&stream, field.payload, arena, &plane);
        take_damage(&stream, out);
        out->has_gpu_plane |= str_starts(plane.name, STR("/device:GPU:"));
        out->has_tpu_plane |= str_starts(plane.name, STR("/device:TPU:"));
        if (!out->has_host_plane && str_equal(plane.name, STR("/host:CPU"))) {
            out->has_host_plane = true;
            host = field.payload;
        }
        if (is_metadata_plane(&plane))
            metadata_plane_read(&stream, &plane, arena, out);
        else if (str_equal(plane.name, STR("/host:CPU")))
            host_plane_look(&stream, field.payload, arena, out);
        else if (str_starts(plane.name, STR("/device:")))
            device_look(&stream, field.payload, plane.name, arena, out);
        take_damage(&stream, out);
    }
    out->cut = stream_cut(&stream);
    if (out->has_gpu_plane && out->has_memory_events && !err_is_set(err))
        limit_look(&stream, host, arena, out);
    clipped_drop(out, source->size_bytes);
    stream_close(&stream);
    if (err_is_set(err) && err->code != ERR_io && out->program_count > 0) { /* damage behind what was found */
        *err = (struct err)ERR_INIT;
        out->damaged_count++;
    }
    return !err_is_set(err);
}
