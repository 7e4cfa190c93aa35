/* SPDX-License-Identifier: Apache-2.0
 * exchange/member.h: where one member of a zip archive lies. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sizes and checksum as the archive's list says. */
struct member {
    uint64_t data_at; /* of its packed bytes, in the archive */
    uint64_t packed_bytes, plain_bytes;
    uint32_t checksum; /* CRC-32 of the plain bytes */
    bool is_deflated;  /* else stored */
};
