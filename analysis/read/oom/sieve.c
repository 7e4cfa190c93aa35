/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/sieve.h"

#include <string.h>

enum { MIN = OOM_SIEVE_MIN, PAIRS = 1 << 16, LETTERS = 256 };

static size_t pair_at(const char *bytes) { return (size_t)(unsigned char)bytes[0] << 8 | (unsigned char)bytes[1]; }

struct oom_sieve oom_sieve_new(struct arena *arena, const char *const *words, size_t count)
{
    unsigned char *steps = arena_raw(arena, PAIRS);
    memset(steps, MIN - 1, PAIRS);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j + 1 < MIN; j++) {
            unsigned char *step = &steps[pair_at(words[i] + j)];
            if (*step > MIN - 2 - j)
                *step = (unsigned char)(MIN - 2 - j);
        }
    const char **sorted = arena_array(arena, const char *, count + 1);
    unsigned short *begin = arena_array(arena, unsigned short, LETTERS + 1), next[LETTERS];
    for (size_t i = 0; i < count; i++)
        begin[(unsigned char)words[i][0] + 1]++;
    for (unsigned letter = 0; letter < LETTERS; letter++) {
        next[letter] = begin[letter];
        begin[letter + 1] = (unsigned short)(begin[letter] + begin[letter + 1]);
    }
    for (size_t i = 0; i < count; i++)
        sorted[next[(unsigned char)words[i][0]]++] = words[i];
    return (struct oom_sieve){sorted, begin, steps};
}

static bool is_word(const struct oom_sieve *sieve, const char *bytes, size_t length)
{
    const unsigned char letter = (unsigned char)bytes[0];
    for (size_t i = sieve->begin[letter]; i < sieve->begin[letter + 1]; i++) {
        const char *word = sieve->words[i];
        if (word[1] == bytes[1] && strlen(word) <= length && memcmp(bytes, word, strlen(word)) == 0)
            return true;
    }
    return false;
}

size_t oom_sieve_find(const struct oom_sieve *sieve, const char *bytes, size_t from, size_t to)
{
    for (size_t end = from + MIN - 2; end + 1 < to;) {
        size_t step = sieve->steps[pair_at(bytes + end)], begin = end + 2 - MIN;
        if (step == 0 && is_word(sieve, bytes + begin, to - begin))
            return begin;
        end += step > 0 ? step : 1;
    }
    return to;
}
