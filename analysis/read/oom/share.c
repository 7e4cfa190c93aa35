/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/share.h"

#include <ctype.h>
#include <string.h>

enum { MARKS = 4, DECIMALS = 2, WHOLE_PERCENT = 100 };

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

/* "=0.7", "':0.70", "0.85", "=.9": from 1 to 100 per cent; 0: it is no such number. */
static unsigned share_take(const char *at, const char *end)
{
    unsigned percent = 0, digits = 0;
    for (unsigned i = 0; i < MARKS && at < end && *at != '\0' && strchr("=:'\"(,\\", *at) != NULL; i++)
        at++;
    if (at < end && (*at == '0' || *at == '1'))
        percent = *at++ == '1' ? WHOLE_PERCENT : 0;
    if (at == end || *at != '.')
        return percent;
    for (at++; at < end && isdigit((unsigned char)*at) && digits < DECIMALS; at++, digits++)
        percent += (unsigned)(*at - '0') * (digits == 0 ? WHOLE_PERCENT / 10 : 1);
    return percent > WHOLE_PERCENT ? 0 : percent;
}

static unsigned share_percent(const char *bytes, size_t length, int is_last)
{
    const char *end = bytes + length;
    unsigned percent = 0;
    for (const char *at = bytes; at < end && (is_last || percent == 0); at++)
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            const char *behind = *at == words[i][0] ? share_behind(at, end, words[i]) : NULL;
            unsigned stated = behind != NULL ? share_take(behind, end) : 0;
            percent = stated > 0 ? stated : percent;
        }
    return percent;
}

unsigned oom_share_last_percent(const char *bytes, size_t length) { return share_percent(bytes, length, 1); }

unsigned oom_share_first_percent(const char *bytes, size_t length) { return share_percent(bytes, length, 0); }
