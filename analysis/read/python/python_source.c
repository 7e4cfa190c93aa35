/* SPDX-License-Identifier: Apache-2.0
 * python_source.c: statements and their blocks; tokens are python_tokens.c's. */
#include "read/python/python_source.h"
#include "read/python/python_tokens.h"

struct str python_source_text(const struct python_source *source, uint32_t token)
{
    if (token >= source->token_count)
        return (struct str){"", 0};
    const struct python_token *found = &source->tokens[token];
    return (struct str){source->text.data + found->begin, found->end - found->begin};
}

bool python_source_is(const struct python_source *source, uint32_t token, const char *text)
{
    return token < source->token_count && source->tokens[token].kind != PYTHON_STRING &&
           str_equal(python_source_text(source, token), str_of(text));
}

/* ---- statements ---- */

/* Columns of a line's first token, with tabs to the next eighth and as one column each: where these two disagree on
 * which of two lines is further in, Python refuses the file. */
struct indent {
    uint32_t columns, others;
    uint32_t statement; /* whose block it is */
};

/* Behind the mark of UTF-8 that the first line may have. */
static uint32_t line_begin_of(struct str text, uint32_t offset)
{
    while (offset > 0 && text.data[offset - 1] != '\n')
        offset--;
    return offset == 0 && str_starts(text, STR(PYTHON_MARK)) ? (uint32_t)sizeof(PYTHON_MARK) - 1 : offset;
}

static struct indent indent_of(struct str text, uint32_t from, uint32_t to)
{
    struct indent indent = {0, 0, PYTHON_NONE};
    for (uint32_t at = from; at < to; at++) {
        if (text.data[at] == '\t') {
            indent.columns = (indent.columns / 8 + 1) * 8;
            indent.others++;
        } else if (text.data[at] == ' ') {
            indent.columns++;
            indent.others++;
        } else { /* a form feed, or the mark of UTF-8 */
            indent.columns = indent.others = 0;
        }
    }
    return indent;
}

enum { BLOCKS_MAX = 100 };

struct blocks {
    struct indent items[BLOCKS_MAX];
    uint32_t count;
};

static bool python_source_refuse(struct python_source *out, const char *why, uint32_t line)
{
    out->why = why;
    out->why_line = line;
    return false;
}

/* Finds the block of a line. `before`: the statement before it. */
static bool block_enter(struct python_source *out, struct blocks *blocks, uint32_t before, struct indent indent,
                        uint32_t line)
{
    struct indent *top = &blocks->items[blocks->count - 1];
    if (indent.columns > top->columns) {
        bool has_head = before != PYTHON_NONE;
        const struct python_statement *head = has_head ? &out->statements[before] : NULL;
        if (indent.others <= top->others || !has_head || !python_source_is(out, head->first + head->count - 1, ":") ||
            blocks->count == BLOCKS_MAX)
            return python_source_refuse(out, "its indentation is not clear", line);
        indent.statement = before;
        blocks->items[blocks->count++] = indent;
        return true;
    }
    while (blocks->count > 1 && blocks->items[blocks->count - 1].columns > indent.columns)
        blocks->count--;
    top = &blocks->items[blocks->count - 1];
    if (top->columns != indent.columns || top->others != indent.others)
        return python_source_refuse(out, "its indentation is not clear", line);
    return true;
}

static void statement_add(struct python_source *out, uint32_t first, uint32_t end, uint32_t parent, bool is_behind)
{
    const struct python_token *last = &out->tokens[end - 1];
    /* One line may have many statements. */
    const struct python_statement *before = is_behind ? &out->statements[out->statement_count - 1] : NULL;
    bool is_line_known = before != NULL && before->line == out->tokens[first].line;
    uint32_t last_line = last->line,
             line_begin = is_line_known ? before->line_begin : line_begin_of(out->text, out->tokens[first].begin);
    for (uint32_t at = last->begin; at < last->end; at++)
        last_line += out->text.data[at] == '\n';
    out->statements[out->statement_count] = (struct python_statement){
        .first = first,
        .count = end - first,
        .line_begin = line_begin,
        .line = out->tokens[first].line,
        .last_line = last_line,
        .parent = parent,
        .block_last = out->statement_count,
        .is_behind_another = is_behind,
    };
    out->statement_count++;
}

static void blocks_end(struct python_source *out)
{
    for (uint32_t at = out->statement_count; at-- > 0;) {
        struct python_statement *statement = &out->statements[at];
        struct python_statement *parent = statement->parent == PYTHON_NONE ? NULL : &out->statements[statement->parent];
        if (parent != NULL && parent->block_last < statement->block_last)
            parent->block_last = statement->block_last;
    }
}

