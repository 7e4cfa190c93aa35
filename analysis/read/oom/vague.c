/* SPDX-License-Identifier: Apache-2.0
 * vague.c: see vague.h. A word of lack is no failure: source code, documentation, advice, names of tests and messages
 * about what was avoided hold it as well. Its line has to be one of an error, and no word of these others may stand in
 * it. */
#include "read/oom/vague.h"

#include "read/oom/cursor.h"
#include "read/oom/lack.h"
#include "read/oom/patterns.h"
#include "read/oom/prefix.h"
#include "read/oom/read.h"
#include "read/oom/sizes.h"
#include "read/oom/status.h"
#include "read/oom/vague_memory.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_LINE = 600, SHORT_LINE = 80, HEAD_WITHIN = 500 };

static const char *const marks[] = {
#define MARK(word) word,
#include "read/oom/vague.def"
};
static const char *const heads[] = {
#define HEAD(word) word,
#include "read/oom/vague.def"
};
static const char *const codes[] = {
#define CODE(word) word,
#include "read/oom/vague.def"
};
static const char *const signs[] = {
#define SIGN(word) word,
#include "read/oom/vague.def"
};
static const char *const advices[] = {
#define ADVICE(word) word,
#include "read/oom/vague.def"
};
static const char *const own_limits[] = {
#define OWN_LIMIT(word) word,
#include "read/oom/vague.def"
};
static const char *const others_limits[] = {
#define OTHERS_LIMIT(word) word,
#include "read/oom/vague.def"
};
static const char *const statuses[] = {
#define STATUS(word) word,
#include "read/oom/vague.def"
};
static const char *const places[] = {
#define PLACE(word) word,
#include "read/oom/vague.def"
};
static const char *const generals[] = {
#define GENERAL(word) word,
#include "read/oom/vague.def"
};
static const char *const begins[] = {
#define BEGIN(word) word,
#include "read/oom/vague.def"
};
static const char *const of_memory[] = {
#define OF_MEMORY(word) word,
#include "read/oom/vague.def"
};
static const char *const of_others[] = {
#define OF_OTHERS(word) word,
#include "read/oom/vague.def"
};
static const char *const comments[] = {
#define COMMENT(word) word,
#include "read/oom/vague.def"
};
static const char *const broken[] = {
#define BROKEN(word) word,
#include "read/oom/vague.def"
};
static const struct {
    const char *word;
    enum oom_family family;
} runtimes[] = {
#define RUNTIME(word, family) {word, OOM_FAMILY_##family},
#include "read/oom/vague.def"
};
static const enum oom_family keeps[] = {
#define KEEPS(family) OOM_FAMILY_##family,
#include "read/oom/vague.def"
};
static const struct {
    const char *word, *form;
} forms[] = {
#define FORM(word, form) {word, form},
#include "read/oom/vague.def"
};
#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

/* What of a line is no quote's bar or side of a frame. */
static struct str unframed(struct str line)
{
    size_t drawn = 0;
    for (; line.length > 0 && (line.data[0] == ' ' || line.data[0] == '|' || line.data[0] == '>' ||
                               (drawn = oom_prefix_drawn_length(line)) > 0);
         drawn = 0)
        line = (struct str){line.data + (drawn > 0 ? drawn : 1), line.length - (drawn > 0 ? drawn : 1)};
    while (line.length > 0 && (line.data[line.length - 1] == ' ' || line.data[line.length - 1] == '|'))
        line.length--;
    return line;
}

/* The line of the input around `at`, at most LONGEST_LINE bytes; longer ones are no message. */
static struct str line_of(const struct oom_text *text, size_t at, size_t *clean_end)
{
    size_t raw = text->raw_of[at], begin = raw, end = raw;
    while (begin > 0 && text->raw[begin - 1] != '\n' && raw - begin < LONGEST_LINE)
        begin--;
    while (end < text->raw_length && text->raw[end] != '\n' && end - raw < LONGEST_LINE)
        end++;
    *clean_end = oom_text_at(text, end);
    return unframed((struct str){text->raw + begin, end - begin});
}

