/* SPDX-License-Identifier: Apache-2.0
 * filter_read.c: the text of a filter as terms; see filter.h. */
#include "base/nearest.h"
#include "views/filter_terms.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

struct reader {
    const char *text, *at;
    const struct table_column *columns;
    struct arena *arena;
    struct err *err;
};

/* ---- words ---- */

static struct filter_text part_of(struct filter_text text, size_t from, size_t length)
{
    return (struct filter_text){text.data + from, text.marks + from, text.places + from, length};
}

static bool is_plain(struct filter_text text, size_t at, char c)
{
    return at < text.length && text.marks[at] == FILTER_PLAIN && text.data[at] == c;
}

/* Place of the first such character typed as it is, or SIZE_MAX. */
static size_t find_plain(struct filter_text text, char c)
{
    for (size_t at = 0; at < text.length; at++)
        if (is_plain(text, at, c))
            return at;
    return SIZE_MAX;
}

static bool filter_read_refuse(const struct reader *reader, struct filter_text text, const char *why)
{
    size_t shown = text.length > 40 ? 40 : text.length;
    return err_set(reader->err, ERR_argument, text.length > 0 ? text.places[0] : strlen(reader->text),
                   "filter: \"%.*s\" %s", (int)shown, text.data, why);
}

/* The slash that ends the expression which begins at `at`, or NULL: "/usr/lib" is a path. */
static const char *expression_end(const char *at)
{
    const char *end = at + 1;
    while (*end != '\0' && *end != '/')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    bool is_closed = *end == '/' && end > at + 1 && (end[1] == '\0' || end[1] == ',' || isspace((unsigned char)end[1]));
    return is_closed ? end : NULL;
}

struct word {
    char *data;
    uint8_t *marks;
    uint32_t *places;
    size_t length;
};

static void word_add(struct word *word, const struct reader *reader, const char *from, enum filter_mark mark)
{
    word->data[word->length] = *from;
    word->marks[word->length] = (uint8_t)mark;
    word->places[word->length++] = (uint32_t)(from - reader->text);
}

/* May an expression begin here: at the begin of a word, behind its sign, its colon, a comma. */
static bool begins_choice(const struct word *word)
{
    return word->length == 0 || (word->marks[word->length - 1] == FILTER_PLAIN &&
                                 strchr(word->length == 1 ? "-:," : ":,", word->data[word->length - 1]) != NULL);
}

/* The next word without its quotes, which may leave it empty; false at the end. */
static bool next_word(struct reader *reader, struct filter_text *out)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
    if (*reader->at == '\0')
        return false;
    size_t room = strlen(reader->at) + 1;
    struct word word = {arena_raw(reader->arena, room), arena_raw(reader->arena, room),
                        arena_array(reader->arena, uint32_t, room), 0};
    bool is_quoted = false;
    for (; *reader->at != '\0' && (is_quoted || !isspace((unsigned char)*reader->at)); reader->at++) {
        const char *end = !is_quoted && *reader->at == '/' && begins_choice(&word) ? expression_end(reader->at) : NULL;
        for (; end != NULL && reader->at < end; reader->at++)
            word_add(&word, reader, reader->at, FILTER_EXPRESSION);
        if (end != NULL)
            word_add(&word, reader, reader->at, FILTER_EXPRESSION);
        else if (*reader->at == '"')
            is_quoted = !is_quoted;
        else
            word_add(&word, reader, reader->at, is_quoted ? FILTER_QUOTED : FILTER_PLAIN);
    }
    *out = (struct filter_text){word.data, word.marks, word.places, word.length};
    return true;
}

/* ---- fields ---- */

static bool column_find(const struct reader *reader, struct filter_text typed, const struct table_column **column)
{
    struct str name = {typed.data, typed.length}, best = {"", 0};
    size_t best_distance = SIZE_MAX;
    *column = table_column_find(reader->columns, name);
    for (const struct table_column *at = reader->columns; *column == NULL && at->name != NULL; at++) {
        struct str known = str_of(at->name);
        const char *aliases = at->aliases;
        bool is_typed = known.length > 0 && known.data[known.length - 1] != '%';
        do {
            size_t distance = is_typed ? nearest_name_distance(name, known) : SIZE_MAX;
            if (distance < best_distance) {
                best = known;
                best_distance = distance;
            }
        } while (table_word_next(&aliases, &known));
    }
    return *column != NULL ||
           err_set(reader->err, ERR_argument, typed.places[0], "filter: unknown field \"%.*s\". Did you mean %.*s?",
                   name.length > 40 ? 40 : (int)name.length, name.data, (int)best.length, best.data);
}

