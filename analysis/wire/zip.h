/* SPDX-License-Identifier: Apache-2.0
 * zip.h: the members of a zip archive, and the inside of one as a source.
 *
 * Members that are stored or deflated, of archives with 64-bit sizes too; not encrypted ones, nor archives in several
 * parts. What a member inflates to is held to the limits of gzip.h, and to its checksum. Memory: names of at most
 * ZIP_MAX_MEMBERS, and what gzip.h takes, in malloc; zip_close frees it. */
#pragma once

#include "base/err.h"
#include "base/source.h"
#include "base/str.h"
#include "exchange/member.h"

#include <stdbool.h>

enum { ZIP_MAX_MEMBERS = 65536 };

struct zip_member {
    struct str name; /* as written there: any bytes */
    uint64_t header_at, packed_bytes, plain_bytes;
    uint32_t checksum;
    uint16_t method, flags;
};

struct zip_state;

struct zip {
    struct zip_member *members; /* in the order of the archive's list */
    size_t member_count;
    const struct source *source; /* the inside of what zip_enter chose */
    struct zip_state *state;
};

/* True if the bytes begin as those of an archive with members. */
bool zip_matches(const struct source *source);
/* Reads the list of members; NULL with a report where there is none, or no memory. `packed` and `err` are used until
 * zip_close. */
struct zip *zip_open(const struct source *packed, struct err *err);
/* Where a member lies, as its own header says. False with a report: it is cut, encrypted, or packed in another way. */
bool zip_locate(struct zip *zip, size_t member_at, struct member *member);
/* Makes zip->source the inside of a member; once. False with a report. */
bool zip_enter(struct zip *zip, size_t member_at);
/* What the member that was entered holds unpacked, by the list. */
uint64_t zip_entered_bytes(const struct zip *zip);
void zip_close(struct zip *zip);
