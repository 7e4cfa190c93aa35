/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/size_text.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Small requests share blocks that double up to MAX_BLOCK; a request of half
 * a block or more gets one of its own, so that little is wasted. */
enum { FIRST_BLOCK = 4096, MAX_BLOCK = 1 << 20, ALIGNMENT = alignof(max_align_t) };
enum { MIN_ITEMS = 16 }; /* of an array that grows */
/* Some milliseconds of work. */
static const uint64_t STEPS_AT_ONCE = 1 << 18;

struct arena_block {
    struct arena_block *before;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *arena, uint64_t limit_bytes, struct err *err)
{
    arena->last = NULL;
    arena->pages = (struct pages){NULL, 0};
    arena->used_bytes = 0;
    arena->limit_bytes = limit_bytes;
    arena->is_full = false;
    arena->wanted = NULL;
    arena_allot_work(arena, UINT64_MAX);
    arena->err = err;
    memset(arena->trap, 0, sizeof(arena->trap));
    arena->parent = arena->children = arena->next = NULL;
}

struct arena *arena_child(struct arena *parent)
{
    if (parent->parent != NULL)
        parent = parent->parent;
    struct arena *child = arena_raw(parent, sizeof(*child));
    arena_init(child, 0, parent->err);
    child->parent = parent;
    child->next = parent->children;
    parent->children = child;
    return child;
}

static void free_blocks(struct arena *arena)
{
    struct arena_block *block = arena->last;
    while (block != NULL) {
        struct arena_block *before = block->before;
        free(block);
        block = before;
    }
    arena->last = NULL;
    pages_resize(&arena->pages, 0);
}

void arena_free(struct arena *arena)
{
    for (struct arena *child = arena->children; child != NULL; child = child->next)
        free_blocks(child);
    arena->children = NULL;
    if (arena->parent != NULL)
        arena->parent->used_bytes -= arena->used_bytes;
    free_blocks(arena);
    arena->used_bytes = 0;
}

/* It owns no local that work changes, and must not be inlined: a jump would leave such locals undefined. */
__attribute__((noinline)) bool arena_try(struct arena *arena, void (*work)(void *context), void *context)
{
    jmp_buf outer;
    memcpy(outer, arena->trap, sizeof(outer));
    if (setjmp(arena->trap) != 0) {
        memcpy(arena->trap, outer, sizeof(outer));
        return false;
    }
    work(context);
    memcpy(arena->trap, outer, sizeof(outer));
    return true;
}

void arena_share(struct arena *share, const struct arena *whole, size_t count, struct err *err)
{
    uint64_t left_bytes = arena_left_bytes(whole), share_bytes = left_bytes / count;
    arena_init(share, left_bytes > 0 && share_bytes == 0 ? 1 : share_bytes, err);
    arena_allot_work(share, arena_work_left(whole) / count);
    share->wanted = whole->wanted;
}

void arena_adopt(struct arena *arena, struct arena *other)
{
    struct arena_block **oldest = &other->last;
    struct arena **youngest = &other->children;
    while (*oldest != NULL)
        oldest = &(*oldest)->before;
    if (arena->last != NULL) { /* behind the block in use */
        *oldest = arena->last->before;
        arena->last->before = other->last;
    } else {
        arena->last = other->last;
    }
    for (; *youngest != NULL; youngest = &(*youngest)->next) {
        (*youngest)->parent = arena;
        (*youngest)->err = arena->err;
    }
    *youngest = arena->children;
    arena->children = other->children;
    arena->used_bytes += other->used_bytes;
    other->last = NULL;
    other->children = NULL;
    other->used_bytes = 0;
}

void arena_allot_work(struct arena *arena, uint64_t steps)
{
    arena->work_left = steps < STEPS_AT_ONCE ? steps : STEPS_AT_ONCE;
    arena->work_behind = steps - arena->work_left;
}

void arena_watch(struct arena *arena, const atomic_int *wanted) { arena->wanted = wanted; }

void arena_work_as(struct arena *arena, const struct arena *whole)
{
    arena->wanted = whole->wanted;
    arena_allot_work(arena, arena_work_left(whole));
}

static void stop_unless_wanted(struct arena *arena)
{
    const atomic_int *wanted = arena->parent != NULL ? arena->parent->wanted : arena->wanted;
    if (wanted == NULL || atomic_load_explicit(wanted, memory_order_relaxed) > 0)
        return;
    err_set(arena->err, ERR_stopped, ERR_NO_OFFSET, "was stopped: nobody waits for it any more");
    arena_give_up(arena);
}

void arena_work_more(struct arena *arena, uint64_t steps)
{
    stop_unless_wanted(arena);
    uint64_t left = arena_work_left(arena);
    if (steps > left) {
        err_set(arena->err, ERR_limit, ERR_NO_OFFSET,
                "takes far more work than a file of its size may: it is made to be slow");
        arena_give_up(arena);
    }
    arena_allot_work(arena, left - steps);
}

void arena_give_up(struct arena *arena) { longjmp(arena->parent != NULL ? arena->parent->trap : arena->trap, 1); }

void arena_give_up_with(struct arena *arena, const struct err *report)
{
    if (report->code != ERR_exhausted && report->code != ERR_stopped)
        return;
    err_set(arena->err, report->code, report->offset_bytes, "%s", report->text);
    arena_give_up(arena);
}

