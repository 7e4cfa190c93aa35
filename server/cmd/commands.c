/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/commands.h"

#include <string.h>

enum { WORD_MAX = 16, SLIPS_MAX = 2 };

static unsigned commands_smaller(unsigned a, unsigned b) { return a < b ? a : b; }

/* How many letters differ, are missing, are too many or changed places with the next (optimal string alignment, Damerau
 * 1964). */
static unsigned commands_slips(const char *word, const char *name)
{
    size_t word_length = strlen(word), name_length = strlen(name);
    unsigned slips[WORD_MAX + 1][WORD_MAX + 1];
    if (word_length > WORD_MAX || name_length > WORD_MAX)
        return SLIPS_MAX + 1;
    for (size_t i = 0; i <= word_length; i++) {
        for (size_t k = 0; k <= name_length; k++) {
            if (i == 0 || k == 0) {
                slips[i][k] = (unsigned)(i + k);
                continue;
            }
            unsigned differs = word[i - 1] != name[k - 1];
            slips[i][k] =
                commands_smaller(commands_smaller(slips[i - 1][k], slips[i][k - 1]) + 1, slips[i - 1][k - 1] + differs);
            if (i > 1 && k > 1 && word[i - 1] == name[k - 2] && word[i - 2] == name[k - 1])
                slips[i][k] = commands_smaller(slips[i][k], slips[i - 2][k - 2] + 1);
        }
    }
    return slips[word_length][name_length];
}

const char *commands_nearest(const char *word)
{
    static const char *const names[] = {
#define COMMAND(constant, name, usage, help) #name,
#include "server/cmd/commands.def"
#undef COMMAND
    };
    const char *nearest = NULL;
    unsigned least = SLIPS_MAX + 1;
    for (size_t at = 0; at < sizeof(names) / sizeof(names[0]); at++) {
        unsigned slips = commands_slips(word, names[at]);
        /* With half of its letters wrong, a short word would be another word. */
        if (slips < least && slips * 2 < strlen(names[at])) {
            nearest = names[at];
            least = slips;
        }
    }
    return nearest;
}
