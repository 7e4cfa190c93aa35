/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/patterns.h"

#include "read/oom/cursor.h"
#include "read/oom/handlers.h"
#include "read/oom/sieve.h"

#include <ctype.h>
#include <stdlib.h>

enum { LONGEST_LITERAL = 120, LONGEST_NAME = 220, LONGEST_LINE = 2000, AGAIN = 1024, CODE_NEAR = 600 };

static const struct {
    enum oom_family family;
    const char *form, *phase, *space, *pattern;
    size_t (*then)(struct oom_reader *reader, size_t at, struct oom_failure *failure);
    bool is_statement;
} sentences[] = {
#define SENTENCE(family, form, phase, space, pattern, then)                                                            \
    {OOM_FAMILY_##family, form, phase, space, pattern, then, false},
#define STATEMENT(family, form, phase, space, pattern, then)                                                           \
    {OOM_FAMILY_##family, form, phase, space, pattern, then, true},
#include "read/oom/families.def"
};
static const char *const lines[] = {
#define LINE(name, pattern) pattern,
#include "read/oom/families.def"
};
enum { SENTENCE_COUNT = sizeof(sentences) / sizeof(sentences[0]) };

/* What a match takes out of the text; put into the failure when all of it fits. */
struct capture {
    struct oom_figure figures[OOM_FIGURE_COUNT];
    struct range {
        size_t from, to;
    } device, memory_space, module;
    size_t stop; /* where the same sentence begins again: nothing is looked for behind it */
    bool is_cut; /* the text ended amid what was looked for */
};

/* Asked for each letter of a log: no call. */
static bool is_special(char c) { return c == '\0' || c == '{' || c == '[' || c == ']' || c == '<' || c == '>'; }

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
#include "read/oom/figures.def"
#undef FIGURE
    };
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        if (strncmp(names[i], name, length) == 0 && strcmp(names[i] + length, "_bytes") == 0)
            return (enum oom_figure_at)i;
    return OOM_FIGURE_COUNT;
}

/* The word that names a memory space; a "while" behind a space is another. */
static bool space_take(const struct oom_text *text, size_t *at, struct range *space)
{
    if (!oom_cursor_take_word(text, at, &space->from))
        return false;
    for (size_t i = space->from + 1; i < *at; i++)
        if (text->raw_of[i] > text->raw_of[i - 1] + 1 && strncmp(text->bytes + i, "while", 5) == 0)
            *at = i;
    space->to = *at;
    return true;
}

/* "0x1x0_HBM0)" or "…;": coordinates of the chip, then the memory. */
static bool chip_take(const struct oom_text *text, size_t *at, struct capture *capture)
{
    size_t end = *at, space;
    if (end >= text->length || !isdigit((unsigned char)text->bytes[end]) || !oom_cursor_skip_to(text, &end, "_)", 24) ||
        text->bytes[end] != '_')
        return false;
    for (space = end + 1; isalpha((unsigned char)text->bytes[space]);)
        space++;
    capture->memory_space = (struct range){end + 1, space};
    if (!oom_cursor_skip_to(text, &space, ");", 16))
        return false;
    capture->device = (struct range){*at, space};
    *at = space + 1;
    return true;
}

static bool is_digit_at(const struct oom_text *text, size_t at)
{
    return at < text->length && isdigit((unsigned char)text->bytes[at]);
}

static bool placeholder_take(const struct oom_text *text, size_t *at, const char *name, size_t length,
                             struct capture *capture)
{
    bool has_unit = *name == '!', is_in_unit = name[1] == ':';
    size_t mark = is_in_unit ? 2 : has_unit;
    enum oom_figure_at figure = figure_named(name + mark, length - mark);
    size_t from = *at;
    if (figure < OOM_FIGURE_COUNT && is_in_unit)
        return oom_cursor_take_amount(text, at, *name, &capture->figures[figure]);
    if (figure < OOM_FIGURE_COUNT)
        return (has_unit ? oom_cursor_take_size : oom_cursor_take_any)(text, at, &capture->figures[figure]);
    switch (*name) {
    case 'm': break;
    case '$': return from >= text->length || oom_text_is_line_begin(text, from);
    case 'c': return chip_take(text, at, capture);
    case '#':
        for (size_t most = strtoul(name + 1, NULL, 10); *at - from < most && *at < text->length; ++*at)
            if (is_digit_at(text, *at) || text->bytes[*at] == ',')
                break;
        return true;
    default:
        while (is_digit_at(text, *at))
            ++*at;
        capture->device = (struct range){from, *at};
        return true;
    }
    if (name[1] == 'e')
        return space_take(text, at, &capture->memory_space);
    capture->module = (struct range){from, from};
    if (!oom_cursor_skip_to(text, at, "'\"", LONGEST_NAME))
        return false;
    capture->module.to = *at;
    return true;
}

