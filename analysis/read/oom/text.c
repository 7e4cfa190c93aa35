/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/text.h"

#include "read/oom/prefix.h"

#include <ctype.h>

/* What a byte is before anything is known of its neighbours. */
enum { PLAIN, SPACE, LINE_END, ODD };

static int kind_of_byte(char c)
{
    if (c == '\n' || c == '\r')
        return LINE_END;
    if ((unsigned char)c <= ' ' && c != '\x1b')
        return SPACE;
    return c != '\0' && strchr("\x1b\\`&*|\x7f", c) != NULL ? ODD : (unsigned char)c >= 0xC2 ? ODD : PLAIN;
}

/* What stands at an odd place: `taken` bytes of raw that mean `byte`, or nothing (0). */
struct piece {
    size_t taken;
    char byte;
    bool is_line_end;
};

struct spelling {
    const char *text;
    char byte;
};

static bool spelled(struct str raw, const struct spelling *spellings, size_t count, struct piece *piece)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts(raw, str_of(spellings[i].text))) {
            *piece = (struct piece){strlen(spellings[i].text), spellings[i].byte, false};
            return true;
        }
    return false;
}

/* Entities of HTML, quotes and spaces that editors put in, and Markdown's bold. */
static bool is_foreign(struct str raw, struct piece *piece)
{
    /* clang-format off */
    static const struct spelling spellings[] = {
        {"&gt;", '>'}, {"&lt;", '<'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#34;", '"'}, {"&#39;", '\''},
        {"&#x27;", '\''},
        {"&nbsp;", 0}, {"**", 0}, {"`", 0}, {"\x7f", 0}, {"\xC2\xA0", 0}, {"\xE2\x80\x8B", 0}, {"\xEF\xBB\xBF", 0},
        {"\xE2\x80\x9C", '"'}, {"\xE2\x80\x9D", '"'}, {"\xE2\x80\x98", '\''}, {"\xE2\x80\x99", '\''},
    };
    /* clang-format on */
    return spelled(raw, spellings, sizeof(spellings) / sizeof(spellings[0]), piece);
}

static int digit_of(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : -1;
}

/* Behind a run of `run` backslashes: the escape of a line end, of a byte by its number,
 * or of a sign of Markdown. Before a quote the backslashes stay: they tell inner quotes from outer. */
static struct piece escape_piece(struct str raw, size_t run)
{
    char c = run < raw.length ? raw.data[run] : '\0';
    if (c == 'n' || c == 'r')
        return (struct piece){run + 1, 0, true};
    if (c == 't')
        return (struct piece){run + 1, 0, false};
    size_t digits = c == 'u' ? 4 : c == 'x' ? 2 : 0;
    int value = 0;
    for (size_t i = 0; i < digits && value >= 0; i++) {
        int digit = run + 1 + i < raw.length ? digit_of(raw.data[run + 1 + i]) : -1;
        value = digit < 0 ? -1 : value * 16 + digit;
    }
    if (digits > 0 && value >= 0)
        return (struct piece){run + 1 + digits, value > ' ' && value < 0x7f ? (char)value : 0, value == '\n'};
    if (c != '\0' && strchr("_*[](){}<>#+-.!|~`=&", c) != NULL)
        return (struct piece){run, 0, false};
    return (struct piece){1, '\\', false};
}

/* The right side of a frame or table. */
static bool is_last_of_line(struct str raw)
{
    size_t at = 1;
    while (at < raw.length && (raw.data[at] == ' ' || raw.data[at] == '\t'))
        at++;
    return at >= raw.length || raw.data[at] == '\n' || raw.data[at] == '\r';
}

static struct piece odd_piece(struct str raw)
{
    struct piece piece = {1, raw.data[0], false};
    size_t unseen = oom_prefix_escape_length(raw) + oom_prefix_drawn_length(raw);
    if (unseen > 0)
        return (struct piece){unseen, 0, false};
    if (raw.data[0] == '|')
        return (struct piece){1, is_last_of_line(raw) ? 0 : '|', false};
    if (raw.data[0] == '\\') {
        size_t run = 1;
        while (run < raw.length && run < 8 && raw.data[run] == '\\')
            run++;
        return escape_piece(raw, run);
    }
    if (raw.data[0] == '\x1b')
        return (struct piece){1, 0, false};
    is_foreign(raw, &piece);
    return piece;
}

/* "12**.00 MiB", "1** MiB": stars in place of digits. Where the line has begun something bold they end that. */
static bool is_redacted(struct str raw, size_t at)
{
    enum { LINE = 400 };
    size_t behind = at, begun = 0;
    if (at == 0 || !isdigit((unsigned char)raw.data[at - 1]))
        return false;
    while (behind < raw.length && raw.data[behind] == '*')
        behind++;
    size_t digit = behind + (behind < raw.length && raw.data[behind] == '.' ? 1 : 0);
    if (digit < raw.length && isdigit((unsigned char)raw.data[digit]))
        return true;
    for (size_t i = at; i > 0 && at - i < LINE && raw.data[i - 1] != '\n'; i--)
        begun += raw.data[i - 1] == '*' && (i == 1 || raw.data[i - 2] != '*');
    return begun % 2 == 0;
}

void oom_text_init(struct oom_text *text, struct arena *arena, size_t capacity)
{
    *text = (struct oom_text){.capacity = capacity};
    text->bytes = arena_raw(arena, capacity + 1);
    text->raw_of = arena_raw(arena, (capacity + 1) * sizeof(*text->raw_of));
}

void oom_text_clean(struct oom_text *text, struct str raw, uint64_t raw_at, bool at_line_start)
{
    size_t length = 0;
    text->raw = raw.data;
    text->raw_length = raw.length;
    text->raw_at = raw_at;
    for (size_t at = 0; at < raw.length;) {
        if (at_line_start)
            at += oom_prefix_length((struct str){raw.data + at, raw.length - at});
        if (at >= raw.length)
            break;
        int kind = kind_of_byte(raw.data[at]);
        struct piece piece = {1, kind == PLAIN ? raw.data[at] : 0, kind == LINE_END};
        if (kind == ODD)
            piece = odd_piece((struct str){raw.data + at, raw.length - at});
        if (piece.byte == 0 && raw.data[at] == '*' && is_redacted(raw, at))
            piece = (struct piece){1, '*', false};
        if (piece.byte != 0) {
            text->bytes[length] = piece.byte;
            text->raw_of[length++] = (uint32_t)at;
        }
        at_line_start = piece.is_line_end;
        at += piece.taken;
    }
    text->length = length;
    text->bytes[length] = '\0';
    text->raw_of[length] = (uint32_t)raw.length;
}

size_t oom_text_at(const struct oom_text *text, size_t raw_at)
{
    size_t min = 0, max = text->length;
    while (min < max) {
        size_t middle = min + (max - min) / 2;
        if (text->raw_of[middle] < raw_at)
            min = middle + 1;
        else
            max = middle;
    }
    return min;
}

struct oom_text_range oom_text_range(const struct oom_text *text, size_t from, size_t to)
{
    size_t at = text->raw_of[from < text->length ? from : text->length];
    if (to <= from)
        return (struct oom_text_range){at, 0};
    return (struct oom_text_range){at, text->raw_of[to - 1] + 1 - at};
}

bool oom_text_is_line_begin(const struct oom_text *text, size_t at)
{
    if (at == 0)
        return true;
    for (size_t i = text->raw_of[at - 1] + 1; i < text->raw_of[at]; i++)
        if (text->raw[i] == '\n' || text->raw[i] == '\r' ||
            (text->raw[i] == '\\' && i + 1 < text->raw_of[at] && text->raw[i + 1] == 'n'))
            return true;
    return false;
}

bool oom_text_is_line_end(const struct oom_text *text, size_t at)
{
    if (at >= text->length || oom_text_is_line_begin(text, at))
        return true;
    return text->bytes[at] == '.' && (at + 1 >= text->length || oom_text_is_line_begin(text, at + 1));
}

bool oom_text_is_before(const struct oom_text *text, size_t at, const char *literal)
{
    size_t length = strlen(literal);
    return at >= length && memcmp(text->bytes + at - length, literal, length) == 0;
}

bool oom_text_has_any(struct str line, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(line.data, line.length, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

/* ---- words with their spaces ---- */

/* Columns of the line that ends at `end` or, `is_forward`, begins there. */
static size_t line_width(struct str raw, size_t at, size_t *begin)
{
    size_t start = at, width = 0;
    while (start > 0 && at - start < 1024 && raw.data[start - 1] != '\n')
        start--;
    for (size_t i = start; i < at; i++)
        width +=
            raw.data[i] == '\t' ? 8 - width % 8 : raw.data[i] != '\r' && ((unsigned char)raw.data[i] & 0xC0) != 0x80;
    *begin = start;
    return width;
}

enum { NEIGHBOURS = 24, NARROW = 8 };

/* Was the line that ends at `at` broken by a terminal, at its width? Then hardly a line
 * near is longer or a little shorter; an editor breaks between words, so its
 * lines differ. With one line alone, a width that terminals have decides. */
static bool is_broken_by_width(struct str raw, size_t at)
{
    size_t begin, width = line_width(raw, at, &begin), equal = 1, other = 0;
    for (size_t line = at, i = 0; i < NEIGHBOURS && line < raw.length; i++) {
        const char *end = memchr(raw.data + line + 1, '\n', raw.length - line - 1);
        if (end == NULL)
            break;
        line = (size_t)(end - raw.data);
        size_t next = line_width(raw, line, &begin);
        equal += next == width;
        other += next != width && next + NARROW > width;
    }
    line_width(raw, at, &begin);
    for (size_t i = 0; i < NEIGHBOURS && begin > 0; i++) {
        size_t before = line_width(raw, begin - 1, &begin);
        equal += before == width;
        other += before != width && before + NARROW > width;
    }
    return equal > 1 ? other * 2 <= equal : width % 10 == 0 && other == 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* At the line end `at`: a blank at either side of it stays one, whatever broke the line;
 * what is further in is an indent. Without one, the bytes at its sides tell, or the width. */
static bool is_space_at_line_end(struct str raw, size_t from, size_t at, size_t to)
{
    if (is_blank(raw.data[at - 1]) || (at + 2 == to && is_blank(raw.data[at + 1])))
        return true;
    char before = raw.data[from - 1], after = to < raw.length ? raw.data[to] : ' ';
    if (before == ',')
        return true;
    if (strchr("_./(-", before) != NULL || strchr("_.),", after) != NULL)
        return false;
    return !is_broken_by_width(raw, at);
}

/* Did a space stand between clean bytes `left` and the next? */
static bool is_space_between(const struct oom_text *text, size_t left, bool is_name)
{
    size_t from = text->raw_of[left] + 1, to = text->raw_of[left + 1];
    struct str raw = {text->raw, text->raw_length};
    for (size_t at = from; at < to; at++) {
        if (raw.data[at] == '\n')
            return !is_name && is_space_at_line_end(raw, from, at, to);
        if (raw.data[at] == '\\' && at + 1 < to && (raw.data[at + 1] == 'n' || raw.data[at + 1] == 't'))
            return true;
        if (is_blank(raw.data[at]) && memchr(raw.data + at, '\n', to - at) == NULL)
            return true;
    }
    return false;
}

static size_t words_write(const struct oom_text *text, size_t from, size_t to, bool is_name, char *out, size_t room)
{
    size_t length = 0;
    for (size_t i = from; i < to && length < room; i++) {
        bool is_escape =
            text->bytes[i] == '\\' && i + 1 < to && (text->bytes[i + 1] == '"' || text->bytes[i + 1] == '\\');
        if (!is_escape)
            out[length++] = text->bytes[i];
        if (i + 1 < to && text->raw_of[i + 1] > text->raw_of[i] + 1 && length < room &&
            is_space_between(text, i, is_name))
            out[length++] = ' ';
    }
    return length;
}

size_t oom_text_words(const struct oom_text *text, size_t from, size_t to, char *out, size_t room)
{
    return words_write(text, from, to, false, out, room);
}

size_t oom_text_name(const struct oom_text *text, size_t from, size_t to, char *out, size_t room)
{
    bool has_space = false;
    for (size_t i = from; i + 1 < to && !has_space; i++)
        has_space = text->raw_of[i + 1] > text->raw_of[i] + 1 && is_space_between(text, i, true);
    return words_write(text, from, to, !has_space, out, room);
}

size_t oom_text_shape(const struct oom_text *text, size_t from, size_t to, char *out, size_t room)
{
    size_t length = 0, depth = 0;
    for (size_t i = from; i < to && length < room; i++) {
        char c = text->bytes[i];
        out[length++] = c;
        depth += c == '[' || c == '{';
        depth -= depth > 0 && (c == ']' || c == '}');
        if (c == ',' && depth == 0 && length < room)
            out[length++] = ' ';
    }
    return length;
}
