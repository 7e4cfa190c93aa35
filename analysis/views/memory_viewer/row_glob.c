/* SPDX-License-Identifier: Apache-2.0
 * row_glob.c: see row_glob.h. */
#include "views/memory_viewer/row_glob.h"

#include "plan/arguments.h"
#include "plan/group_key.h"
#include "whatif/glob.h"

/* What a GLOB is held against for this row. */
static struct str text_of(const struct plan *plan, const struct plan_row *row, bool *is_argument)
{
    const struct plan_argument *argument =
        row->allocation_at == PLAN_NONE ? NULL
                                        : arguments_find_allocation(plan, &plan->hlo.allocations[row->allocation_at]);
    *is_argument = argument != NULL && argument->path.length > 0;
    return *is_argument ? argument->path : group_key_op_name(plan, row);
}

/* With a star for each "{i}" of group_key_scope; in place. */
static struct str starred(char *text, size_t length)
{
    size_t to = 0;
    for (size_t at = 0; at < length; to++) {
        bool is_number = length - at >= 3 && memcmp(text + at, "{i}", 3) == 0;
        text[to] = is_number ? '*' : text[at];
        at += is_number ? 3 : 1;
    }
    return (struct str){text, to};
}

static struct str globbed(struct str text, bool has_stars, struct arena *arena)
{
    return has_stars && text.length > 0 ? starred(arena_text(arena, text), text.length) : text;
}

void row_glob_write(struct json *json, const struct plan *plan, const struct plan_space *space, const uint32_t *rows,
                    uint32_t count, struct arena *arena)
{
    struct str first = {"", 0}, scope = {"", 0};
    bool is_argument = false, is_same = true, is_other;
    for (uint32_t i = 0; i < count; i++) {
        struct str text = text_of(plan, &space->rows[rows[i]], &is_other);
        if (i == 0) {
            first = text;
            scope = group_key_scope(text, arena);
            is_argument = is_other;
        }
        arena_work(arena, text.length);
        is_same = is_same && str_equal(text, first);
        if (!is_same && (is_other != is_argument || !str_equal(group_key_scope(text, arena), scope)))
            first.length = 0;
        if (first.length == 0)
            break;
    }
    if (first.length == 0)
        return;
    struct str whole = is_same ? first : scope, glob = globbed(whole, !is_same, arena);
    struct str label = is_argument ? glob : globbed(group_key_label(whole, arena), !is_same, arena);
    /* a label of one part, "mul", is the name of many things */
    bool is_told = label.length > 0 && memchr(label.data, '/', label.length) != NULL && glob_matches(label, first);
    json_key_string(json, "glob", is_told ? label : glob);
}
