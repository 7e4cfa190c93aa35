/* SPDX-License-Identifier: Apache-2.0 */
#include "read/foreign.h"

#include <stdbool.h>
#include <string.h>

static const struct foreign {
    const char *bytes;
    size_t length, at;
    const char *ending, *sentence;
} foreign_kinds[] = {
#define FOREIGN(bytes, at, ending, sentence) {bytes, sizeof(bytes) - 1, at, ending, sentence},
#include "read/foreign.def"
};

#define COUNT (sizeof(foreign_kinds) / sizeof(foreign_kinds[0]))

/* From `at` on within a few bytes: a record of TensorBoard has a time in front that may take one byte less. */
static bool has_bytes(const struct foreign *kind, const uint8_t *head, size_t length)
{
    enum { SLACK = 4 };
    size_t last = kind->at > 0 ? kind->at + SLACK : 0;
    for (size_t at = kind->at > SLACK ? kind->at - SLACK : 0; at <= last; at++)
        if (at + kind->length <= length && memcmp(head + at, kind->bytes, kind->length) == 0)
            return true;
    return false;
}

const char *foreign_of_bytes(const struct source *source)
{
    uint8_t head[64];
    int64_t length = source->read(source->context, 0, head, sizeof(head));
    for (size_t i = 0; length > 0 && i < COUNT; i++)
        if (has_bytes(&foreign_kinds[i], head, (size_t)length))
            return foreign_kinds[i].sentence;
    return NULL;
}

const char *foreign_of_name(const char *name, size_t *stem_length)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < COUNT; i++) {
        size_t ending = foreign_kinds[i].ending != NULL ? strlen(foreign_kinds[i].ending) : 0;
        if (ending > 0 && length > ending && strcmp(name + length - ending, foreign_kinds[i].ending) == 0) {
            *stem_length = length - ending;
            return foreign_kinds[i].sentence;
        }
    }
    return NULL;
}
