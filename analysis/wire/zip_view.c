/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/zip_view.h"

#include <stddef.h>
#include <zlib.h>

/* Sizes of a gzip member without name and comment. Source: RFC 1952. */
enum { GZIP_HEAD_BYTES = 10, GZIP_TAIL_BYTES = 8 };

typedef int64_t view_read(void *context, uint64_t offset, void *into, size_t size);

static int64_t data_read(const struct zip_view *view, view_read *read, uint64_t offset, void *into, size_t size)
{
    uint64_t left = offset < view->member.packed_bytes ? view->member.packed_bytes - offset : 0;
    return read(view->packed->context, view->member.data_at + offset, into, left < size ? (size_t)left : size);
}

/* What a gzip stream of the same deflated bytes would hold at an offset. */
static int64_t gzip_read(const struct zip_view *view, view_read *read, uint64_t offset, void *into, size_t size)
{
    static const unsigned char head[GZIP_HEAD_BYTES] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255};
    const struct member *member = &view->member;
    const uint64_t tail_at = GZIP_HEAD_BYTES + member->packed_bytes;
    unsigned char *to = into;
    size_t done = 0;
    for (; done < size && offset + done < GZIP_HEAD_BYTES; done++)
        to[done] = head[offset + done];
    if (done < size && offset + done < tail_at) {
        int64_t got = data_read(view, read, offset + done - GZIP_HEAD_BYTES, to + done, size - done);
        if (got < 0)
            return -1;
        done += (size_t)got;
    }
    for (; done < size && offset + done >= tail_at && offset + done < tail_at + GZIP_TAIL_BYTES; done++) {
        size_t at = (size_t)(offset + done - tail_at);
        to[done] = (unsigned char)(at < 4 ? member->checksum >> 8 * at : member->plain_bytes >> 8 * (at - 4));
    }
    return (int64_t)done;
}

static int64_t view_at(const struct zip_view *view, view_read *read, uint64_t offset, void *into, size_t size)
{
    return (view->member.is_deflated ? gzip_read : data_read)(view, read, offset, into, size);
}

/* Adds what follows the bytes that were checked; what is read again is not checked again. False: the member is at its
 * end, and not what it should be. */
static bool checksum_add(struct zip_view *view, uint64_t offset, const unsigned char *bytes, size_t size)
{
    if (offset <= view->checked_bytes && offset + size > view->checked_bytes) {
        size_t known = (size_t)(view->checked_bytes - offset);
        view->checked = (uint32_t)crc32_z(view->checked, bytes + known, size - known);
        view->checked_bytes = offset + size;
        view->is_damaged |= view->checked_bytes == view->member.packed_bytes && view->checked != view->member.checksum;
    }
    return !view->is_damaged;
}

static int64_t zip_view_read(void *context, uint64_t offset, void *into, size_t size)
{
    struct zip_view *view = context;
    int64_t got = view_at(view, view->packed->read, offset, into, size);
    bool is_checked = got > 0 && view->member.has_checksum && !view->member.is_deflated;
    return !is_checked || checksum_add(view, offset, into, (size_t)got) ? got : -1;
}

static int64_t zip_view_read_apart(void *context, uint64_t offset, void *into, size_t size)
{
    const struct zip_view *view = context;
    return view_at(view, view->packed->read_apart, offset, into, size);
}

struct source zip_view_source(struct zip_view *view)
{
    return (struct source){
        .context = view,
        .read = zip_view_read,
        .size_bytes = view->member.packed_bytes + (view->member.is_deflated ? GZIP_HEAD_BYTES + GZIP_TAIL_BYTES : 0),
        .read_apart = view->packed->read_apart != NULL ? zip_view_read_apart : NULL,
    };
}
