/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

struct intern_wanted {
    const struct intern *intern;
    struct str text;
};

static bool is_text(const void *context, uint64_t number)
{
    const struct intern_wanted *wanted = context;
    if (str_equal(wanted->intern->items[number], wanted->text))
        return true;
    arena_work(wanted->intern->map.arena, wanted->text.length / 8); /* equal hashes can be made, of long texts too */
    return false;
}

void intern_init(struct intern *intern, struct arena *arena)
{
    *intern = (struct intern){.items = NULL};
    map_init(&intern->map, arena, 0);
}

uint32_t intern_number(struct intern *intern, struct str text)
{
    struct arena *arena = intern->map.arena;
    const struct intern_wanted wanted = {intern, text};
    bool is_new;
    uint32_t number = map_number(&intern->map, map_hash_text(arena, text, 0), is_text, &wanted, &is_new);
    if (is_new) {
        intern->items =
            arena_grown(arena, intern->items, (size_t)number + 1, &intern->capacity, sizeof(*intern->items));
        intern->items[number] = (struct str){arena_text(arena, text), text.length};
    }
    return number;
}

uint32_t intern_find(const struct intern *intern, struct str text)
{
    const struct intern_wanted wanted = {intern, text};
    return (uint32_t)map_find(&intern->map, map_hash_text(intern->map.arena, text, 0), is_text, &wanted);
}
