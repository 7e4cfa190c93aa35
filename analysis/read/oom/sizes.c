/* SPDX-License-Identifier: Apache-2.0
 * sizes.c: see sizes.h. A size is of what the word at its label says ("free: 3 GB"), else the word behind it
 * ("3 GB free"), else the word before it ("only 3 GB"). Of "3 GB of 8 GB" and "3/8 GB" the second is all that there is.
 * A size without a word is what was asked for, unless another says that it is. */
#include "read/oom/sizes.h"

#include "read/oom/cursor.h"

#include <ctype.h>
#include <string.h>

enum {
    MOST_SIZES = 8,
    LEAST_BYTES = 1024,
    LEAST_PLAIN_BYTES = 1 << 16, /* of a number without a unit */
    LINES_BEHIND = 6,
    LINES_BEFORE = 3,
    LONGEST_LINE = 300
};

static const struct size_word {
    const char *word;
    enum oom_figure_at figure;
    bool is_label, is_before, is_behind;
} size_words[] = {
#define SIZE_WORD(word, figure, is_label, is_before, is_behind)                                                        \
    {word, OOM_##figure##_bytes, is_label, is_before, is_behind},
#include "read/oom/sizes.def"
};
/* Before a word beside a size, and said of none. */
static const char *const fillers[] = {
#define FILLER(word) word,
#include "read/oom/sizes.def"
};
static const char *const of_memory[] = {
#define OF_MEMORY(word) word,
#include "read/oom/sizes.def"
};
static const char *const between[] = {
#define PAIR(word) word,
#include "read/oom/sizes.def"
};
static const char *const of_others[] = {
#define OF_OTHERS(word) word,
#include "read/oom/sizes.def"
};

#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

struct size {
    struct oom_figure figure;
    size_t at, end;
    enum oom_figure_at of; /* OOM_FIGURE_COUNT: no word says so */
};

struct sizes {
    struct size items[MOST_SIZES];
    size_t count;
};

static bool is_one_of(const struct oom_text *text, size_t at, const char *set)
{
    return at < text->length && text->bytes[at] != '\0' && strchr(set, text->bytes[at]) != NULL;
}

static bool is_word_at(const struct oom_text *text, size_t at, const char *word)
{
    return oom_cursor_take_folded(text, &at, word, "");
}

/* Does no letter of the same word stand before clean byte `at`? */
static bool is_word_begin(const struct oom_text *text, size_t at)
{
    return at == 0 || text->raw_of[at] > text->raw_of[at - 1] + 1 ||
           !(isalnum((unsigned char)text->bytes[at - 1]) && isalnum((unsigned char)text->bytes[at]));
}

static bool is_before(const struct oom_text *text, size_t from, size_t at, const char *word)
{
    size_t length = strlen(word);
    return at >= from + length && is_word_at(text, at - length, word) && is_word_begin(text, at - length);
}

static size_t before_fillers(const struct oom_text *text, size_t from, size_t at)
{
    for (size_t i = 0; i < COUNT(fillers); i++)
        if (is_before(text, from, at, fillers[i]))
            return before_fillers(text, from, at - strlen(fillers[i]));
    while (at > from && is_one_of(text, at - 1, "(["))
        at--;
    return at;
}

/* The longest word of its kind that ends at clean byte `at`. */
static const struct size_word *word_before(const struct oom_text *text, size_t from, size_t at, bool is_label)
{
    const struct size_word *best = NULL;
    for (size_t i = 0; i < COUNT(size_words); i++)
        if ((is_label ? size_words[i].is_label : size_words[i].is_before) &&
            is_before(text, from, at, size_words[i].word) &&
            (best == NULL || strlen(size_words[i].word) > strlen(best->word)))
            best = &size_words[i];
    return best;
}

/* "memory" and its like between a size and its word: "3 GB of memory free", "3 GB VRAM available". */
static size_t behind_memory(const struct oom_text *text, size_t at)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (size_t i = 0; i < COUNT(of_memory) && !goes_on; i++)
            if (is_word_at(text, at, of_memory[i]) && is_word_begin(text, at)) {
                at += strlen(of_memory[i]);
                goes_on = true;
            }
        while (is_one_of(text, at, "()[]"))
            at++;
    }
    return at;
}

