/* SPDX-License-Identifier: Apache-2.0
 * changes_words.c: what two profiles side by side come to, in words: see changes.h. */
#include "views/device_memory/changes.h"

#include "base/size_text.h"

/* From this share of the change on, in percent, a call site is what the change is. */
enum { CAUSE_PERCENT = 50 };

static void size_add(const struct changes *changes, uint64_t amount, struct buf *out)
{
    const struct pprof_type *type = &changes->model.pprof->types[changes->model.metric];
    char text[COUNT_TEXT_BYTES];
    if (str_equal(type->unit, STR("bytes"))) {
        buf_text(out, size_text(text, amount));
        return;
    }
    struct str what = str_equal(type->unit, STR("count")) ? type->name : type->unit;
    buf_format(out, "%s ", size_text_count(text, amount));
    buf_add(out, what.data, what.length);
}

void changes_amount(const struct changes *changes, int64_t amount, struct buf *out)
{
    if (amount < 0)
        buf_text(out, "\xE2\x88\x92");
    size_add(changes, (uint64_t)pprof_size(amount), out);
}

void changes_signed(const struct changes *changes, int64_t change, struct buf *out)
{
    if (change > 0)
        buf_char(out, '+');
    changes_amount(changes, change, out);
}

const char *changes_part_name(const struct changes *changes, const struct changes_part *part)
{
    char count[COUNT_TEXT_BYTES];
    struct arena *arena = changes->model.arena;
    if (part->row != NULL)
        return arena_text(arena, changes_site_name(changes, part->row));
    return arena_format(arena, "%s other call site%s", size_text_count(count, part->row_count),
                        part->row_count == 1 ? "" : "s");
}

/* "anotherfunc leak.py:14 has grown (+1.80 MiB)" */
static void site_add(const struct changes *changes, const struct changes_row *row, struct buf *out)
{
    static const char *const states[] = {[CHANGES_NEW] = " is new (",
                                         [CHANGES_GONE] = " is gone (",
                                         [CHANGES_GROWN] = " has grown (",
                                         [CHANGES_SHRUNK] = " has shrunk (",
                                         [CHANGES_SAME] = " is the same ("};
    changes_add_site_name(changes, row, out);
    buf_text(out, states[row->state]);
    changes_signed(changes, changes_of(row), out);
    buf_char(out, ')');
}

static void cause_add(const struct changes *changes, int64_t change, struct buf *out)
{
    for (uint32_t i = 0; i < changes->of_sites.count; i++) {
        const struct changes_row *row = &changes->of_sites.items[changes->ranked[i]];
        int64_t of_row = changes_of(row);
        if (of_row == 0 || (of_row > 0) != (change > 0))
            continue;
        bool is_most = pprof_size(of_row) >= pprof_size(change) / 100 * CAUSE_PERCENT;
        buf_text(out, is_most ? ": " : "; the largest part: ");
        site_add(changes, row, out);
        return;
    }
}

/* " New: 3 call sites (1.00 MiB)." */
static void state_add(const struct changes *changes, enum changes_state state, const char *word, struct buf *out)
{
    char count[COUNT_TEXT_BYTES];
    int64_t sum = 0;
    uint32_t many = changes->of_sites.counts[state];
    for (uint32_t i = 0; i < changes->of_sites.count; i++)
        if (changes->of_sites.items[i].state == state)
            sum = pprof_add(sum, changes_of(&changes->of_sites.items[i]));
    if (many == 0)
        return;
    buf_format(out, " %s: %s call site%s (", word, size_text_count(count, many), many == 1 ? "" : "s");
    changes_signed(changes, sum, out);
    buf_text(out, ").");
}

static void same_add(const struct changes *changes, struct buf *out)
{
    char differ[COUNT_TEXT_BYTES], all[COUNT_TEXT_BYTES];
    const struct changes_rows *rows = &changes->of_sites;
    buf_text(out, "A and B hold the same: ");
    changes_amount(changes, changes->after, out);
    buf_format(out, "; %s of %s call sites differ", size_text_count(differ, rows->count - rows->counts[CHANGES_SAME]),
               size_text_count(all, rows->count));
    if (rows->count > 0 && changes_of(&rows->items[changes->ranked[0]]) != 0) {
        buf_text(out, ": ");
        site_add(changes, &rows->items[changes->ranked[0]], out);
    }
}

void changes_sentence(const struct changes *changes, struct buf *out)
{
    int64_t change = pprof_add(changes->after, pprof_negated(changes->before));
    if (change == 0) {
        same_add(changes, out);
    } else {
        buf_text(out, "B holds ");
        size_add(changes, (uint64_t)pprof_size(change), out);
        buf_text(out, change > 0 ? " more, " : " less, ");
        changes_amount(changes, changes->after, out);
        buf_text(out, " instead of ");
        changes_amount(changes, changes->before, out);
        cause_add(changes, change, out);
    }
    buf_char(out, '.');
    state_add(changes, CHANGES_NEW, "New", out);
    state_add(changes, CHANGES_GONE, "Gone", out);
}
