/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_aliases.h"

#include "hlo.fields.h"
#include "wire/wire.h"

enum { DEPTH_MAX = HLO_ALIASES_DEPTH_MAX };

uint64_t hlo_aliases_place_key(uint32_t instruction_at, const int64_t *index, uint32_t depth)
{
    uint64_t key = ((uint64_t)instruction_at << 8) + depth;
    for (uint32_t i = 0; i < depth; i++)
        key = key * 0x100000001b3ULL + (uint64_t)index[i] + 1;
    return key;
}

/* Does an entry of the alias list donate that parameter at that index? */
static bool entry_donates(struct wire entry, const struct hlo *hlo, int64_t number, const struct hlo_buffer *buffer)
{
    int64_t parameter = 0;
    uint32_t depth = 0;
    bool is_same = true;
    while (wire_next(&entry)) {
        uint64_t index;
        if (entry.number == HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_PARAMETER_NUMBER)
            parameter = wire_int(&entry);
        else if (entry.number == HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_PARAMETER_SHAPE_INDEX)
            for (size_t at = 0; wire_packed(&entry, &at, &index); depth++)
                is_same &=
                    depth < buffer->index_count && hlo->shape_indices[buffer->index_first + depth] == (int64_t)index;
    }
    return parameter == number && is_same && depth == buffer->index_count;
}

bool hlo_aliases_parameter_is_donated(const struct hlo *hlo, struct arena *arena, int64_t number,
                                      const struct hlo_buffer *buffer)
{
    struct err err = ERR_INIT;
    for (uint32_t i = 0; i < hlo->alias_count; i++) {
        struct wire list = wire_open(hlo->alias_bytes[i], 0, &err);
        arena_work(arena, hlo->alias_bytes[i].length);
        while (wire_next(&list))
            if (list.number == HLO_INPUT_OUTPUT_ALIAS_PROTO_ENTRIES &&
                entry_donates(wire_message(&list), hlo, number, buffer))
                return true;
    }
    return false;
}

static void entry_visit(struct wire entry, void (*visit)(void *context, uint64_t result, int64_t parameter_number),
                        void *context)
{
    int64_t number = 0;
    uint64_t result = 0, index;
    while (wire_next(&entry)) {
        if (entry.number == HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_PARAMETER_NUMBER)
            number = wire_int(&entry);
        else if (entry.number == HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_OUTPUT_SHAPE_INDEX)
            for (size_t at = 0; wire_packed(&entry, &at, &index);)
                result = index;
    }
    visit(context, result, number);
}

void hlo_aliases_each(const struct hlo *hlo, void (*visit)(void *context, uint64_t result, int64_t parameter_number),
                      void *context)
{
    struct err err = ERR_INIT;
    for (uint32_t i = 0; i < hlo->alias_count; i++) {
        struct wire list = wire_open(hlo->alias_bytes[i], 0, &err);
        while (wire_next(&list))
            if (list.number == HLO_INPUT_OUTPUT_ALIAS_PROTO_ENTRIES)
                entry_visit(wire_message(&list), visit, context);
    }
}

void hlo_aliases_each_donor(const struct hlo *hlo, void (*visit)(void *context, int64_t parameter_number),
                            void *context)
{
    struct err err = ERR_INIT;
    struct wire list = wire_open(hlo->donor_bytes, 0, &err);
    while (wire_next(&list)) {
        if (list.number != HLO_BUFFER_DONOR_PROTO_ENTRIES)
            continue;
        int64_t number = 0;
        struct wire entry = wire_message(&list);
        while (wire_next(&entry))
            if (entry.number == HLO_BUFFER_DONOR_PROTO_BUFFER_DONOR_ENTRY_PROTO_PARAMETER_NUMBER)
                number = wire_int(&entry);
        visit(context, number);
    }
}

uint32_t hlo_aliases_group(uint32_t *groups, uint32_t at)
{
    while (groups[at] != at)
        at = groups[at] = groups[groups[at]];
    return at;
}

static uint32_t alias_target(const struct hlo *hlo, const struct map *by_place, struct wire location)
{
    int64_t index[DEPTH_MAX], id = 0;
    uint32_t depth = 0;
    while (wire_next(&location)) {
        uint64_t value;
        if (location.number == LOGICAL_BUFFER_PROTO_LOCATION_INSTRUCTION_ID)
            id = wire_int(&location);
        else if (location.number == LOGICAL_BUFFER_PROTO_LOCATION_SHAPE_INDEX)
            for (size_t at = 0; wire_packed(&location, &at, &value);)
                if (depth < DEPTH_MAX)
                    index[depth++] = (int64_t)value;
    }
    uint32_t instruction_at = map_get(&hlo->instruction_of_id, (uint64_t)id);
    return instruction_at == HLO_NONE ? HLO_NONE
                                      : map_get(by_place, hlo_aliases_place_key(instruction_at, index, depth));
}

void hlo_aliases_join(const struct hlo *hlo, const struct map *by_place, uint32_t *groups)
{
    struct err err = ERR_INIT;
    for (uint32_t i = 0; i < hlo->assignment_count; i++) {
        struct wire wire = wire_open(hlo->assignment_bytes[i], 0, &err);
        while (wire_next(&wire)) {
            if (wire.number != BUFFER_ASSIGNMENT_PROTO_BUFFER_ALIASES)
                continue;
            struct wire alias = wire_message(&wire);
            uint32_t source_at = HLO_NONE, target_at = HLO_NONE;
            while (wire_next(&alias)) {
                if (alias.number == BUFFER_ASSIGNMENT_PROTO_BUFFER_ALIAS_SOURCE_BUFFER_ID)
                    source_at = map_get(&hlo->buffer_of_id, wire_uint(&alias));
                else if (alias.number == BUFFER_ASSIGNMENT_PROTO_BUFFER_ALIAS_LOCATION)
                    target_at = alias_target(hlo, by_place, wire_message(&alias));
            }
            if (source_at != HLO_NONE && target_at != HLO_NONE)
                groups[hlo_aliases_group(groups, source_at)] = hlo_aliases_group(groups, target_at);
        }
    }
}