static bool is_label_end(const struct oom_text *text, size_t at) { return is_one_of(text, at, ":="); }

/* Is the word that ends at clean byte `end` said of the size behind it: "free: 3 GB", "total 3 GB", "available memory
 * is 3 GB"? */
static bool is_of_next(const struct oom_text *text, size_t end, const struct size_word *word)
{
    return is_label_end(text, end) || is_word_at(text, end, "memory") ||
           (word->is_before && end < text->length && isdigit((unsigned char)text->bytes[end]));
}

/* The word behind a size, unless it is of the next. */
static const struct size_word *word_behind(const struct oom_text *text, size_t at, size_t to)
{
    const struct size_word *best = NULL;
    for (size_t i = 0; i < COUNT(size_words); i++) {
        size_t end = at + strlen(size_words[i].word);
        bool is_one =
            size_words[i].is_behind && end <= to && is_word_at(text, at, size_words[i].word) &&
            (end == to || !isalpha((unsigned char)text->bytes[end]) || text->raw_of[end] > text->raw_of[end - 1] + 1);
        if (is_one && !is_of_next(text, end, &size_words[i]) &&
            (best == NULL || strlen(size_words[i].word) > strlen(best->word)))
            best = &size_words[i];
    }
    return best;
}

static enum oom_figure_at figure_of(const struct oom_text *text, size_t from, size_t to, const struct size *size)
{
    size_t before = before_fillers(text, from, size->at), label = before;
    while (label > from && is_one_of(text, label - 1, ":=([\""))
        label--;
    const struct size_word *word =
        label < before && is_label_end(text, label) ? word_before(text, from, label, true) : NULL;
    size_t behind = size->end;
    while (is_one_of(text, behind, "()[]"))
        behind++;
    if (word == NULL)
        word = word_behind(text, behind, to);
    if (word == NULL)
        word = word_behind(text, behind_memory(text, behind), to);
    if (word == NULL)
        word = word_before(text, from, before, false);
    return word == NULL ? OOM_FIGURE_COUNT : word->figure;
}

/* "of 8 GB", "/ 8 GB", "out of 8 GB" between two sizes. */
static bool is_pair(const struct oom_text *text, const struct size *one, const struct size *two)
{
    for (size_t i = 0; i < COUNT(between); i++)
        if (one->end + strlen(between[i]) == two->at && is_word_at(text, one->end, between[i]))
            return true;
    return false;
}

/* What of "3 GB of 8 GB" a word behind the second says, it says of the first. */
static void pair_set(struct size *one, struct size *two)
{
    bool is_of_first = two->of == OOM_free_bytes || two->of == OOM_total_bytes;
    if (is_of_first && one->of == OOM_FIGURE_COUNT)
        one->of = two->of;
    else if (one->of == OOM_FIGURE_COUNT)
        one->of = OOM_total_bytes;
    if (is_of_first || two->of == OOM_FIGURE_COUNT)
        two->of = OOM_capacity_bytes;
}

/* Does a number begin at clean byte `at`, which is no part of a name, a date or an address? */
static bool is_number_begin(const struct oom_text *text, size_t at)
{
    if (!isdigit((unsigned char)text->bytes[at]))
        return false;
    if (at == 0 || text->raw_of[at] > text->raw_of[at - 1] + 1)
        return true;
    return !isalnum((unsigned char)text->bytes[at - 1]) && strchr("._-:/", text->bytes[at - 1]) == NULL;
}

/* "1.86/79.1 GiB": the first of two has its unit at the second. */
static bool shared_unit_take(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    size_t end = *at, next;
    struct oom_figure second;
    if (!oom_cursor_take_amount(text, &end, 'G', figure) || !is_one_of(text, end, "/"))
        return false;
    next = end + 1;
    size_t unit = next;
    if (!oom_cursor_take_size(text, &next, &second) || !second.is_known)
        return false;
    while (unit < next && !isalpha((unsigned char)text->bytes[unit]))
        unit++;
    const char letter = unit < next ? (char)toupper((unsigned char)text->bytes[unit]) : '\0';
    return (letter == 'K' || letter == 'M' || letter == 'G') && oom_cursor_take_amount(text, at, letter, figure) &&
           figure->is_known;
}

