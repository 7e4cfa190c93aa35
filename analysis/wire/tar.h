/* SPDX-License-Identifier: Apache-2.0
 * tar.h: the members of a tar archive: names, and where their bytes lie.
 *
 * The formats ustar, pax and GNU, long names and sizes of each included. A tar file has no list: its headers are met
 * one after the other, so of a packed one all bytes up to the last header are inflated. A header without its own
 * checksum ends the reading with a report; of a member's bytes there is none.
 * Memory: at most TAR_MAX_MEMBERS names of TAR_NAME_BYTES_MAX, in malloc; tar_close frees them. */
#pragma once

#include "base/err.h"
#include "base/source.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum { TAR_MAX_MEMBERS = 65536, TAR_NAME_BYTES_MAX = 4096 };

struct tar_member {
    struct str name;   /* without "./" at its begin; any other bytes, cut after TAR_NAME_BYTES_MAX */
    const char *fault; /* why it cannot be read as a file: "is a link"; NULL: it can */
    uint64_t header_at, data_at, size_bytes;
};

/* Files, links and devices, in the order of the archive; folders are left out. */
struct tar {
    struct tar_member *members;
    size_t member_count, capacity;
    uint64_t end_at; /* behind the last one */
};

/* What is too much to look at. */
struct tar_limits {
    size_t members;
    uint64_t bytes; /* of the archive, up to its last member */
};

/* True if the first header is one of a tar file. `plain` is not packed. */
bool tar_matches(const struct source *plain);
/* NULL with a report: cut, damaged, more than `limits`, or no memory. */
struct tar *tar_open(const struct source *plain, const struct tar_limits *limits, struct err *err);
void tar_close(struct tar *tar);
