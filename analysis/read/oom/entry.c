/* SPDX-License-Identifier: Apache-2.0
 * entry.c: see entry.h. An entry is a row of keys with values; which keys
 * there are, and whether a line of '=' ends it, differs between releases. */
#include "read/oom/entry.h"

#include "read/oom/cursor.h"
#include "read/oom/framework.h"

#include <ctype.h>

enum key { SIZE, OPERATOR, SHAPE, SUBSHAPE, UNPADDED, PADDING, LABEL, TYPE, TAG, END, STOP, NO_KEY };

static const struct {
    const char *text;
    enum key key;
} keys[] = {
    /* clang-format off */
    {"Size:", SIZE}, {"Operator:", OPERATOR}, {"EntryParameterSubshape:", SUBSHAPE}, {"Shape:", SHAPE},
    {"Unpaddedsize:", UNPADDED}, {"Extramemoryduetopadding:", PADDING}, {"XLAlabel:", LABEL}, {"XLALabel:", LABEL},
    {"Allocationtype:", TYPE}, {"Tag:", TAG}, {"=====", END}, {"-----", STOP},
    {"Largestprogram", STOP}, {"RESOURCE_EXHAUSTED", STOP}, {"Ranoutofmemory", STOP}, {"Outofmemory", STOP},
    {"Seehttp", STOP}, {"Traceback(most", STOP}, {"Noallocationsin", STOP}, {"[type.googleapis", STOP},
    {"Hint:", STOP}, {"BufferAssignment", STOP}, {"TPUcompilationfailed", STOP}, {"Program", STOP},
    /* clang-format on */
};

enum { BETWEEN = 400, LONGEST_VALUE = 32 << 10, LONGEST_LABEL = 1024, LONGEST_SHAPE = 8 << 10 };

/* The next key, at most `within` bytes on: *at moves to it, *behind just past it. */
static enum key key_find(const struct oom_text *text, size_t *at, size_t *behind, size_t within)
{
    for (size_t i = *at; i < text->length && i - *at <= within; i++) {
        char c = text->bytes[i];
        if (c != '=' && c != '-' && c != '[' && !(c >= 'A' && c <= 'X'))
            continue;
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            size_t end = i;
            if (keys[k].text[0] == c && oom_cursor_take(text, &end, keys[k].text)) {
                *at = i;
                *behind = end;
                return keys[k].key;
            }
        }
    }
    return NO_KEY;
}

/* The end of a value that ends at `to` where an entry begins: without "12." or "Buffer 12:". */
static size_t value_end(const struct oom_text *text, size_t from, size_t to)
{
    size_t end = to;
    if (end == from || (text->bytes[end - 1] != '.' && text->bytes[end - 1] != ':'))
        return to;
    bool is_numbered = text->bytes[--end] == '.';
    size_t digits = end;
    while (end > from && isdigit((unsigned char)text->bytes[end - 1]))
        end--;
    if (end == digits)
        return to;
    if (is_numbered)
        return end;
    return end >= from + 6 && memcmp(text->bytes + end - 6, "Buffer", 6) == 0 ? end - 6 : to;
}

/* The value from `at` to the next key; *is_cut when there is none. */
static size_t value_to(const struct oom_text *text, size_t at, bool *is_cut)
{
    size_t end = at, behind;
    enum key key = key_find(text, &end, &behind, LONGEST_VALUE);
    *is_cut = key == NO_KEY;
    if (key == NO_KEY)
        return at + LONGEST_LABEL < text->length ? at + LONGEST_LABEL : text->length;
    return key == SIZE ? value_end(text, at, end) : end;
}

bool oom_entry_take_shape(const struct oom_text *text, size_t *at, size_t *from)
{
    size_t end = *at, depth = 0;
    bool has_bracket = false;
    for (; end < text->length && end - *at < LONGEST_SHAPE; end++) {
        char c = text->bytes[end];
        depth += c == '(' || c == '[' || c == '{';
        if (c == ')' || c == ']' || c == '}') {
            if (depth == 0)
                return false;
            depth--;
        }
        has_bracket |= c == ']';
        if (depth > 0 || !has_bracket || (c == ']' && end + 1 < text->length && text->bytes[end + 1] == '{'))
            continue;
        *from = *at;
        *at = end + 1;
        return true;
    }
    return false;
}

/* ---- the operator ---- */

static void attribute_set(struct oom_reader *reader, struct oom_buffer *buffer, struct str name, size_t from, size_t to)
{
    struct oom_failure *failure = &reader->draft.failure;
    if (str_equal(name, STR("op_name")))
        oom_draft_name(reader, &buffer->op_name, from, to);
    else if (str_equal(name, STR("source_file")))
        oom_draft_name(reader, &buffer->source_file, from, to);
    else if (str_equal(name, STR("op_type")))
        failure->framework =
            oom_framework_of_type(failure->framework, (struct str){reader->text.bytes + from, to - from});
}

static void attribute_number(const struct oom_text *text, size_t *at, struct oom_buffer *buffer, struct str name)
{
    struct oom_figure number;
    if (!oom_cursor_take_number(text, at, &number))
        return;
    if (str_equal(name, STR("source_line")))
        buffer->source_line = number;
    else if (str_equal(name, STR("stack_frame_id")))
        buffer->stack_frame_id = number;
}

