/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/share.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { MARKS = 4, NUMBER = 8, DECIMALS = 2, WHOLE_PERCENT = 100 };

static const char *const words[] = {
#define SHARE(word) word,
#include "read/oom/around_shares.def"
};

/* Does the name of the setting end before `at`? Options are written with '-' as well. */
static const char *share_behind(const char *bytes, const char *end, const char *word)
{
    for (; *word != '\0'; word++, bytes++)
        if (bytes == end || (*bytes == '-' ? '_' : *bytes) != *word)
            return NULL;
    return bytes;
}

/* "=0.7", "':0.70", "0.85", "=.9": from 1 to 100 per cent; 0: it is no such number. White space ends it. */
static unsigned share_take(const char *bytes, const uint16_t *raw_of, const char *at, const char *end)
{
    unsigned percent = 0, digits = 0;
    for (unsigned i = 0; i < MARKS && at < end && *at != '\0' && strchr("=:'\"(,\\", *at) != NULL; i++)
        at++;
    size_t from = (size_t)(at - bytes), length = 1;
    while (length < NUMBER && at + length < end && raw_of[from + length] == raw_of[from] + length)
        length++;
    end = at + length < end ? at + length : end;
    if (at < end && (*at == '0' || *at == '1'))
        percent = *at++ == '1' ? WHOLE_PERCENT : 0;
    if (at == end || *at != '.')
        return percent;
    for (at++; at < end && isdigit((unsigned char)*at) && digits < DECIMALS; at++, digits++)
        percent += (unsigned)(*at - '0') * (digits == 0 ? WHOLE_PERCENT / 10 : 1);
    return percent > WHOLE_PERCENT ? 0 : percent;
}

static unsigned share_percent(const char *bytes, const uint16_t *raw_of, size_t length, bool is_last)
{
    const char *end = bytes + length;
    unsigned percent = 0;
    for (const char *at = bytes; at < end && (is_last || percent == 0); at++)
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            const char *behind = *at == words[i][0] ? share_behind(at, end, words[i]) : NULL;
            unsigned stated = behind != NULL ? share_take(bytes, raw_of, behind, end) : 0;
            percent = stated > 0 ? stated : percent;
        }
    return percent;
}

unsigned oom_share_last_percent(const char *bytes, const uint16_t *raw_of, size_t length)
{
    return share_percent(bytes, raw_of, length, true);
}

unsigned oom_share_first_percent(const char *bytes, const uint16_t *raw_of, size_t length)
{
    return share_percent(bytes, raw_of, length, false);
}
