/* SPDX-License-Identifier: Apache-2.0
 * pprof.c: see pprof.h. The table of texts stands last in real files, and tables
 * may come in any order, so the bytes are walked once to count and once a table. */
#include "read/pprof/pprof.h"

#include "base/map.h"
#include "profile.fields.h"
#include "wire/wire.h"

struct counts {
    uint32_t types, samples, mappings, locations, functions, strings, comments;
    uint64_t lines, stack_bytes; /* a packed id takes one byte or more */
};

/* Ids of the file's tables, and their places. Writers count from 1 without gaps; then `direct` is enough. */
struct ids {
    uint32_t *direct; /* by id, MAP_NONE where there is none; ids below direct_count */
    uint64_t direct_count;
    struct map map; /* of greater ids */
};

struct reader {
    struct str bytes;
    struct arena *arena;
    struct err *err;
    struct pprof *out;
    struct counts counts;
    struct str *strings;
    struct ids mapping_ids, location_ids, function_ids;
    /* of the samples */
    struct map set_table;
    struct pprof_label *draft; /* labels of one sample */
    uint32_t draft_count;
    size_t draft_capacity, label_capacity, set_capacity;
    uint64_t stack_length;
};

static struct wire top(const struct reader *reader) { return wire_open(reader->bytes, 0, reader->err); }

/* ---- counting ---- */

static void count_location(struct reader *reader, struct wire location)
{
    while (wire_next(&location))
        reader->counts.lines += location.number == LOCATION_LINE && location.type == WIRE_BYTES;
}

static void count_sample(struct reader *reader, struct wire sample)
{
    while (wire_next(&sample))
        if (sample.number == SAMPLE_LOCATION_ID)
            reader->counts.stack_bytes += sample.type == WIRE_BYTES ? sample.bytes.length : 1;
}

static bool count_all(struct reader *reader)
{
    struct counts *counts = &reader->counts;
    for (struct wire wire = top(reader); wire_next(&wire);) {
        bool is_message = wire.type == WIRE_BYTES;
        counts->types += is_message && wire.number == PROFILE_SAMPLE_TYPE;
        counts->samples += is_message && wire.number == PROFILE_SAMPLE;
        counts->mappings += is_message && wire.number == PROFILE_MAPPING;
        counts->locations += is_message && wire.number == PROFILE_LOCATION;
        counts->functions += is_message && wire.number == PROFILE_FUNCTION;
        counts->strings += is_message && wire.number == PROFILE_STRING_TABLE;
        if (is_message && wire.number == PROFILE_SAMPLE)
            count_sample(reader, wire_message(&wire));
        else if (is_message && wire.number == PROFILE_LOCATION)
            count_location(reader, wire_message(&wire));
        else if (wire.number == PROFILE_COMMENT)
            counts->comments += is_message ? (uint32_t)wire.bytes.length : 1;
    }
    if (counts->stack_bytes >= PPROF_NONE || counts->lines >= PPROF_NONE)
        err_set(reader->err, ERR_limit, ERR_NO_OFFSET, "more than four thousand million frames");
    return !err_is_set(reader->err);
}

/* ---- texts ---- */

static void read_strings(struct reader *reader)
{
    uint32_t at = 0;
    reader->strings = arena_array(reader->arena, struct str, (size_t)reader->counts.strings + 1);
    reader->strings[0] = (struct str){"", 0};
    for (struct wire wire = top(reader); wire_next(&wire);) {
        if (wire.number != PROFILE_STRING_TABLE || wire.type != WIRE_BYTES)
            continue;
        if (at == 0 && wire.bytes.length > 0)
            reader->out->odd_count++; /* whatever it is, no text is written as 0 */
        reader->strings[at] = at == 0 ? (struct str){"", 0} : wire_text(&wire);
        at++;
    }
}

/* The text that the current field of `wire` names. */
static struct str text_of(struct reader *reader, const struct wire *wire)
{
    uint64_t at = wire_uint(wire);
    if (at < reader->counts.strings || at == 0)
        return reader->strings[at];
    reader->out->odd_count++;
    return reader->strings[0];
}

/* ---- ids ---- */