/* "size = 0xc0fb4000": of bytes, and of what was asked for. */
static bool hexadecimal_find(const struct oom_text *text, size_t from, size_t to, struct oom_figure *figure)
{
    size_t at = from;
    return oom_cursor_find(text, &at, "size=", to > from ? to - from : 0) && at < to &&
           oom_cursor_take_amount(text, &at, 'x', figure) && figure->is_known && at <= to &&
           figure->value >= LEAST_BYTES;
}

/* "size = 3221225472", "requested 4194304": of bytes, where a word says what it is. */
static bool plain_take(const struct oom_text *text, size_t from, size_t to, struct size *size)
{
    size->end = size->at;
    if (!oom_cursor_take_amount(text, &size->end, 'B', &size->figure) || !size->figure.is_known || size->end > to ||
        size->figure.value < LEAST_PLAIN_BYTES || is_one_of(text, size->end, "xX") ||
        memchr(text->bytes + size->at, '.', size->end - size->at) != NULL)
        return false;
    size_t before = size->at;
    while (before > from && is_one_of(text, before - 1, ":=("))
        before--;
    size->of = figure_of(text, from, to, size);
    if (size->of == OOM_FIGURE_COUNT &&
        (is_before(text, from, before, "size") || is_before(text, from, before, "bytes")))
        size->of = OOM_needed_bytes;
    return size->of != OOM_FIGURE_COUNT;
}

static void sizes_find(const struct oom_text *text, size_t from, size_t to, struct sizes *sizes)
{
    sizes->count = 0;
    for (size_t at = from; at < to && sizes->count < MOST_SIZES; at++) {
        struct size *size = &sizes->items[sizes->count];
        *size = (struct size){.at = at, .end = at, .of = OOM_FIGURE_COUNT};
        if (!is_number_begin(text, at) && !(sizes->count > 0 && at > from && text->bytes[at - 1] == '/' &&
                                            sizes->items[sizes->count - 1].end + 1 == at))
            continue;
        bool is_size = (shared_unit_take(text, &size->end, &size->figure) && size->end <= to) ||
                       ((size->end = at, oom_cursor_take_size(text, &size->end, &size->figure)) && size->end <= to &&
                        size->figure.is_known && size->figure.value >= LEAST_BYTES);
        if (is_size)
            size->of = figure_of(text, from, to, size);
        if (is_size || plain_take(text, from, to, size)) {
            sizes->count++;
            at = size->end - 1;
        }
    }
    for (size_t i = 1; i < sizes->count; i++)
        if (is_pair(text, &sizes->items[i - 1], &sizes->items[i]))
            pair_set(&sizes->items[i - 1], &sizes->items[i]);
}

/* Of each kind the first that a word tells. */
static void told_add(const struct sizes *sizes, struct oom_figure *figures)
{
    for (size_t i = 0; i < sizes->count; i++) {
        const struct size *size = &sizes->items[i];
        if (size->of < OOM_FIGURE_COUNT && !figures[size->of].is_known)
            figures[size->of] = size->figure;
    }
}

/* What no word tells is what was asked for, unless another size is. */
static void untold_add(const struct sizes *sizes, struct oom_figure *figures)
{
    for (size_t i = 0; i < sizes->count && !figures[OOM_needed_bytes].is_known; i++)
        if (sizes->items[i].of == OOM_FIGURE_COUNT)
            figures[OOM_needed_bytes] = sizes->items[i].figure;
}

/* ---- lines beside ---- */

/* The line of raw bytes [*begin, …) up to its end, as clean bytes; false where the text ends or it is too long. */
static bool line_at(const struct oom_text *text, size_t begin, size_t *end, size_t *from, size_t *to)
{
    *end = begin;
    while (*end < text->raw_length && text->raw[*end] != '\n')
        if (++*end - begin > LONGEST_LINE)
            return false;
    *from = oom_text_at(text, begin);
    *to = oom_text_at(text, *end);
    return *to > *from;
}

