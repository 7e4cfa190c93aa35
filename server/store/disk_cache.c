/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/disk_cache.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/other_systems.h"
#include "server/store/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file that looks like one under way is somebody's who was killed when it is as old; one that was looked at as
 * recently is not marked again. */
enum { STALE_S = 3600, MARK_EVERY_S = 600, LARGEST_PART = 4, NAME_SIZE = SHA256_TEXT_SIZE };
static const char MAGIC[8] = {'M', 'V', 'C', 'A', 'C', 'H', 'E', '1'}, UNDER_WAY[] = "new-";

struct head {
    char magic[sizeof(MAGIC)];
    char digest[SHA256_TEXT_SIZE - 1]; /* of all that follows */
    uint64_t key_bytes, data_bytes;
};

struct disk_cache {
    int folder;
    uint64_t limit_bytes;
    char *about;
    atomic_uint_fast64_t made_count; /* names of files under way */
    pthread_mutex_t lock;            /* for what follows */
    uint64_t used_bytes;             /* as far as this process knows: others may write as well */
};

/* ---- files of the folder -------------------------------------------------------------- */

struct entry {
    char name[NAME_SIZE];
    uint64_t size_bytes;
    int64_t used_at_s;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

static bool is_name(const char *name)
{
    return strlen(name) == NAME_SIZE - 1 && strspn(name, "0123456789abcdef") == NAME_SIZE - 1;
}

/* All of ours that are there, and takes those away that were left under way. */
static void list(const struct disk_cache *cache, struct entries *entries)
{
    int own = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = own < 0 ? NULL : fdopendir(own);
    const int64_t now_s = time(NULL);
    struct stat status;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        bool is_under_way = strncmp(entry->d_name, UNDER_WAY, sizeof(UNDER_WAY) - 1) == 0;
        if ((!is_under_way && !is_name(entry->d_name)) ||
            fstatat(cache->folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
            continue;
        if (is_under_way) {
            if (clock_is_apart(now_s, (int64_t)status.st_mtim.tv_sec, STALE_S))
                unlinkat(cache->folder, entry->d_name, 0);
            continue;
        }
        entries->items = memory_grow(entries->items, &entries->capacity, entries->count + 1, sizeof(*entries->items));
        struct entry *made = &entries->items[entries->count++];
        *made = (struct entry){.size_bytes = (uint64_t)status.st_size, .used_at_s = (int64_t)status.st_mtim.tv_sec};
        memcpy(made->name, entry->d_name, NAME_SIZE);
    }
    if (folder)
        closedir(folder);
    else if (own >= 0)
        close(own);
}

static int disk_cache_order(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    return (one->used_at_s > other->used_at_s) - (one->used_at_s < other->used_at_s);
}

/* With the lock. Counts the used bytes and, if they exceed the limit, removes the entries used longest ago until a
 * quarter is free. */
static void disk_cache_trim(struct disk_cache *cache)
{
    struct entries entries = {0};
    list(cache, &entries);
    cache->used_bytes = 0;
    for (size_t at = 0; at < entries.count; at++)
        cache->used_bytes += entries.items[at].size_bytes;
    if (cache->used_bytes > cache->limit_bytes && entries.count > 0)
        qsort(entries.items, entries.count, sizeof(*entries.items), disk_cache_order);
    bool is_too_much = cache->used_bytes > cache->limit_bytes;
    for (size_t at = 0; is_too_much && at < entries.count && cache->used_bytes > cache->limit_bytes / 4 * 3; at++) {
        if (unlinkat(cache->folder, entries.items[at].name, 0) == 0 || errno == ENOENT)
            cache->used_bytes -= entries.items[at].size_bytes;
    }
    free(entries.items);
}

/* ---- opening ---------------------------------------------------------------------------- */

struct disk_cache *disk_cache_open(const char *folder, uint64_t limit_bytes, const char *about, char *reason,
                                   size_t reason_size)
{
    struct stat status;
    int made = mkdir(folder, 0700) == 0 || errno == EEXIST ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (made < 0 || fstat(made, &status) != 0) {
        snprintf(reason, reason_size, "--cache-dir=%s: %s", folder, strerror(errno));
    } else if (status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        snprintf(reason, reason_size, "--cache-dir=%s: other users may open it (mode %04o): chmod 700 it", folder,
                 (unsigned)status.st_mode & 07777);
    } else {
        struct disk_cache *cache = memory_new(sizeof(*cache));
        cache->folder = made;
        cache->limit_bytes = limit_bytes;
        cache->about = memory_text(about);
        pthread_mutex_init(&cache->lock, NULL);
        disk_cache_trim(cache);
        return cache;
    }
    if (made >= 0)
        close(made);
    return NULL;
}

void disk_cache_close(struct disk_cache *cache)
{
    if (!cache)
        return;
    close(cache->folder);
    pthread_mutex_destroy(&cache->lock);
    free(cache->about);
    free(cache);
}

/* ---- reading and writing ------------------------------------------------------------------ */

static char *whole_key(const struct disk_cache *cache, const char *key)
{
    return memory_format("%s\n%s", cache->about, key);
}

static void digest(const struct head *head, const char *key, const void *data, char text[SHA256_TEXT_SIZE])
{
    struct sha256_stream stream;
    sha256_begin(&stream);
    sha256_add(&stream, &head->key_bytes, sizeof(head->key_bytes));
    sha256_add(&stream, &head->data_bytes, sizeof(head->data_bytes));
    sha256_add(&stream, key, (size_t)head->key_bytes);
    sha256_add(&stream, data, (size_t)head->data_bytes);
    sha256_end(&stream, text);
}

static bool read_all(int file, void *into, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t part = read(file, (char *)into + done, size - done);
        if (part == 0 || (part < 0 && errno != EINTR))
            return false;
        done += part > 0 ? (size_t)part : 0;
    }
    return true;
}

static bool write_all(int file, const void *from, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t part = write(file, (const char *)from + done, size - done);
        if (part < 0 && errno != EINTR)
            return false;
        done += part > 0 ? (size_t)part : 0;
    }
    return true;
}

