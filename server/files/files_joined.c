/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/files_joined.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A file and the frame in front of it; the last piece has only a frame. */
struct piece {
    char *frame;
    size_t frame_length;
    struct file *file; /* NULL: the last one */
    uint64_t at;       /* of the frame */
};

struct files_joined {
    size_t count;
    uint64_t size_bytes;
    struct piece pieces[];
};

static const char *name_of(const struct files_place *place)
{
    const char *path = place->path && place->path[0] ? place->path : place->root, *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void frame_make(struct piece *piece, const char *before, const char *name)
{
    piece->frame =
        memory_format("%s%s%s%s%s%s", before ? "\n*** End " : "", before ? before : "", before ? " ***\n" : "",
                      name ? "*** Begin " : "", name ? name : "", name ? " ***\n" : "");
    piece->frame_length = strlen(piece->frame);
}

struct files_joined *files_joined_open(const struct files_place *parts, size_t count, struct err *err)
{
    struct files_joined *joined = memory_new(sizeof(*joined) + (count + 1) * sizeof(joined->pieces[0]));
    for (size_t at = 0; at <= count; at++) {
        struct piece *piece = &joined->pieces[joined->count++];
        frame_make(piece, at > 0 ? name_of(&parts[at - 1]) : NULL, at < count ? name_of(&parts[at]) : NULL);
        piece->at = joined->size_bytes;
        joined->size_bytes += piece->frame_length;
        if (at == count)
            return joined;
        piece->file = files_open(&parts[at], err);
        if (!piece->file)
            break;
        joined->size_bytes += files_identity(piece->file)->size_bytes;
    }
    files_joined_close(joined);
    return NULL;
}

void files_joined_close(struct files_joined *joined)
{
    for (size_t at = 0; joined && at < joined->count; at++) {
        files_close(joined->pieces[at].file);
        free(joined->pieces[at].frame);
    }
    free(joined);
}

/* What of `size` bytes from `offset` on lies in the piece; -1: it cannot be read. */
static int64_t piece_read(const struct piece *piece, uint64_t offset, char *into, size_t size, bool is_apart)
{
    uint64_t within = offset - piece->at;
    if (within < piece->frame_length) {
        size_t left = piece->frame_length - (size_t)within, count = size < left ? size : left;
        memcpy(into, piece->frame + within, count);
        return (int64_t)count;
    }
    if (!piece->file)
        return 0;
    const struct source *source = files_source(piece->file);
    return (is_apart ? source->read_apart : source->read)(source->context, within - piece->frame_length, into, size);
}

static int64_t read_all(const struct files_joined *joined, uint64_t offset, char *into, size_t size, bool is_apart)
{
    size_t done = 0;
    for (size_t at = 0; at < joined->count && done < size; at++) {
        const struct piece *piece = &joined->pieces[at];
        uint64_t end = at + 1 < joined->count ? joined->pieces[at + 1].at : joined->size_bytes;
        while (done < size && offset + done >= piece->at && offset + done < end) {
            uint64_t left = end - (offset + done);
            size_t wanted = size - done < left ? size - done : (size_t)left;
            int64_t count = piece_read(piece, offset + done, into + done, wanted, is_apart);
            if (count <= 0)
                return -1;
            done += (size_t)count;
        }
    }
    return (int64_t)done;
}

int64_t files_joined_read(void *context, uint64_t offset, void *into, size_t size)
{
    return read_all(context, offset, into, size, false);
}

int64_t files_joined_read_apart(void *context, uint64_t offset, void *into, size_t size)
{
    return read_all(context, offset, into, size, true);
}

struct files_identity files_joined_identity(const struct files_joined *joined)
{
    struct files_identity whole = {.size_bytes = joined->size_bytes};
    for (size_t at = 0; at + 1 < joined->count; at++) {
        const struct files_identity *one = files_identity(joined->pieces[at].file);
        whole.inode = files_identity_hash(one, whole.inode);
        if (one->modified_at_ns > whole.modified_at_ns)
            whole.modified_at_ns = one->modified_at_ns;
    }
    return whole;
}

bool files_joined_unchanged(const struct files_joined *joined, struct err *err)
{
    for (size_t at = 0; at + 1 < joined->count; at++)
        if (!files_unchanged(joined->pieces[at].file, err))
            return false;
    return true;
}
