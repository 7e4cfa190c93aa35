/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/json_read.h"

#include "read/torch/pickle_stack.h"

#include <stdlib.h>

/* Things of an array or object that wait on the stack until they are put into it. */
enum { MAX_WAITING = 2000, MAX_NUMBER_BYTES = 400 };

struct json_reading {
    struct pickle *pickle;
    char *text; /* with escapes, or longer than the window */
    size_t text_length, text_capacity;
    bool is_long; /* longer than a text may be: what it says is not kept */
};

/* ---- bytes ---- */

static _Noreturn void json_read_refuse(struct pickle *pickle, enum err_code code, const char *what)
{
    pickle->opcode_at = pickle->window_at + pickle->at;
    pickle_store_refuse(pickle, code, what);
}

static _Noreturn void refuse_end(struct pickle *pickle)
{
    json_read_refuse(pickle, ERR_truncated, "it ends inside a value");
}

/* The next byte, which stays there; -1 at the end. */
static int peek(struct pickle *pickle)
{
    if (pickle->at == pickle->filled)
        pickle_stack_fill(pickle, 1);
    return pickle->at == pickle->filled ? -1 : pickle->window[pickle->at];
}

static int peek_behind_blanks(struct pickle *pickle)
{
    int byte = peek(pickle);
    while (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') {
        pickle->at++;
        byte = peek(pickle);
    }
    return byte;
}

static bool skip_word(struct pickle *pickle, const char *word)
{
    size_t length = strlen(word);
    pickle_stack_fill(pickle, length);
    if (pickle->filled - pickle->at < length || memcmp(pickle->window + pickle->at, word, length) != 0)
        return false;
    pickle->at += length;
    return true;
}

/* ---- texts ---- */

static void text_add(struct json_reading *reading, const void *bytes, size_t length)
{
    size_t needed = reading->text_length + length;
    reading->is_long |= needed > PICKLE_MAX_TEXT_BYTES;
    if (reading->is_long)
        return;
    reading->text = arena_grown(reading->pickle->arena, reading->text, needed, &reading->text_capacity, 1);
    memcpy(reading->text + reading->text_length, bytes, length);
    reading->text_length = needed;
}

static unsigned hex_read(struct pickle *pickle)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = peek(pickle);
        bool is_letter = (digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F');
        if (digit < 0)
            refuse_end(pickle);
        if (!is_letter && (digit < '0' || digit > '9'))
            json_read_refuse(pickle, ERR_malformed, "an escape needs four hexadecimal digits");
        value = value << 4 | (unsigned)(is_letter ? (digit & 15) + 9 : digit & 15);
        pickle->at++;
    }
    return value;
}

static void letter_add(struct json_reading *reading, unsigned code)
{
    unsigned char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length; i-- > 1; code >>= 6)
        bytes[i] = (unsigned char)(0x80 | (code & 0x3F));
    bytes[0] = (unsigned char)(heads[length] | code);
    text_add(reading, bytes, length);
}

/* Behind "\u": one letter, of two of them where they are a pair. */
static void surrogates_read(struct json_reading *reading)
{
    unsigned code = hex_read(reading->pickle);
    while (code >= 0xD800 && code < 0xDC00 && skip_word(reading->pickle, "\\u")) {
        unsigned second = hex_read(reading->pickle);
        bool is_pair = second >= 0xDC00 && second < 0xE000;
        letter_add(reading, is_pair ? 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00) : 0xFFFD);
        if (is_pair)
            return;
        code = second;
    }
    letter_add(reading, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
}

static void escape_read(struct json_reading *reading)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    struct pickle *pickle = reading->pickle;
    pickle->at++;
    int byte = peek(pickle);
    if (byte < 0)
        refuse_end(pickle);
    const char *found = byte == 0 ? NULL : strchr(letters, byte);
    if (found == NULL && byte != 'u')
        json_read_refuse(pickle, ERR_malformed, "a backslash before what is no escape");
    pickle->at++;
    if (found != NULL)
        text_add(reading, &meant[found - letters], 1);
    else
        surrogates_read(reading);
}

