/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

struct number wire_long_varint(const uint8_t *at, const uint8_t *end)
{
    return end - at >= 8 ? number_long(at, end) : number_at_end(at, end);
}

/* Behind the value of a field that is no group; NULL when it is broken. */
static const uint8_t *value_after(const uint8_t *at, const uint8_t *end, unsigned type)
{
    uint64_t value, size = type == WIRE_FIXED64 ? 8 : type == WIRE_FIXED32 ? 4 : 0;
    if (type == WIRE_VARINT)
        return wire_varint(&at, end, &value) ? at : NULL;
    if (type == WIRE_BYTES ? !wire_varint(&at, end, &size) : size == 0)
        return NULL;
    return size > (uint64_t)(end - at) ? NULL : at + size;
}

const uint8_t *wire_group_after(const uint8_t *at, const uint8_t *end, uint32_t number)
{
    uint32_t open[WIRE_GROUP_DEPTH_MAX] = {number};
    size_t depth = 1;
    while (depth > 0 && at != NULL) {
        uint64_t tag;
        if (!wire_varint(&at, end, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF)
            return NULL;
        if ((tag & 7) == WIRE_GROUP_END) {
            if (open[--depth] != tag >> 3)
                return NULL;
        } else if ((tag & 7) != WIRE_GROUP) {
            at = value_after(at, end, (unsigned)(tag & 7));
        } else if (depth < WIRE_GROUP_DEPTH_MAX) {
            open[depth++] = (uint32_t)(tag >> 3);
        } else {
            return NULL;
        }
    }
    return at;
}

void wire_fault_report(struct err *err, enum wire_fault fault, uint64_t offset)
{
    static const struct {
        enum err_code code;
        const char *text;
    } faults[] = {
        [WIRE_TAG_CUT] = {ERR_malformed, "a field's tag is cut or too long"},
        [WIRE_FIELD_OUT_OF_RANGE] = {ERR_malformed, "a field number is out of range"},
        [WIRE_NUMBER_CUT] = {ERR_malformed, "a number is cut or too long"},
        [WIRE_FIXED_CUT] = {ERR_truncated, "a fixed-size number runs past the end"},
        [WIRE_LENGTH_CUT] = {ERR_malformed, "a length is cut or too long"},
        [WIRE_LENGTH_PAST_END] = {ERR_truncated, "a length runs past the end"},
        [WIRE_NO_SUCH_TYPE] = {ERR_malformed, "a field is of no kind that there is"},
        [WIRE_GROUP_OPEN] = {ERR_malformed, "a group of fields does not end"},
        [WIRE_PACKED_CUT] = {ERR_malformed, "a packed number is cut or too long"},
    };
    err_set(err, faults[fault].code, offset, "%s", faults[fault].text);
}
