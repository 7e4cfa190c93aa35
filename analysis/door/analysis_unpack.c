/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_unpack.c: packed files that are inflated once for all who read them. */
#include "door/job.h"
#include "wire/gzip.h"
#include "wire/gzip_whole.h"
#include "wire/zip.h"

#include "analysis.h"

enum { GZIP_SIZE_BYTES = 4 };

/* ---- several programs of one file, one after the other ---- */

struct analysis_unpacked *analysis_unpack(const struct source *source, struct err *err)
{
    return !source->unpacked && gzip_matches(source) ? (struct analysis_unpacked *)gzip_open(source, err) : NULL;
}

const struct source *analysis_unpacked_source(const struct analysis_unpacked *unpacked)
{
    return &((const struct gzip *)unpacked)->source;
}

void analysis_unpacked_free(struct analysis_unpacked *unpacked) { gzip_close((struct gzip *)unpacked); }

/* inflating a whole source, to be held */

static uint64_t zip_says_bytes(const struct source *source)
{
    struct err ignored = ERR_INIT;
    struct zip *zip = job_only_file(source, &ignored);
    uint64_t bytes = zip != NULL ? zip_entered_bytes(zip) : 0;
    zip_close(zip);
    return bytes;
}

uint64_t analysis_packed_says_bytes(const struct source *source)
{
    unsigned char size[GZIP_SIZE_BYTES];
    if (zip_matches(source))
        return zip_says_bytes(source);
    if (!gzip_matches(source) || source->size_bytes < sizeof(size) || source->size_bytes == UINT64_MAX ||
        source->read(source->context, source->size_bytes - sizeof(size), size, sizeof(size)) != (int64_t)sizeof(size))
        return 0;
    uint64_t bytes = 0;
    for (size_t at = sizeof(size); at-- > 0;)
        bytes = bytes << 8 | size[at];
    return bytes;
}

/* One byte more than it says is asked for: only then is the end met, and with it the checksum. */
static void inflate_fill(struct job *job, const void *in, void *to, struct err *err)
{
    const uint64_t size_bytes = *(const uint64_t *)in;
    struct buf *out = to;
    int64_t got = 0;
    if (job->gzip == NULL && job->zip == NULL) {
        err_set(err, ERR_unsupported, 0, "not packed");
        return;
    }
    char *room = buf_reserve(out, (size_t)size_bytes + 1);
    if (room == NULL) {
        err_exhausted(err);
        return;
    }
    do {
        got = job->source->read(job->source->context, out->length, room + out->length, size_bytes + 1 - out->length);
        out->length += got > 0 ? (size_t)got : 0;
    } while (got > 0 && out->length <= size_bytes);
    if (got < 0)
        err_set(err, ERR_io, ERR_NO_OFFSET, "cannot be read");
    else if (out->length != size_bytes)
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "does not inflate to as many bytes as it says");
}

/* A .gz that a zip deflates: readers look through both, so one alone inflated is not what they want. */
static bool is_packed_again(const struct buf *out)
{
    const unsigned char *bytes = (const unsigned char *)out->data;
    return out->length >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

bool analysis_inflate(const struct source *source, uint64_t size_bytes, struct buf *out, struct err *err)
{
    struct job job;
    if (gzip_matches(source) && gzip_whole_inflate(source, size_bytes, out))
        return !is_packed_again(out) || err_set(err, ERR_unsupported, 0, "packed twice");
    if (size_bytes >= SIZE_MAX || !job_run(&job, source, 0, inflate_fill, &size_bytes, out, err))
        return false;
    arena_free(&job.arena);
    return true;
}
