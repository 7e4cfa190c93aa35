/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_members.h: the files of a zip or tar archive, each to be read as a file of its own. Nothing is
 * unpacked: a member is a view of the archive's bytes, or of what they inflate to. */
#pragma once

#include "base/err.h"
#include "base/source.h"
#include "exchange/member.h"

#include <stddef.h>

/* More files make an archive none that is looked into. */
enum { ANALYSIS_MEMBERS_MAX = 4096 };

struct analysis_member {
    const char *path; /* inside the archive, "job/rank0.pickle"; the name up to its first NUL */
    struct err why;   /* set: it cannot be read as a file, and why not */
};

/* What a list of members needs is in `internal`. */
struct analysis_members {
    size_t count;         /* in the order of the archive; folders and what macOS adds are left out */
    const char *word;     /* "zip archive" */
    uint64_t plain_bytes; /* of a tar file that is packed as a whole: each reader of a member inflates all before it */
    const struct analysis_member *items;
    struct analysis_members_state *internal;
};

/* The files of a zip archive that has `fewest` or more, or of a tar file, gzipped or not. A member is refused, with the
 * reason in `why`, if its name could mean another place, comes twice, or if it is encrypted, packed by another method
 * than deflate, inflates to more than a gzip file may, or is a link, a device or sparse. NULL with a report: no
 * archive, cut, damaged, a checkpoint of PyTorch, fewer files (notfound), too many, members that share bytes.
 * `archive` is used until analysis_members_free. */
struct analysis_members *analysis_members_read(const struct source *archive, size_t fewest, struct err *err);
/* Does it begin as a tar file does, packed by gzip or not? The rest is not looked at. */
bool analysis_members_is_tar(const struct source *source);
/* Where a member that is not refused lies. False with a report. */
bool analysis_members_locate(const struct analysis_members *members, size_t at, struct member *member, struct err *err);
void analysis_members_free(struct analysis_members *members);

/* One member, as a file: what is stored as it is, what is deflated as a gzip file. */
struct analysis_member_view;
/* `archive` is used until analysis_member_view_free. */
struct analysis_member_view *analysis_member_view_new(const struct source *archive, const struct member *member);
/* The same while the archive's members are at hand: of a packed archive it is cheap to read them in their order. Both
 * `archive` and `members` are used until analysis_member_view_free. */
struct analysis_member_view *analysis_members_view(const struct analysis_members *members, const struct source *archive,
                                                   const struct member *member);
const struct source *analysis_member_view_source(const struct analysis_member_view *view);
/* Do the bytes that were read match the member's checksum? Checks a stored member that was read from begin to end. True
 * for others, because inflating a member checks it. False with a report. */
bool analysis_member_view_check(const struct analysis_member_view *view, struct err *err);
void analysis_member_view_free(struct analysis_member_view *view);
