/* SPDX-License-Identifier: Apache-2.0
 * column.h: equal items in one piece that grows.
 *
 * In an arena of its own, in whole pages: it grows and takes others by moving these,
 * and can be released alone. Items move when it grows: keep no pointers to them. */
#pragma once

#include "base/arena.h"

struct column {
    struct arena *arena; /* its own; it holds only the items */
    char *items;
    size_t capacity, width; /* items; bytes of one */
    bool is_blank;          /* nothing is ever written to it: all items are 0, and take no memory */
};

/* `parent` is no child itself. */
static inline void column_init(struct column *column, struct arena *parent, size_t width)
{
    *column = (struct column){.arena = arena_child(parent), .width = width};
}

/* Room for `capacity` items; what is new may be anything. */
static inline void column_resize(struct column *column, size_t capacity)
{
    size_t size;
    if (__builtin_mul_overflow(capacity, column->width, &size))
        size = SIZE_MAX;
    column->items = arena_resize(column->arena, size);
    column->capacity = capacity;
}

/* What it takes, in whole pages. */
static inline size_t column_whole_bytes(const struct column *column) { return column->arena->pages.size; }
/* Moves what `from` holds into `column`, at the byte `at`: a sum of column_whole_bytes. */
static inline void column_take(struct column *column, size_t at, struct column *from)
{
    arena_take(column->arena, at, from->arena);
    from->items = NULL;
    from->capacity = 0;
}

static inline void column_free(struct column *column)
{
    arena_free(column->arena);
    column->items = NULL;
    column->capacity = 0;
}

#define COLUMN_AT(column, type, at) (((type *)(void *)(column)->items)[at])
