/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/profile_series.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_COUNT = 3 }; /* fewer show no trend */

static const char DIGITS[] = "0123456789";

/* A name around its last number: "memory", "7", ".prof". */
struct parts {
    const char *name, *rest; /* after the number; NULL without one */
    size_t before_length, at;
};

static struct parts parts_of(const char *name, size_t at)
{
    struct parts parts = {.name = name, .at = at};
    size_t end = strlen(name);
    while (end > 0 && !strchr(DIGITS, name[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && strchr(DIGITS, name[begin - 1]))
        begin--;
    parts.rest = end > begin ? name + end : NULL;
    parts.before_length = begin;
    return parts;
}

/* What has no number comes last. */
static int by_stem(const void *left, const void *right)
{
    const struct parts *a = left, *b = right;
    if (!a->rest || !b->rest)
        return !a->rest - !b->rest;
    if (a->before_length != b->before_length)
        return a->before_length < b->before_length ? -1 : 1;
    int order = memcmp(a->name, b->name, a->before_length);
    return order != 0 ? order : strcmp(a->rest, b->rest);
}

static int by_stem_and_place(const void *left, const void *right)
{
    const struct parts *a = left, *b = right;
    int order = by_stem(a, b);
    return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

size_t profile_series_choose(const struct snapshot_session *session, bool *is_chosen)
{
    size_t count = session->profile_count, max = 0, first = 0;
    struct parts *parts = memory_new((count + 1) * sizeof(*parts));
    for (size_t at = 0; at < count; at++)
        parts[at] = parts_of(session->profiles[at].file->name, at);
    qsort(parts, count, sizeof(*parts), by_stem_and_place);
    for (size_t begin = 0, end; begin < count && parts[begin].rest; begin = end) {
        end = begin + 1;
        while (end < count && by_stem(&parts[begin], &parts[end]) == 0)
            end++;
        if (end - begin > max || (end - begin == max && parts[begin].at < parts[first].at)) {
            max = end - begin;
            first = begin;
        }
    }
    bool is_all = max < MIN_COUNT;
    for (size_t at = 0; at < count; at++)
        is_chosen[parts[at].at] = is_all || (at >= first && at < first + max);
    free(parts);
    return is_all ? count : max;
}