/* Reads an open file; the bytes come into `out` only if the whole file is valid. */
static bool disk_cache_take(const struct disk_cache *cache, int file, const char *key, struct buf *out)
{
    struct stat status;
    struct head head;
    char found[SHA256_TEXT_SIZE];
    const size_t key_bytes = strlen(key), before = out->length;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !read_all(file, &head, sizeof(head)) ||
        memcmp(head.magic, MAGIC, sizeof(MAGIC)) != 0 || head.key_bytes != key_bytes ||
        head.data_bytes > cache->limit_bytes / LARGEST_PART ||
        (uint64_t)status.st_size != sizeof(head) + head.key_bytes + head.data_bytes)
        return false;
    char *named = memory_new(key_bytes + 1), *bytes = buf_reserve(out, (size_t)head.data_bytes + 1);
    bool is_good = bytes && read_all(file, named, key_bytes) && memcmp(named, key, key_bytes) == 0 &&
                   read_all(file, bytes, (size_t)head.data_bytes);
    if (is_good) {
        digest(&head, named, bytes, found);
        is_good = memcmp(found, head.digest, sizeof(head.digest)) == 0;
    }
    out->length = before + (is_good ? (size_t)head.data_bytes : 0);
    free(named);
    return is_good;
}

bool disk_cache_read(struct disk_cache *cache, const char *key, struct buf *out)
{
    struct stat status;
    char name[NAME_SIZE];
    if (!cache)
        return false;
    char *whole = whole_key(cache, key);
    sha256_text(whole, strlen(whole), name);
    int file = openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_good = file >= 0 && disk_cache_take(cache, file, whole, out);
    if (file >= 0 && !is_good && !out->failed)
        unlinkat(cache->folder, name, 0);
    if (is_good && fstat(file, &status) == 0 && clock_is_apart(time(NULL), status.st_mtim.tv_sec, MARK_EVERY_S))
        futimens(file, NULL);
    if (file >= 0)
        close(file);
    free(whole);
    return is_good;
}

void disk_cache_write(struct disk_cache *cache, const char *key, const void *data, size_t size)
{
    char name[NAME_SIZE], made[64], text[SHA256_TEXT_SIZE];
    if (!cache || size > cache->limit_bytes / LARGEST_PART)
        return;
    char *whole = whole_key(cache, key);
    struct head head = {.key_bytes = strlen(whole), .data_bytes = size};
    memcpy(head.magic, MAGIC, sizeof(MAGIC));
    digest(&head, whole, data, text);
    memcpy(head.digest, text, sizeof(head.digest));
    sha256_text(whole, strlen(whole), name);
    snprintf(made, sizeof(made), "%s%d-%" PRIuFAST64, UNDER_WAY, (int)getpid(),
             atomic_fetch_add(&cache->made_count, 1));
    int file = openat(cache->folder, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_written = file >= 0 && write_all(file, &head, sizeof(head)) && write_all(file, whole, strlen(whole)) &&
                      write_all(file, data, size);
    is_written = file >= 0 && close(file) == 0 && is_written;
    if (is_written && renameat(cache->folder, made, cache->folder, name) == 0) {
        pthread_mutex_lock(&cache->lock);
        cache->used_bytes += sizeof(head) + head.key_bytes + size;
        if (cache->used_bytes > cache->limit_bytes)
            disk_cache_trim(cache);
        pthread_mutex_unlock(&cache->lock);
    } else if (file >= 0) {
        unlinkat(cache->folder, made, 0);
    }
    free(whole);
}