/* "OPTIX_ERROR_" before it: the name of a status. */
static bool is_behind_status(const struct oom_text *text, size_t raw)
{
    for (size_t i = 0; i < COUNT(statuses); i++)
        if (raw >= strlen(statuses[i]) &&
            memcmp(text->raw + raw - strlen(statuses[i]), statuses[i], strlen(statuses[i])) == 0)
            return true;
    return false;
}

/* A quoted sentence is source code, unless the whole line is a message in JSON. */
static bool is_quoted(const struct oom_text *text, size_t at)
{
    size_t raw = text->raw_of[at];
    bool is_in_name = text->bytes[at] == 'a' || text->bytes[at] == 'A'; /* of an allocator */
    if (is_in_name && raw > 0 && text->raw[raw - 1] == '_')
        return false;
    if (is_behind_status(text, raw))
        return false;
    return raw > 0 && (text->raw[raw - 1] == '"' || text->raw[raw - 1] == '\'' || text->raw[raw - 1] == '`' ||
                       text->raw[raw - 1] == '_' || text->raw[raw - 1] == '.');
}

/* A conversion of printf, or a place that a formatter fills: "%zu", "{}", "${name}"; "84 %" is none. */
static bool has_place_to_fill(struct str line)
{
    for (size_t i = 0; i + 1 < line.length; i++)
        if (line.data[i] == '%' && (i == 0 || !isdigit((unsigned char)line.data[i - 1])) &&
            strchr("dsuzlfgxipc.*", line.data[i + 1]) != NULL)
            return true;
    return oom_text_has_any(line, places, COUNT(places));
}

/* A line of source code or of a document: it ends as statements and blocks do, has places to fill, or is a comment or a
 * heading. */
static bool is_code(struct str line)
{
    size_t length = line.length;
    while (length > 0 && isspace((unsigned char)line.data[length - 1]))
        length--;
    return has_place_to_fill(line) || line.data[0] == '#' ||
           (length > 0 && strchr(";{\\", line.data[length - 1]) != NULL);
}

/* Does a program say it of itself, rather than somebody of a program? `before`: of the line what stands before the
 * lack. */
static bool is_behind_head(struct str before)
{
    return oom_text_has_any(before, heads, COUNT(heads)) && !oom_text_has_any(before, advices, COUNT(advices));
}

/* Of the line, what stands before the raw byte `at` of the text, and from there on. */
static void line_part(struct str line, const char *at, struct str *before, struct str *behind)
{
    size_t length = at > line.data ? (size_t)(at - line.data) : 0;
    if (length > line.length)
        length = line.length;
    *before = (struct str){line.data, length};
    *behind = (struct str){line.data + length, line.length - length};
}

/* Does a sentence about memory in general go on behind the words of lack? */
static bool is_general(const struct oom_text *text, size_t end)
{
    for (size_t i = 0; i < COUNT(generals); i++)
        if (oom_cursor_take(text, &(size_t){end}, generals[i]))
            return true;
    return false;
}

/* "python3: out of memory", "Out of memory!", "catboost/data.cpp:88: Out of memory": the words are all that the line
 * says, behind a name. A heading has neither name nor stop. */
static bool is_all_said(const struct oom_text *text, size_t end, struct str before, struct str behind)
{
    if (is_general(text, end))
        return false;
    size_t words = 0;
    bool has_name = before.length > 1 && before.data[before.length - 1] == ' ' && before.data[before.length - 2] == ':';
    for (size_t i = 0; i + 1 < before.length; i++)
        words += before.data[i] == ' ';
    if (behind.length == 0 || words > 1 || (before.length > 0 && !has_name))
        return false;
    bool is_stop =
        strchr("!.", behind.data[behind.length - 1]) != NULL && oom_text_has_any(behind, (const char *[]){"emory"}, 1);
    return (has_name || is_stop || islower((unsigned char)behind.data[0])) && behind.length < SHORT_LINE &&
           memchr(behind.data, ',', behind.length) == NULL;
}

/* "Not enough GPU memory to match 32768 features.", "Not enough memory to allocate 17179869184 bytes": a sentence that
 * begins with the lack. */