static void ids_init(struct ids *ids, uint32_t count, struct arena *arena)
{
    ids->direct_count = (uint64_t)count + 2;
    ids->direct = arena_raw(arena, ids->direct_count * sizeof(*ids->direct));
    memset(ids->direct, 0xff, ids->direct_count * sizeof(*ids->direct));
    map_init(&ids->map, arena, count);
}

/* 0 is reserved, and an id that is taken stays with the first. */
static void ids_add(struct reader *reader, struct ids *ids, uint64_t id, uint32_t place)
{
    bool is_new =
        id > 0 && (id >= ids->direct_count ? map_put(&ids->map, id, place, false) : ids->direct[id] == MAP_NONE);
    reader->out->odd_count += !is_new;
    if (is_new && id < ids->direct_count)
        ids->direct[id] = place;
}

static uint32_t ids_find(const struct ids *ids, uint64_t id)
{
    return id < ids->direct_count ? ids->direct[id] : map_get(&ids->map, id);
}

/* ---- tables ---- */

static struct pprof_type read_type(struct reader *reader, struct wire wire)
{
    struct pprof_type type = {{"", 0}, {"", 0}};
    while (wire_next(&wire)) {
        if (wire.number == VALUE_TYPE_TYPE)
            type.name = text_of(reader, &wire);
        else if (wire.number == VALUE_TYPE_UNIT)
            type.unit = text_of(reader, &wire);
    }
    return type;
}

static void read_mapping(struct reader *reader, struct wire wire)
{
    struct pprof_mapping mapping = {.file = {"", 0}, .build_id = {"", 0}};
    uint64_t id = 0;
    while (wire_next(&wire)) {
        switch (wire.number) {
        case MAPPING_ID: id = wire_uint(&wire); break;
        case MAPPING_MEMORY_START: mapping.begin = wire_uint(&wire); break;
        case MAPPING_MEMORY_LIMIT: mapping.end = wire_uint(&wire); break;
        case MAPPING_FILE_OFFSET: mapping.offset = wire_uint(&wire); break;
        case MAPPING_FILENAME: mapping.file = text_of(reader, &wire); break;
        case MAPPING_BUILD_ID: mapping.build_id = text_of(reader, &wire); break;
        case MAPPING_HAS_FUNCTIONS: mapping.has_functions = wire_bool(&wire); break;
        case MAPPING_HAS_FILENAMES: mapping.has_filenames = wire_bool(&wire); break;
        case MAPPING_HAS_LINE_NUMBERS: mapping.has_line_numbers = wire_bool(&wire); break;
        case MAPPING_HAS_INLINE_FRAMES: mapping.has_inline_frames = wire_bool(&wire); break;
        }
    }
    ids_add(reader, &reader->mapping_ids, id, reader->out->mapping_count);
    reader->out->mappings[reader->out->mapping_count++] = mapping;
}

static void read_function(struct reader *reader, struct wire wire)
{
    struct pprof_function function = {{"", 0}, {"", 0}, {"", 0}, 0};
    uint64_t id = 0;
    while (wire_next(&wire)) {
        switch (wire.number) {
        case FUNCTION_ID: id = wire_uint(&wire); break;
        case FUNCTION_NAME: function.name = text_of(reader, &wire); break;
        case FUNCTION_SYSTEM_NAME: function.system_name = text_of(reader, &wire); break;
        case FUNCTION_FILENAME: function.file = text_of(reader, &wire); break;
        case FUNCTION_START_LINE: function.start_line = wire_int(&wire); break;
        }
    }
    ids_add(reader, &reader->function_ids, id, reader->out->function_count);
    reader->out->functions[reader->out->function_count++] = function;
}

static void read_line(struct reader *reader, struct wire wire)
{
    struct pprof_line line = {PPROF_NONE, 0, 0};
    uint64_t id = 0;
    while (wire_next(&wire)) {
        switch (wire.number) {
        case LINE_FUNCTION_ID: id = wire_uint(&wire); break;
        case LINE_LINE: line.line = wire_int(&wire); break;
        case LINE_COLUMN: line.column = wire_int(&wire); break;
        }
    }
    line.function = ids_find(&reader->function_ids, id);
    if (line.function == PPROF_NONE)
        reader->out->odd_count++;
    else
        reader->out->lines[reader->out->line_count++] = line;
}