/* Letters before a colon name a field; "model.py:41" is a word. */
static size_t field_length(struct filter_text word)
{
    size_t colon = find_plain(word, ':');
    for (size_t at = 0; colon != SIZE_MAX && at < colon; at++)
        if (word.marks[at] != FILTER_PLAIN || !(isalpha((unsigned char)word.data[at]) || word.data[at] == '_'))
            return SIZE_MAX;
    return colon == 0 ? SIZE_MAX : colon;
}

/* ---- numbers ---- */

/* "64MiB", "1.5g", "10%": digits only, since strtod knows more numbers than people type. */
static bool number_read(struct str text, double *value, bool *is_share)
{
    static const char units[] = "kmgtp";
    char digits[64];
    size_t length = 0, at;
    while (length < text.length && length + 1 < sizeof(digits) && strchr("0123456789.", text.data[length]) != NULL &&
           text.data[length] != '\0') {
        digits[length] = text.data[length];
        length++;
    }
    digits[length] = '\0';
    char *end;
    *value = strtod(digits, &end);
    if (length == 0 || *end != '\0' || end == digits)
        return false;
    at = length;
    *is_share = at < text.length && text.data[at] == '%';
    if (*is_share)
        return at + 1 == text.length;
    const char *unit = at < text.length ? strchr(units, tolower((unsigned char)text.data[at])) : NULL;
    if (unit != NULL && *unit != '\0') {
        for (const char *power = units; power <= unit; power++)
            *value *= 1024;
        at++;
        at += at < text.length && tolower((unsigned char)text.data[at]) == 'i';
    }
    at += at < text.length && tolower((unsigned char)text.data[at]) == 'b';
    return at == text.length;
}

static size_t dots_find(struct str text)
{
    for (size_t at = 1; at + 1 < text.length; at++)
        if (text.data[at] == '.' && text.data[at + 1] == '.')
            return at;
    return SIZE_MAX;
}

/* Reads ">=5", "<3", "2..5" or "7"; false for another form. */
static bool range_read(struct str text, struct filter_choice *choice, bool *is_share)
{
    size_t dots = dots_find(text);
    if (dots != SIZE_MAX) {
        bool is_other = false;
        return number_read((struct str){text.data, dots}, &choice->low, is_share) &&
               number_read((struct str){text.data + dots + 2, text.length - dots - 2}, &choice->high, &is_other) &&
               *is_share == is_other;
    }
    char sign = text.length > 0 ? text.data[0] : '\0';
    bool has_sign = sign == '<' || sign == '>' || sign == '=';
    bool or_equal = has_sign && sign != '=' && text.length > 1 && text.data[1] == '=';
    size_t skip = (size_t)has_sign + or_equal;
    double value;
    if (!number_read((struct str){text.data + skip, text.length - skip}, &value, is_share))
        return false;
    choice->low = sign == '<' ? -INFINITY : value;
    choice->high = sign == '>' ? INFINITY : value;
    choice->low_is_open = sign == '>' && !or_equal;
    choice->high_is_open = sign == '<' && !or_equal;
    return true;
}

/* The column whose name is that of `column` and a `%`, or NULL. */
static const struct table_column *share_of(const struct table_column *columns, const struct table_column *column)
{
    struct str name = str_of(column->name);
    for (; columns->name != NULL; columns++) {
        struct str share = str_of(columns->name);
        if (share.length == name.length + 1 && share.data[name.length] == '%' && str_starts(share, name))
            return columns;
    }
    return NULL;
}

static bool number_choice(const struct reader *reader, const struct table_column *column, struct filter_text text,
                          struct filter_choice *choice)
{
    bool is_share = false;
    choice->kind = FILTER_RANGE;
    choice->column = column;
    if (!range_read((struct str){text.data, text.length}, choice, &is_share))
        return filter_read_refuse(reader, text, "is not a number, nor <N, >N or N..M");
    if (is_share)
        choice->column = share_of(reader->columns, column);
    return choice->column != NULL || filter_read_refuse(reader, text, "asks for a share of something that has none");
}

/* ---- texts and shapes ---- */

static bool expression_choice(const struct reader *reader, struct filter_text text, struct filter_choice *choice)
{
    struct regex_fault fault = {0, ""};
    choice->kind = FILTER_REGEX;
    choice->regex = regex_read((struct str){text.data + 1, text.length - 2}, true, reader->arena, &fault);
    if (choice->regex != NULL)
        return true;
    return err_set(reader->err, ERR_argument, text.places[0] + 1 + fault.at,
                   "filter: the expression %.*s is broken: %s", text.length > 60 ? 60 : (int)text.length, text.data,
                   fault.text);
}

