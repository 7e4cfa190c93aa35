/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/lack.h"

#include "read/oom/cursor.h"

#include <ctype.h>
#include <string.h>

enum { MOST_MIDDLE = 3, LONGEST_NAME = 40 };

static const char *const lacks[] = {
#define LACK(words) words,
#include "read/oom/lack.def"
};
static const char *const scarce[] = {
#define SCARCE(words) words,
#include "read/oom/lack.def"
};
static const char *const middles[] = {
#define MIDDLE(word) word,
#include "read/oom/lack.def"
};
static const char *const nouns[] = {
#define NOUN(word) word,
#include "read/oom/lack.def"
};
static const char *const refused[] = {
#define REFUSED(words) words,
#include "read/oom/lack.def"
};
static const char *const allocate[] = {
#define ALLOCATE(word) word,
#include "read/oom/lack.def"
};
static const char *const allocations[] = {
#define ALLOCATION(words) words,
#include "read/oom/lack.def"
};
static const char *const failed[] = {
#define FAILED(word) word,
#include "read/oom/lack.def"
};
static const char *const sized[] = {
#define SIZED(words) words,
#include "read/oom/lack.def"
};
static const char *const compares[] = {
#define COMPARES(words) words,
#include "read/oom/lack.def"
};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool word_take(const struct oom_text *text, size_t *at, const char *word)
{
    return oom_cursor_take_folded(text, at, word, "_-");
}

/* The longest of the words. */
static bool any_take(const struct oom_text *text, size_t *at, const char *const *words, size_t count)
{
    size_t furthest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t end = *at;
        if (word_take(text, &end, words[i]) && end > furthest)
            furthest = end;
    }
    if (furthest > 0)
        *at = furthest;
    return furthest > 0;
}

/* Does a word end before clean byte `at`? */
static bool is_end(const struct oom_text *text, size_t at)
{
    return at >= text->length || text->raw_of[at] > text->raw_of[at - 1] + 1 ||
           !(isalnum((unsigned char)text->bytes[at]) || text->bytes[at] == '_');
}

static bool scarce_take(const struct oom_text *text, size_t *at)
{
    size_t end = *at;
    if (!any_take(text, &end, scarce, COUNT(scarce)))
        return false;
    bool is_in_name = *at > 0 && text->bytes[*at - 1] == '_'; /* "ERROR_OUT_OF_MEMORY": codes are read elsewhere */
    for (size_t i = 0; i <= MOST_MIDDLE; i++) {
        if (!(is_in_name && i == 0) && end < text->length && (text->bytes[end] == '_' || text->bytes[end] == '-'))
            end++;
        size_t noun = end;
        if (any_take(text, &noun, nouns, COUNT(nouns)) && is_end(text, noun)) {
            *at = noun;
            return true;
        }
        if (!any_take(text, &end, middles, COUNT(middles)))
            return false;
    }
    return false;
}

static bool refused_take(const struct oom_text *text, size_t *at)
{
    return any_take(text, at, refused, COUNT(refused)) && any_take(text, at, allocate, COUNT(allocate));
}

/* "bm_alloc_gmem failed", "dma_alloc_coherent() failed", "allocation failed": what says that it allocates, and that it
 * failed. */
static bool allocation_take(const struct oom_text *text, size_t *at)
{
    size_t end = *at;
    if (!any_take(text, &end, allocations, COUNT(allocations)))
        return false;
    size_t next = end;
    while (next < text->length && next - end < LONGEST_NAME && next > 0 &&
           (isalnum((unsigned char)text->bytes[next]) || strchr("_()", text->bytes[next]) != NULL) &&
           text->raw_of[next] == text->raw_of[next - 1] + 1)
        next++;
    *at = next;
    return any_take(text, at, failed, COUNT(failed)) && text->bytes[next - 1] != '(';
}

/* Does a word begin at clean byte `at`, or one of those that a name is made of: "bm_alloc", "cudaErrorOutOfMemory"? */
static bool is_begin(const struct oom_text *text, size_t at)
{
    if (at == 0 || text->raw_of[at] > text->raw_of[at - 1] + 1)
        return true;
    const char before = text->bytes[at - 1], first = text->bytes[at];
    return !isalnum((unsigned char)before) || (islower((unsigned char)before) && isupper((unsigned char)first));
}

bool oom_lack_read(const struct oom_text *text, size_t at, size_t *end)
{
    *end = at;
    if (!is_begin(text, at))
        return false;
    if (any_take(text, end, lacks, COUNT(lacks)) || scarce_take(text, end))
        return true;
    *end = at;
    if (refused_take(text, end))
        return true;
    *end = at;
    return allocation_take(text, end);
}

bool oom_lack_compares(const struct oom_text *text, size_t at, size_t *end)
{
    *end = at;
    return is_begin(text, at) && any_take(text, end, compares, COUNT(compares));
}

bool oom_lack_is_sized(const struct oom_text *text, size_t at, size_t *end)
{
    *end = at;
    return is_begin(text, at) && any_take(text, end, sized, COUNT(sized));
}

/* "outof" before "memory" and each other word that may follow it. */
static size_t scarce_signs(struct arena *arena, const char **signs, const char *const *words, size_t count)
{
    size_t written = 0;
    for (size_t i = 0; i < COUNT(scarce); i++)
        for (size_t j = 0; j < count; j++)
            signs[written++] = arena_format(arena, "%s%s", scarce[i], words[j]);
    return written;
}

size_t oom_lack_signs(struct arena *arena, const char **signs)
{
    static const char *const others[] = {
#define LACK(words) words,
#define REFUSED(words) words "alloc",
#define SIZED(words) words,
#include "read/oom/lack.def"
        "allocfail",    "allocationfail", "allocatefail",  "memfail",    "memoryfail", ")failed",    "butonly",
        "buthas",       "buthave",        "butgot",        "butthe",     "butyou",     "butgpu",     "butdev",
        "butav",        "butfree",        "onlyhas",       "onlyhave",   "whileonly",  "andonly",    "exceedsthe",
        "exceedsav",    "exceedsfr",      "exceedsgpu",    "exceedsdev", "exceedsto",  "exceedsmem", "exceedsph",
        "exceedingthe", "islargerthan",   "isgreaterthan", "ismorethan", "biggerthan", "islessthan", "islowerthan",
        "smallerthan",  "butit",          "limitis",       "maximumis",  "tomalloc",   "otmalloc",   "ntmalloc",
        "tomapmem",     "togetmem",       "toreservemem"};
    _Static_assert(COUNT(others) + COUNT(scarce) * (COUNT(nouns) + COUNT(middles)) <= OOM_LACK_SIGNS, "room");
    memcpy(signs, others, sizeof(others));
    size_t count = COUNT(others);
    count += scarce_signs(arena, signs + count, nouns, COUNT(nouns));
    return count + scarce_signs(arena, signs + count, middles, COUNT(middles));
}

void oom_lack_firsts(bool firsts[256])
{
    static const char *const *const lists[] = {lacks, scarce, refused, allocations, compares, sized};
    static const size_t counts[] = {COUNT(lacks),       COUNT(scarce),   COUNT(refused),
                                    COUNT(allocations), COUNT(compares), COUNT(sized)};
    for (size_t i = 0; i < COUNT(lists); i++)
        for (size_t j = 0; j < counts[i]; j++) {
            firsts[(unsigned char)lists[i][j][0]] = true;
            firsts[toupper((unsigned char)lists[i][j][0])] = true;
        }
}
