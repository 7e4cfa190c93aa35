/* SPDX-License-Identifier: Apache-2.0
 * refused_memory.c: linked with --wrap of the functions named __wrap_…: calls from one file of the core to another come
 * here. */
#include "tests/soak/refused.h"

#include "base/arena.h"

#include <stdlib.h>
#include <zlib.h>

struct refusing fault;

static bool is_refused(void)
{
    uint64_t count = fault.is_on ? ++fault.system_count : 0;
    return count > 0 && fault.at > 0 &&
           ((fault.way == ONCE && count == fault.at) || (fault.way == FROM_THERE_ON && count >= fault.at));
}

static void *counted(void *allocated)
{
    fault.held_count += allocated != NULL;
    return allocated;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return is_refused() ? NULL : counted(__real_malloc(size)); }

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) { return is_refused() ? NULL : counted(__real_calloc(count, size)); }

void *__real_realloc(void *former, size_t size);
void *__wrap_realloc(void *former, size_t size);
void *__wrap_realloc(void *former, size_t size)
{
    if (is_refused())
        return NULL;
    void *grown = __real_realloc(former, size);
    fault.held_count += former == NULL && grown != NULL;
    return grown;
}

void __real_free(void *allocated);
void __wrap_free(void *allocated);
void __wrap_free(void *allocated)
{
    fault.held_count -= allocated != NULL;
    __real_free(allocated);
}

/* zlib's own requests: one as it begins, and one as its state is copied. */
int __real_inflateInit2_(z_streamp stream, int bits, const char *version, int size);
int __wrap_inflateInit2_(z_streamp stream, int bits, const char *version, int size);
int __wrap_inflateInit2_(z_streamp stream, int bits, const char *version, int size)
{
    return is_refused() ? Z_MEM_ERROR : __real_inflateInit2_(stream, bits, version, size);
}

int __real_inflateCopy(z_streamp into, z_streamp from);
int __wrap_inflateCopy(z_streamp into, z_streamp from);
int __wrap_inflateCopy(z_streamp into, z_streamp from)
{
    return is_refused() ? Z_MEM_ERROR : __real_inflateCopy(into, from);
}

/* From here on the arena is as full as it may be, as far as the requests that come can tell. */
static void arena_request(struct arena *arena)
{
    struct arena *whole = arena->parent != NULL ? arena->parent : arena;
    if (!fault.is_on || ++fault.arena_count != fault.at || fault.way != AT_LIMIT)
        return;
    whole->limit_bytes = whole->used_bytes > 0 ? whole->used_bytes : 1;
    arena_resize(arena, whole->pages.size + ((size_t)1 << 30)); /* jumps */
}

void *__real_arena_raw(struct arena *arena, size_t size);
void *__wrap_arena_raw(struct arena *arena, size_t size);
void *__wrap_arena_raw(struct arena *arena, size_t size)
{
    arena_request(arena);
    return __real_arena_raw(arena, size);
}

void *__real_arena_alloc(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size)
{
    arena_request(arena);
    return __real_arena_alloc(arena, count, size);
}

void *__real_arena_grown(struct arena *arena, void *items, size_t needed, size_t *capacity, size_t size);
void *__wrap_arena_grown(struct arena *arena, void *items, size_t needed, size_t *capacity, size_t size);
void *__wrap_arena_grown(struct arena *arena, void *items, size_t needed, size_t *capacity, size_t size)
{
    if (needed > *capacity)
        arena_request(arena);
    return __real_arena_grown(arena, items, needed, capacity, size);
}

char *__real_arena_text(struct arena *arena, struct str text);
char *__wrap_arena_text(struct arena *arena, struct str text);
char *__wrap_arena_text(struct arena *arena, struct str text)
{
    arena_request(arena);
    return __real_arena_text(arena, text);
}

struct arena *__real_arena_child(struct arena *parent);
struct arena *__wrap_arena_child(struct arena *parent);
struct arena *__wrap_arena_child(struct arena *parent)
{
    arena_request(parent);
    return __real_arena_child(parent);
}

void *__real_arena_resize(struct arena *arena, size_t size);
void *__wrap_arena_resize(struct arena *arena, size_t size);
void *__wrap_arena_resize(struct arena *arena, size_t size)
{
    if (size > arena->pages.size && size < (size_t)1 << 30)
        arena_request(arena);
    return __real_arena_resize(arena, size);
}
