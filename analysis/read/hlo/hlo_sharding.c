/* SPDX-License-Identifier: Apache-2.0
 * hlo_sharding.c: see hlo_sharding.h. */
#include "read/hlo/hlo_sharding.h"

#include "hlo.fields.h"
#include "wire/wire.h"

static bool is_replicated(struct str bytes)
{
    struct err err = ERR_INIT;
    struct wire sharding = wire_open(bytes, 0, &err);
    uint64_t type = OP_SHARDING_TYPE_REPLICATED;
    while (wire_next(&sharding))
        if (sharding.number == OP_SHARDING_TYPE)
            type = wire_uint(&sharding);
    return type == OP_SHARDING_TYPE_REPLICATED;
}

/* That of the instruction, else that in the module's list. */
static bool sharding_find(const struct hlo *hlo, uint32_t instruction_at, int64_t number, struct str *out)
{
    struct err err = ERR_INIT;
    struct wire wire = wire_open(hlo_instruction_bytes(hlo, instruction_at), 0, &err);
    while (wire_next(&wire))
        if (wire.number == HLO_INSTRUCTION_PROTO_SHARDING) {
            *out = wire_text(&wire);
            return true;
        }
    if (number < 0 || number >= hlo->sharding_count)
        return false;
    *out = hlo->shardings[number];
    return true;
}

bool hlo_sharding_is_replicated(const struct hlo *hlo, uint32_t instruction_at, int64_t number)
{
    struct str bytes;
    return sharding_find(hlo, instruction_at, number, &bytes) && is_replicated(bytes);
}

int64_t hlo_sharding_parts(const struct hlo *hlo, uint32_t instruction_at, int64_t number, uint32_t dimension)
{
    struct err err = ERR_INIT;
    struct str bytes;
    if (hlo->partition_count < 2 || !sharding_find(hlo, instruction_at, number, &bytes) || is_replicated(bytes))
        return 1;
    struct wire sharding = wire_open(bytes, 0, &err);
    uint32_t nth = 0;
    uint64_t parts;
    while (wire_next(&sharding)) {
        if (sharding.number != OP_SHARDING_TILE_ASSIGNMENT_DIMENSIONS)
            continue;
        for (size_t at = 0; wire_packed(&sharding, &at, &parts);)
            if (nth++ == dimension)
                return parts >= 1 && parts <= HLO_DEVICES_MAX ? (int64_t)parts : 1;
    }
    return 1;
}
