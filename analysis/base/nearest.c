/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <stdio.h>

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

size_t nearest_distance(struct str a, struct str b)
{
    size_t row[NEAREST_LENGTH_MAX + 1], rows = min(a.length, NEAREST_LENGTH_MAX),
                                        columns = min(b.length, NEAREST_LENGTH_MAX);
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 0; i < rows; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            size_t above = row[j + 1];
            row[j + 1] = min(min(above, row[j]) + 1, diagonal + (a.data[i] != b.data[j]));
            diagonal = above;
        }
    }
    return row[columns];
}

size_t nearest_name_distance(struct str typed, struct str known)
{
    bool is_beginning = typed.length > 1 && known.length > 1 && (str_starts(typed, known) || str_starts(known, typed));
    return is_beginning ? 0 : nearest_distance(typed, known);
}

bool nearest_choose(const char *parameter, const char *what, struct str typed, const char *const *names, size_t count,
                    size_t *chosen, struct err *err)
{
    char known[160] = "";
    size_t best = SIZE_MAX, length = 0;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(typed, str_of(names[i]))) {
            *chosen = i;
            return true;
        }
        size_t distance = nearest_name_distance(typed, str_of(names[i]));
        if (distance < best) {
            best = distance;
            *chosen = i;
        }
        length += (size_t)snprintf(known + length, sizeof(known) - length, "%s%s", i > 0 ? ", " : "", names[i]);
        length = min(length, sizeof(known) - 1);
    }
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: no %s \"%.*s\"; did you mean \"%s\"? Known: %s", parameter,
                   what, (int)min(typed.length, 40), typed.data, names[*chosen], known);
}
