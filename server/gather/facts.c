/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/facts.h"

bool facts_find(const struct facts *facts, enum facts_kind kind, const struct files_place *place,
                const struct files_identity *identity, struct buf *value)
{
    if (!facts || place->bytes || !facts->find(facts->context, kind, place, identity, value))
        return false;
    buf_char(value, '\0');
    value->length -= value->length > 0;
    return !value->failed;
}

void facts_keep(const struct facts *facts, enum facts_kind kind, const struct files_place *place,
                const struct files_identity *identity, const struct buf *value)
{
    if (facts && !place->bytes && !value->failed)
        facts->keep(facts->context, kind, place, identity, value);
}
