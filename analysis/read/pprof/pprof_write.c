/* SPDX-License-Identifier: Apache-2.0 */
#include "read/pprof/pprof.h"

#include "base/intern.h"
#include "profile.fields.h"
#include "wire/wire_write.h"

struct writer {
    const struct pprof *pprof;
    struct arena *arena;
    struct buf *out;
    struct intern strings; /* number 0 is "" */
};

/* ---- texts ---- */

static void pprof_write_text(struct writer *writer, uint32_t field, struct str value)
{
    wire_write_number(writer->out, field, intern_number(&writer->strings, value));
}

/* ---- tables ---- */

static void write_type(struct writer *writer, uint32_t field, const struct pprof_type *type)
{
    size_t begin = wire_write_begin(writer->out, field);
    if (type->name.length == 0 && type->unit.length == 0) { /* an empty message does not identify a profile */
        wire_write_varint(writer->out, (uint64_t)VALUE_TYPE_TYPE << 3);
        wire_write_varint(writer->out, 0);
    }
    pprof_write_text(writer, VALUE_TYPE_TYPE, type->name);
    pprof_write_text(writer, VALUE_TYPE_UNIT, type->unit);
    wire_write_end(writer->out, begin);
}

static void write_label(struct writer *writer, const struct pprof_label *label)
{
    size_t begin = wire_write_begin(writer->out, SAMPLE_LABEL);
    pprof_write_text(writer, LABEL_KEY, label->key);
    if (label->is_number)
        wire_write_number(writer->out, LABEL_NUM, (uint64_t)label->number);
    else
        pprof_write_text(writer, LABEL_STR, label->text);
    pprof_write_text(writer, LABEL_NUM_UNIT, label->unit);
    wire_write_end(writer->out, begin);
}

static bool has_value(const struct pprof *pprof, uint32_t sample)
{
    for (uint32_t type = 0; type < pprof->type_count; type++)
        if (pprof->values[(size_t)sample * pprof->type_count + type] != 0)
            return true;
    return false;
}

static void write_sample(struct writer *writer, uint32_t at, bool *is_reached)
{
    static const struct pprof_label base = {STR_INIT("pprof::base"), STR_INIT("true"), STR_INIT(""), 0, false};
    const struct pprof *pprof = writer->pprof;
    const struct pprof_label_set *set = &pprof->sets[pprof->label_sets[at]];
    uint32_t depth = pprof->stack_starts[at + 1] - pprof->stack_starts[at];
    size_t begin = wire_write_begin(writer->out, PROFILE_SAMPLE), packed;
    arena_work(writer->arena, depth + set->count);
    if (depth > 0) {
        packed = wire_write_begin(writer->out, SAMPLE_LOCATION_ID);
        for (uint32_t i = pprof->stack_starts[at]; i < pprof->stack_starts[at + 1]; i++) {
            is_reached[pprof->stacks[i]] = true;
            wire_write_varint(writer->out, (uint64_t)pprof->stacks[i] + 1);
        }
        wire_write_end(writer->out, packed);
    }
    packed = wire_write_begin(writer->out, SAMPLE_VALUE);
    for (uint32_t type = 0; type < pprof->type_count; type++)
        wire_write_varint(writer->out, (uint64_t)pprof->values[(size_t)at * pprof->type_count + type]);
    wire_write_end(writer->out, packed);
    for (uint32_t i = 0; i < set->count; i++)
        write_label(writer, &pprof->labels[set->first + i]);
    if (pprof->is_base != NULL && pprof->is_base[at])
        write_label(writer, &base);
    wire_write_end(writer->out, begin);
}

static void write_location(struct writer *writer, uint32_t at, bool *is_called)
{
    const struct pprof_location *location = &writer->pprof->locations[at];
    size_t begin = wire_write_begin(writer->out, PROFILE_LOCATION);
    wire_write_number(writer->out, LOCATION_ID, (uint64_t)at + 1);
    wire_write_number(writer->out, LOCATION_MAPPING_ID,
                      location->mapping == PPROF_NONE ? 0 : (uint64_t)location->mapping + 1);
    wire_write_number(writer->out, LOCATION_ADDRESS, location->address);
    for (uint32_t i = location->first_line; i < location->first_line + location->line_count; i++) {
        const struct pprof_line *line = &writer->pprof->lines[i];
        size_t line_begin = wire_write_begin(writer->out, LOCATION_LINE);
        is_called[line->function] = true;
        wire_write_number(writer->out, LINE_FUNCTION_ID, (uint64_t)line->function + 1);
        wire_write_number(writer->out, LINE_LINE, (uint64_t)line->line);
        wire_write_number(writer->out, LINE_COLUMN, (uint64_t)line->column);
        wire_write_end(writer->out, line_begin);
    }
    wire_write_number(writer->out, LOCATION_IS_FOLDED, location->is_folded);
    wire_write_end(writer->out, begin);
}

