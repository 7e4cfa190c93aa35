/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

struct number wire_long_varint(const uint8_t *at, const uint8_t *end)
{
    return end - at >= 8 ? number_long(at, end) : number_at_end(at, end);
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
        [WIRE_PACKED_CUT] = {ERR_malformed, "a packed number is cut or too long"},
    };
    err_set(err, faults[fault].code, offset, "%s", faults[fault].text);
}
