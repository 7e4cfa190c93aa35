/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { BLOCK_BYTES = 4096, ALIGNMENT = 16, EXIT_INTERNAL = 70 };

struct memory_block {
    struct memory_block *before;
    size_t used, capacity;
    _Alignas(ALIGNMENT) char bytes[];
};

_Noreturn static void give_up(size_t size_bytes)
{
    char text[160], limit_text[64] = "";
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(limit_text, sizeof(limit_text), "; ulimit -v is %llu KiB", (unsigned long long)limit.rlim_cur >> 10);
    int length = snprintf(text, sizeof(text), "memviewd: out of memory: the system refused %zu bytes%s\n", size_bytes,
                          limit_text);
    if (write(STDERR_FILENO, text, (size_t)length) < 0) {
        /* nothing is left to be done about it */
    }
    _exit(EXIT_INTERNAL);
}

/* So large that it is given back to the system at once. */
static const size_t RESERVE_BYTES = 16 << 20;
static _Atomic(void *) reserve;
static atomic_bool is_short;

bool memory_reserve(void)
{
    void *none = NULL, *taken = malloc(RESERVE_BYTES);
    if (taken && !atomic_compare_exchange_strong(&reserve, &none, taken))
        free(taken); /* there is one */
    if (taken)
        atomic_store(&is_short, false);
    return taken != NULL;
}

bool memory_is_short(void) { return atomic_load(&is_short); }

/* Ends the process when there was none. */
static void use_reserve(size_t size_bytes)
{
    void *taken = atomic_exchange(&reserve, NULL);
    if (!taken && !atomic_load(&is_short)) /* another thread may have freed it just now */
        give_up(size_bytes);
    atomic_store(&is_short, true);
    free(taken);
}

static void *checked(void *allocated, size_t size_bytes)
{
    if (!allocated)
        give_up(size_bytes);
    return allocated;
}

void *memory_new(size_t size)
{
    size = size ? size : 1;
    void *allocated = calloc(1, size);
    if (!allocated) {
        use_reserve(size);
        allocated = calloc(1, size);
    }
    return checked(allocated, size);
}

void memory_write(struct buf *out, memory_writer *write, const void *context)
{
    write(context, out);
    if (!out->failed)
        return;
    size_t size = out->length;
    buf_free(out);
    use_reserve(size);
    write(context, out);
    if (out->failed)
        give_up(size);
}

void *memory_grow(void *items, size_t *capacity, size_t needed, size_t item_size)
{
    if (needed <= *capacity)
        return items;
    size_t wanted = *capacity ? *capacity : 8;
    while (wanted < needed && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    bool is_possible = wanted >= needed && wanted <= SIZE_MAX / item_size;
    void *grown = is_possible ? realloc(items, wanted * item_size) : NULL;
    if (!grown && is_possible) {
        use_reserve(wanted * item_size);
        grown = realloc(items, wanted * item_size);
    }
    *capacity = wanted;
    return checked(grown, wanted * item_size);
}

char *memory_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(memory_new(size), text, size);
}

static char *format_text(const char *format, va_list arguments)
{
    char *text = NULL;
    va_list again;
    va_copy(again, arguments);
    int length = vasprintf(&text, format, arguments);
    if (length < 0) {
        use_reserve(strlen(format));
        length = vasprintf(&text, format, again);
    }
    va_end(again);
    return checked(length < 0 ? NULL : text, strlen(format));
}

char *memory_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    return text;
}

static struct memory_block *block_new(struct memory_pool *pool, size_t size)
{
    size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct memory_block *block = memory_new(sizeof(*block) + capacity);
    block->capacity = capacity;
    block->before = pool->last;
    pool->last = block;
    return block;
}

void *memory_pool_new(struct memory_pool *pool, size_t size)
{
    if (size > SIZE_MAX / 2)
        give_up(size);
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct memory_block *block = pool->last;
    if (!block || block->capacity - block->used < size)
        block = block_new(pool, size);
    void *bytes = block->bytes + block->used;
    block->used += size;
    pool->used_bytes += size;
    return bytes;
}

char *memory_pool_text(struct memory_pool *pool, const char *text, size_t length)
{
    char *copy = memory_pool_new(pool, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *memory_pool_format(struct memory_pool *pool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    char *copy = memory_pool_text(pool, text, strlen(text));
    free(text);
    return copy;
}

void memory_pool_free(struct memory_pool *pool)
{
    while (pool->last) {
        struct memory_block *block = pool->last;
        pool->last = block->before;
        free(block);
    }
    pool->used_bytes = 0;
}

/* Other C libraries give large pieces back by themselves, and have nothing to set. */
void memory_set_up(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

static bool is_to_end; /* set before any thread starts */

/* glibc learns its thresholds from what is freed: after one block near the largest that it learns from (32 MiB), it
 * maps no smaller ones and keeps 64 MiB that are free. Set by mallopt instead, the heaps of threads give back at each
 * free what is free at their end, whatever M_TRIM_THRESHOLD says. */
void memory_set_up_to_end(void)
{
    is_to_end = true;
#ifdef __GLIBC__
    static void *volatile learnt_from; /* no compiler may leave it out */
    learnt_from = malloc((32 << 20) - (64 << 10));
    free(learnt_from);
#endif
}

void memory_trim(void)
{
#ifdef __GLIBC__
    if (!is_to_end)
        malloc_trim(0);
#endif
}