static void read_location(struct reader *reader, struct wire wire)
{
    struct pprof *out = reader->out;
    struct pprof_location location = {.mapping = PPROF_NONE, .first_line = out->line_count};
    uint64_t id = 0;
    while (wire_next(&wire)) {
        switch (wire.number) {
        case LOCATION_ID: id = wire_uint(&wire); break;
        case LOCATION_MAPPING_ID:
            location.mapping = ids_find(&reader->mapping_ids, wire_uint(&wire));
            out->odd_count += location.mapping == PPROF_NONE && wire_uint(&wire) != 0;
            break;
        case LOCATION_ADDRESS: location.address = wire_uint(&wire); break;
        case LOCATION_IS_FOLDED: location.is_folded = wire_bool(&wire); break;
        case LOCATION_LINE:
            if (wire.type == WIRE_BYTES)
                read_line(reader, wire_message(&wire));
            break;
        }
    }
    location.line_count = out->line_count - location.first_line;
    ids_add(reader, &reader->location_ids, id, out->location_count);
    out->locations[out->location_count++] = location;
}

static void read_comments(struct reader *reader, struct wire *wire)
{
    uint64_t at_text;
    for (size_t at = 0; wire_packed(wire, &at, &at_text);)
        if (at_text >= reader->counts.strings)
            reader->out->odd_count++;
        else
            reader->out->comments[reader->out->comment_count++] = reader->strings[at_text];
}

/* What `number` of the top level holds; each a message. */
static bool read_table(struct reader *reader, uint32_t number, void (*read)(struct reader *reader, struct wire wire))
{
    for (struct wire wire = top(reader); wire_next(&wire) && !err_is_set(reader->err);)
        if (wire.number == number && wire.type == WIRE_BYTES)
            read(reader, wire_message(&wire));
    return !err_is_set(reader->err);
}

static void read_header(struct reader *reader)
{
    struct pprof *out = reader->out;
    struct str default_type = {"", 0};
    for (struct wire wire = top(reader); wire_next(&wire) && !err_is_set(reader->err);) {
        switch (wire.number) {
        case PROFILE_SAMPLE_TYPE:
            if (wire.type == WIRE_BYTES)
                out->types[out->type_count++] = read_type(reader, wire_message(&wire));
            break;
        case PROFILE_DROP_FRAMES: out->drop_frames = text_of(reader, &wire); break;
        case PROFILE_KEEP_FRAMES: out->keep_frames = text_of(reader, &wire); break;
        case PROFILE_TIME_NANOS: out->time_ns = wire_int(&wire); break;
        case PROFILE_DURATION_NANOS: out->duration_ns = wire_int(&wire); break;
        case PROFILE_PERIOD_TYPE: out->period_type = read_type(reader, wire_message(&wire)); break;
        case PROFILE_PERIOD: out->period = wire_int(&wire); break;
        case PROFILE_DEFAULT_SAMPLE_TYPE: default_type = text_of(reader, &wire); break;
        case PROFILE_DOC_URL: out->doc_url = text_of(reader, &wire); break;
        case PROFILE_COMMENT: read_comments(reader, &wire); break;
        }
    }
    out->default_type = out->type_count > 0 ? out->type_count - 1 : 0;
    for (uint32_t i = 0; default_type.length > 0 && i < out->type_count; i++)
        if (str_equal(out->types[i].name, default_type))
            out->default_type = i;
}

/* ---- samples ---- */

static void read_label(struct reader *reader, struct wire wire)
{
    struct pprof_label label = {{"", 0}, {"", 0}, {"", 0}, 0, true};
    while (wire_next(&wire)) {
        switch (wire.number) {
        case LABEL_KEY: label.key = text_of(reader, &wire); break;
        case LABEL_STR:
            label.text = text_of(reader, &wire);
            label.is_number = wire_uint(&wire) == 0;
            break;
        case LABEL_NUM: label.number = wire_int(&wire); break;
        case LABEL_NUM_UNIT: label.unit = text_of(reader, &wire); break;
        }
    }
    if (label.is_number && label.number == 0 && label.unit.length == 0)
        return; /* as in pprof: it says nothing */
    reader->draft = arena_grown(reader->arena, reader->draft, (size_t)reader->draft_count + 1, &reader->draft_capacity,
                                sizeof(*reader->draft));
    reader->draft[reader->draft_count++] = label;
}

