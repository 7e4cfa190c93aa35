/* SPDX-License-Identifier: Apache-2.0
 * arena.h: memory that is released all at once, with a limit.
 *
 * An allocation never returns NULL: past the limit, or when the system has no
 * memory, the arena reports `limit` and jumps to its trap. So the code between
 * needs no checks, and must own nothing but arena memory (no FILE, no cJSON
 * tree) across an allocation. Traps are set by arena_try alone. */
#pragma once

#include "base/err.h"
#include "base/pages.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    struct arena_block *last;
    struct pages pages;   /* of arena_resize */
    uint64_t used_bytes;  /* taken from the system */
    uint64_t limit_bytes; /* 0 = none */
    bool is_full;         /* the limit was reached: kept after arena_free */
    uint64_t work_left; /* steps that may be done until it is asked whether somebody still wants them; see arena_work */
    uint64_t work_behind;     /* further steps */
    const atomic_int *wanted; /* see arena_watch */
    struct err *err;
    struct arena *parent;          /* of arena_child, else NULL */
    struct arena *children, *next; /* those of this arena; the next one of the same parent */
    jmp_buf trap;
};

void arena_init(struct arena *arena, uint64_t limit_bytes, struct err *err);
/* Frees everything, children too. */
void arena_free(struct arena *arena);
/* What it may take yet, as a limit for another one: 0 = no limit. */
static inline uint64_t arena_left_bytes(const struct arena *arena)
{
    uint64_t left_bytes = arena->limit_bytes - arena->used_bytes;
    return arena->limit_bytes == 0 ? 0 : left_bytes > 0 ? left_bytes : 1;
}
/* An arena that can be emptied before its parent (arena_free), for what is needed only for a
 * while. It shares the parent's limit and trap; work is charged to the parent. One of a child is one of its parent,
 * too, and outlives the former. */
struct arena *arena_child(struct arena *parent);

/* Does `work` with the trap set; within another trial of the same arena that one's trap is set again afterwards. False
 * when the arena gave up; what it holds then is still to be freed. */
bool arena_try(struct arena *arena, void (*work)(void *context), void *context);
/* One of `count` arenas that side by side keep to what `whole` may take and do yet. */
void arena_share(struct arena *share, const struct arena *whole, size_t count, struct err *err);
/* What `other` (no child, and without an array of arena_resize) holds becomes the memory of `arena` (no child); `other`
 * is empty then. No limit is asked. */
void arena_adopt(struct arena *arena, struct arena *other);

/* `count` zeroed items of `size` bytes, aligned for any type; the product is checked. */
void *arena_alloc(struct arena *arena, size_t count, size_t size) __attribute__((returns_nonnull, alloc_size(2, 3)));
/* As arena_alloc, not zeroed: for bytes that are filled at once. */
void *arena_raw(struct arena *arena, size_t size) __attribute__((returns_nonnull, alloc_size(2)));
/* Returns `items` (an array of `*capacity` items of `size` bytes; NULL at first, with 0) with room for `needed`. It is
 * the same array, or a copy at least twice as long whose new items are zeroed. The former array stays in the arena, as
 * all memory of an arena does, so pointers into it stay valid; large arrays belong into base/chunks or base/column. */
void *arena_grown(struct arena *arena, void *items, size_t needed, size_t *capacity, size_t size);
/* Whoever allots the work sets it: to a few seconds for the size of the input.
 * Loops whose length a file can multiply charge their steps here (bytes walked,
 * items visited); past the allotment the arena reports `limit` and jumps. So a
 * small file cannot cost more than a small file may. */
void arena_allot_work(struct arena *arena, uint64_t steps);
static inline uint64_t arena_work_left(const struct arena *arena) { return arena->work_left + arena->work_behind; }
/* The work goes on while *wanted is above 0; otherwise the arena reports `stopped` and jumps, soon and wherever it
 * works or allocates. Another thread may change *wanted. NULL, as at first: it never stops. */
void arena_watch(struct arena *arena, const atomic_int *wanted);
/* `arena` may do the work that is left to `whole`, and stops when `whole` has to. */
void arena_work_as(struct arena *arena, const struct arena *whole);
/* Gives up with the report of an arena whose work is part of this one's, if the fault concerns both: the system had no
 * memory, or no one waits any more. */
void arena_give_up_with(struct arena *arena, const struct err *report);
void arena_work_more(struct arena *arena, uint64_t steps);
static inline void arena_work(struct arena *arena, uint64_t steps)
{
    struct arena *charged = arena->parent != NULL ? arena->parent : arena;
    if (steps > charged->work_left)
        arena_work_more(charged, steps);
    else
        charged->work_left -= steps;
}
/* Resizes the one array of an arena that holds nothing else to at least `size` bytes. Its content stays and may move;
 * new bytes may have any value. It grows and is joined by moving pages, not bytes (base/pages.h). */
void *arena_resize(struct arena *arena, size_t size) __attribute__((returns_nonnull));
/* Moves the array of `from` into that of `arena`, which has room for it at the offset `at`, a sum of results of
 * pages_whole. Both are children of one parent; `from` holds nothing then. */
void arena_take(struct arena *arena, size_t at, struct arena *from);
/* Gives up through the trap, with the report already in arena->err. */
_Noreturn void arena_give_up(struct arena *arena);
/* A NUL-terminated copy. */
char *arena_text(struct arena *arena, struct str text);
/* A NUL-terminated text made by printf rules. */
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define arena_array(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))
