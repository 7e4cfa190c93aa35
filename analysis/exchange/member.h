/* SPDX-License-Identifier: Apache-2.0
 * exchange/member.h: where one member of an archive lies. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sizes and checksum as the archive says. */
struct member {
    uint64_t data_at; /* of its packed bytes, in the archive */
    uint64_t packed_bytes, plain_bytes;
    uint32_t checksum; /* CRC-32 of the plain bytes */
    bool has_checksum; /* tar files have none */
    bool is_deflated;  /* else stored */
    bool is_in_gzip;   /* the archive is packed as a whole: data_at counts its plain bytes */
};