static void count_bytes(struct arena *arena, uint64_t total)
{
    arena->used_bytes += total;
    if (arena->parent != NULL)
        arena->parent->used_bytes += total;
}

/* May `more` bytes be taken from the system? */
static bool is_allowed(const struct arena *arena, uint64_t more)
{
    const struct arena *counted = arena->parent != NULL ? arena->parent : arena;
    return counted->limit_bytes == 0 || more <= counted->limit_bytes - counted->used_bytes;
}

static _Noreturn void give_up_at(struct arena *arena, uint64_t more)
{
    struct arena *counted = arena->parent != NULL ? arena->parent : arena;
    counted->is_full = !is_allowed(arena, more + sizeof(struct arena_block));
    char held[SIZE_TEXT_BYTES], more_text[SIZE_TEXT_BYTES], limit[SIZE_TEXT_BYTES];
    if (!counted->is_full) {
        err_set(arena->err, ERR_exhausted, ERR_NO_OFFSET, "the system has no %s more, beside %s for the same thing",
                size_text(more_text, more), size_text(held, counted->used_bytes));
        arena_give_up(arena);
    }
    err_set(arena->err, ERR_limit, ERR_NO_OFFSET, "needs more memory than allowed: %s beside %s, and %s are allowed",
            size_text(more_text, more), size_text(held, counted->used_bytes),
            counted->limit_bytes == 0 ? "no more" : size_text(limit, counted->limit_bytes));
    arena_give_up(arena);
}

static struct arena_block *block_new(struct arena *arena, size_t size, bool is_zeroed)
{
    uint64_t total = (uint64_t)size + sizeof(struct arena_block);
    stop_unless_wanted(arena);
    struct arena_block *block = !is_allowed(arena, total) ? NULL : is_zeroed ? calloc(1, total) : malloc(total);
    if (block == NULL)
        give_up_at(arena, size);
    if (!is_zeroed)
        pages_fill_soon(block, total);
    count_bytes(arena, total);
    block->size = size;
    block->used = 0;
    return block;
}

/* Large requests are zeroed by the system, which does so when a page is first touched. */
static void *arena_take_bytes(struct arena *arena, size_t size, bool is_zeroed)
{
    if (size > SIZE_MAX / 4) {
        err_set(arena->err, ERR_limit, ERR_NO_OFFSET, "asks for %zu bytes at once", size);
        arena_give_up(arena);
    }
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_block *last = arena->last;
    if (last != NULL && last->size - last->used >= size) {
        void *at = last->bytes + last->used;
        last->used += size;
        return is_zeroed ? memset(at, 0, size) : at;
    }
    size_t block_size = last == NULL ? FIRST_BLOCK : last->size * 2;
    if (block_size > MAX_BLOCK)
        block_size = MAX_BLOCK;
    if (size >= block_size / 2) { /* of its own, behind the one in use */
        struct arena_block *own = block_new(arena, size, is_zeroed);
        own->used = size;
        if (last != NULL) {
            own->before = last->before;
            last->before = own;
        } else {
            own->before = NULL;
            arena->last = own;
        }
        return own->bytes;
    }
    struct arena_block *block = block_new(arena, block_size, false);
    block->before = last;
    block->used = size;
    arena->last = block;
    return is_zeroed ? memset(block->bytes, 0, size) : block->bytes;
}

void *arena_raw(struct arena *arena, size_t size) { return arena_take_bytes(arena, size, false); }

void *arena_resize(struct arena *arena, size_t size)
{
    size_t whole = pages_whole(size > 0 ? size : 1), former = arena->pages.size;
    if (whole > former && (!is_allowed(arena, whole - former) || !pages_resize(&arena->pages, whole)))
        give_up_at(arena, whole - former);
    if (whole < former && !pages_resize(&arena->pages, whole))
        whole = former; /* the system has nothing where fewer bytes could go */
    count_bytes(arena, (uint64_t)whole - (uint64_t)former);
    return arena->pages.at;
}

void arena_take(struct arena *arena, size_t at, struct arena *from)
{
    size_t size = from->pages.size;
    if (!pages_take(&arena->pages, at, &from->pages))
        give_up_at(arena, size);
    count_bytes(from, -(uint64_t)size); /* the room for it was counted */
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        err_set(arena->err, ERR_limit, ERR_NO_OFFSET, "asks for %zu items of %zu bytes at once", count, size);
        arena_give_up(arena);
    }
    return arena_take_bytes(arena, total, true);
}

void *arena_grown(struct arena *arena, void *items, size_t needed, size_t *capacity, size_t size)
{
    if (needed <= *capacity)
        return items;
    size_t held = *capacity * size; /* arena_alloc's or this function's own: in range, and so is its double */
    size_t longer = *capacity * 2 < MIN_ITEMS ? MIN_ITEMS : *capacity * 2;
    longer = longer < needed ? needed : longer;
    void *grown = arena_alloc(arena, longer, size);
    if (held > 0)
        memcpy(grown, items, held);
    *capacity = longer;
    return grown;
}

char *arena_text(struct arena *arena, struct str text)
{
    char *copy = arena_raw(arena, text.length + 1);
    if (text.length > 0)
        memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    char *text = arena_raw(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