static void write_function(struct writer *writer, uint32_t at)
{
    const struct pprof_function *function = &writer->pprof->functions[at];
    size_t begin = wire_write_begin(writer->out, PROFILE_FUNCTION);
    wire_write_number(writer->out, FUNCTION_ID, (uint64_t)at + 1);
    pprof_write_text(writer, FUNCTION_NAME, function->name);
    pprof_write_text(writer, FUNCTION_SYSTEM_NAME, function->system_name);
    pprof_write_text(writer, FUNCTION_FILENAME, function->file);
    wire_write_number(writer->out, FUNCTION_START_LINE, (uint64_t)function->start_line);
    wire_write_end(writer->out, begin);
}

static void write_mapping(struct writer *writer, uint32_t at)
{
    const struct pprof_mapping *mapping = &writer->pprof->mappings[at];
    size_t begin = wire_write_begin(writer->out, PROFILE_MAPPING);
    wire_write_number(writer->out, MAPPING_ID, (uint64_t)at + 1);
    wire_write_number(writer->out, MAPPING_MEMORY_START, mapping->begin);
    wire_write_number(writer->out, MAPPING_MEMORY_LIMIT, mapping->end);
    wire_write_number(writer->out, MAPPING_FILE_OFFSET, mapping->offset);
    pprof_write_text(writer, MAPPING_FILENAME, mapping->file);
    pprof_write_text(writer, MAPPING_BUILD_ID, mapping->build_id);
    wire_write_number(writer->out, MAPPING_HAS_FUNCTIONS, mapping->has_functions);
    wire_write_number(writer->out, MAPPING_HAS_FILENAMES, mapping->has_filenames);
    wire_write_number(writer->out, MAPPING_HAS_LINE_NUMBERS, mapping->has_line_numbers);
    wire_write_number(writer->out, MAPPING_HAS_INLINE_FRAMES, mapping->has_inline_frames);
    wire_write_end(writer->out, begin);
}

static void write_header(struct writer *writer)
{
    const struct pprof *pprof = writer->pprof;
    pprof_write_text(writer, PROFILE_DROP_FRAMES, pprof->drop_frames);
    pprof_write_text(writer, PROFILE_KEEP_FRAMES, pprof->keep_frames);
    wire_write_number(writer->out, PROFILE_TIME_NANOS, (uint64_t)pprof->time_ns);
    wire_write_number(writer->out, PROFILE_DURATION_NANOS, (uint64_t)pprof->duration_ns);
    if (pprof->period_type.name.length > 0 || pprof->period_type.unit.length > 0)
        write_type(writer, PROFILE_PERIOD_TYPE, &pprof->period_type);
    wire_write_number(writer->out, PROFILE_PERIOD, (uint64_t)pprof->period);
    for (uint32_t i = 0; i < pprof->comment_count; i++)
        pprof_write_text(writer, PROFILE_COMMENT, pprof->comments[i]);
    if (pprof->default_type + 1 < pprof->type_count) /* without one it is the last */
        pprof_write_text(writer, PROFILE_DEFAULT_SAMPLE_TYPE, pprof->types[pprof->default_type].name);
    pprof_write_text(writer, PROFILE_DOC_URL, pprof->doc_url);
}

void pprof_write(const struct pprof *pprof, struct arena *arena, struct buf *out)
{
    struct writer writer = {.pprof = pprof, .arena = arena, .out = out};
    bool *is_reached = arena_array(arena, bool, (size_t)pprof->location_count + 1);
    bool *is_called = arena_array(arena, bool, (size_t)pprof->function_count + 1);
    bool *is_mapped = arena_array(arena, bool, (size_t)pprof->mapping_count + 1);
    intern_init(&writer.strings, arena);
    intern_number(&writer.strings, (struct str){"", 0});
    for (uint32_t i = 0; i < pprof->type_count; i++)
        write_type(&writer, PROFILE_SAMPLE_TYPE, &pprof->types[i]);
    for (uint32_t i = 0; i < pprof->sample_count; i++)
        if (has_value(pprof, i))
            write_sample(&writer, i, is_reached);
    for (uint32_t i = 0; i < pprof->location_count; i++) {
        if (!is_reached[i])
            continue;
        write_location(&writer, i, is_called);
        if (pprof->locations[i].mapping != PPROF_NONE)
            is_mapped[pprof->locations[i].mapping] = true;
    }
    for (uint32_t i = 0; i < pprof->mapping_count; i++)
        if (is_mapped[i])
            write_mapping(&writer, i);
    for (uint32_t i = 0; i < pprof->function_count; i++)
        if (is_called[i])
            write_function(&writer, i);
    write_header(&writer);
    for (uint32_t i = 0; i < writer.strings.map.count; i++)
        wire_write_bytes(out, PROFILE_STRING_TABLE, writer.strings.items[i]);
}
