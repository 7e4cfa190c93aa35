/* SPDX-License-Identifier: Apache-2.0
 * door/members_entries.c: see members_entries.h. */
#include "door/members_entries.h"

#include "door/job.h"
#include "wire/gzip.h"
#include "wire/tar.h"
#include "wire/zip.h"

#include <stdlib.h>

enum { LOCAL_HEADER_BYTES = 30, BEHIND_BYTES = 1 << 20 };
/* Whoever reads a member of a packed tar file inflates all that lies before it. */
#define PACKED_TAR_BYTES_MAX ((uint64_t)4 << 30)
#define TAR_BYTES_MAX ((uint64_t)1 << 60)

/* ---- zip ---- */

static int by_header(const void *a, const void *b)
{
    const struct zip_member *x = *(const struct zip_member *const *)a, *y = *(const struct zip_member *const *)b;
    return x->header_at < y->header_at ? -1 : x->header_at > y->header_at;
}

/* Bytes that serve for several members make a small archive inflate to anything. */
static bool members_are_apart(const struct zip *zip, struct err *err)
{
    const struct zip_member **sorted = malloc((zip->member_count + 1) * sizeof(*sorted));
    bool is_good = true;
    if (sorted == NULL)
        return err_exhausted(err);
    for (size_t at = 0; at < zip->member_count; at++)
        sorted[at] = &zip->members[at];
    qsort(sorted, zip->member_count, sizeof(*sorted), by_header);
    for (size_t at = 1; is_good && at < zip->member_count; at++) {
        const struct zip_member *one = sorted[at - 1];
        uint64_t room = sorted[at]->header_at - one->header_at, head = LOCAL_HEADER_BYTES + one->name.length;
        if (room < head || room - head < one->packed_bytes)
            is_good = err_set(err, ERR_malformed, sorted[at]->header_at, "members of the zip archive share bytes");
    }
    free(sorted);
    return is_good;
}

static bool is_in_bounds(const struct members_entries *entries, size_t max, struct err *err)
{
    return entries->file_count <= max ||
           err_set(err, ERR_limit, 0, "a %s of %zu files, and at most %zu are looked into", entries->word,
                   entries->file_count, max);
}

static bool entries_open_zip(struct members_entries *entries, const struct source *archive, size_t max, struct err *err)
{
    entries->word = "zip archive";
    entries->zip = zip_open(archive, &entries->err);
    if (entries->zip == NULL) {
        *err = entries->err;
        return false;
    }
    entries->count = entries->zip->member_count;
    return job_archive_is_of_files(entries->zip, &entries->file_count, err) && is_in_bounds(entries, max, err) &&
           members_are_apart(entries->zip, err);
}

static void zip_judge(const struct zip_member *member, struct err *why)
{
    if (member->plain_bytes > GZIP_MIN_LIMIT && member->plain_bytes / GZIP_MAX_RATIO > member->packed_bytes)
        err_set(why, ERR_limit, member->header_at,
                "would inflate to %llu bytes from %llu, more than %d times as many; this member of the zip archive is "
                "left out",
                (unsigned long long)member->plain_bytes, (unsigned long long)member->packed_bytes, GZIP_MAX_RATIO);
    else if (member->method == 0 && member->packed_bytes != member->plain_bytes)
        err_set(why, ERR_malformed, member->header_at, "its two sizes in the zip archive differ though it is stored");
}

/* ---- tar ---- */

bool members_entries_is_tar(const struct source *archive)
{
    struct err unsaid = ERR_INIT;
    if (!gzip_matches(archive))
        return tar_matches(archive);
    struct gzip *gzip = gzip_open(archive, &unsaid);
    bool is = gzip != NULL && tar_matches(&gzip->source);
    gzip_close(gzip);
    return is;
}

/* Members have no checksums, but the stream has: it is read to its end, if little is behind the last member. */
static bool stream_is_whole(const struct source *plain, uint64_t end_at)
{
    unsigned char byte;
    return plain->read(plain->context, end_at + BEHIND_BYTES, &byte, 1) >= 0;
}

static bool entries_open_tar(struct members_entries *entries, const struct source *archive, size_t max, struct err *err)
{
    const bool is_packed = gzip_matches(archive);
    const struct tar_limits limits = {max, is_packed ? PACKED_TAR_BYTES_MAX : TAR_BYTES_MAX};
    entries->word = "tar archive";
    entries->gzip = is_packed ? gzip_open(archive, &entries->err) : NULL;
    if (!is_packed || entries->gzip != NULL)
        entries->tar = tar_open(is_packed ? &entries->gzip->source : archive, &limits, &entries->err);
    if (entries->tar == NULL || (is_packed && !stream_is_whole(&entries->gzip->source, entries->tar->end_at))) {
        *err = entries->err;
        return false;
    }
    entries->plain_bytes = is_packed ? entries->tar->end_at : 0;
    entries->count = entries->tar->member_count;
    for (size_t at = 0; at < entries->count; at++)
        entries->file_count += job_member_is_file(entries->tar->members[at].name);
    return true;
}

/* ---- either ---- */

bool members_entries_open(struct members_entries *entries, const struct source *archive, size_t max, struct err *err)
{
    *entries = (struct members_entries){.word = "archive", .err = ERR_INIT};
    if (zip_matches(archive))
        return entries_open_zip(entries, archive, max, err);
    if (members_entries_is_tar(archive))
        return entries_open_tar(entries, archive, max, err);
    return err_set(err, ERR_notfound, 0, "no zip or tar archive");
}

struct str members_entries_name(const struct members_entries *entries, size_t at)
{
    return entries->zip != NULL ? entries->zip->members[at].name : entries->tar->members[at].name;
}

void members_entries_judge(const struct members_entries *entries, size_t at, struct err *why)
{
    if (entries->zip != NULL) {
        zip_judge(&entries->zip->members[at], why);
        return;
    }
    const struct tar_member *member = &entries->tar->members[at];
    if (member->fault != NULL)
        err_set(why, ERR_unsupported, member->header_at, "%s; this member of the tar archive is left out",
                member->fault);
}

bool members_entries_locate(struct members_entries *entries, size_t at, struct member *member, struct err *err)
{
    if (entries->tar != NULL) {
        const struct tar_member *of = &entries->tar->members[at];
        *member = (struct member){.data_at = of->data_at,
                                  .packed_bytes = of->size_bytes,
                                  .plain_bytes = of->size_bytes,
                                  .is_in_gzip = entries->gzip != NULL};
        return true;
    }
    entries->err = (struct err)ERR_INIT;
    if (zip_locate(entries->zip, at, member))
        return true;
    *err = entries->err;
    return false;
}

void members_entries_close(struct members_entries *entries)
{
    zip_close(entries->zip);
    tar_close(entries->tar);
    gzip_close(entries->gzip);
}
