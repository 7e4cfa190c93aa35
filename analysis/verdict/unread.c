/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/unread.h"

const char *unread_sentence(const struct verdict_unread *unread, struct arena *arena)
{
    char why[ERR_DESCRIPTION_SIZE];
    return arena_format(arena, "%s could not be read: %s.", unread->file, err_describe(&unread->why, why));
}

const char *unread_names(const struct verdict_unread *unread, size_t count, struct arena *arena)
{
    if (count == 1)
        return unread->file;
    return arena_format(arena, "%s and %zu other file%s", unread->file, count - 1, count == 2 ? "" : "s");
}