static bool is_sentence(const struct oom_text *text, size_t end, size_t line_end, struct str before, struct str behind)
{
    bool has_begin = false;
    for (size_t i = 0; i < COUNT(begins); i++)
        has_begin =
            has_begin || (behind.length > strlen(begins[i]) && memcmp(behind.data, begins[i], strlen(begins[i])) == 0);
    bool is_first = before.length == 0 || (before.length > 1 && before.data[before.length - 1] == ' ' &&
                                           strchr(":]>*-", before.data[before.length - 2]) != NULL);
    return has_begin && is_first && !is_general(text, end) && behind.length > 0 &&
           (strchr(".!", behind.data[behind.length - 1]) != NULL || oom_sizes_ask(text, end, line_end));
}

/* Is one of the sizes of a line more than there is, of memory? */
static bool is_compared(const struct oom_text *text, size_t line_end, struct str line)
{
    return oom_text_has_any(line, of_memory, COUNT(of_memory)) &&
           !oom_text_has_any(line, of_others, COUNT(of_others)) &&
           oom_sizes_exceed(text, oom_text_at(text, (size_t)(line.data - text->raw)), line_end);
}

/* A line with an indent goes on with the one before it: does that one say of itself that it is an
 * error? */
static bool is_continued(const struct oom_text *text, struct str before_lack, struct str line)
{
    size_t begin = (size_t)(line.data - text->raw), end, from;
    bool has_name = before_lack.length > 1 && memcmp(before_lack.data + before_lack.length - 2, ": ", 2) == 0;
    if (begin == 0 || text->raw[begin - 1] != ' ' || !has_name)
        return false;
    while (begin > 0 && text->raw[begin - 1] == ' ')
        begin--;
    if (begin == 0 || text->raw[begin - 1] != '\n')
        return false;
    end = from = begin - 1;
    while (from > 0 && text->raw[from - 1] != '\n' && end - from < LONGEST_LINE)
        from--;
    struct str before = {text->raw + from, end - from};
    return before.length > 0 && before.length < LONGEST_LINE && oom_text_has_any(before, heads, COUNT(heads)) &&
           !oom_text_has_any(before, codes, COUNT(codes)) && !oom_text_has_any(before, advices, COUNT(advices)) &&
           !is_code(before) && line.length > 0 && strchr("-*", line.data[0]) == NULL;
}

static bool is_of_error(const struct oom_text *text, size_t at, size_t end, size_t line_end, struct str line)
{
    struct str before, behind;
    line_part(line, text->raw + text->raw_of[at], &before, &behind);
    if (line.length == 0 || line.length >= LONGEST_LINE || is_quoted(text, at) || is_code(line) ||
        oom_text_has_any(line, codes, COUNT(codes)) ||
        !(oom_text_has_any(line, marks, COUNT(marks)) || is_all_said(text, end, before, behind) ||
          is_sentence(text, end, line_end, before, behind) || is_continued(text, before, line)))
        return false;
    return is_behind_head(before) ||
           (!oom_text_has_any(line, signs, COUNT(signs)) && !oom_text_has_any(line, advices, COUNT(advices)));
}

/* Does the line before it say that a program in Rust panicked? Then it is a value as that language prints one. */
static bool is_behind_panic(const struct oom_text *text, struct str line)
{
    size_t begin = (size_t)(line.data - text->raw), from = begin > LONGEST_LINE ? begin - LONGEST_LINE : 0, end = begin;
    while (end > from && strchr(" \n\r|>", text->raw[end - 1]) != NULL && text->raw[end - 1] != '\0')
        end--;
    size_t at = end;
    while (at > from && text->raw[at - 1] != '\n')
        at--;
    return oom_text_has_any((struct str){text->raw + at, end - at}, (const char *[]){"panicked at"}, 1);
}

/* "OPTIX_ERROR_DEVICE_OUT_OF_MEMORY in optixPipelineCreate(…": which call returned it. */
static bool is_before_call(struct str behind)
{
    while (behind.length > 0 && behind.data[0] == ' ')
        behind = (struct str){behind.data + 1, behind.length - 1};
    return behind.length > 3 && memcmp(behind.data, "in ", 3) == 0 && memchr(behind.data, '(', behind.length) != NULL;
}

