/* SPDX-License-Identifier: Apache-2.0
 * python_tokens.c: names, numbers, strings with their prefixes and nested expressions, operators, brackets and logical
 * lines. */
#include "read/python/python_tokens.h"

/* NESTED_MAX is for f-strings within expressions of f-strings. */
enum { NESTED_MAX = 8, OPEN_MAX = 200 };

struct scan {
    struct str text;
    size_t at;
    uint32_t line;
    const char *why;
};

static char scan_char(const struct scan *scan, size_t ahead)
{
    return scan->at + ahead < scan->text.length ? scan->text.data[scan->at + ahead] : '\0';
}

static bool scan_fail(struct scan *scan, const char *why)
{
    scan->why = why;
    return false;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* ---- strings ---- */

struct quote {
    char mark;
    uint32_t count; /* 1 or 3 */
    bool is_raw, is_format;
};

static bool is_quote(char c) { return c == '"' || c == '\''; }

/* Length of "rb" and the like before a quote; 0: there is none, or no string begins here. */
static bool string_begins(const struct scan *scan, struct quote *quote, size_t *prefix)
{
    static const char letters[] = "rRbBuUfFtT";
    *quote = (struct quote){.count = 1};
    *prefix = 0;
    while (*prefix < 2 && scan_char(scan, *prefix) != '\0' && strchr(letters, scan_char(scan, *prefix)) != NULL) {
        char letter = scan_char(scan, (*prefix)++) | 0x20;
        quote->is_raw |= letter == 'r';
        quote->is_format |= letter == 'f' || letter == 't';
    }
    quote->mark = scan_char(scan, *prefix);
    if (!is_quote(quote->mark))
        return false;
    if (scan_char(scan, *prefix + 1) == quote->mark && scan_char(scan, *prefix + 2) == quote->mark)
        quote->count = 3;
    return true;
}

static bool is_at_end(const struct scan *scan, const struct quote *quote)
{
    for (uint32_t i = 0; i < quote->count; i++)
        if (scan_char(scan, i) != quote->mark)
            return false;
    return true;
}

static bool string_skip(struct scan *scan, const struct quote *quote, uint32_t nested);

/* Behind a "{" of an f-string, to behind its "}". Within it quotes may be those of the string itself since Python 3.12;
 * before, such a file is none. */
static bool field_skip(struct scan *scan, const struct quote *quote, uint32_t nested)
{
    static const char unclear[] = "it has an f-string that is not clear";
    uint32_t open = 0;
    struct quote inner;
    size_t prefix;
    if (nested >= NESTED_MAX)
        return scan_fail(scan, unclear);
    while (scan->at < scan->text.length) {
        char c = scan_char(scan, 0);
        bool is_string = !(scan->at > 0 && is_name_char(scan->text.data[scan->at - 1])) || is_quote(c);
        if (c == '#' || c == '\\' || (c == '\n' && quote->count == 1))
            return scan_fail(scan, unclear);
        if (is_string && string_begins(scan, &inner, &prefix)) {
            scan->at += prefix;
            if (inner.mark == quote->mark && inner.count >= quote->count)
                return scan_fail(scan, unclear);
            if (!string_skip(scan, &inner, nested + 1))
                return false;
            continue;
        }
        scan->line += c == '\n';
        scan->at++;
        if (c == '(' || c == '[' || c == '{')
            open++;
        else if (c == '}' && open == 0)
            return true;
        else if (c == ')' || c == ']' || c == '}') {
            if (open-- == 0)
                return scan_fail(scan, unclear);
        } else if (c == ':' && open == 0) {
            /* the format: text, with fields of its own */
            while (scan->at < scan->text.length && scan_char(scan, 0) != '}') {
                c = scan_char(scan, 0);
                if (c == '\n' || c == quote->mark || c == '\\')
                    return scan_fail(scan, unclear);
                scan->at++;
                if (c == '{' && !field_skip(scan, quote, nested + 1))
                    return false;
            }
        }
    }
    return scan_fail(scan, unclear);
}

/* From the opening quote to behind the closing one. */
static bool string_skip(struct scan *scan, const struct quote *quote, uint32_t nested)
{
    scan->at += quote->count;
    while (scan->at < scan->text.length) {
        char c = scan_char(scan, 0);
        if (is_at_end(scan, quote)) {
            scan->at += quote->count;
            return true;
        }
        if (c == '\\') {
            bool is_line = scan_char(scan, 1) == '\r' && scan_char(scan, 2) == '\n';
            scan->line += is_line || scan_char(scan, 1) == '\n';
            scan->at += 2 + is_line;
            continue;
        }
        if (c == '\n' && quote->count == 1)
            break;
        scan->line += c == '\n';
        scan->at++;
        if (quote->is_format && c == '{' && scan_char(scan, 0) == '{')
            scan->at++;
        else if (quote->is_format && c == '{' && !field_skip(scan, quote, nested))
            return false;
    }
    return scan_fail(scan, "it has a string that does not end");
}

/* ---- others ---- */

static void number_skip(struct scan *scan)
{
    bool is_hex = scan_char(scan, 0) == '0' && (scan_char(scan, 1) | 0x20) == 'x';
    while (is_name_char(scan_char(scan, 0)) || scan_char(scan, 0) == '.') {
        bool is_exponent = !is_hex && (scan_char(scan, 0) | 0x20) == 'e';
        scan->at++;
        if (is_exponent && (scan_char(scan, 0) == '-' || scan_char(scan, 0) == '+'))
            scan->at++;
    }
}

/* The longest first. */
static size_t operator_length(const struct scan *scan)
{
    static const char *const all[] = {
        "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "==", "!=", "<=", ">=", ":=", "->", "+=",
        "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "@=", "+",  "-",  "*",  "/",  "%",  "@",  "&",  "|",
        "^",   "~",   "<",   ">",   "(",   ")",  "[",  "]",  "{",  "}",  ",",  ":",  ".",  ";",  "="};
    struct str rest = {scan->text.data + scan->at, scan->text.length - scan->at};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (str_starts(rest, str_of(all[i])))
            return strlen(all[i]);
    return 0;
}

/* Over what is between tokens; `is_new`: set where a logical line ends there. */
static bool space_skip(struct scan *scan, uint32_t depth, bool *is_new)
{
    while (scan->at < scan->text.length) {
        char c = scan_char(scan, 0);
        bool is_line =
            c == '\\' && (scan_char(scan, 1) == '\n' || (scan_char(scan, 1) == '\r' && scan_char(scan, 2) == '\n'));
        if (c == '#') {
            while (scan->at < scan->text.length && scan_char(scan, 0) != '\n' && scan_char(scan, 0) != '\r')
                scan->at++;
        } else if (c == '\n' || (c == '\r' && scan_char(scan, 1) == '\n')) {
            *is_new |= depth == 0;
            scan->at += c == '\r' ? 2 : 1;
            scan->line++;
        } else if (is_line && !*is_new) {
            scan->at += scan_char(scan, 1) == '\r' ? 3 : 2;
            scan->line++;
        } else if (c == ' ' || c == '\t' || c == '\f') {
            scan->at++;
        } else if (c == '\r' || c == '\\' || c == '\0') {
            return scan_fail(scan, "it has characters that no Python has");
        } else {
            break;
        }
    }
    return true;
}

struct opened {
    uint32_t tokens[OPEN_MAX];
    uint32_t count;
};

static bool bracket_take(struct python_source *out, struct opened *opened, uint32_t at)
{
    static const char pairs[] = "()[]{}";
    struct python_token *token = &out->tokens[at];
    const char *found = token->end - token->begin == 1 ? strchr(pairs, out->text.data[token->begin]) : NULL;
    if (found == NULL || *found == '\0')
        return true;
    if ((found - pairs) % 2 == 0) {
        if (opened->count == OPEN_MAX)
            return false;
        opened->tokens[opened->count++] = at;
        return true;
    }
    if (opened->count == 0)
        return false;
    struct python_token *open = &out->tokens[opened->tokens[--opened->count]];
    if (out->text.data[open->begin] != found[-1])
        return false;
    open->match = at;
    token->match = opened->tokens[opened->count];
    token->depth--;
    return true;
}

static bool token_read(struct scan *scan, enum python_kind *kind)
{
    struct quote quote;
    size_t prefix;
    if (string_begins(scan, &quote, &prefix)) {
        *kind = PYTHON_STRING;
        scan->at += prefix;
        return string_skip(scan, &quote, 0);
    }
    char c = scan_char(scan, 0);
    if (is_digit(c) || (c == '.' && is_digit(scan_char(scan, 1)))) {
        *kind = PYTHON_NUMBER;
        number_skip(scan);
        return true;
    }
    if (is_name_char(c)) {
        *kind = PYTHON_NAME;
        while (is_name_char(scan_char(scan, 0)))
            scan->at++;
        return true;
    }
    size_t length = operator_length(scan);
    *kind = PYTHON_OPERATOR;
    scan->at += length;
    return length > 0 ? true : scan_fail(scan, "it has characters that no Python has");
}

static bool is_utf8(struct str text)
{
    for (size_t at = 0; at < text.length;) {
        size_t length = str_utf8_length(text.data + at, text.length - at);
        if (length == 0 || text.data[at] == '\0')
            return false;
        at += length;
    }
    return true;
}

bool python_tokens_read(struct python_source *out, bool **begins, struct arena *arena)
{
    static const char unbalanced[] = "its brackets do not match";
    struct scan scan = {.text = out->text, .line = 1};
    struct opened opened = {.count = 0};
    size_t capacity = 0, begins_capacity = 0;
    bool is_new = true;
    *begins = NULL;
    if (out->text.length > PYTHON_TEXT_MAX_BYTES)
        scan.why = "it is larger than 2 MiB";
    else if (!is_utf8(out->text))
        scan.why = "it is not UTF-8";
    if (str_starts(out->text, STR(PYTHON_MARK)))
        scan.at = sizeof(PYTHON_MARK) - 1;
    arena_work(arena, 2 * out->text.length);
    while (scan.why == NULL && space_skip(&scan, opened.count, &is_new) && scan.at < out->text.length) {
        uint32_t at = out->token_count;
        struct python_token token = {
            .begin = (uint32_t)scan.at, .line = scan.line, .depth = opened.count, .match = PYTHON_NONE};
        if (!token_read(&scan, &token.kind))
            break;
        token.end = (uint32_t)(scan.at < out->text.length ? scan.at : out->text.length);
        out->tokens = arena_grown(arena, out->tokens, (size_t)at + 1, &capacity, sizeof(*out->tokens));
        *begins = arena_grown(arena, *begins, (size_t)at + 1, &begins_capacity, sizeof(**begins));
        out->tokens[at] = token;
        (*begins)[at] = is_new;
        is_new = false;
        out->token_count++;
        if (token.kind == PYTHON_OPERATOR && !bracket_take(out, &opened, at)) {
            scan.why = unbalanced;
            break;
        }
    }
    if (scan.why == NULL && opened.count > 0)
        scan.why = unbalanced;
    out->why = scan.why;
    out->why_line = scan.line;
    return scan.why == NULL;
}
