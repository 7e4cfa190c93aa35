/* SPDX-License-Identifier: Apache-2.0
 * units.c: see units.h. */
#include "tool/device_memory/units.h"

#include <string.h>

enum family { NONE, SIZE, TIME };
enum { LONGEST = 13 }; /* "nanoseconds" and then some */

static const struct unit {
    const char *names[3]; /* lower case, singular */
    enum family family;
    int64_t factor;
} UNITS[] = {
    {{"b", "byte"}, SIZE, 1},
    {{"kb", "kbyte", "kilobyte"}, SIZE, INT64_C(1) << 10},
    {{"mb", "mbyte", "megabyte"}, SIZE, INT64_C(1) << 20},
    {{"gb", "gbyte", "gigabyte"}, SIZE, INT64_C(1) << 30},
    {{"tb", "tbyte", "terabyte"}, SIZE, INT64_C(1) << 40},
    {{"pb", "pbyte", "petabyte"}, SIZE, INT64_C(1) << 50},
    {{"ns", "nanosecond"}, TIME, 1},
    {{"us", "microsecond"}, TIME, 1000},
    {{"ms", "millisecond"}, TIME, 1000000},
    {{"s", "sec", "second"}, TIME, 1000000000},
    {{"hr", "hour"}, TIME, INT64_C(3600000000000)},
};

static const struct unit *find(struct str unit)
{
    char name[LONGEST + 1] = "";
    size_t length = unit.length;
    if (length == 0 || length > LONGEST)
        return NULL;
    for (size_t i = 0; i < length; i++)
        name[i] = (char)(unit.data[i] >= 'A' && unit.data[i] <= 'Z' ? unit.data[i] - 'A' + 'a' : unit.data[i]);
    if (length > 2 && name[length - 1] == 's')
        name[length - 1] = '\0';
    for (size_t at = 0; at < sizeof(UNITS) / sizeof(UNITS[0]); at++)
        for (size_t i = 0; i < 3 && UNITS[at].names[i] != NULL; i++)
            if (strcmp(UNITS[at].names[i], name) == 0)
                return &UNITS[at];
    return NULL;
}

bool units_are_alike(struct str a, struct str b)
{
    if (str_equal(a, b))
        return true;
    const struct unit *left = find(a), *right = find(b);
    return left != NULL && right != NULL && left->family == right->family;
}

int64_t units_factor(struct str unit)
{
    const struct unit *found = find(unit);
    return found != NULL ? found->factor : 1;
}
