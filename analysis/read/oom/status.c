/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/status.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 80, LONGEST_NUMBER = 18, TITLE_WORDS = 3 };

enum api {
#define API(name, family, form, memory) API_##name,
#include "read/oom/status.def"
};
static const struct {
    enum oom_family family;
    enum oom_memory memory;
    const char *form;
} apis[] = {
#define API(name, family, form, memory) {OOM_FAMILY_##family, OOM_MEMORY_##memory, form},
#include "read/oom/status.def"
};
static const struct word {
    enum api api;
    const char *word;
} names[] =
    {
#define NAME(api, word) {API_##api, word},
#include "read/oom/status.def"
},
  calls[] =
      {
#define CALL(api, word) {API_##api, word},
#include "read/oom/status.def"
},
  titles[] = {
#define TITLE(api, word) {API_##api, word},
#include "read/oom/status.def"
};
static const struct {
    enum api api;
    int64_t number;
    enum oom_memory memory;
} numbers[] = {
#define NUMBER(api, number, memory) {API_##api, number, OOM_MEMORY_##memory},
#include "read/oom/status.def"
};
static const char *const lack_parts[] = {
#define LACK_PART(word) word,
#include "read/oom/status.def"
};
static const char *const host_parts[] = {
#define HOST_PART(word) word,
#include "read/oom/status.def"
};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool is_word_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool begins_with(struct str text, const char *word)
{
    return text.length >= strlen(word) && memcmp(text.data, word, strlen(word)) == 0;
}

static struct str word_at(struct str line, size_t at)
{
    size_t end = at;
    while (end < line.length && is_word_letter(line.data[end]))
        end++;
    return (struct str){line.data + at, end - at};
}

/* Of `count` words the first that `text` begins with; `count` when it begins with none. */
static size_t word_find(struct str text, const struct word *words, size_t count)
{
    size_t i = 0;
    while (i < count && !begins_with(text, words[i].word))
        i++;
    return i;
}

/* Has `name`, in small letters and without '_', one of the parts? */
static bool has_part(struct str name, const char *const *parts, size_t count)
{
    char folded[LONGEST_NAME + 1];
    size_t length = 0;
    for (size_t i = 0; i < name.length && length < LONGEST_NAME; i++)
        if (name.data[i] != '_')
            folded[length++] = (char)tolower((unsigned char)name.data[i]);
    folded[length] = '\0';
    for (size_t i = 0; i < count; i++)
        if (strstr(folded, parts[i]) != NULL)
            return true;
    return false;
}

