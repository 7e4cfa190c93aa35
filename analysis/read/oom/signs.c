/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/signs.h"

#include "read/oom/oom.h"

#include <ctype.h>
#include <string.h>

enum { MARKS = 4, FAR = 40 };

static const struct {
    enum oom_sign sign;
    const char *word;
} sign_words[] = {
#define SIGN_WORD(name, word) {OOM_SIGN_##name, word},
#include "read/oom/signs.def"
};
static const char *const advises[] = {
#define ADVISES(word) word,
#include "read/oom/signs.def"
};

struct seen_bytes {
    const char *bytes;
    const uint16_t *raw_of;
    size_t length;
};

/* Does the byte at `at` stand directly behind the one before it? */
static bool is_joined(const struct seen_bytes *seen, size_t at)
{
    return at > 0 && at < seen->length && seen->raw_of[at] == seen->raw_of[at - 1] + 1;
}

static bool is_of_name(char byte) { return isalnum((unsigned char)byte) || byte == '_'; }

static char lowered(char byte) { return byte == '-' ? '_' : (char)tolower((unsigned char)byte); }

/* What stands between a name and its value; `at` itself where nothing does. */
static size_t marks_skip(const struct seen_bytes *seen, size_t at)
{
    for (size_t i = 0; i < MARKS && at < seen->length && strchr("=:'\"", seen->bytes[at]) != NULL; i++)
        at++;
    return at;
}

/* Where the word ends that begins at `at`; 0: it is not there. */
static size_t word_end(const struct seen_bytes *seen, size_t at, const char *word)
{
    for (; *word != '\0'; word++) {
        if (*word == '=') {
            size_t behind = marks_skip(seen, at);
            if (behind == at && is_joined(seen, at))
                return 0;
            at = behind;
        } else if (*word != ' ') {
            if (at >= seen->length || lowered(seen->bytes[at]) != lowered(*word))
                return 0;
            at++;
        }
    }
    return at;
}

/* Does `word`, in small letters, stand at `at`? */
static bool stands_at(const struct seen_bytes *seen, size_t at, const char *word)
{
    for (; *word != '\0'; word++, at++)
        if (at >= seen->length || lowered(seen->bytes[at]) != *word)
            return false;
    return true;
}

/* "--fp16 False" */
static bool is_denied(const struct seen_bytes *seen, size_t end)
{
    static const char *const words[] = {"false", "none", "null", "off"};
    size_t at = marks_skip(seen, end);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (stands_at(seen, at, words[i]))
            return true;
    return false;
}

static bool is_advised(const struct seen_bytes *seen, size_t at)
{
    size_t from = at > FAR ? at - FAR : 0;
    for (size_t i = 0; i < sizeof(advises) / sizeof(advises[0]); i++)
        for (size_t begin = from; begin + strlen(advises[i]) <= at; begin++)
            if (stands_at(seen, begin, advises[i]))
                return true;
    return false;
}

/* No part of a longer name, nor of a longer number. */
static bool is_whole(const struct seen_bytes *seen, size_t at, size_t end)
{
    if (is_of_name(seen->bytes[at]) && is_joined(seen, at) && is_of_name(seen->bytes[at - 1]))
        return false;
    if (!is_of_name(seen->bytes[end - 1]) || !is_joined(seen, end))
        return true;
    bool is_fraction =
        seen->bytes[end] == '.' && end + 1 < seen->length && isdigit((unsigned char)seen->bytes[end + 1]);
    return !is_of_name(seen->bytes[end]) && !is_fraction && !(seen->bytes[at] == '-' && seen->bytes[end] == '-');
}

uint32_t oom_signs_find(const char *bytes, const uint16_t *raw_of, size_t length)
{
    const struct seen_bytes seen = {bytes, raw_of, length};
    uint32_t signs = 0;
    for (size_t at = 0; at < length; at++)
        for (size_t i = 0; i < sizeof(sign_words) / sizeof(sign_words[0]); i++) {
            uint32_t sign = (uint32_t)1 << sign_words[i].sign;
            size_t end = (signs & sign) == 0 && lowered(bytes[at]) == lowered(sign_words[i].word[0])
                             ? word_end(&seen, at, sign_words[i].word)
                             : 0;
            if (end > at && is_whole(&seen, at, end) && !is_denied(&seen, end) && !is_advised(&seen, at))
                signs |= sign;
        }
    return signs;
}