static bool statements_read(struct python_source *out, const bool *begins)
{
    struct blocks blocks = {.items = {{0, 0, PYTHON_NONE}}, .count = 1};
    uint32_t before = PYTHON_NONE;
    for (uint32_t at = 0; at < out->token_count;) {
        uint32_t end = at + 1, first = at;
        while (end < out->token_count && !begins[end])
            end++;
        const struct python_token *token = &out->tokens[at];
        struct indent indent = indent_of(out->text, line_begin_of(out->text, token->begin), token->begin);
        if (!block_enter(out, &blocks, before, indent, token->line))
            return false;
        before = out->statement_count;
        for (uint32_t i = at; i <= end; i++)
            if (i == end || (out->tokens[i].depth == 0 && python_source_is(out, i, ";"))) {
                if (i > first)
                    statement_add(out, first, i, blocks.items[blocks.count - 1].statement, first > at);
                first = i + 1;
            }
        if (before == out->statement_count)
            return python_source_refuse(out, "a line of it holds nothing but a semicolon", token->line);
        before = out->statement_count - 1;
        at = end;
    }
    blocks_end(out);
    return true;
}

bool python_source_read(struct str text, struct arena *arena, struct python_source *out)
{
    bool *begins;
    *out = (struct python_source){.text = text, .newline = "\n"};
    const char *first = text.length > 0 ? memchr(text.data, '\n', text.length) : NULL;
    if (first != NULL && first > text.data && first[-1] == '\r')
        out->newline = "\r\n";
    if (!python_tokens_read(out, &begins, arena))
        return false;
    out->statements = arena_array(arena, struct python_statement, (size_t)out->token_count + 1);
    arena_work(arena, text.length);
    return statements_read(out, begins);
}

/* ---- questions ---- */

static uint32_t head_of(const struct python_source *source, uint32_t statement)
{
    uint32_t first = source->statements[statement].first;
    return first + python_source_is(source, first, "async");
}

uint32_t python_source_def_name(const struct python_source *source, uint32_t statement)
{
    uint32_t head = head_of(source, statement);
    bool is_one = python_source_is(source, head, "def") || python_source_is(source, head, "class");
    return is_one && head + 1 < source->token_count && source->tokens[head + 1].kind == PYTHON_NAME ? head + 1
                                                                                                    : PYTHON_NONE;
}

bool python_source_is_class(const struct python_source *source, uint32_t statement)
{
    return python_source_is(source, source->statements[statement].first, "class");
}

uint32_t python_source_decorator(const struct python_source *source, uint32_t statement, uint32_t nth)
{
    for (uint32_t at = statement; at-- > 0;) {
        if (!python_source_is(source, source->statements[at].first, "@"))
            return PYTHON_NONE;
        if (nth-- == 0)
            return at;
    }
    return PYTHON_NONE;
}

uint32_t python_source_statement_of_line(const struct python_source *source, uint32_t line)
{
    uint32_t found = PYTHON_NONE;
    for (uint32_t at = 0; at < source->statement_count; at++) {
        const struct python_statement *statement = &source->statements[at];
        if (statement->line > line)
            break;
        if (line <= source->statements[statement->block_last].last_line)
            found = at;
    }
    return found;
}

uint32_t python_source_items(const struct python_source *source, uint32_t open, struct arena *arena,
                             struct python_item **items)
{
    uint32_t close = source->tokens[open].match, depth = source->tokens[open].depth + 1, count = 0;
    bool is_lambda = false; /* whose parameters have commas, too */
    *items = arena_array(arena, struct python_item, (size_t)(close - open) + 1);
    for (uint32_t at = open + 1, first = at; at <= close; at++) {
        bool is_here = at < close && source->tokens[at].depth == depth;
        is_lambda = (is_lambda || (is_here && python_source_is(source, at, "lambda"))) &&
                    !(is_here && python_source_is(source, at, ":"));
        if (at < close && (!is_here || is_lambda || !python_source_is(source, at, ",")))
            continue;
        if (at > first) {
            bool is_named = source->tokens[first].kind == PYTHON_NAME && python_source_is(source, first + 1, "=");
            (*items)[count++] = (struct python_item){
                .first = first,
                .count = at - first,
                .value = is_named ? first + 2 : first,
                .is_named = is_named,
                .is_spread = python_source_is(source, first, "*") || python_source_is(source, first, "**"),
            };
        }
        first = at + 1;
    }
    return count;
}

uint32_t python_source_dotted_first(const struct python_source *source, uint32_t last)
{
    if (source->tokens[last].kind != PYTHON_NAME)
        return PYTHON_NONE;
    while (last >= 1 && python_source_is(source, last - 1, ".")) {
        if (last < 2 || source->tokens[last - 2].kind != PYTHON_NAME)
            return PYTHON_NONE;
        last -= 2;
    }
    return last;
}

uint32_t python_source_dotted_last(const struct python_source *source, uint32_t first)
{
    if (first >= source->token_count || source->tokens[first].kind != PYTHON_NAME)
        return PYTHON_NONE;
    while (python_source_is(source, first + 1, ".") && first + 2 < source->token_count &&
           source->tokens[first + 2].kind == PYTHON_NAME)
        first += 2;
    return first;
}
