/* SPDX-License-Identifier: Apache-2.0
 * python_source.c: any bytes as a Python source file: its tokens, statements, brackets and names are places in it, and
 * a refusal has a reason and a line. */
#include "read/python/python_names.h"

#include <stdlib.h>

enum { LIMIT_BYTES = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void ask_tokens(const struct python_source *source)
{
    uint32_t behind = 0, line = 1;
    for (uint32_t at = 0; at < source->token_count; at++) {
        const struct python_token *token = &source->tokens[at];
        check(token->begin >= behind && token->begin < token->end && token->end <= source->text.length);
        check(token->line >= line && python_source_text(source, at).length == token->end - token->begin);
        check(token->match == PYTHON_NONE ||
              (token->match < source->token_count && token->match != at && source->tokens[token->match].match == at &&
               source->tokens[token->match].depth == token->depth));
        behind = token->end;
        line = token->line;
    }
}

static void ask_statements(const struct python_source *source)
{
    uint32_t behind = 0;
    for (uint32_t at = 0; at < source->statement_count; at++) {
        const struct python_statement *statement = &source->statements[at];
        check(statement->first >= behind && statement->count > 0);
        behind = statement->first + statement->count;
        check(behind <= source->token_count && statement->line <= statement->last_line);
        check(statement->line_begin <= source->tokens[statement->first].begin);
        check(statement->parent == PYTHON_NONE || statement->parent < at);
        check(statement->block_last >= at && statement->block_last < source->statement_count);
        uint32_t name = python_source_def_name(source, at), above = python_source_decorator(source, at, 0);
        check(name == PYTHON_NONE || name < behind);
        check(!python_source_is_class(source, at) || python_source_is(source, statement->first, "class"));
        check(above == PYTHON_NONE || above + 1 == at);
        check(python_source_statement_of_line(source, statement->line) != PYTHON_NONE);
    }
}

static void ask_brackets(const struct python_names *names, struct arena *arena)
{
    const struct python_source *source = names->source;
    for (uint32_t open = 0; open < source->token_count; open++) {
        uint32_t close = source->tokens[open].match, behind = open + 1;
        if (close == PYTHON_NONE || close < open)
            continue;
        struct python_item *items;
        uint32_t count = python_source_items(source, open, arena, &items);
        for (uint32_t i = 0; i < count; i++) {
            check(items[i].first >= behind && items[i].count > 0 && items[i].value >= items[i].first);
            behind = items[i].first + items[i].count;
            check(behind <= close);
        }
        uint32_t first = open > 0 ? python_source_dotted_first(source, open - 1) : PYTHON_NONE;
        check(first == PYTHON_NONE || (first < open && python_source_dotted_last(source, first) == open - 1));
        const char *called = python_names_called(names, open), *within = python_names_from(names, open + 1);
        bool is_call = first != PYTHON_NONE && python_source_is(source, open, "(");
        check(strcmp(called, is_call ? python_names_path(names, first, open - 1) : "") == 0);
        check(within[0] == '\0' || source->tokens[open + 1].kind == PYTHON_NAME);
    }
}

static void ask_names(const struct python_names *names)
{
    static const char *const paths[] = {"jax.numpy.bfloat16", "functools.partial", "flax.linen.remat"};
    const struct python_source *source = names->source;
    for (uint32_t i = 0; i < names->count; i++)
        check(names->imports[i].name.length > 0 && names->imports[i].statement < source->statement_count);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *name = python_names_of(names, paths[i]);
        check(name == NULL || name[0] != '\0');
    }
    uint32_t place = python_names_place(names);
    check(place == PYTHON_NONE || place < source->text.length);
}

static void ask(struct str text, struct arena *arena)
{
    struct python_source source;
    struct python_names names;
    if (!python_source_read(text, arena, &source)) {
        check(source.why != NULL && source.why_line > 0);
        return;
    }
    python_names_read(&source, arena, &names);
    ask_tokens(&source);
    ask_statements(&source);
    ask_brackets(&names, arena);
    ask_names(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct err err = ERR_INIT;
    arena_init(&arena, LIMIT_BYTES, &err);
    if (setjmp(arena.trap) == 0)
        ask((struct str){(const char *)data, size}, &arena);
    else
        check(err_is_set(&err));
    arena_free(&arena);
    return 0;
}