/* The longest of the words of "a|b}" that stands there; false when none does. */
static bool word_take(const struct oom_text *text, size_t *at, const char *words)
{
    char word[LONGEST_LITERAL];
    size_t furthest = 0;
    for (size_t length; *words != '}'; words += length + (words[length] == '|')) {
        size_t letters = 0, end = *at;
        length = strcspn(words, "|}");
        for (size_t i = 0; i < length && letters + 1 < sizeof(word); i++)
            if (words[i] != ' ')
                word[letters++] = words[i];
        word[letters] = '\0';
        if (oom_cursor_take(text, &end, word) && (furthest == 0 || end > furthest))
            furthest = end;
    }
    if (furthest == 0)
        return false;
    *at = furthest;
    return true;
}

/* Just behind the bracket that closes the one before `pattern`; those in a placeholder are letters. */
static const char *group_end(const char *pattern)
{
    for (size_t depth = 1; depth > 0 && *pattern != '\0'; pattern++) {
        if (*pattern == '{')
            pattern = strchr(pattern, '}');
        depth += *pattern == '[' || *pattern == '<', depth -= *pattern == ']' || *pattern == '>';
    }
    return pattern;
}

/* Does the text end before `literal` does, alike as far as it goes? */
static bool is_cut_amid(const struct oom_text *text, size_t at, const char *literal)
{
    size_t left = text->length - at;
    return left < strlen(literal) && memcmp(text->bytes + at, literal, left) == 0;
}

static bool patterns_match(const struct oom_text *text, size_t *at, const char *pattern, struct capture *capture);

/* A figure is what the words at its sides say, so what a group that does not fit took is given back; unless it was the
 * text that ended: copies are cut anywhere. */
static bool group_match(const struct oom_text *text, size_t *at, const char *pattern, struct capture *capture)
{
    struct capture before = *capture;
    size_t end = *at;
    if (patterns_match(text, &end, pattern, capture)) {
        *at = end;
        return true;
    }
    if (!capture->is_cut)
        *capture = before;
    capture->is_cut = before.is_cut;
    return false;
}

static const char *step_match(const struct oom_text *text, size_t *at, const char *pattern, struct capture *capture);

/* Goes on to where the placeholder behind "{..N}" fits first. */
static const char *distance_try(const struct oom_text *text, size_t *at, const char *pattern, size_t within,
                                struct capture *capture)
{
    const struct capture before = *capture;
    for (size_t skipped = 0; skipped <= within && *at + skipped < text->length; skipped++) {
        size_t end = *at + skipped;
        *capture = before;
        const char *next = *pattern == '{' ? step_match(text, &end, pattern, capture) : NULL;
        if (next != NULL && end <= capture->stop) {
            *at = end;
            return next;
        }
    }
    *capture = before;
    return NULL;
}

/* Goes on to the literal behind "{..N}"; returns what follows that, or NULL. */
static const char *distance_match(const struct oom_text *text, size_t *at, const char *pattern, struct capture *capture)
{
    char literal[LONGEST_LITERAL];
    size_t within = strtoul(pattern + 3, NULL, 10), from = *at;
    pattern = literal_take(strchr(pattern, '}') + 1, literal);
    if (literal[0] == '\0')
        return distance_try(text, at, pattern, within, capture);
    if (oom_cursor_find(text, at, literal, within) && *at <= capture->stop)
        return pattern;
    capture->is_cut = text->length - from <= within;
    return NULL;
}

/* One step of a pattern that is no bracket; returns what follows, or NULL. */
static const char *step_match(const struct oom_text *text, size_t *at, const char *pattern, struct capture *capture)
{
    char literal[LONGEST_LITERAL];
    if (strncmp(pattern, "{..", 3) == 0)
        return distance_match(text, at, pattern, capture);
    if (*pattern == '{') {
        const char *close = strchr(pattern, '}');
        size_t length = (size_t)(close - pattern - 1);
        bool is_word = memchr(pattern, '|', length + 1) != NULL;
        if (is_word ? word_take(text, at, pattern + 1) : placeholder_take(text, at, pattern + 1, length, capture))
            return close + 1;
        capture->is_cut = *at >= text->length;
        return NULL;
    }
    pattern = literal_take(pattern, literal);
    if (oom_cursor_take(text, at, literal))
        return pattern;
    capture->is_cut = is_cut_amid(text, *at, literal);
    return NULL;
}

/* Matches up to the end of the pattern or of its group. Patterns are ours, so they nest no deeper than they are
 * written. */