static size_t lower_word(const struct oom_text *text, size_t at)
{
    while (at < text->length && (islower((unsigned char)text->bytes[at]) || text->bytes[at] == '_'))
        at++;
    return at;
}

size_t oom_entry_operator(struct oom_reader *reader, size_t at, struct oom_buffer *buffer)
{
    const struct oom_text *text = &reader->text;
    for (;;) {
        size_t end = lower_word(text, at), from, to;
        struct str name = {text->bytes + at, end - at};
        if (end == at || !oom_cursor_take(text, &end, "="))
            return at;
        if (oom_cursor_take_quoted(text, &end, LONGEST_VALUE, &from, &to))
            attribute_set(reader, buffer, name, from, to);
        else if (end < text->length && text->bytes[end] == '{')
            end = oom_cursor_skip_to(text, &end, "}", BETWEEN) ? end + 1 : end + 1;
        else
            attribute_number(text, &end, buffer, name);
        at = end;
    }
}

/* ---- an entry ---- */

static size_t shape_set(struct oom_reader *reader, size_t at, struct oom_buffer *buffer)
{
    size_t from;
    if (oom_entry_take_shape(&reader->text, &at, &from))
        oom_draft_shape(reader, &buffer->shape, from, at);
    return at;
}

static size_t words_value(struct oom_reader *reader, size_t at, struct oom_words *words)
{
    bool is_cut;
    size_t to = value_to(&reader->text, at, &is_cut);
    oom_draft_words(reader, words, at, to - at > LONGEST_LABEL ? at + LONGEST_LABEL : to);
    if (is_cut && to == reader->text.length)
        oom_draft_note(reader, "cut", "The text ends inside a list of buffers; what came before is shown.");
    return to;
}

/* The kind of an allocation is at most a few words, so a cut end is told by its length. */
static size_t type_value(struct oom_reader *reader, size_t at, struct oom_words *words)
{
    enum { LONGEST_TYPE = 40 };
    bool is_cut;
    size_t to = value_to(&reader->text, at, &is_cut);
    if (is_cut || to - at > LONGEST_TYPE) {
        to = at;
        if (!oom_cursor_take(&reader->text, &to, "HLOtemp"))
            oom_cursor_take_word(&reader->text, &to, &at);
    }
    size_t hlo = at;
    oom_draft_words(reader, words, at, to);
    if (oom_cursor_take(&reader->text, &hlo, "HLOtemp") && hlo == to)
        words->text = STR("HLO temp");
    return to;
}

static size_t entry_value(struct oom_reader *reader, enum key key, size_t at, struct oom_buffer *buffer)
{
    const struct oom_text *text = &reader->text;
    switch (key) {
    case SIZE: oom_cursor_take_size(text, &at, &buffer->size); return at;
    case UNPADDED: oom_cursor_take_size(text, &at, &buffer->unpadded); return at;
    case PADDING: oom_cursor_take_size(text, &at, &buffer->padding); return at;
    case OPERATOR: return oom_entry_operator(reader, at, buffer);
    case SUBSHAPE:
        oom_draft_words(reader, &buffer->allocation_type, at - strlen("EntryParameterSubshape:"),
                        at - strlen("Subshape:"));
        return shape_set(reader, at, buffer);
    case SHAPE: return shape_set(reader, at, buffer);
    case LABEL: return words_value(reader, at, &buffer->label);
    case TAG:
        return words_value(reader, at, buffer->label.text.data == NULL ? &buffer->label : &(struct oom_words){.at = 0});
    case TYPE: return type_value(reader, at, &buffer->allocation_type);
    case END:
    case STOP:
    case NO_KEY: break;
    }
    return at;
}

static bool is_end_of_line(const struct oom_text *text, size_t *at)
{
    while (*at < text->length && text->bytes[*at] == '=')
        ++*at;
    return true;
}

/* Only a size so far: when another follows, copies of a report are mixed line by line. */
static bool has_size_only(const struct oom_buffer *buffer)
{
    return buffer->size.is_known && buffer->shape.text.data == NULL && buffer->label.text.data == NULL &&
           buffer->op_name.text.data == NULL && !buffer->unpadded.is_known;
}

size_t oom_entry_list(struct oom_reader *reader, size_t at, enum oom_list list)
{
    const struct oom_text *text = &reader->text;
    struct oom_buffer skipped = {.size = {.is_known = false}}, *buffer = NULL;
    bool is_read = reader->draft.failure.lists[list].count > 0;
    for (size_t behind, found = at;; found = at) {
        enum key key = key_find(text, &found, &behind, BETWEEN);
        if (key == NO_KEY || key == STOP)
            return at;
        at = behind;
        if (key == END && is_end_of_line(text, &at))
            buffer = NULL;
        if (key == END)
            continue;
        if (buffer == NULL || (key == SIZE && !has_size_only(buffer)))
            buffer = is_read ? &skipped : oom_draft_buffer(reader, list);
        at = entry_value(reader, key, at, buffer);
    }
}
