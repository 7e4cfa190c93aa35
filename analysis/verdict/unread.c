/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/unread.h"

const char *unread_sentence(const struct verdict_unread *unread, struct arena *arena)
{
    const char *place = unread->why.offset_bytes == ERR_NO_OFFSET
                            ? ""
                            : arena_format(arena, ", at byte %llu", (unsigned long long)unread->why.offset_bytes);
    return arena_format(arena, "%s could not be read: %s%s.", unread->file, unread->why.text, place);
}

const char *unread_names(const struct verdict_unread *unread, size_t count, struct arena *arena)
{
    if (count == 1)
        return unread->file;
    return arena_format(arena, "%s and %zu other file%s", unread->file, count - 1, count == 2 ? "" : "s");
}