/* Nothing but the level and the logger of a line. */
static bool is_at_line_begin(struct str ahead)
{
    return ahead.length == 0 || (ahead.length > 1 && memcmp(ahead.data + ahead.length - 2, ": ", 2) == 0);
}

/* The name of a code says that it is one, unless it is listed with its number or somebody writes about it; so does a
 * function that returned one. */
static bool is_of_status(const struct oom_text *text, struct str line, const struct oom_status *status)
{
    struct str before, behind;
    line_part(line, status->word.data + status->word.length, &before, &behind);
    struct str ahead = {line.data, (size_t)(status->word.data - line.data)};
    if (status->is_value) /* in a statement that was traced, the code is what it returned */
        return line.length < LONGEST_LINE && !has_place_to_fill(line) && oom_text_has_any(line, marks, COUNT(marks));
    bool is_code_line = is_code(line) || (oom_text_has_any(line, codes, COUNT(codes)) && !is_behind_panic(text, line));
    if (status->is_name && line.length < LONGEST_LINE && is_at_line_begin(ahead) && is_before_call(behind))
        return true;
    if (line.length >= LONGEST_LINE || is_code_line ||
        (!is_behind_head(ahead) &&
         (oom_text_has_any(line, advices, COUNT(advices)) || oom_text_has_any(line, comments, COUNT(comments)))))
        return false;
    if (!status->is_name)
        return true;
    bool is_quoted = ahead.length > 0 && strchr("\"'`", ahead.data[ahead.length - 1]) != NULL;
    while (behind.length > 0 && strchr(" \t", behind.data[0]) != NULL)
        behind = (struct str){behind.data + 1, behind.length - 1};
    if (behind.length > 0 && strchr("=,|", behind.data[0]) != NULL && !oom_text_has_any(ahead, marks, COUNT(marks)))
        return false;
    return is_quoted ? oom_text_has_any(ahead, marks, COUNT(marks)) || oom_text_has_any(behind, marks, COUNT(marks))
                     : oom_text_has_any(ahead, marks, COUNT(marks)) || oom_text_has_any(behind, marks, COUNT(marks)) ||
                           behind.length == 0 || strchr("(:).;", behind.data[0]) != NULL || is_before_call(behind);
}

/* Whose words these are, though nothing else of its sentence stands there. */
static enum oom_family family_of(struct str line)
{
    for (size_t i = 0; i < COUNT(runtimes); i++)
        if (memmem(line.data, line.length, runtimes[i].word, strlen(runtimes[i].word)) != NULL)
            return runtimes[i].family;
    return OOM_FAMILY_unknown_runtime;
}

/* What the line names of a family that has several forms; NULL: nothing. */
static const char *form_of(struct str line)
{
    for (size_t i = 0; i < COUNT(forms); i++)
        if (memmem(line.data, line.length, forms[i].word, strlen(forms[i].word)) != NULL)
            return forms[i].form;
    return NULL;
}

static const char *space_of(enum oom_memory memory)
{
    switch (memory) {
    case OOM_MEMORY_host: return "host memory";
    case OOM_MEMORY_device: return "device";
    case OOM_MEMORY_gpu: return "GPU memory";
    default: return NULL;
    }
}

/* The family of a line with a code: the runtime that it names, or whose interface the code is of. */
static enum oom_family family_with(enum oom_family named, enum oom_family of_status)
{
    for (size_t i = 0; i < COUNT(keeps) && of_status != OOM_FAMILY_other; i++)
        if (named == keeps[i])
            return named;
    return of_status;
}

