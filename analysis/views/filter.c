/* SPDX-License-Identifier: Apache-2.0
 * filter.c: see filter.h. Here terms meet rows; filter_read.c reads them. */
#include "views/filter_terms.h"

#include <ctype.h>
#include <math.h>

static bool same_letter(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

static bool is_star(struct filter_text pattern, size_t at)
{
    return at < pattern.length && pattern.data[at] == '*' && pattern.marks[at] == FILTER_PLAIN;
}

/* The whole of `text` against a pattern with stars, with one place to go back to. */
static bool glob_matches(struct filter_text pattern, struct str text, struct arena *arena)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    uint64_t steps = 0;
    while (t < text.length) {
        steps++;
        if (is_star(pattern, p)) {
            star = p++;
            mark = t;
        } else if (p < pattern.length && same_letter(pattern.data[p], text.data[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            break;
        }
    }
    arena_work(arena, steps);
    while (is_star(pattern, p))
        p++;
    return t == text.length && p == pattern.length;
}

static bool part_matches(struct filter_text part, struct str text, struct arena *arena)
{
    uint64_t steps = text.length;
    bool is_found = false;
    for (size_t at = 0; !is_found && at + part.length <= text.length; at++) {
        size_t same = 0;
        while (same < part.length && same_letter(part.data[same], text.data[at + same]))
            same++;
        steps += same;
        is_found = same == part.length;
    }
    arena_work(arena, steps);
    return is_found;
}

static char as_word(char c) { return c == '_' || c == '-' ? ' ' : (char)tolower((unsigned char)c); }

/* "saved activation" is "saved_activation" too. */
static bool is_same_word(struct filter_text word, struct str text)
{
    bool is_same = word.length == text.length;
    for (size_t i = 0; is_same && i < word.length; i++)
        is_same = as_word(word.data[i]) == as_word(text.data[i]);
    return is_same;
}

/* ---- shapes ---- */

static bool is_rest(struct filter_text dimension)
{
    return dimension.length == 3 && memcmp(dimension.data, "...", 3) == 0;
}

/* The dimension at the begin of `text`, which ends at its comma. */
static struct str dimension_at(struct str text)
{
    const char *comma = text.length > 0 ? memchr(text.data, ',', text.length) : NULL;
    return (struct str){text.data, comma != NULL ? (size_t)(comma - text.data) : text.length};
}

static struct str filter_behind(struct str text, size_t length)
{
    return length < text.length ? (struct str){text.data + length + 1, text.length - length - 1} : (struct str){"", 0};
}

/* "8,2048" against the asked dimensions; as a glob over them, "..." being its star. */
static bool dimensions_match(const struct filter_choice *choice, struct str text, struct arena *arena)
{
    size_t at = 0, rest = SIZE_MAX;
    struct str mark = text;
    bool is_end = text.length == 0, mark_is_end = is_end;
    while (!is_end) {
        struct str own = dimension_at(text), plain = own;
        if (own.length > 2 && own.data[0] == '<' && own.data[1] == '=') /* of dynamic size */
            plain = (struct str){own.data + 2, own.length - 2};
        if (at < choice->dimension_count && is_rest(choice->dimensions[at])) {
            rest = at++;
            mark = text;
            mark_is_end = is_end;
        } else if (at < choice->dimension_count && glob_matches(choice->dimensions[at], plain, arena)) {
            at++;
            is_end = own.length == text.length;
            text = filter_behind(text, own.length);
        } else if (rest != SIZE_MAX && !mark_is_end) {
            struct str skipped = dimension_at(mark);
            mark_is_end = skipped.length == mark.length;
            mark = filter_behind(mark, skipped.length);
            at = rest + 1;
            text = mark;
            is_end = mark_is_end;
        } else {
            return false;
        }
    }
    while (at < choice->dimension_count && is_rest(choice->dimensions[at]))
        at++;
    return at == choice->dimension_count;
}

/* Any array of the shape: "(f32[8], s32[])" has two. */
static bool shape_matches(const struct filter_choice *choice, struct str text, struct arena *arena)
{
    arena_work(arena, text.length);
    for (size_t open = 0; open < text.length; open++) {
        if (text.data[open] != '[')
            continue;
        size_t begin = open, close = open;
        while (begin > 0 && isalnum((unsigned char)text.data[begin - 1]))
            begin--;
        while (close < text.length && text.data[close] != ']')
            close++;
        struct str type = {text.data + begin, open - begin}, inner = {text.data + open + 1, close - open - 1};
        if ((choice->text.length == 0 || glob_matches(choice->text, type, arena)) &&
            dimensions_match(choice, inner, arena))
            return true;
        open = close;
    }
    return false;
}

/* ---- terms ---- */

/* One of "logits, padding"? */
static bool is_listed(const struct filter_choice *choice, struct str list)
{
    while (list.length > 0) {
        const char *end = memmem(list.data, list.length, ", ", 2);
        size_t length = end == NULL ? list.length : (size_t)(end - list.data), past = end == NULL ? length : length + 2;
        if (is_same_word(choice->text, (struct str){list.data, length}))
            return true;
        list = (struct str){list.data + past, list.length - past};
    }
    return false;
}

static bool choice_takes_text(const struct filter_choice *choice, struct str text, struct arena *arena)
{
    switch (choice->kind) {
    case FILTER_LISTED: return is_listed(choice, text);
    case FILTER_PART: return part_matches(choice->text, text, arena);
    case FILTER_WHOLE: return is_same_word(choice->text, text);
    case FILTER_GLOB: return glob_matches(choice->text, text, arena);
    case FILTER_REGEX: return regex_matches(choice->regex, text);
    case FILTER_DIMENSIONS: return shape_matches(choice, text, arena);
    case FILTER_RANGE: break;
    }
    return false;
}

static bool takes_text(const struct filter_term *term, struct str text, struct arena *arena)
{
    for (size_t i = 0; i < term->choice_count; i++)
        if (choice_takes_text(&term->choices[i], text, arena))
            return true;
    return false;
}

static bool is_in_range(const struct filter_choice *choice, double value)
{
    return (choice->low_is_open ? value > choice->low : value >= choice->low) &&
           (choice->high_is_open ? value < choice->high : value <= choice->high);
}

/* Is there a whole number both in the range and from `first` up to `end`, not included? */
static bool meets_range(const struct filter_choice *choice, double first, double end)
{
    double low = choice->low_is_open ? floor(choice->low) + 1 : ceil(choice->low);
    double high = choice->high_is_open ? ceil(choice->high) - 1 : floor(choice->high);
    return first <= high && low <= end - 1 && low <= high;
}

static bool takes_number(const struct filter *filter, const struct filter_term *term, uint32_t row)
{
    for (size_t i = 0; i < term->choice_count; i++) {
        const struct filter_choice *choice = &term->choices[i];
        const struct table_column *column = choice->column;
        double value, end;
        if (!table_number_of(column, filter->context, row, &value))
            continue;
        if (column->type == TABLE_SPAN
                ? table_number_of(column + 1, filter->context, row, &end) && meets_range(choice, value, end)
                : is_in_range(choice, value))
            return true;
    }
    return false;
}

static bool term_matches(const struct filter *filter, const struct filter_term *term, uint32_t row)
{
    const struct table_column *column = term->column != NULL ? term->column : filter->columns;
    if (term->choices[0].kind == FILTER_RANGE)
        return takes_number(filter, term, row);
    for (; column->name != NULL; column++) {
        bool is_asked = column == term->column || (term->column == NULL && column->is_searched);
        if (is_asked && takes_text(term, table_text_of(column, filter->context, row), filter->arena))
            return true;
        if (is_asked && column->word != NULL &&
            takes_text(term, column->word(filter->context, row).text, filter->arena))
            return true;
        if (column == term->column)
            return false;
    }
    return false;
}

bool filter_matches(const struct filter *filter, uint32_t row)
{
    for (size_t i = 0; i < filter->term_count; i++)
        if (term_matches(filter, &filter->terms[i], row) == filter->terms[i].is_negated)
            return false;
    return true;
}
