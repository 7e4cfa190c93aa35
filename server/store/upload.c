/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/upload.h"

#include "server/base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_BYTES = 8 * 1024 };

struct shared_upload {
    struct upload upload;
    atomic_int holders;
    struct account *account;
    size_t capacity;
    uint64_t taken_bytes; /* from the account */
    bool is_kept;         /* then small ones count too */
};

static struct shared_upload *upload_shared(struct upload *upload)
{
    return (struct shared_upload *)upload; /* its first member */
}

struct upload *upload_new(size_t limit_bytes, struct account *account)
{
    struct shared_upload *made = memory_new(sizeof(*made));
    made->upload.limit_bytes = limit_bytes;
    made->account = account;
    atomic_init(&made->holders, 1);
    return &made->upload;
}

struct upload *upload_hold(struct upload *upload)
{
    atomic_fetch_add(&upload_shared(upload)->holders, 1);
    return upload;
}

static atomic_uint_fast64_t all_taken_bytes; /* for those who watch the daemon */

uint64_t upload_taken_bytes(void) { return atomic_load(&all_taken_bytes); }

static void set_taken(struct shared_upload *of, uint64_t taken_bytes)
{
    atomic_fetch_add(&all_taken_bytes, taken_bytes - of->taken_bytes); /* modulo 2^64: less, too */
    of->taken_bytes = taken_bytes;
}

static void upload_drop(struct shared_upload *of)
{
    free(of->upload.data);
    of->upload.data = NULL;
    of->upload.size = of->capacity = 0;
    if (of->taken_bytes > 0)
        account_give(of->account, of->taken_bytes);
    set_taken(of, 0);
}

void upload_release(struct upload *upload)
{
    if (!upload || atomic_fetch_sub(&upload_shared(upload)->holders, 1) != 1)
        return;
    upload_drop(upload_shared(upload));
    free(upload);
}

/* The account holds exactly the capacity, unless that is small. */
static bool is_paid(struct shared_upload *of, size_t capacity)
{
    uint64_t due = capacity > SMALL_BYTES ? capacity : 0;
    if (due > of->taken_bytes &&
        (!of->account || account_need(of->account, due - of->taken_bytes, due - of->taken_bytes) == 0))
        return false;
    if (due < of->taken_bytes)
        account_give(of->account, of->taken_bytes - due);
    set_taken(of, due);
    return true;
}

static bool upload_grow(struct shared_upload *of, size_t needed)
{
    size_t capacity = of->capacity ? of->capacity : 1024;
    while (capacity < needed)
        capacity *= 2;
    if (capacity > of->upload.limit_bytes && needed <= of->upload.limit_bytes)
        capacity = of->upload.limit_bytes;
    if (!is_paid(of, capacity))
        return false;
    char *data = realloc(of->upload.data, capacity);
    if (!data)
        return false;
    of->upload.data = data;
    of->capacity = capacity;
    return true;
}

void upload_add(struct upload *upload, const char *bytes, size_t size)
{
    if (upload->fault == UPLOAD_GOOD && size > upload->limit_bytes - upload->size)
        upload->fault = UPLOAD_TOO_LARGE;
    else if (upload->fault == UPLOAD_GOOD && upload->size + size > upload_shared(upload)->capacity &&
             !upload_grow(upload_shared(upload), upload->size + size))
        upload->fault = UPLOAD_NO_ROOM;
    if (upload->fault != UPLOAD_GOOD) {
        upload_drop(upload_shared(upload));
        return;
    }
    memcpy(upload->data + upload->size, bytes, size);
    upload->size += size;
}

void upload_end(struct upload *upload)
{
    struct shared_upload *of = upload_shared(upload);
    char *data = upload->size > 0 && upload->size < of->capacity ? realloc(upload->data, upload->size) : NULL;
    if (!data)
        return;
    upload->data = data;
    of->capacity = upload->size;
    is_paid(of, of->capacity);
}

bool upload_keep(struct upload *upload, uint64_t extra_bytes)
{
    struct shared_upload *of = upload_shared(upload);
    uint64_t due = of->is_kept ? 0 : of->capacity + extra_bytes - of->taken_bytes;
    if (due > 0 && account_need(of->account, due, due) == 0)
        return false;
    of->is_kept = true;
    set_taken(of, of->taken_bytes + due);
    return true;
}

static int64_t read_bytes(void *context, uint64_t offset, void *into, size_t size)
{
    const struct upload *upload = context;
    if (offset >= upload->size)
        return 0;
    size_t got = size < upload->size - offset ? size : (size_t)(upload->size - offset);
    memcpy(into, upload->data + offset, got);
    return (int64_t)got;
}

struct source upload_source(const struct upload *upload)
{
    return (struct source){.context = (void *)(uintptr_t)upload, .read = read_bytes, .size_bytes = upload->size};
}
