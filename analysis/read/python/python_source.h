/* SPDX-License-Identifier: Apache-2.0
 * python_source.h: a Python source file as tokens, logical lines and blocks: as much as an edit of a few bytes needs.
 *
 * In:     the whole text of a file, of any content; borrowed.
 * Out:    tokens without comments, in order, brackets matched; statements with their blocks.
 * Units:  offsets in bytes from 0, lines from 1.
 * Memory: the arena; about 28 bytes a token. Cost: linear.
 * Errors: false, where the file is not surely read as Python reads it: why, and the line.
 * Source: the lexical analysis of the Python reference, 3.8 to 3.14. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#define PYTHON_NONE UINT32_MAX
enum { PYTHON_TEXT_MAX_BYTES = 2 << 20 };

enum python_kind { PYTHON_NAME, PYTHON_NUMBER, PYTHON_STRING, PYTHON_OPERATOR };

struct python_token {
    uint32_t begin, end; /* of the text */
    uint32_t line;       /* that it begins in */
    uint32_t depth;      /* brackets around it; of a bracket those around that */
    uint32_t match;      /* of a bracket its other one; else PYTHON_NONE */
    enum python_kind kind;
};

/* A logical line, or, where ";" parts it, a piece of one. */
struct python_statement {
    uint32_t first, count;    /* tokens; at least one */
    uint32_t line_begin;      /* offset of the line that it begins in */
    uint32_t line, last_line; /* that it begins and ends in */
    uint32_t parent;          /* the statement whose block it is in, or PYTHON_NONE */
    uint32_t block_last;      /* the last statement of its own block, of blocks within too; itself without one */
    bool is_behind_another;   /* on the same line */
};

struct python_source {
    struct str text;
    struct python_token *tokens;
    struct python_statement *statements;
    uint32_t token_count, statement_count;
    const char *newline; /* "\n", or "\r\n" where the first line ends so; static */
    const char *why;     /* after an error: a clause; static */
    uint32_t why_line;
};

bool python_source_read(struct str text, struct arena *arena, struct python_source *out);

/* The token's bytes; "" past the last one. */
struct str python_source_text(const struct python_source *source, uint32_t token);
bool python_source_is(const struct python_source *source, uint32_t token, const char *text);
/* The name that a `def`, `async def` or `class` statement binds; PYTHON_NONE: it is of another kind. */
uint32_t python_source_def_name(const struct python_source *source, uint32_t statement);
bool python_source_is_class(const struct python_source *source, uint32_t statement);
/* The statement `nth` of the decorators above one, from below; PYTHON_NONE: there are no more. */
uint32_t python_source_decorator(const struct python_source *source, uint32_t statement, uint32_t nth);
/* The innermost statement with this line in it or in its block; PYTHON_NONE. */
uint32_t python_source_statement_of_line(const struct python_source *source, uint32_t line);

/* The items between a bracket and its match, parted by commas. */
struct python_item {
    uint32_t first, count; /* tokens; at least one */
    uint32_t value;        /* of "name=value" the first token of the value, else `first` */
    bool is_named;         /* "name=value" */
    bool is_spread;        /* "*x", "**x" */
};
/* In the arena; how many. */
uint32_t python_source_items(const struct python_source *source, uint32_t open, struct arena *arena,
                             struct python_item **items);
/* The first token of the dotted name that ends in `last`: "jax.jit"; PYTHON_NONE where what comes before is no name
 * ("f().jit"). */
uint32_t python_source_dotted_first(const struct python_source *source, uint32_t last);
/* The last token of the dotted name that begins at `first`, whatever is behind it; PYTHON_NONE: none begins there. */
uint32_t python_source_dotted_last(const struct python_source *source, uint32_t first);
