/* SPDX-License-Identifier: Apache-2.0
 * patterns.c: see patterns.h. */
#include "input/oom/patterns.h"

#include "input/oom/cursor.h"
#include "input/oom/handlers.h"

#include <ctype.h>
#include <stdlib.h>

enum { LONGEST_LITERAL = 120 };

static const struct {
    enum oom_family family;
    const char *form, *phase, *space, *pattern;
    size_t (*then)(struct oom_reader *reader, size_t at, struct oom_failure *failure);
} sentences[] = {
#define SENTENCE(family, form, phase, space, pattern, then) {OOM_FAMILY_##family, form, phase, space, pattern, then},
#include "input/oom/families.def"
};
enum { SENTENCE_COUNT = sizeof(sentences) / sizeof(sentences[0]) };

/* What a match takes out of the text; put into the failure when all of it fits. */
struct capture {
    struct oom_figure figures[OOM_FIGURE_COUNT];
    struct {
        size_t from, to;
    } device, memory_space;
};

static bool is_special(char c) { return c == '{' || c == '[' || c == ']' || c == '\0'; }

/* The letters of `pattern` up to the next placeholder or bracket, without white space; returns what follows. */
static const char *literal_take(const char *pattern, char literal[LONGEST_LITERAL])
{
    size_t length = 0;
    for (; !is_special(*pattern); pattern++)
        if (*pattern != ' ' && length + 1 < LONGEST_LITERAL)
            literal[length++] = *pattern;
    literal[length] = '\0';
    return pattern;
}

static enum oom_figure_at figure_named(const char *name, size_t length)
{
    static const char *const names[] = {
#define FIGURE(name, line, word) #name,
#include "input/oom/figures.def"
#undef FIGURE
    };
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        if (strncmp(names[i], name, length) == 0 && strcmp(names[i] + length, "_bytes") == 0)
            return (enum oom_figure_at)i;
    return OOM_FIGURE_COUNT;
}

/* A size or a number. Where the text ends behind the point of a size, the size is not known. */
static bool amount_take(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    if (oom_cursor_take_size(text, at, figure))
        return true;
    if (!oom_cursor_take_number(text, at, figure))
        return false;
    figure->is_known = figure->is_known && !(text->bytes[*at] == '.' && *at + 1 == text->length);
    return true;
}

static bool placeholder_take(const struct oom_text *text, size_t *at, const char *name, size_t length,
                             struct capture *capture)
{
    enum oom_figure_at figure = figure_named(name, length);
    size_t from = *at;
    if (figure < OOM_FIGURE_COUNT)
        return amount_take(text, at, &capture->figures[figure]);
    if (*name == 'm') {
        capture->memory_space.from = from;
        bool is_word = oom_cursor_take_word(text, at, &from);
        capture->memory_space.to = *at;
        return is_word;
    }
    while (*at < text->length && isdigit((unsigned char)text->bytes[*at]))
        ++*at;
    capture->device.from = from;
    capture->device.to = *at;
    return true;
}

/* Just behind the bracket that closes the one before `pattern`. */
static const char *group_end(const char *pattern)
{
    for (size_t depth = 1; depth > 0; pattern++)
        depth += *pattern == '[', depth -= *pattern == ']';
    return pattern;
}

/* Matches up to the end of the pattern or of its group. What a group that does not fit took stays taken: copies of a text
 * are cut anywhere. Patterns are ours, so they nest no deeper than they are written. */
static bool match(const struct oom_text *text, size_t *at, const char *pattern, struct capture *capture)
{
    char literal[LONGEST_LITERAL];
    while (*pattern != '\0' && *pattern != ']') {
        if (*pattern == '[') {
            size_t end = *at;
            if (match(text, &end, pattern + 1, capture))
                *at = end;
            pattern = group_end(pattern + 1);
        } else if (strncmp(pattern, "{..", 3) == 0) {
            size_t within = strtoul(pattern + 3, NULL, 10);
            pattern = literal_take(strchr(pattern, '}') + 1, literal);
            if (!oom_cursor_find(text, at, literal, within))
                return false;
        } else if (*pattern == '{') {
            const char *close = strchr(pattern, '}');
            if (!placeholder_take(text, at, pattern + 1, (size_t)(close - pattern - 1), capture))
                return false;
            pattern = close + 1;
        } else {
            pattern = literal_take(pattern, literal);
            if (!oom_cursor_take(text, at, literal))
                return false;
        }
    }
    return true;
}

static size_t open_failure(struct oom_reader *reader, size_t sentence, size_t from, size_t to,
                           const struct capture *capture)
{
    struct oom_failure *failure =
        oom_draft_begin(reader, sentences[sentence].family, sentences[sentence].form, from, to);
    if (sentences[sentence].phase != NULL)
        failure->phase = sentences[sentence].phase;
    memcpy(failure->figures, capture->figures, sizeof(failure->figures));
    oom_draft_lower(reader, &failure->memory_space, capture->memory_space.from, capture->memory_space.to);
    if (sentences[sentence].space != NULL)
        failure->memory_space.text = str_of(sentences[sentence].space);
    oom_draft_name(reader, &failure->device, capture->device.from, capture->device.to);
    if (sentences[sentence].then != NULL)
        to = sentences[sentence].then(reader, to, failure);
    return oom_draft_reach(reader, to);
}

size_t oom_pattern_read(struct oom_reader *reader, size_t at)
{
    for (size_t i = 0; i < SENTENCE_COUNT; i++) {
        struct capture capture = {.device = {0, 0}};
        size_t end = at;
        if (sentences[i].pattern[0] == reader->text.bytes[at] &&
            match(&reader->text, &end, sentences[i].pattern, &capture))
            return open_failure(reader, i, at, end, &capture);
    }
    return 0;
}

bool oom_pattern_begins(const struct oom_text *text, size_t at)
{
    char literal[LONGEST_LITERAL];
    for (size_t i = 0; i < SENTENCE_COUNT; i++) {
        size_t end = at;
        literal_take(sentences[i].pattern, literal);
        if (oom_cursor_take(text, &end, literal))
            return true;
    }
    return false;
}

void oom_pattern_firsts(bool firsts[256])
{
    for (size_t i = 0; i < SENTENCE_COUNT; i++)
        firsts[(unsigned char)sentences[i].pattern[0]] = true;
}
