/* SPDX-License-Identifier: Apache-2.0
 * filter.c: see filter.h. */
#include "tool/filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum compare { COMPARE_TEXT, COMPARE_LESS, COMPARE_LESS_EQUAL, COMPARE_GREATER, COMPARE_GREATER_EQUAL, COMPARE_RANGE };
enum { ANY_FIELD = -1, TERMS_MOST = 64 };

struct filter_term {
    bool is_negated;
    int field; /* ANY_FIELD: all that are searched */
    enum compare compare;
    double low, high;
    struct str *choices; /* texts, any of which may match */
    size_t choice_count;
};

/* ---- reading ---- */

struct reader {
    const char *at;
    const struct filter_table *table;
    struct arena *arena;
    struct err *err;
};

/* The next term without its quotes, which may leave it empty; false at the end. */
static bool next_word(struct reader *reader, struct str *term)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
    if (*reader->at == '\0')
        return false;
    char *word = arena_raw(reader->arena, strlen(reader->at) + 1);
    size_t length = 0;
    bool is_quoted = false;
    for (; *reader->at != '\0' && (is_quoted || !isspace((unsigned char)*reader->at)); reader->at++) {
        if (*reader->at == '"')
            is_quoted = !is_quoted;
        else
            word[length++] = *reader->at;
    }
    word[length] = '\0';
    *term = (struct str){word, length};
    return true;
}

static size_t distance(const char *a, struct str b)
{
    size_t row[32], columns = b.length < 31 ? b.length : 31;
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t above = row[j], cost = diagonal + (a[i - 1] != b.data[j - 1]);
            size_t least = above + 1 < row[j - 1] + 1 ? above + 1 : row[j - 1] + 1;
            row[j] = least < cost ? least : cost;
            diagonal = above;
        }
    }
    return row[columns];
}

static bool field_find(struct reader *reader, struct str name, int *field)
{
    const struct filter_field *fields = reader->table->fields;
    size_t best = 0, best_distance = SIZE_MAX;
    for (size_t i = 0; fields[i].name != NULL; i++) {
        if (str_equal(str_of(fields[i].name), name)) {
            *field = (int)i;
            return true;
        }
        size_t now = distance(fields[i].name, name);
        if (now < best_distance) {
            best = i;
            best_distance = now;
        }
    }
    return err_set(reader->err, ERR_argument, ERR_NO_OFFSET, "filter: unknown field \"%.*s\". Did you mean %s?",
                   name.length > 40 ? 40 : (int)name.length, name.data, fields[best].name);
}

/* "64MiB", "1.5g": the value, or false. Digits only: strtod knows more numbers than people type. */
static bool number_read(struct str text, double *value)
{
    static const char units[] = "kmgtp";
    char *end;
    size_t digits = strspn(text.data, "0123456789.");
    if (digits == 0 || (text.data[digits] != '\0' && strchr("xXeE", text.data[digits]) != NULL))
        return false;
    *value = strtod(text.data, &end);
    if (end == text.data)
        return false;
    const char *unit = *end == '\0' ? NULL : strchr(units, tolower((unsigned char)*end));
    if (unit != NULL) {
        for (const char *power = units; power <= unit; power++)
            *value *= 1024;
        end++;
        if (tolower((unsigned char)*end) == 'i')
            end++;
    }
    if (tolower((unsigned char)*end) == 'b')
        end++;
    return end == text.data + text.length;
}

static struct str rest(struct str text, size_t from)
{
    return (struct str){text.data + from, text.length - from};
}

/* Reads ">=5", "<3", "2..5" or "7"; leaves what is none of these alone. */
static bool comparison_read(struct str text, struct filter_term *term)
{
    const char *dots = strstr(text.data, "..");
    if (dots != NULL && dots > text.data) {
        char low[64];
        size_t length = (size_t)(dots - text.data);
        if (length >= sizeof low)
            return false;
        memcpy(low, text.data, length);
        low[length] = '\0';
        term->compare = COMPARE_RANGE;
        return number_read((struct str){low, length}, &term->low) && number_read(rest(text, length + 2), &term->high);
    }
    size_t sign = text.length > 0 && (text.data[0] == '<' || text.data[0] == '>') ? 1 : 0;
    bool or_equal = sign == 1 && text.length > 1 && text.data[1] == '=';
    if (!number_read(rest(text, sign + or_equal), &term->low))
        return false;
    term->high = term->low;
    term->compare = sign == 0              ? COMPARE_RANGE
                    : text.data[0] == '<' ? (or_equal ? COMPARE_LESS_EQUAL : COMPARE_LESS)
                                          : (or_equal ? COMPARE_GREATER_EQUAL : COMPARE_GREATER);
    return true;
}

