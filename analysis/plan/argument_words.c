/* SPDX-License-Identifier: Apache-2.0
 * argument_words.c: see argument_words.h. */
#include "plan/argument_words.h"

#include "plan/category.h"

#include <ctype.h>

enum { IS, BEGINS, CONTAINS };
enum { FIRST, ANY, LAST };
enum { STRONG, WEAK };

static const struct argument_name names[] = {
#define ARGUMENT_NAME(word, how, where, category, strength) {word, how, where, CATEGORY_##category, strength == STRONG},
#include "plan/argument_names.def"
#undef ARGUMENT_NAME
};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

struct argument_words argument_words_of(struct str path)
{
    struct argument_words words = {.count = 0};
    for (size_t at = 0; at < path.length;) {
        size_t end = at;
        while (end < path.length && is_word(path.data[end]))
            end++;
        if (end > at) {
            if (words.count == ARGUMENT_WORDS_MAX)
                memmove(words.items + 1, words.items + 2, (--words.count - 1) * sizeof(words.items[0]));
            words.items[words.count++] = (struct str){path.data + at, end - at};
        }
        at = end + 1;
    }
    return words;
}

static bool equals_lower(const char *text, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (tolower((unsigned char)text[i]) != word[i])
            return false;
    return true;
}

static bool word_fits(struct str word, const struct argument_name *name)
{
    size_t length = strlen(name->word);
    if (word.length < length || (name->how == IS && word.length != length))
        return false;
    size_t last = name->how == CONTAINS ? word.length - length : 0;
    for (size_t at = 0; at <= last; at++)
        if (equals_lower(word.data + at, name->word, length))
            return true;
    return false;
}

static bool name_fits(const struct argument_words *words, const struct argument_name *name)
{
    uint32_t first = name->where == LAST ? (words->count > 1 ? words->count - 1 : words->count) : 0;
    uint32_t end = name->where == FIRST && words->count > 0 ? 1 : words->count;
    for (uint32_t i = first; i < end; i++)
        if (word_fits(words->items[i], name))
            return true;
    return false;
}

const struct argument_name *argument_words_name(const struct argument_words *words, bool is_small_integer)
{
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (name_fits(words, &names[i]) && (names[i].category != CATEGORY_RNG || is_small_integer) &&
            !(names[i].category == CATEGORY_BATCH && !names[i].is_strong && words->count > 1))
            return &names[i]; /* a word for data means little at the head of a tree: target['embed'] is a network */
    return NULL;
}