/* How many bytes of the window from `at` on are letters of a text. */
static size_t run_length(const struct pickle *pickle)
{
    const unsigned char *from = pickle->window + pickle->at, *end = pickle->window + pickle->filled, *byte = from;
    while (byte < end && *byte >= 0x20 && *byte != '"' && *byte != '\\')
        byte++;
    return (size_t)(byte - from);
}

/* A text that is not in the window as it is: piece by piece. */
static void long_text_read(struct json_reading *reading)
{
    struct pickle *pickle = reading->pickle;
    reading->text_length = 0;
    reading->is_long = false;
    for (int byte; (byte = peek(pickle)) != '"';) {
        size_t length = run_length(pickle);
        if (byte < 0)
            refuse_end(pickle);
        if (length > 0) {
            text_add(reading, pickle->window + pickle->at, length);
            pickle->at += length;
        } else if (byte == '\\') {
            escape_read(reading);
        } else {
            json_read_refuse(pickle, ERR_malformed, "a text contains a control character");
        }
        arena_work(pickle->arena, length / 16 + 1);
    }
    pickle->at++;
    if (reading->is_long)
        pickle_stack_push(pickle, pickle_store_value(TAG_BYTES, 0));
    else
        pickle_stack_push_text(pickle, (struct str){reading->text, reading->text_length});
}

static void text_read(struct json_reading *reading)
{
    struct pickle *pickle = reading->pickle;
    pickle->at++;
    size_t length = run_length(pickle);
    if (pickle->at + length == pickle->filled) {
        pickle_stack_fill(pickle, PICKLE_WINDOW_BYTES / 2);
        length = run_length(pickle);
    }
    arena_work(pickle->arena, length / 16 + 1);
    const unsigned char *from = pickle->window + pickle->at;
    if (pickle->at + length == pickle->filled || from[length] != '"') {
        long_text_read(reading);
        return;
    }
    pickle->at += length + 1;
    pickle_stack_push_text(pickle, (struct str){(const char *)from, length});
}

/* ---- numbers and words ---- */

static size_t digits(const char *text, size_t at)
{
    size_t begin = at;
    while (text[at] >= '0' && text[at] <= '9')
        at++;
    return at - begin;
}

/* Length of the number that `text` begins with, 0 for none; without a zero before other digits. */
static size_t number_length(const char *text, bool *is_whole)
{
    size_t at = text[0] == '-', whole = digits(text, at);
    if (whole == 0 || (whole > 1 && text[at] == '0'))
        return 0;
    at += whole;
    *is_whole = true;
    if (text[at] == '.') {
        size_t part = digits(text, at + 1);
        if (part == 0)
            return 0;
        at += 1 + part;
        *is_whole = false;
    }
    if (text[at] == 'e' || text[at] == 'E') {
        size_t sign = text[at + 1] == '+' || text[at + 1] == '-', part = digits(text, at + 1 + sign);
        if (part == 0)
            return 0;
        at += 1 + sign + part;
        *is_whole = false;
    }
    return at;
}