static size_t failure_open(struct oom_reader *reader, size_t at, size_t end, size_t line_end, struct str line,
                           const struct oom_status *status)
{
    const struct oom_text *text = &reader->text;
    enum oom_family family = family_of(line);
    enum oom_memory memory =
        family == OOM_FAMILY_unknown_runtime ? oom_vague_memory_around(text, line) : oom_vague_memory_of(line);
    if (status != NULL) {
        family = family_with(family, status->family);
        memory = status->memory != OOM_MEMORY_not_known ? status->memory : memory;
    }
    bool is_known = family != OOM_FAMILY_unknown_runtime;
    const char *of_words = form_of(line);
    const char *form = status != NULL && family == status->family ? status->form : is_known ? "bare" : "line";
    if (of_words != NULL && family == OOM_FAMILY_gpu_driver)
        form = of_words;
    bool is_limit = !is_known && status == NULL && oom_text_has_any(line, own_limits, COUNT(own_limits)) &&
                    !oom_text_has_any(line, others_limits, COUNT(others_limits)) &&
                    (memory == OOM_MEMORY_host || memory == OOM_MEMORY_not_known);
    if (is_limit) /* programs that name a limit of theirs count what they take of the host's */
        memory = OOM_MEMORY_host;
    struct oom_failure *failure = oom_draft_begin(reader, family, form, at, end);
    failure->has_own_limit = is_limit;
    line_end = oom_sizes_read(text, oom_text_at(text, (size_t)(line.data - text->raw)), line_end, failure->figures);
    bool is_other = family == OOM_FAMILY_other || !is_known;
    if ((is_other || memory == OOM_MEMORY_host) && space_of(memory) != NULL)
        failure->memory_space.text = str_of(space_of(memory));
    if (!is_known) {
        failure->memory_class = memory;
        oom_draft_note_owned(reader, "line", "memviewd does not know this runtime. The line: %.*s", (int)line.length,
                             line.data);
    }
    return oom_draft_reach(reader, line_end > end ? line_end : end);
}

/* A context that an illegal address or a failed launch broke refuses all that is asked of it. Where such an error
 * stands near, a line that does not speak of memory tells of no lack. */
static bool is_of_broken_context(struct oom_reader *reader, size_t at, struct str line)
{
    enum { NEAR = 2048 };
    static const char *const memory[] = {"emory", "EMORY"};
    size_t which;
    if (oom_text_has_any(line, memory, COUNT(memory)))
        return false;
    if (oom_seen_before(&reader->broken, &reader->text, at, NEAR, broken, COUNT(broken), &which))
        return true;
    for (size_t i = 0; i < COUNT(broken); i++) {
        size_t end = at;
        if (oom_cursor_find(&reader->text, &end, broken[i], NEAR))
            return true;
    }
    return false;
}

size_t oom_vague_read(struct oom_reader *reader, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t end = at, line_end, raw = text->raw_of[at];
    struct oom_status status;
    bool is_begin = raw == 0 || !(isalnum((unsigned char)text->raw[raw - 1]) || text->raw[raw - 1] == '_');
    bool has_status = is_begin && oom_status_begins((struct str){text->raw + raw, text->raw_length - raw});
    bool has_lack = oom_lack_read(text, at, &end);
    bool has_size = !has_lack && oom_lack_is_sized(text, at, &end);
    bool compares = !has_lack && !has_size && oom_lack_compares(text, at, &end);
    if (!has_status && !has_lack && !compares && !has_size)
        return 0;
    struct str line = line_of(text, at, &line_end);
    if (line.data > text->raw + raw) /* a bar of the frame */
        return 0;
    uint64_t line_at = text->raw_at + (uint64_t)(line.data - text->raw);
    has_status = has_status && oom_status_read(line, (size_t)(text->raw + raw - line.data), &status) &&
                 is_of_status(text, line, &status);
    has_lack =
        has_lack || (compares && is_compared(text, line_end, line)) || (has_size && oom_sizes_ask(text, end, line_end));
    has_lack = has_lack && is_of_error(text, at, end, line_end, line) && !is_of_broken_context(reader, at, line);
    if (has_status && end == at)
        end = oom_text_at(text, raw + status.word.length);
    if ((!has_status && !has_lack) || reader->tail_at > line_at || oom_read_head_within(reader, at + 1, HEAD_WITHIN))
        return 0;
    return failure_open(reader, at, end, line_end, line, has_status ? &status : NULL);
}

void oom_vague_firsts(bool firsts[256])
{
    oom_lack_firsts(firsts);
    oom_status_firsts(firsts);
}