static bool label_equal(const struct pprof_label *a, const struct pprof_label *b)
{
    return a->is_number == b->is_number && a->number == b->number && str_equal(a->key, b->key) &&
           str_equal(a->text, b->text) && str_equal(a->unit, b->unit);
}

static bool is_draft(const void *context, uint64_t at)
{
    const struct reader *reader = context;
    const struct pprof_label_set *set = &reader->out->sets[at];
    arena_work(reader->arena, set->count);
    bool is_equal = set->count == reader->draft_count;
    for (uint32_t i = 0; is_equal && i < set->count; i++)
        is_equal = label_equal(&reader->out->labels[set->first + i], &reader->draft[i]);
    return is_equal;
}

/* The number of the set of labels in the draft. */
static uint32_t set_of_draft(struct reader *reader)
{
    struct pprof *out = reader->out;
    uint64_t hash = reader->draft_count;
    for (uint32_t i = 0; i < reader->draft_count; i++) {
        const struct pprof_label *label = &reader->draft[i];
        hash = hash_number((uint64_t)label->number, hash);
        hash = map_hash_text(reader->arena, label->key, map_hash_text(reader->arena, label->text, hash));
    }
    bool is_new;
    uint32_t at = map_number(&reader->set_table, hash, is_draft, reader, &is_new);
    if (!is_new)
        return at;
    out->sets = arena_grown(reader->arena, out->sets, (size_t)at + 1, &reader->set_capacity, sizeof(*out->sets));
    out->labels = arena_grown(reader->arena, out->labels, (size_t)out->label_count + reader->draft_count,
                              &reader->label_capacity, sizeof(*out->labels));
    out->sets[at] = (struct pprof_label_set){out->label_count, reader->draft_count};
    if (reader->draft_count > 0)
        memcpy(out->labels + out->label_count, reader->draft, reader->draft_count * sizeof(*reader->draft));
    out->label_count += reader->draft_count;
    out->set_count = at + 1;
    return at;
}

static void read_stack(struct reader *reader, struct wire *wire)
{
    const struct ids *ids = &reader->location_ids;
    uint32_t *to = reader->out->stacks + reader->stack_length, *begin = to;
    uint64_t id;
    for (size_t at = 0; wire_packed(wire, &at, &id);) {
        *to = ids_find(ids, id);
        if (*to != PPROF_NONE)
            to++;
        else
            reader->out->odd_count++;
    }
    reader->stack_length += (uint64_t)(to - begin);
}

static void read_sample(struct reader *reader, struct wire wire)
{
    struct pprof *out = reader->out;
    uint64_t value;
    uint32_t value_count = 0;
    int64_t *values = out->values + (size_t)out->sample_count * out->type_count;
    reader->draft_count = 0;
    while (wire_next(&wire)) {
        if (wire.number == SAMPLE_LOCATION_ID) {
            read_stack(reader, &wire);
        } else if (wire.number == SAMPLE_VALUE) {
            for (size_t at = 0; wire_packed(&wire, &at, &value); value_count++)
                if (value_count < out->type_count)
                    values[value_count] = (int64_t)value;
        } else if (wire.number == SAMPLE_LABEL && wire.type == WIRE_BYTES) {
            read_label(reader, wire_message(&wire));
        }
    }
    out->odd_count += value_count != out->type_count;
    uint32_t depth = (uint32_t)(reader->stack_length - out->stack_starts[out->sample_count]);
    out->depth_max = depth > out->depth_max ? depth : out->depth_max;
    out->label_sets[out->sample_count++] = set_of_draft(reader);
    out->stack_starts[out->sample_count] = (uint32_t)reader->stack_length;
}

/* Places of the first type in counts and in bytes; PPROF_NONE: there is none. */
struct pair {
    uint32_t count_at, bytes_at;
};