/* Commas inside brackets belong to the text: shape:[*,2048]. */
static void choices_read(struct reader *reader, struct str text, struct filter_term *term)
{
    term->choices = arena_array(reader->arena, struct str, text.length + 1);
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= text.length; i++) {
        char c = i < text.length ? text.data[i] : ',';
        depth += (c == '[' || c == '(' || c == '{') - (c == ']' || c == ')' || c == '}');
        if (c != ',' || (depth > 0 && i < text.length))
            continue;
        if (i > begin)
            term->choices[term->choice_count++] = (struct str){text.data + begin, i - begin};
        begin = i + 1;
    }
}

static bool term_read(struct reader *reader, struct str word, struct filter_term *term)
{
    *term = (struct filter_term){.field = ANY_FIELD};
    if (word.length > 1 && word.data[0] == '-') {
        term->is_negated = true;
        word = rest(word, 1);
    }
    if (word.data[0] == '<' || word.data[0] == '>') {
        for (int i = 0; term->field == ANY_FIELD && reader->table->fields[i].name != NULL; i++)
            if (reader->table->fields[i].kind == FILTER_NUMBER)
                term->field = i;
        if (!comparison_read(word, term))
            return err_set(reader->err, ERR_argument, ERR_NO_OFFSET, "filter: \"%.40s\" is not a size", word.data);
        return true;
    }
    const char *colon = memchr(word.data, ':', word.length);
    if (colon == NULL) {
        choices_read(reader, word, term);
        return true;
    }
    size_t name_length = (size_t)(colon - word.data);
    struct str value = rest(word, name_length + 1);
    if (!field_find(reader, (struct str){word.data, name_length}, &term->field))
        return false;
    if (reader->table->fields[term->field].kind != FILTER_NUMBER) {
        choices_read(reader, value, term);
        return true;
    }
    if (!comparison_read(value, term))
        return err_set(reader->err, ERR_argument, ERR_NO_OFFSET, "filter: \"%.40s\" is not a number, nor >N, <N or N..M", value.data);
    return true;
}

bool filter_read(const char *text, const struct filter_table *table, struct arena *arena, struct filter *out, struct err *err)
{
    struct reader reader = {text, table, arena, err};
    *out = (struct filter){table, arena_array(arena, struct filter_term, TERMS_MOST), 0};
    if (strlen(text) > 4096)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "filter: longer than 4096 characters");
    for (struct str word; next_word(&reader, &word);) {
        if (word.length == 0) /* "" asks for nothing */
            continue;
        if (out->term_count == TERMS_MOST)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "filter: more than %d terms", TERMS_MOST);
        if (!term_read(&reader, word, &out->terms[out->term_count]))
            return false;
        out->term_count++;
    }
    return true;
}

/* ---- matching ---- */

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The whole of `text` against a pattern with stars; linear in practice (one place to go back to). */
static bool glob_matches(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < text.length) {
        if (p < pattern.length && pattern.data[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.length && same_letter(pattern.data[p], text.data[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.length && pattern.data[p] == '*')
        p++;
    return p == pattern.length;
}

static bool part_matches(struct str part, struct str text)
{
    for (size_t at = 0; at + part.length <= text.length; at++) {
        size_t same = 0;
        while (same < part.length && same_letter(part.data[same], text.data[at + same]))
            same++;
        if (same == part.length)
            return true;
    }
    return false;
}

static bool text_matches(const struct filter_term *term, struct str text)
{
    for (size_t i = 0; i < term->choice_count; i++) {
        struct str choice = term->choices[i];
        bool has_star = memchr(choice.data, '*', choice.length) != NULL;
        if (has_star ? glob_matches(choice, text) : part_matches(choice, text))
            return true;
    }
    return false;
}

static bool number_matches(const struct filter_term *term, double value)
{
    switch (term->compare) {
    case COMPARE_LESS: return value < term->low;
    case COMPARE_LESS_EQUAL: return value <= term->low;
    case COMPARE_GREATER: return value > term->low;
    case COMPARE_GREATER_EQUAL: return value >= term->low;
    case COMPARE_RANGE: return value >= term->low && value <= term->high;
    case COMPARE_TEXT: break;
    }
    return false;
}

static bool term_matches(const struct filter_table *table, const struct filter_term *term, uint32_t row)
{
    double value;
    if (term->compare != COMPARE_TEXT)
        return term->field >= 0 && table->number(table->context, row, (size_t)term->field, &value) && number_matches(term, value);
    if (term->field != ANY_FIELD)
        return text_matches(term, table->text(table->context, row, (size_t)term->field));
    for (size_t i = 0; table->fields[i].name != NULL; i++)
        if (table->fields[i].is_searched && text_matches(term, table->text(table->context, row, i)))
            return true;
    return false;
}

bool filter_matches(const struct filter *filter, uint32_t row)
{
    for (size_t i = 0; i < filter->term_count; i++)
        if (term_matches(filter->table, &filter->terms[i], row) == filter->terms[i].is_negated)
            return false;
    return true;
}
