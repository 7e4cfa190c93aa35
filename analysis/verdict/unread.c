/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/unread.h"

#include <string.h>

const char *unread_sentence(const struct verdict_unread *unread, struct arena *arena)
{
    char why[ERR_DESCRIPTION_SIZE];
    err_describe(&unread->why, why);
    /* What was read to the place where it ends has a whole sentence (cut.h). */
    bool is_sentence = why[0] >= 'A' && why[0] <= 'Z' && why[strlen(why) - 1] == '.';
    return arena_format(arena, is_sentence ? "%s: %s" : "%s could not be read: %s.", unread->file, why);
}

const char *unread_names(const struct verdict_unread *unread, size_t count, struct arena *arena)
{
    if (count == 1)
        return unread->file;
    return arena_format(arena, "%s and %zu other file%s", unread->file, count - 1, count == 2 ? "" : "s");
}
