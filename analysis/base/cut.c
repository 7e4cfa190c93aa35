/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cut.h"

const char *cut_place(const struct cut *cut, struct arena *arena)
{
    const char *whole =
        cut->whole_bytes == 0 ? "" : arena_format(arena, " of at least %llu", (unsigned long long)cut->whole_bytes);
    if (cut->packed_bytes == 0)
        return arena_format(arena, "The file ends in the middle, at byte %llu%s", (unsigned long long)cut->at_bytes,
                            whole);
    return arena_format(arena, "The gzip stream ends in the middle, at byte %llu (byte %llu%s once unpacked)",
                        (unsigned long long)cut->packed_bytes, (unsigned long long)cut->at_bytes, whole);
}

const char *cut_sentence(const struct cut *cut, struct arena *arena)
{
    return arena_format(arena, "%s: what came after is missing.", cut_place(cut, arena));
}
