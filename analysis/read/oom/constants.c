/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/constants.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_LINE = 400, LONGEST_STRING = 120 };

static struct str trimmed(struct str text)
{
    while (text.length > 0 && isspace((unsigned char)text.data[0]))
        text = (struct str){text.data + 1, text.length - 1};
    while (text.length > 0 && isspace((unsigned char)text.data[text.length - 1]))
        text.length--;
    return text;
}

static bool has_word(struct str text, const char *word)
{
    return memmem(text.data, text.length, word, strlen(word)) != NULL;
}

static bool ends_in(struct str text, const char *word)
{
    size_t length = strlen(word);
    return text.length >= length && memcmp(text.data + text.length - length, word, length) == 0;
}

static bool begins_with(struct str text, const char *word)
{
    return text.length >= strlen(word) && memcmp(text.data, word, strlen(word)) == 0;
}

/* A line of a log, or an exception as a program prints it: what stands before the string. */
static bool is_printed(struct str before)
{
    static const char *const words[] = {"ERROR ", "ERROR:",   "ERROR]", "error:", "Error:", "FATAL", "WARN",
                                        "INFO",   "panicked", "ailed",  "level=", "time=",  "\":",   "':"};
    const char *at = before.data + (before.length > 1 && before.data[0] == '[');
    if (before.length > 0 && isdigit((unsigned char)*at))
        return true; /* when it was */
    bool is_raised = has_word(before, "raise ") || has_word(before, "throw ");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (has_word(before, words[i]))
            return true;
    return !is_raised && (ends_in(before, "rror(") || ends_in(before, "xception("));
}

/* What stands before a string in source code only; the beginning of its line, where it is one of a list. */
static bool is_before_string(struct str before, struct str after)
{
    static const char *const ends[] = {"(",   "[",     "{",    " = ", "==",     "=>",   "->",    " if",   " in",
                                       " or", " elif", " and", "not", "return", "case", "match", "assert"};
    struct str code = trimmed(before);
    if (code.length == 0)
        return begins_with(after, ",") || begins_with(after, "in ") || begins_with(after, "=>");
    if (str_equal(code, STR("if")) || str_equal(code, STR("or")) || str_equal(code, STR("and")))
        return true;
    if (begins_with(after, ",)") || is_printed(before))
        return false;
    code.length -= code.length > 1 && strchr("frb", code.data[code.length - 1]) != NULL &&
                   strchr("([, ", code.data[code.length - 2]) != NULL; /* f"", r"" */
    if (ends_in(code, ","))
        return has_word(code, "(") || has_word(code, "[") || has_word(code, "{");
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends_in(ends[i][strlen(ends[i]) - 1] == ' ' ? before : code, ends[i]))
            return true;
    return false;
}

/* Is all that the string holds words? */
static bool is_of_words(struct str string)
{
    for (size_t i = 0; i < string.length; i++)
        if (isdigit((unsigned char)string.data[i]) || string.data[i] == '\\' || string.data[i] == '\n')
            return false;
    return string.length <= LONGEST_STRING;
}

bool oom_constants_is(const struct oom_text *text, size_t from, size_t to)
{
    size_t first = text->raw_of[from], last = to > from ? text->raw_of[to - 1] : first, begin = first, end = last;
    while (begin > 0 && first - begin < LONGEST_LINE && text->raw[begin - 1] != '\n')
        begin--;
    while (end < text->raw_length && end - last < LONGEST_LINE && text->raw[end] != '\n')
        end++;
    size_t open = first;
    while (open > begin && strchr("\"'`", text->raw[open - 1]) == NULL)
        open--;
    if (open == begin)
        return false;
    const char quote = text->raw[open - 1];
    const char *close = memchr(text->raw + open, quote, end - open);
    struct str string = {text->raw + open, close == NULL ? 0 : (size_t)(close - (text->raw + open))};
    if (close == NULL || close + 1 < text->raw + last || !is_of_words(string))
        return false;
    struct str before = {text->raw + begin, open - 1 - begin},
               after = trimmed((struct str){close + 1, (size_t)(text->raw + end - (close + 1))});
    if (quote == '`')
        return begins_with(trimmed(before), "|") && begins_with(after, "|"); /* of a table */
    return is_before_string(before, after);
}
