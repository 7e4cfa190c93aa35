/* SPDX-License-Identifier: Apache-2.0
 * regex.c: see regex.h. The tree becomes a program whose threads all run side by
 * side over the text (Thompson's way): a character costs at most one visit of
 * each instruction. */
#include "base/regex_parse.h"

enum { MAX_INSTRUCTIONS = 20000, MAX_STEPS = 200000, MAX_PATTERN = 4096 };

enum operation { TAKE, SPLIT, CHECK, DONE };

struct instruction {
    enum operation operation;
    uint32_t next, other; /* other: of a split */
    const struct regex_parse_node *node;
};

/* Instructions to visit, each once: the classic sparse set. */
struct threads {
    uint32_t *dense, *sparse;
    uint32_t count;
};

struct regex {
    struct arena *arena;
    struct str literal; /* is_literal: the whole expression */
    bool is_literal;
    struct instruction *program;
    uint32_t length, begin;
    struct threads now, next;
    uint32_t *stack;
};

struct compiler {
    struct instruction *program; /* NULL while it is only measured */
    uint32_t length, step_count; /* steps: repetitions of nothing emit nothing */
    bool is_full;
};

/* What surrounds a place in the text. */
struct place {
    bool is_begin, is_end, is_line_begin, is_line_end, is_word_edge;
};

static uint32_t emit(struct compiler *compiler, enum operation operation, uint32_t next, uint32_t other,
                     const struct regex_parse_node *node)
{
    if (compiler->length == MAX_INSTRUCTIONS) {
        compiler->is_full = true;
        return 0;
    }
    if (compiler->program != NULL)
        compiler->program[compiler->length] = (struct instruction){operation, next, other, node};
    return compiler->length++;
}

/* Puts the program of `node` before `next`; returns where it begins. Built from the end to the front.
 * A sequence leans to the left, so its length is no depth. */
static uint32_t regex_compile(struct compiler *compiler, const struct regex_parse_node *node, uint32_t next)
{
    while (node->kind == REGEX_PARSE_SEQUENCE && !compiler->is_full) {
        next = regex_compile(compiler, node->right, next);
        node = node->left;
    }
    compiler->is_full |= ++compiler->step_count > MAX_STEPS;
    if (compiler->is_full || node->kind == REGEX_PARSE_EMPTY)
        return next;
    if (node->kind == REGEX_PARSE_RUNES)
        return emit(compiler, TAKE, next, 0, node);
    if (node->kind == REGEX_PARSE_ASSERTION)
        return emit(compiler, CHECK, next, 0, node);
    if (node->kind == REGEX_PARSE_CHOICE) {
        uint32_t choice = regex_compile(compiler, node->right, next);
        for (node = node->left; node->kind == REGEX_PARSE_CHOICE && !compiler->is_full; node = node->left)
            choice = emit(compiler, SPLIT, regex_compile(compiler, node->right, next), choice, NULL);
        return emit(compiler, SPLIT, regex_compile(compiler, node, next), choice, NULL);
    }
    if (node->max == REGEX_PARSE_NO_MAX) {
        uint32_t split = emit(compiler, SPLIT, 0, next, NULL);
        uint32_t body = regex_compile(compiler, node->left, split);
        if (!compiler->is_full && compiler->program != NULL)
            compiler->program[split].next = body;
        next = split;
    }
    for (int i = node->min; i < node->max && !compiler->is_full; i++) {
        uint32_t body = regex_compile(compiler, node->left, next);
        next = emit(compiler, SPLIT, body, next, NULL);
    }
    for (int i = 0; i < node->min && !compiler->is_full; i++)
        next = regex_compile(compiler, node->left, next);
    return next;
}

struct regex *regex_literal(struct str text, struct arena *arena)
{
    struct regex *regex = arena_array(arena, struct regex, 1);
    *regex = (struct regex){.arena = arena, .is_literal = true, .literal = {arena_text(arena, text), text.length}};
    return regex;
}

static bool is_plain(struct str pattern)
{
    for (size_t i = 0; i < pattern.length; i++)
        if (memchr("\\.+*?()|[]{}^$", pattern.data[i], 14) != NULL)
            return false;
    return true;
}

struct regex *regex_read(struct str pattern, bool is_any_case, struct arena *arena, struct regex_fault *fault)
{
    if (pattern.length > MAX_PATTERN) {
        *fault = (struct regex_fault){MAX_PATTERN, "longer than 4096 bytes"};
        return NULL;
    }
    if (!is_any_case && is_plain(pattern))
        return regex_literal(pattern, arena);
    struct str own = {arena_text(arena, pattern), pattern.length};
    const struct regex_parse_node *tree = regex_parse(own, is_any_case, arena, fault);
    if (tree == NULL)
        return NULL;
    struct regex *regex = arena_array(arena, struct regex, 1);
    struct compiler compiler = {.program = NULL};
    regex_compile(&compiler, tree, emit(&compiler, DONE, 0, 0, NULL));
    if (!compiler.is_full) {
        compiler = (struct compiler){.program = arena_array(arena, struct instruction, compiler.length)};
        regex->begin = regex_compile(&compiler, tree, emit(&compiler, DONE, 0, 0, NULL));
    }
    regex->arena = arena;
    regex->program = compiler.program;
    regex->length = compiler.length;
    if (compiler.is_full) {
        *fault = (struct regex_fault){0, "too large once its repetitions are written out"};
        return NULL;
    }
    uint32_t *room = arena_array(arena, uint32_t, (size_t)regex->length * 5);
    regex->now = (struct threads){room, room + regex->length, 0};
    regex->next = (struct threads){room + 2 * regex->length, room + 3 * regex->length, 0};
    regex->stack = room + 4 * regex->length;
    return regex;
}