/* False: it does not fit in 64 bits. */
static bool whole_read(const char *text, size_t length, int64_t *value)
{
    bool is_negative = text[0] == '-';
    uint64_t sum = 0;
    for (size_t i = is_negative; i < length; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (sum > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = is_negative ? -(int64_t)sum : (int64_t)sum;
    return true;
}

static bool is_of_number(unsigned char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* What it says does not fit in any number here. */
static void long_number_skip(struct pickle *pickle)
{
    for (int byte = peek(pickle); byte >= 0 && is_of_number((unsigned char)byte); byte = peek(pickle)) {
        pickle->at++;
        arena_work(pickle->arena, 1);
    }
    pickle_stack_push_real(pickle, strtod("nan", NULL));
}

static void number_read(struct pickle *pickle)
{
    char text[MAX_NUMBER_BYTES + 1];
    size_t length = 0;
    bool is_whole = false;
    int64_t whole;
    pickle_stack_fill(pickle, MAX_NUMBER_BYTES);
    const unsigned char *from = pickle->window + pickle->at;
    for (; length < MAX_NUMBER_BYTES && length < pickle->filled - pickle->at; length++) {
        unsigned char c = from[length];
        if (!is_of_number(c))
            break;
        text[length] = (char)c;
    }
    text[length] = '\0';
    if (length == MAX_NUMBER_BYTES) {
        long_number_skip(pickle);
        return;
    }
    if (length == pickle->filled - pickle->at && pickle->mark_count > 0)
        refuse_end(pickle); /* it may have more digits */
    if (length == 0 || number_length(text, &is_whole) != length)
        json_read_refuse(pickle, ERR_malformed, "this is not a number");
    pickle->at += length;
    if (is_whole && whole_read(text, length, &whole))
        pickle_stack_push_int(pickle, whole);
    else
        pickle_stack_push_real(pickle, strtod(text, NULL));
}

static bool word_read(struct pickle *pickle)
{
    if (skip_word(pickle, "true"))
        pickle_stack_push(pickle, pickle_store_value(TAG_ATOM, ATOM_TRUE));
    else if (skip_word(pickle, "false"))
        pickle_stack_push(pickle, pickle_store_value(TAG_ATOM, ATOM_FALSE));
    else if (skip_word(pickle, "null"))
        pickle_stack_push(pickle, pickle_store_value(TAG_ATOM, ATOM_NONE));
    else if (skip_word(pickle, "NaN"))
        pickle_stack_push_real(pickle, strtod("nan", NULL));
    else if (skip_word(pickle, "Infinity"))
        pickle_stack_push_real(pickle, strtod("inf", NULL));
    else if (skip_word(pickle, "-Infinity"))
        pickle_stack_push_real(pickle, strtod("-inf", NULL));
    else
        return false;
    return true;
}

/* Does the file end inside a word? */
static bool is_word_cut(struct pickle *pickle)
{
    static const char *const WORDS[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
    enum { LONGEST = 9 };
    bool is = false;
    pickle_stack_fill(pickle, LONGEST);
    size_t left = pickle->filled - pickle->at;
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]) && left < LONGEST; i++)
        is |= left < strlen(WORDS[i]) && memcmp(pickle->window + pickle->at, WORDS[i], left) == 0;
    return is;
}

/* ---- arrays and objects ---- */

/* The array or object whose things are above the last mark takes them in. */
static enum pickle_tag json_read_put(struct pickle *pickle)
{
    size_t from = pickle_stack_unmark(pickle);
    enum pickle_tag tag = pickle_store_tag(pickle->stack[from - 1]);
    if (tag == TAG_LIST)
        pickle_stack_append(pickle, from);
    else
        pickle_stack_set_items(pickle, from);
    return tag;
}

static bool is_object(const struct pickle *pickle)
{
    return pickle_store_tag(pickle->stack[pickle->marks[pickle->mark_count - 1] - 1]) == TAG_DICT;
}

static void json_read_begin(struct pickle *pickle, enum pickle_tag tag)
{
    pickle->at++;
    pickle_stack_push(pickle, pickle_store_new(pickle, tag));
    pickle_stack_mark(pickle);
}

static void key_read(struct json_reading *reading)
{
    struct pickle *pickle = reading->pickle;
    int byte = peek_behind_blanks(pickle);
    if (byte != '"' && byte >= 0)
        json_read_refuse(pickle, ERR_malformed, "a key in quotation marks has to stand here");
    if (byte < 0)
        refuse_end(pickle);
    text_read(reading);
    byte = peek_behind_blanks(pickle);
    if (byte < 0)
        refuse_end(pickle);
    if (byte != ':')
        json_read_refuse(pickle, ERR_malformed, "a colon has to stand here");
    pickle->at++;
}

/* A value, or the begin of one: true when it is complete. */
static bool value_read(struct json_reading *reading)
{
    struct pickle *pickle = reading->pickle;
    int byte = peek_behind_blanks(pickle);
    pickle->opcode_at = pickle->window_at + pickle->at;
    if (byte == '{' || byte == '[') {
        json_read_begin(pickle, byte == '{' ? TAG_DICT : TAG_LIST);
        int next = peek_behind_blanks(pickle);
        if (next == (byte == '{' ? '}' : ']')) {
            pickle->at++;
            json_read_put(pickle);
            return true;
        }
        if (byte == '{')
            key_read(reading);
        return false;
    }
    if (byte == '"')
        text_read(reading);
    else if (byte < 0)
        refuse_end(pickle);
    else if (is_word_cut(pickle))
        refuse_end(pickle);
    else if (!word_read(pickle))
        number_read(pickle);
    return true;
}

/* After a value: its container goes on, or ends and is then a value itself. False: everything is read. */
static bool go_on(struct json_reading *reading)
{
    struct pickle *pickle = reading->pickle;
    while (pickle->mark_count > 0) {
        int byte = peek_behind_blanks(pickle);
        bool has_keys = is_object(pickle);
        if (byte == ',') {
            pickle->at++;
            if (pickle->depth - pickle->marks[pickle->mark_count - 1] >= MAX_WAITING) {
                json_read_put(pickle);
                pickle_stack_mark(pickle);
            }
            if (has_keys)
                key_read(reading);
            return true;
        }
        if (byte < 0)
            refuse_end(pickle);
        if (byte != (has_keys ? '}' : ']'))
            json_read_refuse(pickle, ERR_malformed,
                             has_keys ? "a comma or } has to stand here" : "a comma or ] has to stand here");
        pickle->at++;
        json_read_put(pickle);
    }
    return false;
}

static void read_all(void *context)
{
    struct json_reading *reading = context;
    struct pickle *pickle = reading->pickle;
    skip_word(pickle, "\xEF\xBB\xBF");
    do {
        while (!value_read(reading))
            arena_work(pickle->arena, 1);
        arena_work(pickle->arena, 1);
    } while (go_on(reading));
    if (peek_behind_blanks(pickle) >= 0)
        json_read_refuse(pickle, ERR_malformed, "something follows what is complete");
}

/* Closes what is open where the file ends: what is complete of arrays and of the outermost object stays, other objects
 * are dropped. */
static void close_cut(struct pickle *pickle)
{
    while (pickle->mark_count > 0) {
        size_t from = pickle->marks[pickle->mark_count - 1];
        bool has_keys = is_object(pickle);
        if (has_keys && pickle->mark_count > 1) {
            pickle->mark_count--;
            pickle->depth = from - 1;
            continue;
        }
        pickle->depth -= has_keys && (pickle->depth - from) % 2 != 0; /* a key without a value */
        json_read_put(pickle);
    }
}

bool json_read(const struct source *source, pickle_take *take, void *context, struct arena *arena, struct pickle **out,
               struct pickle_value *root, bool *is_cut, struct err *err)
{
    const struct pickle from = {.source = source,
                                .arena = arena,
                                .err = err,
                                .take = take,
                                .context = context,
                                .word = "JSON",
                                .is_tree = true};
    struct json_reading *reading = arena_array(arena, struct json_reading, 1);
    struct pickle *pickle = reading->pickle = pickle_stack_new(&from);
    *out = pickle;
    if (is_cut == NULL) {
        read_all(reading);
    } else if (!arena_try(arena->parent != NULL ? arena->parent : arena, read_all, reading)) {
        *is_cut = err->code == ERR_truncated && pickle->depth > 0;
        if (!*is_cut)
            arena_give_up(arena);
        *err = (struct err)ERR_INIT;
        close_cut(pickle);
    }
    *root = pickle->stack[0];
    return true;
}