/* Ends the word before `at` as those before a code do: "error", "CUresult", "returned"? */
static bool is_behind_code_word(struct str line, size_t at, bool is_negative)
{
    static const char *const ends[] = {"code", "error", "err",  "errno",  "status", "result",  "returned",
                                       "ret",  "rc",    "fail", "failed", "hr",     "hresult", "returns"};
    size_t end = at, begin;
    while (end > 0 && strchr(" \t=:(#[<'\"`", line.data[end - 1]) != NULL && line.data[end - 1] != '\0')
        end--;
    bool is_marked =
        end < at && (memchr(line.data + end, ':', at - end) != NULL || memchr(line.data + end, '(', at - end) != NULL);
    if (is_negative && end > 0 && is_marked && (is_word_letter(line.data[end - 1]) || line.data[end - 1] == ')'))
        return true;
    for (begin = end; begin > 0 && isalpha((unsigned char)line.data[begin - 1]) && end - begin < LONGEST_NAME;)
        begin--;
    char word[LONGEST_NAME + 1];
    size_t length = 0;
    for (size_t i = begin; i < end; i++)
        word[length++] = (char)tolower((unsigned char)line.data[i]);
    word[length] = '\0';
    if (strcmp(word, "with") == 0 && begin > 0)
        return is_behind_code_word(line, begin, false);
    for (size_t i = 0; i < COUNT(ends); i++)
        if (length >= strlen(ends[i]) && strcmp(word + length - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* The number that begins at `at`; false when none does, or it is a part of another word. */
static bool number_take(struct str line, size_t at, int64_t *number)
{
    char digits[LONGEST_NUMBER + 1], *rest;
    size_t length = 0;
    if (at > 0 && (is_word_letter(line.data[at - 1]) || strchr(".-", line.data[at - 1]) != NULL))
        return false;
    while (at + length < line.length && length < LONGEST_NUMBER &&
           (is_word_letter(line.data[at + length]) || (length == 0 && line.data[at] == '-'))) {
        digits[length] = line.data[at + length];
        length++;
    }
    digits[length] = '\0';
    size_t end = at + length;
    if (end < line.length && (line.data[end] == '%' || (line.data[end] == '.' && end + 1 < line.length &&
                                                        isdigit((unsigned char)line.data[end + 1]))))
        return false;
    bool is_hexadecimal = length > 2 && digits[0] == '0' && tolower((unsigned char)digits[1]) == 'x';
    /* "8007000e": an HRESULT without its "0x" */
    is_hexadecimal |= length == 8 && digits[0] == '8' && strspn(digits, "0123456789") < length;
    *number = strtoll(digits, &rest, is_hexadecimal ? 16 : 10);
    return length > 0 && *rest == '\0' && rest != digits;
}

/* A code of `api` in `line`. */
static bool number_find(struct str line, enum api api, enum oom_memory *memory)
{
    int64_t number;
    for (size_t at = 0; at < line.length; at++) {
        if ((line.data[at] != '-' && !isdigit((unsigned char)line.data[at])) || !number_take(line, at, &number))
            continue;
        for (size_t i = 0; i < COUNT(numbers); i++)
            if (numbers[i].api == api && numbers[i].number == number &&
                (number >= 100000 || is_behind_code_word(line, at, number < 0))) {
                *memory = numbers[i].memory;
                return true;
            }
    }
    return false;
}

static bool is_same_word(struct str word, const char *small)
{
    size_t i = 0;
    while (i < word.length && tolower((unsigned char)word.data[i]) == small[i])
        i++;
    return i == word.length && small[i] == '\0';
}

/* "OpenCL error", "CUDA driver API error": does what stands behind the title speak of an error? */
static bool is_title_of_error(struct str line, size_t at)
{
    static const char *const between[] = {"driver",  "runtime",   "api",   "call",
                                          "failure", "exception", "error", "device"};
    for (size_t words = 0; words < TITLE_WORDS; words++) {
        while (at < line.length && (line.data[at] == ' ' || line.data[at] == '_' || line.data[at] == ':'))
            at++;
        struct str word = {line.data + at, 0};
        while (at + word.length < line.length && isalpha((unsigned char)line.data[at + word.length]))
            word.length++;
        size_t i = 0;
        while (i < COUNT(between) && !is_same_word(word, between[i]))
            i++;
        if (i == COUNT(between))
            return words > 0;
        if (strcmp(between[i], "error") == 0)
            return true;
        at += word.length;
    }
    return true;
}

bool oom_status_begins(struct str text)
{
    return word_find(text, names, COUNT(names)) < COUNT(names) || word_find(text, calls, COUNT(calls)) < COUNT(calls) ||
           word_find(text, titles, COUNT(titles)) < COUNT(titles);
}

bool oom_status_read(struct str line, size_t at, struct oom_status *status)
{
    if (at > 0 && is_word_letter(line.data[at - 1]))
        return false;
    struct str word = word_at(line, at), rest = {line.data + at, line.length - at};
    size_t name = word_find(word, names, COUNT(names));
    if (name < COUNT(names) && has_part(word, lack_parts, COUNT(lack_parts))) {
        bool is_host = has_part(word, host_parts, COUNT(host_parts));
        *status = (struct oom_status){.family = apis[names[name].api].family,
                                      .memory = is_host ? OOM_MEMORY_host : apis[names[name].api].memory,
                                      .form = apis[names[name].api].form,
                                      .word = word,
                                      .is_name = true};
        return true;
    }
    size_t call = word_find(word, calls, COUNT(calls)), title = word_find(rest, titles, COUNT(titles));
    if (call == COUNT(calls) && (title == COUNT(titles) || !is_title_of_error(line, at + strlen(titles[title].word))))
        return false;
    enum api api = call < COUNT(calls) ? calls[call].api : titles[title].api;
    *status = (struct oom_status){.family = apis[api].family, .form = apis[api].form, .word = word};
    status->is_value = api == API_hresult;
    if (!number_find(line, api, &status->memory))
        return false;
    if (has_part(word, host_parts, COUNT(host_parts)))
        status->memory = OOM_MEMORY_host;
    return true;
}

const char *oom_status_sign(size_t at)
{
    return at < COUNT(calls)                   ? calls[at].word
           : at < COUNT(calls) + COUNT(titles) ? titles[at - COUNT(calls)].word
                                               : NULL;
}

const char *oom_status_part(size_t at) { return at < COUNT(lack_parts) ? lack_parts[at] : NULL; }

void oom_status_firsts(bool firsts[256])
{
    for (size_t i = 0; i < COUNT(names); i++)
        firsts[(unsigned char)names[i].word[0]] = true;
    for (size_t i = 0; i < COUNT(calls); i++)
        firsts[(unsigned char)calls[i].word[0]] = true;
    for (size_t i = 0; i < COUNT(titles); i++)
        firsts[(unsigned char)titles[i].word[0]] = true;
}
