/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/seen.h"

#include "read/oom/cursor.h"

#include <string.h>

static size_t word_at(const struct oom_text *text, size_t at, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t end = at;
        if (words[i][0] == text->bytes[at] && oom_cursor_take(text, &end, words[i]))
            return i;
    }
    return count;
}

bool oom_seen_before(struct oom_seen *seen, const struct oom_text *text, size_t from, size_t within,
                     const char *const *words, size_t count, size_t *which)
{
    bool firsts[256] = {false};
    uint64_t from_at = text->raw_at + text->raw_of[from], least_at = from_at > within ? from_at - within : 0;
    for (size_t i = 0; i < count; i++)
        firsts[(unsigned char)words[i][0]] = true;
    for (size_t at = from; at-- > 0;) {
        uint64_t input_at = text->raw_at + text->raw_of[at];
        if (input_at < least_at || input_at < seen->until_at)
            break;
        size_t word = firsts[(unsigned char)text->bytes[at]] ? word_at(text, at, words, count) : count;
        if (word < count) {
            *seen = (struct oom_seen){true, word, input_at, 0};
            break;
        }
    }
    seen->until_at = from_at;
    *which = seen->which;
    return seen->is_found && seen->at >= least_at && seen->at < from_at;
}
