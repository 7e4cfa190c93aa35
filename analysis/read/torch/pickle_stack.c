/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/pickle_stack.h"

enum { MAX_STACK = 1 << 20 };

struct pickle *pickle_stack_new(const struct pickle *begin)
{
    struct arena *arena = begin->arena;
    struct pickle *pickle = arena_array(arena, struct pickle, 1);
    *pickle = *begin;
    pickle->window = arena_raw(arena, PICKLE_WINDOW_BYTES);
    chunks_init(&pickle->memo, arena, sizeof(uint32_t));
    chunks_init(&pickle->wide_memo, arena, sizeof(struct pickle_value));
    chunks_init(&pickle->lists, arena, sizeof(struct pickle_list));
    chunks_init(&pickle->free_lists, arena, sizeof(uint32_t));
    chunks_init(&pickle->numbers, arena, 8);
    intern_init(&pickle->texts, arena);
    return pickle;
}

void pickle_stack_fill(struct pickle *pickle, size_t size)
{
    size_t rest = pickle->filled - pickle->at;
    if (rest >= size)
        return;
    memmove(pickle->window, pickle->window + pickle->at, rest);
    pickle->window_at += pickle->at;
    pickle->at = 0;
    pickle->filled = rest;
    while (pickle->filled < size) {
        int64_t got = pickle->source->read(pickle->source->context, pickle->window_at + pickle->filled,
                                           pickle->window + pickle->filled, PICKLE_WINDOW_BYTES - pickle->filled);
        if (got < 0) {
            err_set(pickle->err, ERR_io, pickle->window_at + pickle->filled, "the file cannot be read");
            arena_give_up(pickle->arena);
        }
        if (got == 0)
            return;
        pickle->filled += (size_t)got;
    }
}

/* ---- the stack ---- */

void pickle_stack_grow(struct pickle *pickle)
{
    if (pickle->depth >= MAX_STACK)
        pickle_store_refuse(pickle, ERR_limit, "more than 1,048,576 things are on the stack");
    pickle->stack =
        arena_grown(pickle->arena, pickle->stack, pickle->depth + 1, &pickle->capacity, sizeof(*pickle->stack));
}

/* The innermost mark bounds what can be taken off. */
static size_t bottom(const struct pickle *pickle)
{
    return pickle->mark_count > 0 ? pickle->marks[pickle->mark_count - 1] : 0;
}

void pickle_stack_need(struct pickle *pickle, size_t count)
{
    if (pickle->depth - bottom(pickle) < count)
        pickle_store_refuse(pickle, ERR_malformed, "an opcode takes more from the stack than is there");
}

struct pickle_value pickle_stack_top(struct pickle *pickle)
{
    pickle_stack_need(pickle, 1);
    return pickle->stack[pickle->depth - 1];
}

void pickle_stack_mark(struct pickle *pickle)
{
    if (pickle->mark_count == PICKLE_MAX_MARKS)
        pickle_store_refuse(pickle, ERR_limit, "things are in each other more than 1,000 deep");
    pickle->marks[pickle->mark_count++] = pickle->depth;
}

size_t pickle_stack_unmark(struct pickle *pickle)
{
    if (pickle->mark_count == 0)
        pickle_store_refuse(pickle, ERR_malformed, "an opcode needs a mark on the stack, and there is none");
    return pickle->marks[--pickle->mark_count];
}

/* ---- lists and dicts ---- */

void pickle_stack_append(struct pickle *pickle, size_t from)
{
    if (from == 0)
        pickle_store_refuse(pickle, ERR_malformed, "items come without a list to put them into");
    struct pickle_value parent = pickle->stack[from - 1];
    if (pickle_store_tag(parent) != TAG_LIST || from - 1 < bottom(pickle))
        pickle_store_refuse(pickle, ERR_malformed, "items are put into what is no list");
    size_t kept = from;
    for (size_t i = from; i < pickle->depth; i++) {
        uint32_t taken = 0;
        struct pickle_value item = pickle->stack[i];
        if (pickle->take != NULL && pickle_store_tag(item) == TAG_DICT &&
            pickle_store_list(pickle, item)->capacity != PICKLE_IS_TAKEN &&
            pickle->take(pickle->context, pickle, item, (uint32_t)pickle_store_payload(parent), &taken)) {
            if (pickle->is_tree)
                pickle_store_empty(pickle, item);
            item = pickle_store_take(pickle, item, taken);
        }
        if (taken != PICKLE_GONE)
            pickle->stack[kept++] = item;
        if (err_is_set(pickle->err))
            arena_give_up(pickle->arena);
    }
    pickle_store_add(pickle, pickle_store_list(pickle, parent), pickle->stack + from, kept - from);
    pickle->depth = from;
}

void pickle_stack_set_items(struct pickle *pickle, size_t from)
{
    if (from == 0 || from - 1 < bottom(pickle) || pickle_store_tag(pickle->stack[from - 1]) != TAG_DICT)
        pickle_store_refuse(pickle, ERR_malformed, "keys and values are put into what is no dict");
    if ((pickle->depth - from) % 2 != 0)
        pickle_store_refuse(pickle, ERR_malformed, "a key comes without its value");
    pickle_store_add(pickle, pickle_store_list(pickle, pickle->stack[from - 1]), pickle->stack + from,
                     pickle->depth - from);
    pickle->depth = from;
}

/* ---- numbers and texts ---- */

void pickle_stack_push_int(struct pickle *pickle, int64_t value)
{
    if (value >= -((int64_t)1 << 59) && value < (int64_t)1 << 59) {
        pickle_stack_push(pickle, pickle_store_value(TAG_INT, (uint64_t)value & (UINT64_MAX >> 4)));
        return;
    }
    CHUNKS_ADD(&pickle->numbers, int64_t, value);
    pickle_stack_push(pickle, pickle_store_value(TAG_WIDE, pickle->numbers.count - 1));
}

void pickle_stack_push_real(struct pickle *pickle, double value)
{
    CHUNKS_ADD(&pickle->numbers, double, value);
    pickle_stack_push(pickle, pickle_store_value(TAG_REAL, pickle->numbers.count - 1));
}

void pickle_stack_push_text(struct pickle *pickle, struct str text)
{
    pickle_stack_push(pickle, pickle_store_value(TAG_TEXT, intern_number(&pickle->texts, text)));
}