/* Does every size of a line have its word, and is it such a line at all? */
static bool is_told(const struct sizes *sizes)
{
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->items[i].of == OOM_FIGURE_COUNT)
            return false;
    return sizes->count > 0;
}

static size_t behind_read(const struct oom_text *text, size_t to, struct oom_figure *figures)
{
    struct sizes sizes;
    size_t begin = to < text->length ? text->raw_of[to - 1] : text->raw_length, end, from, last = to;
    while (begin < text->raw_length && text->raw[begin] != '\n')
        begin++;
    for (size_t i = 0; i < LINES_BEHIND && begin + 1 < text->raw_length; i++, begin = end) {
        while (begin + 1 < text->raw_length && isspace((unsigned char)text->raw[begin + 1]))
            begin++;
        if (!line_at(text, begin + 1, &end, &from, &to))
            break;
        sizes_find(text, from, to, &sizes);
        if (!is_told(&sizes))
            break;
        told_add(&sizes, figures);
        last = to;
    }
    return last;
}

/* Is a line before the sentence about the host or a disk? */
static bool is_of_other_memory(const struct oom_text *text, size_t begin, size_t end)
{
    for (size_t i = 0; i < COUNT(of_others); i++)
        if (memmem(text->raw + begin, end - begin, of_others[i], strlen(of_others[i])) != NULL)
            return true;
    return false;
}

static void before_read(const struct oom_text *text, size_t from, size_t lines, struct oom_figure *figures)
{
    struct sizes sizes;
    size_t begin = text->raw_of[from], end, line_from, to;
    for (size_t i = 0; i < lines && begin > 0; i++) {
        while (begin > 0 && text->raw[begin - 1] != '\n')
            begin--;
        while (begin > 0 && isspace((unsigned char)text->raw[begin - 1]))
            begin--;
        if (begin == 0)
            return;
        while (begin > 0 && text->raw[begin - 1] != '\n')
            begin--;
        if (!line_at(text, begin, &end, &line_from, &to))
            continue;
        sizes_find(text, line_from, to, &sizes);
        if (sizes.count > 0 && (!is_told(&sizes) || is_of_other_memory(text, begin, end)))
            return;
        told_add(&sizes, figures);
    }
}

size_t oom_sizes_read(const struct oom_text *text, size_t from, size_t to, struct oom_figure *figures)
{
    struct sizes sizes;
    if (hexadecimal_find(text, from, to, &figures[OOM_needed_bytes]) || to <= from)
        return to;
    sizes_find(text, from, to, &sizes);
    told_add(&sizes, figures);
    size_t last = behind_read(text, to, figures);
    untold_add(&sizes, figures);
    before_read(text, from, figures[OOM_needed_bytes].is_known ? 1 : LINES_BEFORE, figures);
    return last;
}

static void line_read(const struct oom_text *text, size_t from, size_t to, struct oom_figure *figures)
{
    struct sizes sizes;
    memset(figures, 0, OOM_FIGURE_COUNT * sizeof(*figures));
    sizes_find(text, from, to, &sizes);
    told_add(&sizes, figures);
    untold_add(&sizes, figures);
}

bool oom_sizes_ask(const struct oom_text *text, size_t from, size_t to)
{
    struct oom_figure figures[OOM_FIGURE_COUNT];
    line_read(text, from, to, figures);
    return figures[OOM_needed_bytes].is_known;
}

bool oom_sizes_exceed(const struct oom_text *text, size_t from, size_t to)
{
    struct oom_figure figures[OOM_FIGURE_COUNT];
    line_read(text, from, to, figures);
    const struct oom_figure *needed = &figures[OOM_needed_bytes], *left = &figures[OOM_free_bytes],
                            *all = &figures[OOM_capacity_bytes];
    return needed->is_known &&
           ((left->is_known && needed->value > left->value) || (all->is_known && needed->value > all->value));
}