static void mark_unknown(struct reader *reader, struct pair pair)
{
    struct pprof *out = reader->out;
    for (uint32_t i = 0; i < out->sample_count; i++) {
        int64_t *values = out->values + (size_t)i * out->type_count;
        if (values[pair.count_at] <= 0 || values[pair.bytes_at] != pprof_negated(values[pair.count_at]))
            continue;
        if (out->is_unknown == NULL)
            out->is_unknown = arena_array(reader->arena, bool, out->sample_count);
        out->is_unknown[i] = true;
        values[pair.bytes_at] = 0;
    }
}

/* Where no bytes are below 0 the profile is no difference, and counts below 0 cannot be. */
static void settle_counts(struct reader *reader, struct pair pair)
{
    struct pprof *out = reader->out;
    bool is_diff = false;
    for (uint32_t i = 0; i < out->sample_count; i++)
        is_diff |= out->values[(size_t)i * out->type_count + pair.bytes_at] < 0;
    for (uint32_t i = 0; i < out->sample_count && !is_diff; i++) {
        int64_t *count = &out->values[(size_t)i * out->type_count + pair.count_at];
        out->odd_count += *count < 0;
        *count = *count < 0 ? 0 : *count;
    }
}

static void settle_values(struct reader *reader)
{
    const struct pprof *out = reader->out;
    struct pair pair = {PPROF_NONE, PPROF_NONE};
    for (uint32_t i = out->type_count; i-- > 0;) {
        pair.count_at = str_equal(out->types[i].unit, STR("count")) ? i : pair.count_at;
        pair.bytes_at = str_equal(out->types[i].unit, STR("bytes")) ? i : pair.bytes_at;
    }
    if (pair.count_at == PPROF_NONE || pair.bytes_at == PPROF_NONE)
        return;
    mark_unknown(reader, pair);
    settle_counts(reader, pair);
}

static void make_room(struct reader *reader)
{
    const struct counts *counts = &reader->counts;
    struct arena *arena = reader->arena;
    struct pprof *out = reader->out;
    out->types = arena_array(arena, struct pprof_type, (size_t)counts->types + 1);
    out->mappings = arena_array(arena, struct pprof_mapping, (size_t)counts->mappings + 1);
    out->functions = arena_array(arena, struct pprof_function, (size_t)counts->functions + 1);
    out->locations = arena_array(arena, struct pprof_location, (size_t)counts->locations + 1);
    out->lines = arena_array(arena, struct pprof_line, (size_t)counts->lines + 1);
    out->comments = arena_array(arena, struct str, (size_t)counts->comments + 1);
    out->stack_starts = arena_array(arena, uint32_t, (size_t)counts->samples + 1);
    out->label_sets = arena_array(arena, uint32_t, (size_t)counts->samples + 1);
    out->values = arena_array(arena, int64_t, (size_t)counts->samples * counts->types + 1);
    out->stacks = arena_raw(arena, (counts->stack_bytes + 1) * sizeof(*out->stacks));
    ids_init(&reader->mapping_ids, counts->mappings, arena);
    ids_init(&reader->function_ids, counts->functions, arena);
    ids_init(&reader->location_ids, counts->locations, arena);
    map_init(&reader->set_table, arena, 0);
}

bool pprof_read(struct str bytes, struct arena *arena, struct pprof *out, struct err *err)
{
    struct reader reader = {.bytes = bytes, .arena = arena, .err = err, .out = out};
    *out = (struct pprof){
        .drop_frames = {"", 0}, .keep_frames = {"", 0}, .doc_url = {"", 0}, .period_type = {{"", 0}, {"", 0}}};
    if (!count_all(&reader))
        return false;
    read_strings(&reader);
    if (reader.counts.types == 0)
        return err_set(err, ERR_malformed, ERR_NO_OFFSET, "a profile without sample types");
    if (reader.counts.types > PPROF_TYPES_MAX)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "a profile of %u sample types; %d are read at most",
                       reader.counts.types, PPROF_TYPES_MAX);
    make_room(&reader);
    read_header(&reader);
    if (err_is_set(err) || !read_table(&reader, PROFILE_MAPPING, read_mapping) ||
        !read_table(&reader, PROFILE_FUNCTION, read_function) ||
        !read_table(&reader, PROFILE_LOCATION, read_location) || !read_table(&reader, PROFILE_SAMPLE, read_sample))
        return false;
    settle_values(&reader);
    return true;
}
