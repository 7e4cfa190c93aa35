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

bool hlo_sharding_is_replicated(const struct hlo *hlo, uint32_t instruction_at, int64_t number)
{
    struct err err = ERR_INIT;
    struct wire wire = wire_open(hlo_instruction_bytes(hlo, instruction_at), 0, &err);
    while (wire_next(&wire))
        if (wire.number == HLO_INSTRUCTION_PROTO_SHARDING)
            return is_replicated(wire_text(&wire));
    return number >= 0 && number < hlo->sharding_count && is_replicated(hlo->shardings[number]);
}
