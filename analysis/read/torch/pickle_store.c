/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/pickle_stack.h"

_Noreturn void pickle_store_refuse(struct pickle *pickle, enum err_code code, const char *what)
{
    err_set(pickle->err, code, pickle->opcode_at, "byte %llu of the %s: %s", (unsigned long long)pickle->opcode_at,
            pickle->word, what);
    arena_give_up(pickle->arena);
}

uint32_t pickle_store_cell(struct pickle *pickle, struct pickle_value value)
{
    size_t count = pickle->wide_memo.count;
    if (value.bits <= UINT32_MAX)
        return (uint32_t)value.bits;
    if (count > 0 && CHUNKS_AT(&pickle->wide_memo, struct pickle_value, count - 1).bits == value.bits)
        return (uint32_t)(count - 1) << 4 | TAG_MEMO; /* usually a value that the taker released */
    if (count >= UINT32_MAX >> 4)
        pickle_store_refuse(pickle, ERR_limit, "more than 268,435,455 wide things are memoized");
    CHUNKS_ADD(&pickle->wide_memo, struct pickle_value, value);
    return (uint32_t)count << 4 | TAG_MEMO;
}

static struct pickle_value *items_new(struct pickle *pickle, size_t count)
{
    struct pickle_free_block *block = count <= PICKLE_SMALL_ITEMS ? pickle->free_blocks[count] : NULL;
    if (block == NULL)
        return arena_raw(pickle->arena, count * sizeof(struct pickle_value));
    pickle->free_blocks[count] = block->next;
    return (struct pickle_value *)(void *)block;
}

static void items_free(struct pickle *pickle, struct pickle_list *list)
{
    if (list->capacity > 0 && list->capacity <= PICKLE_SMALL_ITEMS) {
        struct pickle_free_block *block = (struct pickle_free_block *)(void *)list->items;
        block->next = pickle->free_blocks[list->capacity];
        pickle->free_blocks[list->capacity] = block;
    }
    list->items = NULL;
    list->capacity = 0;
}

/* What is first put into it is mostly all that it will hold. */
static void list_reserve(struct pickle *pickle, struct pickle_list *list, size_t more)
{
    size_t needed = list->count + more, capacity = list->count == 0 ? needed : needed + needed / 2;
    if (needed <= list->capacity)
        return;
    if (needed >= UINT32_MAX / 2)
        pickle_store_refuse(pickle, ERR_limit, "a list has more than 2,147,483,647 items");
    struct pickle_value *items = items_new(pickle, capacity);
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof(*items));
    items_free(pickle, list);
    list->items = items;
    list->capacity = (uint32_t)capacity;
}

struct pickle_value pickle_store_new(struct pickle *pickle, enum pickle_tag tag)
{
    if (pickle->free_lists.count > 0) {
        uint32_t at = CHUNKS_AT(&pickle->free_lists, uint32_t, --pickle->free_lists.count);
        CHUNKS_AT(&pickle->lists, struct pickle_list, at) = (struct pickle_list){.items = NULL};
        return pickle_store_value(tag, at);
    }
    if (pickle->lists.count >= UINT32_MAX - 1)
        pickle_store_refuse(pickle, ERR_limit, "more than 4,294,967,294 lists and dicts");
    uint64_t at = pickle->lists.count;
    CHUNKS_ADD(&pickle->lists, struct pickle_list, ((struct pickle_list){.items = NULL}));
    return pickle_store_value(tag, at);
}

void pickle_store_add(struct pickle *pickle, struct pickle_list *list, const struct pickle_value *items, size_t count)
{
    if (list->capacity == PICKLE_IS_TAKEN)
        pickle_store_refuse(pickle, ERR_unsupported, "a list or dict that something else holds already is changed");
    if (count == 0)
        return;
    list_reserve(pickle, list, count);
    memcpy(list->items + list->count, items, count * sizeof(*items));
    list->count += (uint32_t)count;
}

static bool has_items(const struct pickle *pickle, struct pickle_value value)
{
    enum pickle_tag tag = pickle_store_tag(value);
    return (tag == TAG_LIST || tag == TAG_TUPLE || tag == TAG_DICT) &&
           pickle_store_list(pickle, value)->capacity != PICKLE_IS_TAKEN;
}

/* The stack of the reading holds the values that are still to be released. */
void pickle_store_empty(struct pickle *pickle, struct pickle_value value)
{
    size_t depth = pickle->depth;
    pickle_stack_push(pickle, value);
    while (pickle->depth > depth) {
        struct pickle_value next = pickle->stack[--pickle->depth];
        struct pickle_list *list = pickle_store_list(pickle, next);
        for (uint32_t i = 0; i < list->count; i++)
            if (has_items(pickle, list->items[i]))
                pickle_stack_push(pickle, list->items[i]);
        arena_work(pickle->arena, list->count / 8 + 1);
        items_free(pickle, list);
        list->count = 0;
        if (next.bits != value.bits) {
            list->capacity = PICKLE_IS_TAKEN;
            CHUNKS_ADD(&pickle->free_lists, uint32_t, (uint32_t)pickle_store_payload(next));
        }
    }
}

static void take_list(struct pickle *pickle, struct pickle_list *list, uint32_t taken)
{
    items_free(pickle, list);
    list->capacity = PICKLE_IS_TAKEN;
    list->count = taken;
}

struct pickle_value pickle_store_take(struct pickle *pickle, struct pickle_value value, uint32_t taken)
{
    struct pickle_list *list = pickle_store_list(pickle, value);
    struct pickle_value number = pickle_store_value(TAG_TAKEN, taken);
    take_list(pickle, list, taken);
    if (list->is_named_again)
        return value;
    if (list->memo_at > 0)
        CHUNKS_AT(&pickle->memo, uint32_t, list->memo_at - 1) = pickle_store_cell(pickle, number);
    CHUNKS_ADD(&pickle->free_lists, uint32_t, (uint32_t)pickle_store_payload(value));
    return number;
}