/* "bf16[16,*]": the element type, which may be missing, and the dimensions. */
static bool shape_choice(const struct reader *reader, struct filter_text text, size_t open,
                         struct filter_choice *choice)
{
    size_t close = find_plain(text, ']');
    if (close == SIZE_MAX || close < open || close + 1 != text.length)
        return filter_read_refuse(reader, text, "is no shape: write type[8,*] or [8,*]");
    choice->kind = FILTER_DIMENSIONS;
    choice->text = part_of(text, 0, open);
    choice->dimensions = arena_array(reader->arena, struct filter_text, text.length + 1);
    for (size_t begin = open + 1, at = begin; at <= close; at++) {
        if (at < close && !is_plain(text, at, ','))
            continue;
        if (at > begin || at < close || choice->dimension_count > 0)
            choice->dimensions[choice->dimension_count++] = part_of(text, begin, at - begin);
        begin = at + 1;
    }
    return true;
}

static bool text_choice(const struct reader *reader, const struct table_column *column, struct filter_text text,
                        struct filter_choice *choice)
{
    bool is_shape = column != NULL && column->type == TABLE_SHAPE;
    size_t open = is_shape ? find_plain(text, '[') : SIZE_MAX;
    choice->text = text;
    if (text.marks[0] == FILTER_EXPRESSION)
        return expression_choice(reader, text, choice);
    if (open != SIZE_MAX)
        return shape_choice(reader, text, open, choice);
    bool is_whole =
        column != NULL && column->is_value != NULL && column->is_value((struct str){text.data, text.length});
    choice->kind = is_whole                            ? (column->is_list ? FILTER_LISTED : FILTER_WHOLE)
                   : find_plain(text, '*') == SIZE_MAX ? FILTER_PART
                                                       : FILTER_GLOB;
    return true;
}

/* ---- terms ---- */

static bool choice_read(const struct reader *reader, struct filter_text text, struct filter_term *term)
{
    struct filter_choice *choice = &term->choices[term->choice_count++];
    const struct table_column *column = term->column;
    bool is_number = column != NULL && (column->type == TABLE_NUMBER || column->type == TABLE_SPAN);
    return is_number ? number_choice(reader, column, text, choice) : text_choice(reader, column, text, choice);
}

/* Commas inside brackets belong to the text: shape:[*,2048]. */
static bool choices_read(const struct reader *reader, struct filter_text text, struct filter_term *term)
{
    term->choices = arena_array(reader->arena, struct filter_choice, text.length + 1);
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= text.length; i++) {
        bool is_free = i < text.length && text.marks[i] == FILTER_PLAIN;
        char c = is_free ? text.data[i] : ' ';
        depth += (c == '[' || c == '(' || c == '{') - (c == ']' || c == ')' || c == '}');
        if (i < text.length && (c != ',' || depth > 0))
            continue;
        if (i > begin && !choice_read(reader, part_of(text, begin, i - begin), term))
            return false;
        begin = i + 1;
    }
    return true;
}

static const struct table_column *main_number(const struct table_column *columns)
{
    while (columns->name != NULL && !columns->is_main)
        columns++;
    return columns->name != NULL ? columns : NULL;
}

static bool term_read(const struct reader *reader, struct filter_text word, struct filter_term *term)
{
    *term = (struct filter_term){.column = NULL};
    struct filter_text whole = word;
    if (word.length > 1 && is_plain(word, 0, '-')) {
        term->is_negated = true;
        word = part_of(word, 1, word.length - 1);
    }
    size_t name_length = field_length(word);
    if (is_plain(word, 0, '<') || is_plain(word, 0, '>')) {
        term->column = main_number(reader->columns);
    } else if (name_length != SIZE_MAX) {
        if (!column_find(reader, part_of(word, 0, name_length), &term->column))
            return false;
        word = part_of(word, name_length + 1, word.length - name_length - 1);
    }
    if (!choices_read(reader, word, term))
        return false;
    return term->choice_count > 0 || filter_read_refuse(reader, whole, "asks for nothing");
}

bool filter_read(const char *text, const struct table_column *columns, const void *context, struct arena *arena,
                 struct filter *out, struct err *err)
{
    struct reader reader = {text, text, columns, arena, err};
    *out = (struct filter){columns, context, arena, arena_array(arena, struct filter_term, FILTER_TERMS_MAX), 0};
    if (strlen(text) > FILTER_LENGTH_MAX)
        return err_set(err, ERR_argument, FILTER_LENGTH_MAX, "filter: longer than %d characters", FILTER_LENGTH_MAX);
    for (struct filter_text word; next_word(&reader, &word);) {
        if (word.length == 0) /* "" asks for nothing */
            continue;
        if (out->term_count == FILTER_TERMS_MAX)
            return err_set(err, ERR_argument, word.places[0], "filter: more than %d terms", FILTER_TERMS_MAX);
        if (!term_read(&reader, word, &out->terms[out->term_count]))
            return false;
        out->term_count++;
    }
    return true;
}