static bool is_in(const struct threads *threads, uint32_t at)
{
    return threads->sparse[at] < threads->count && threads->dense[threads->sparse[at]] == at;
}

static bool regex_holds(enum regex_parse_assertion assertion, const struct place *place)
{
    switch (assertion) {
    case REGEX_PARSE_TEXT_BEGIN: return place->is_begin;
    case REGEX_PARSE_TEXT_END: return place->is_end;
    case REGEX_PARSE_LINE_BEGIN: return place->is_line_begin;
    case REGEX_PARSE_LINE_END: return place->is_line_end;
    case REGEX_PARSE_WORD_EDGE: return place->is_word_edge;
    case REGEX_PARSE_NO_WORD_EDGE: break;
    }
    return !place->is_word_edge;
}

/* Follows everything that takes no character; true when the end of the program is met. */
static bool regex_add(struct regex *regex, struct threads *threads, uint32_t first, const struct place *place)
{
    uint32_t depth = 0;
    bool is_done = false;
    for (uint32_t at = first;;) {
        const struct instruction *instruction = &regex->program[at];
        bool goes_on = false;
        if (!is_in(threads, at)) {
            threads->sparse[at] = threads->count;
            threads->dense[threads->count++] = at;
            is_done |= instruction->operation == DONE;
            goes_on = instruction->operation == SPLIT ||
                      (instruction->operation == CHECK && regex_holds(instruction->node->assertion, place));
            if (instruction->operation == SPLIT)
                regex->stack[depth++] = instruction->other;
        }
        if (goes_on)
            at = instruction->next;
        else if (depth > 0)
            at = regex->stack[--depth];
        else
            return is_done;
    }
}

static bool is_word(struct str text, size_t at)
{
    unsigned char c = at < text.length ? (unsigned char)text.data[at] : 0;
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static struct place place_at(struct str text, size_t at)
{
    return (struct place){
        .is_begin = at == 0,
        .is_end = at == text.length,
        .is_line_begin = at == 0 || text.data[at - 1] == '\n',
        .is_line_end = at == text.length || text.data[at] == '\n',
        .is_word_edge = (at > 0 && is_word(text, at - 1)) != is_word(text, at),
    };
}

static bool takes(const struct regex_parse_node *node, uint32_t rune)
{
    for (uint32_t i = 0; i < node->range_count && rune >= node->ranges[i].first; i++)
        if (rune <= node->ranges[i].last)
            return true;
    return false;
}

static uint32_t rune_at(struct str text, size_t at, size_t *length)
{
    const unsigned char *bytes = (const unsigned char *)text.data + at;
    *length = str_utf8_length(text.data + at, text.length - at);
    uint32_t rune = bytes[0];
    if (*length > 1) {
        rune = bytes[0] & (0x7Fu >> *length);
        for (size_t i = 1; i < *length; i++)
            rune = rune << 6 | (bytes[i] & 0x3Fu);
    }
    *length += *length == 0;
    return rune;
}

static bool runs(struct regex *regex, struct str text)
{
    size_t length = 0;
    regex->now.count = 0;
    for (size_t at = 0;; at += length) {
        struct place place = place_at(text, at);
        if (regex_add(regex, &regex->now, regex->begin, &place))
            return true;
        if (at >= text.length)
            return false;
        uint32_t rune = rune_at(text, at, &length);
        arena_work(regex->arena, regex->now.count);
        struct place after = place_at(text, at + length);
        regex->next.count = 0;
        for (uint32_t i = 0; i < regex->now.count; i++) {
            const struct instruction *instruction = &regex->program[regex->now.dense[i]];
            if (instruction->operation == TAKE && takes(instruction->node, rune) &&
                regex_add(regex, &regex->next, instruction->next, &after))
                return true;
        }
        struct threads done = regex->now;
        regex->now = regex->next;
        regex->next = done;
    }
}

bool regex_matches(struct regex *regex, struct str text)
{
    if (!regex->is_literal)
        return runs(regex, text);
    struct str literal = regex->literal;
    arena_work(regex->arena, text.length / 16 + 1);
    return literal.length == 0 ||
           (text.length >= literal.length && memmem(text.data, text.length, literal.data, literal.length) != NULL);
}
