/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/files.h"

#include "base/hash.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/other_systems.h"
#include "server/base/wanted.h"
#include "server/files/beneath.h"
#include "server/files/files_joined.h"
#include "server/files/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* The window grows while reads follow each other and starts small after a jump, so that a walk over the headers of a
 * large trace reads only small parts. */
enum { FIRST_WINDOW_BYTES = 16 * 1024, WINDOW_BYTES = 256 * 1024 };
/* Who asks for as much at once has a window too: nothing is copied twice. */
enum { DIRECT_BYTES = 32 * 1024 };

struct file {
    int descriptor;             /* -1 for bytes in memory and on a server */
    struct remote_file *remote; /* NULL: not on a server */
    const unsigned char *bytes;
    struct files_joined *joined;       /* NULL: one file */
    struct file *archive;              /* that it is a member of; NULL: of none */
    struct analysis_member_view *view; /* of the same */
    struct files_identity identity;
    struct source source;
    char *window;
    uint64_t window_at;
    size_t window_length, next_window_bytes;
    atomic_uint_fast64_t *counter; /* counts the bytes read; NULL: they are not counted */
};

struct files_identity files_identity_of(const struct stat *status)
{
    return (struct files_identity){
        .device = (uint64_t)status->st_dev,
        .inode = status->st_ino,
        .size_bytes = (uint64_t)status->st_size,
        .modified_at_ns = clock_file_ns(status->st_mtim),
        .status_at_ns = clock_file_ns(status->st_ctim),
    };
}

struct files_identity files_identity_remote(const struct remote_identity *remote)
{
    return (struct files_identity){
        .device = remote->hash[0],
        .inode = remote->hash[1],
        .size_bytes = remote->size_bytes,
        .modified_at_ns = remote->modified_at_ns,
        .status_at_ns = remote->modified_at_ns,
    };
}

uint64_t files_identity_hash(const struct files_identity *identity, uint64_t seed)
{
    const uint64_t parts[] = {identity->device, identity->inode, identity->size_bytes,
                              (uint64_t)identity->modified_at_ns, (uint64_t)identity->status_at_ns};
    return hash_bytes(parts, sizeof(parts), seed);
}

struct files_identity files_identity_member(const struct files_identity *archive, const struct member *member)
{
    struct files_identity identity = *archive;
    identity.inode = files_identity_hash(archive, member->data_at);
    identity.size_bytes = member->packed_bytes;
    return identity;
}

bool files_identity_equal(const struct files_identity *a, const struct files_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_at_ns == b->modified_at_ns && a->status_at_ns == b->status_at_ns;
}

/* How many of `size` bytes from there on the file has. */
static size_t size_within(const struct file *file, uint64_t offset, size_t size)
{
    uint64_t left = offset < file->identity.size_bytes ? file->identity.size_bytes - offset : 0;
    return size < left ? size : (size_t)left;
}

static atomic_uint_fast64_t bytes_read; /* for those who watch the daemon */

uint64_t files_bytes_read(void) { return atomic_load_explicit(&bytes_read, memory_order_relaxed); }

void files_count_into(struct file *file, atomic_uint_fast64_t *counter)
{
    struct file *of = file->archive ? file->archive : file;
    of->counter = counter;
}

static void count_read(const struct file *file, size_t size)
{
    atomic_fetch_add_explicit(&bytes_read, size, memory_order_relaxed);
    if (file->counter)
        atomic_fetch_add_explicit(file->counter, size, memory_order_relaxed);
}

/* remote_read has reported the fault. */
static int64_t read_remote(const struct file *file, uint64_t offset, char *into, size_t size)
{
    struct err err = ERR_INIT;
    if (!remote_read(file->remote, offset, into, size, &err))
        return -1;
    count_read(file, size);
    return (int64_t)size;
}

/* Reads exactly up to `size` bytes; -1 on an error, when the file has become shorter, or when no one waits for the
 * thread's work any more: then its result is thrown away (cache.c). */