static bool patterns_match(const struct oom_text *text, size_t *at, const char *pattern, struct capture *capture)
{
    while (*pattern != '\0' && *pattern != ']' && *pattern != '>') {
        if (*pattern == '[') {
            group_match(text, at, pattern + 1, capture);
            pattern = group_end(pattern + 1);
        } else if (*pattern == '<') {
            size_t from = *at;
            for (; *pattern == '<'; pattern = group_end(pattern + 1)) {
                size_t end = from;
                if (group_match(text, &end, pattern + 1, capture) && end > *at)
                    *at = end;
            }
        } else if ((pattern = step_match(text, at, pattern, capture)) == NULL) {
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
    oom_draft_name(reader, &failure->module, capture->module.from, capture->module.to);
    if (sentences[sentence].then != NULL)
        to = sentences[sentence].then(reader, to, failure);
    return oom_draft_reach(reader, to);
}

/* Do the first letters of a sentence stand at `at`? Asked at very many places, of which nearly none is one. */
static bool is_begin(const struct oom_text *text, size_t at, const char *pattern)
{
    for (; !is_special(*pattern); pattern++)
        if (*pattern != ' ' && (at >= text->length || text->bytes[at++] != *pattern))
            return false;
    return true;
}

/* Of the line of the input, what stands before clean byte `at`. */
static struct str line_before(const struct oom_text *text, size_t at)
{
    size_t raw = text->raw_of[at], begin = raw;
    while (begin > 0 && raw - begin < LONGEST_LINE && text->raw[begin - 1] != '\n')
        begin--;
    return (struct str){text->raw + begin, raw - begin};
}

static bool ends_with(struct str text, const char *word)
{
    size_t length = strlen(word);
    return text.length >= length && memcmp(text.data + text.length - length, word, length) == 0;
}

/* "[TM][ERROR] " */
static bool is_behind_level(struct str before)
{
    static const char *const levels[] = {"[ERROR]", "[E]", "[FATAL]", "[CRITICAL]", "[error]"};
    bool is_behind = false;
    while (before.length > 0 && before.data[before.length - 1] == ' ')
        before.length--;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        is_behind |= ends_with(before, levels[i]);
    return is_behind;
}

/* Said by a program, rather than mentioned: behind a line's end, a colon, a banner's "!!!" or a level in brackets, and
 * not of an error that is spoken of. */
static bool is_stated(const struct oom_text *text, size_t at)
{
    static const char *const spoken_of[] = {"catch", "handle",  "Handle",       " fix",           "Fix",
                                            "avoid", "prevent", "UserWarning:", "RuntimeWarning:"};
    if (oom_text_is_line_begin(text, at))
        return true;
    struct str before = line_before(text, at);
    for (size_t i = 0; i < sizeof(spoken_of) / sizeof(spoken_of[0]); i++)
        if (memmem(before.data, before.length, spoken_of[i], strlen(spoken_of[i])) != NULL)
            return false;
    return text->bytes[at - 1] == ':' || text->bytes[at - 1] == '!' || is_behind_level(before);
}

/* One of a list of strings in source code, by the code around it: a log in JSON has none. */
static bool is_listed_in_source(const struct oom_text *text, size_t at)
{
    static const char *const code[] = {"assert", " in [", "#[test]", "parametrize", "fn ", "def test", "expect("};
    struct str before = line_before(text, at);
    size_t raw = text->raw_of[at], from = raw > CODE_NEAR ? raw - CODE_NEAR : 0, blank = 0;
    size_t to = raw + CODE_NEAR < text->raw_length ? raw + CODE_NEAR : text->raw_length;
    while (blank < before.length && (before.data[blank] == ' ' || before.data[blank] == '\t'))
        blank++;
    if (blank == before.length || (before.data[blank] != '"' && before.data[blank] != '\''))
        return false;
    for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
        if (memmem(text->raw + from, to - from, code[i], strlen(code[i])) != NULL)
            return true;
    return false;
}

/* In a string of source code: behind '= "' or '("', unless that is an exception as Python prints one. */
static bool is_in_source(const struct oom_text *text, size_t at)
{
    struct str before = line_before(text, at);
    size_t quote = before.length;
    while (quote > 0 && before.data[quote - 1] != '"' && before.data[quote - 1] != '\'')
        quote--;
    struct str code = {before.data, quote > 0 ? quote - 1 : 0};
    if (is_listed_in_source(text, at))
        return true;
    code.length -= code.length > 0 && (code.data[code.length - 1] == 'f' || code.data[code.length - 1] == 'r');
    if (ends_with(code, " = "))
        return true;
    if (!ends_with(code, "(") || memmem(code.data, code.length, "rror: ", 6) != NULL ||
        memmem(code.data, code.length, "panicked at", 11) != NULL || /* Rust prints a value as source code names it */
        memmem(code.data, code.length, "` value: ", 9) != NULL)
        return false;
    code.length--;
    return (!ends_with(code, "Error") && !ends_with(code, "Exception")) ||
           memmem(code.data, code.length, "raise ", 6) != NULL;
}

/* Where the first letters of a sentence at `at` stand again, or the end. */
static size_t again_at(const struct oom_text *text, size_t at, const char *pattern)
{
    char literal[LONGEST_LITERAL];
    literal_take(pattern, literal);
    at += strlen(literal);
    return oom_cursor_find(text, &at, literal, AGAIN) ? at - strlen(literal) : text->length;
}

/* The sentence at clean byte `*at`, which moves behind it; SENTENCE_COUNT when there is none. */
static size_t sentence_take(const struct oom_pattern_index *index, const struct oom_text *text, size_t *at,
                            struct capture *capture)
{
    const unsigned char letter = (unsigned char)text->bytes[*at];
    for (size_t j = index->begin[letter]; j < index->begin[letter + 1]; j++) {
        size_t end = *at, i = index->sentences[j];
        if (!is_begin(text, *at, sentences[i].pattern))
            continue;
        *capture = (struct capture){.stop = again_at(text, *at, sentences[i].pattern)};
        /* whether it is stated is asked last: that goes through the line before it */
        if (patterns_match(text, &end, sentences[i].pattern, capture) &&
            (!sentences[i].is_statement || is_stated(text, *at))) {
            *at = end;
            return i;
        }
    }
    return SENTENCE_COUNT;
}

size_t oom_pattern_read(struct oom_reader *reader, size_t at)
{
    struct capture capture;
    size_t end = at, sentence = sentence_take(&reader->sentences, &reader->text, &end, &capture);
    if (sentence == SENTENCE_COUNT)
        return 0;
    return is_in_source(&reader->text, at) ? end : open_failure(reader, sentence, at, end, &capture);
}

bool oom_pattern_is_at(const struct oom_reader *reader, size_t at)
{
    struct capture capture;
    return sentence_take(&reader->sentences, &reader->text, &at, &capture) < SENTENCE_COUNT;
}

size_t oom_pattern_figures(const struct oom_text *text, size_t *at, enum oom_line line,
                           struct oom_figure figures[OOM_FIGURE_COUNT])
{
    struct capture capture = {.stop = text->length};
    size_t end = *at, count = 0;
    if (patterns_match(text, &end, lines[line], &capture))
        *at = end;
    memcpy(figures, capture.figures, sizeof(capture.figures));
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        count += figures[i].is_known;
    return count;
}

size_t oom_pattern_add(struct oom_reader *reader, size_t at, enum oom_line line)
{
    struct oom_figure figures[OOM_FIGURE_COUNT], *kept = reader->draft.failure.figures;
    oom_pattern_figures(&reader->text, &at, line, figures);
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        if (!kept[i].is_known)
            kept[i] = figures[i];
    return at;
}

void oom_pattern_firsts(bool firsts[256])
{
    for (size_t i = 0; i < SENTENCE_COUNT; i++)
        firsts[(unsigned char)sentences[i].pattern[0]] = true;
}

struct oom_pattern_index oom_pattern_index_new(struct arena *arena)
{
    unsigned short *sorted = arena_array(arena, unsigned short, SENTENCE_COUNT);
    unsigned short *begin = arena_array(arena, unsigned short, 257);
    unsigned short next[256];
    for (size_t i = 0; i < SENTENCE_COUNT; i++)
        begin[(unsigned char)sentences[i].pattern[0] + 1]++;
    for (size_t letter = 0; letter < 256; letter++) {
        next[letter] = begin[letter];
        begin[letter + 1] = (unsigned short)(begin[letter] + begin[letter + 1]);
    }
    for (size_t i = 0; i < SENTENCE_COUNT; i++)
        sorted[next[(unsigned char)sentences[i].pattern[0]]++] = (unsigned short)i;
    return (struct oom_pattern_index){sorted, begin};
}

/* The longest run of letters that the pattern cannot do without; false if none is long enough for a sieve. */
static bool sign_take(const char *pattern, char longest[LONGEST_LITERAL])
{
    char literal[LONGEST_LITERAL];
    longest[0] = '\0';
    while (*pattern != '\0' && *pattern != ']' && *pattern != '>') { /* as patterns_match ends */
        if (*pattern == '[' || *pattern == '<') {
            pattern = group_end(pattern + 1);
        } else if (*pattern == '{') {
            pattern = strchr(pattern, '}') + 1;
        } else {
            pattern = literal_take(pattern, literal);
            if (strlen(literal) > strlen(longest))
                memcpy(longest, literal, sizeof(literal));
        }
    }
    return strlen(longest) >= OOM_SIEVE_MIN;
}

size_t oom_pattern_signs(struct arena *arena, const char **signs)
{
    char longest[LONGEST_LITERAL];
    size_t count = 0;
    for (size_t i = 0; i < SENTENCE_COUNT; i++)
        if (sign_take(sentences[i].pattern, longest))
            signs[count++] = arena_text(arena, str_of(longest));
    return count;
}
