/* SPDX-License-Identifier: Apache-2.0
 * door/members_entries.h: what an archive holds, a zip or a tar file, packed as a whole or not. */
#pragma once

#include "base/err.h"
#include "base/source.h"
#include "base/str.h"
#include "exchange/member.h"

#include <stdbool.h>
#include <stddef.h>

struct gzip;
struct tar;
struct zip;

struct members_entries {
    const char *word; /* "zip archive" */
    size_t count;     /* with those that are no files */
    size_t file_count;
    struct zip *zip;
    struct tar *tar;      /* one of the two */
    struct gzip *gzip;    /* that the tar file is in; else NULL */
    uint64_t plain_bytes; /* of the same, up to the last member */
    struct err err;       /* of the readers below */
};

/* Does it begin as a tar file does, packed by gzip or not? */
bool members_entries_is_tar(const struct source *archive);
/* False with a report: no archive (notfound), damaged, cut, more files than `max`, weights of a model. `archive` and
 * `entries` are used, where they are, until members_entries_close, which is due after a report too. */
bool members_entries_open(struct members_entries *entries, const struct source *archive, size_t max, struct err *err);
struct str members_entries_name(const struct members_entries *entries, size_t at);
/* Says why not, if the entry's bytes are none of a file. */
void members_entries_judge(const struct members_entries *entries, size_t at, struct err *why);
/* Where it lies. False with a report. */
bool members_entries_locate(struct members_entries *entries, size_t at, struct member *member, struct err *err);
void members_entries_close(struct members_entries *entries);