static int64_t read_fully(const struct file *file, uint64_t offset, char *into, size_t size)
{
    size_t done = 0;
    if (wanted_is_over())
        return -1;
    if (file->remote)
        return read_remote(file, offset, into, size);
    while (done < size) {
        ssize_t count = pread(file->descriptor, into + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return -1;
        done += (size_t)count;
    }
    count_read(file, done);
    return (int64_t)done;
}

/* Made when something is read through it: many files are only looked at. */
static void window_make(struct file *file)
{
    if (!file->window)
        file->window = memory_new(size_within(file, 0, WINDOW_BYTES));
}

static bool window_move(struct file *file, uint64_t offset)
{
    window_make(file);
    bool follows = offset == file->window_at + file->window_length;
    size_t size = follows ? file->next_window_bytes * 2 : FIRST_WINDOW_BYTES;
    if (size > WINDOW_BYTES)
        size = WINDOW_BYTES;
    file->next_window_bytes = size;
    size = size_within(file, offset, size);
    file->window_at = offset;
    file->window_length = 0;
    if (read_fully(file, offset, file->window, size) < 0)
        return false;
    file->window_length = size;
    return true;
}

/* Past the window, which readers do not share. */
static int64_t read_disk_apart(void *context, uint64_t offset, void *into, size_t size)
{
    const struct file *file = context;
    return read_fully(file, offset, into, size_within(file, offset, size));
}

static int64_t read_disk(void *context, uint64_t offset, void *into, size_t size)
{
    struct file *file = context;
    if (size >= DIRECT_BYTES)
        return read_disk_apart(context, offset, into, size);
    size = size_within(file, offset, size);
    for (size_t done = 0; done < size;) {
        uint64_t at = offset + done;
        if (at < file->window_at || at >= file->window_at + file->window_length) {
            if (!window_move(file, at))
                return -1;
        }
        size_t skip = (size_t)(at - file->window_at), have = file->window_length - skip;
        size_t count = have < size - done ? have : size - done;
        memcpy((char *)into + done, file->window + skip, count);
        done += count;
    }
    return (int64_t)size;
}

static int64_t read_memory(void *context, uint64_t offset, void *into, size_t size)
{
    const struct file *file = context;
    size = size_within(file, offset, size);
    if (size > 0)
        memcpy(into, file->bytes + offset, size);
    return (int64_t)size;
}

/* `folder`: of place->root, when something lies below it. */
static int open_with(const struct files_place *place, int folder, int flags)
{
    if (place->path[0] == '\0')
        return opener_open_root(place->root, flags);
    return folder < 0 ? -1 : beneath_open(folder, place->path, flags);
}

char *files_place_path(const struct files_place *place)
{
    const char *root = place->root ? place->root : "", *path = place->path ? place->path : "";
    return memory_format("%s%s%s", root, path[0] ? "/" : "", path);
}

bool files_real_path(const struct files_place *place, char path[BENEATH_PATH_BYTES])
{
    int folder = open(place->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool is_there = folder >= 0 && beneath_real_path(folder, place->path, path);
    if (folder >= 0)
        close(folder);
    return is_there;
}

/* Opens only plain files: opening a pipe or a device could wait for ever, and the writer of the pipe would notice. So
 * the file is examined first, unless its name is a link; it may change between the two steps. */
static int open_plain(const struct files_place *place, int folder, struct stat *status)
{
    if (folder < 0 || fstatat(folder, place->path, status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status->st_mode)) {
        int descriptor = open_with(place, folder, O_PATH | O_CLOEXEC);
        if (descriptor < 0 || fstat(descriptor, status) != 0 || !S_ISREG(status->st_mode))
            return descriptor;
        close(descriptor);
    }
    return open_with(place, folder, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* -1 and errno. */
static int open_in_root(const struct files_place *place, struct stat *status)
{
    int folder = place->path[0] ? open(place->root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    int descriptor = open_plain(place, folder, status), reason = errno;
    if (folder >= 0)
        close(folder);
    errno = reason;
    return descriptor;
}

/* Where the archive of a member is; `path` is for its path. */
static struct files_place archive_place(const struct files_place *place, char **path)
{
    const struct files_member *member = place->member;
    *path = memory_format("%.*s", (int)member->archive_path_bytes, place->path);
    return (struct files_place){.root = place->root,
                                .path = *path,
                                .bytes = place->bytes,
                                .byte_count = place->byte_count,
                                .identity = &member->archive_identity};
}

bool files_is_absent(const struct files_place *place)
{
    struct stat status;
    if (remote_address_is(place->root))
        return false; /* opening it tells, without asking the server twice */
    char *path = NULL;
    const struct files_place archive = place->member ? archive_place(place, &path) : *place;
    int descriptor = open_in_root(&archive, &status);
    free(path);
    if (descriptor >= 0)
        close(descriptor);
    return descriptor < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EPERM);
}

static int open_place(const struct files_place *place, struct stat *status, struct err *err)
{
    int descriptor = open_in_root(place, status);
    if (descriptor < 0 || fstat(descriptor, status) != 0) {
        err_set(err, ERR_io, ERR_NO_OFFSET, "cannot be opened: %s", strerror(errno));
    } else if (!S_ISREG(status->st_mode)) {
        err_set(err, ERR_io, ERR_NO_OFFSET, "is not a plain file");
    } else {
        return descriptor;
    }
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

static struct file *open_joined(const struct files_place *place, struct err *err)
{
    struct files_joined *joined = files_joined_open(place->parts, place->part_count, err);
    if (!joined)
        return NULL;
    struct file *file = memory_new(sizeof(*file));
    file->descriptor = -1;
    file->joined = joined;
    file->identity = files_joined_identity(joined);
    file->source = (struct source){.context = joined,
                                   .read = files_joined_read,
                                   .size_bytes = file->identity.size_bytes,
                                   .read_apart = files_joined_read_apart};
    return file;
}

static struct file *open_member(const struct files_place *place, struct err *err)
{
    char *path = NULL;
    const struct files_place at = archive_place(place, &path);
    struct file *archive = files_open(&at, err);
    free(path);
    if (!archive)
        return NULL;
    struct file *file = memory_new(sizeof(*file));
    file->descriptor = -1;
    file->archive = archive;
    file->view = analysis_member_view_new(&archive->source, &place->member->at);
    if (!file->view) {
        err_exhausted(err);
        files_close(file);
        return NULL;
    }
    file->identity = files_identity_member(&archive->identity, &place->member->at);
    file->source = *analysis_member_view_source(file->view);
    return file;
}

/* What lies on a server: `path` below its address. */
static bool open_remote(struct file *file, const struct files_place *place, struct err *err)
{
    file->remote = remote_open(place->root, place->path, err);
    if (file->remote)
        file->identity = files_identity_remote(remote_file_identity(file->remote));
    return file->remote != NULL;
}

static bool open_on_disk(struct file *file, const struct files_place *place, struct err *err)
{
    struct stat status;
    file->descriptor = open_place(place, &status, err);
    if (file->descriptor >= 0)
        file->identity = files_identity_of(&status);
    return file->descriptor >= 0;
}

struct file *files_open(const struct files_place *place, struct err *err)
{
    if (place->parts)
        return open_joined(place, err);
    if (place->member)
        return open_member(place, err);
    struct file *file = memory_new(sizeof(*file));
    file->bytes = place->bytes;
    file->descriptor = -1;
    if (place->bytes) {
        file->identity = *place->identity;
    } else {
        if (!(remote_address_is(place->root) ? open_remote : open_on_disk)(file, place, err)) {
            free(file);
            return NULL;
        }
        file->next_window_bytes = FIRST_WINDOW_BYTES / 2;
    }
    file->source = (struct source){.context = file,
                                   .read = place->bytes ? read_memory : read_disk,
                                   .size_bytes = file->identity.size_bytes,
                                   .read_apart = place->bytes ? read_memory : read_disk_apart};
    return file;
}

void files_close(struct file *file)
{
    if (!file)
        return;
    if (file->descriptor >= 0)
        close(file->descriptor);
    files_joined_close(file->joined);
    analysis_member_view_free(file->view);
    files_close(file->archive);
    remote_close(file->remote);
    free(file->window);
    free(file);
}

const struct source *files_source(const struct file *file) { return &file->source; }

const struct files_identity *files_identity(const struct file *file) { return &file->identity; }

void files_set_unpacked(struct file *file, const struct source *unpacked) { file->source.unpacked = unpacked; }

static int64_t tail_read(void *context, uint64_t offset, void *into, size_t size)
{
    const struct files_tail *tail = context;
    if (atomic_load(tail->is_stopping))
        return -1;
    return tail->of->read(tail->of->context, tail->from + offset, into, size);
}

struct source files_tail_source(struct files_tail *tail)
{
    return (struct source){.context = tail, .read = tail_read, .size_bytes = tail->of->size_bytes - tail->from};
}

void files_tail_fail(const struct files_tail *tail, struct err *err)
{
    if (atomic_load(tail->is_stopping))
        *err = (struct err){ERR_io, ERR_NO_OFFSET, "was not read to its end: the daemon ends"};
}

bool files_is_packed(struct file *file)
{
    char start[4];
    return files_is_gzip(file) || (file->source.read(file->source.context, 0, start, sizeof(start)) == sizeof(start) &&
                                   memcmp(start, "PK\3\4", sizeof(start)) == 0);
}

bool files_is_gzip(struct file *file)
{
    unsigned char start[2];
    return file->source.read(file->source.context, 0, start, sizeof(start)) == 2 && start[0] == 0x1f &&
           start[1] == 0x8b;
}

char *files_identity_text(const struct files_identity *identity)
{
    return memory_format("%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64, identity->device, identity->inode,
                         identity->size_bytes, (uint64_t)identity->modified_at_ns, (uint64_t)identity->status_at_ns);
}

bool files_unchanged(const struct file *file, struct err *err)
{
    struct stat status;
    if (file->joined)
        return files_joined_unchanged(file->joined, err);
    if (file->archive)
        return files_unchanged(file->archive, err) && analysis_member_view_check(file->view, err);
    if (file->bytes || (file->remote && !remote_is_changed(file->remote)))
        return true;
    if (!file->remote && fstat(file->descriptor, &status) == 0) {
        struct files_identity now = files_identity_of(&status);
        if (files_identity_equal(&now, &file->identity))
            return true;
    }
    return err_set(err, ERR_changed, ERR_NO_OFFSET, "the file changed while it was read; ask again");
}

bool files_only_grew(const struct file *file, struct err *err)
{
    struct stat status;
    bool has_grown = !file->bytes && !file->joined && !file->archive && !file->remote &&
                     fstat(file->descriptor, &status) == 0 && (uint64_t)status.st_size > file->identity.size_bytes;
    return has_grown || files_unchanged(file, err);
}

/* Inflates the first bytes of a gzip file into `out`; what cannot be inflated is left out. */
static void inflate_start(const char *packed, size_t packed_size, size_t max, struct buf *out)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return;
    char *room = buf_reserve(out, max);
    if (room) {
        stream.next_in = (Bytef *)(uintptr_t)packed;
        stream.avail_in = (uInt)packed_size;
        stream.next_out = (Bytef *)room;
        stream.avail_out = (uInt)max;
        inflate(&stream, Z_SYNC_FLUSH);
        out->length += max - stream.avail_out;
    }
    inflateEnd(&stream);
}

bool files_read_text(const struct files_place *place, size_t max, struct buf *out, struct err *err)
{
    struct file *file = files_open(place, err);
    if (!file)
        return false;
    char *bytes = memory_new(max);
    int64_t count = file->source.read(file->source.context, 0, bytes, max);
    files_close(file);
    if (count >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b)
        inflate_start(bytes, (size_t)count, max, out);
    else if (count > 0)
        buf_add(out, bytes, (size_t)count);
    free(bytes);
    return count >= 0 || err_set(err, ERR_io, ERR_NO_OFFSET, "cannot be read");
}
