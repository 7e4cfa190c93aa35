/* SPDX-License-Identifier: Apache-2.0 */
#include "model/device_memory/columns.h"

/* ---- units ---- */

enum family { NONE, SIZE, TIME };
enum { UNIT_MAX = 13 }; /* "nanoseconds" and then some */

static const struct unit {
    const char *names[3]; /* lower case, singular */
    enum family family;
    int64_t factor;
} units[] = {
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

static const struct unit *columns_find_one(struct str unit)
{
    char name[UNIT_MAX + 1] = "";
    size_t length = unit.length;
    if (length == 0 || length > UNIT_MAX)
        return NULL;
    for (size_t i = 0; i < length; i++)
        name[i] = (char)(unit.data[i] >= 'A' && unit.data[i] <= 'Z' ? unit.data[i] - 'A' + 'a' : unit.data[i]);
    if (length > 2 && name[length - 1] == 's')
        name[length - 1] = '\0';
    for (size_t at = 0; at < sizeof(units) / sizeof(units[0]); at++)
        for (size_t i = 0; i < 3 && units[at].names[i] != NULL; i++)
            if (strcmp(units[at].names[i], name) == 0)
                return &units[at];
    return NULL;
}

/* Is a value in one unit a value in the other? Equal texts always are. */
static bool units_are_alike(struct str a, struct str b)
{
    if (str_equal(a, b))
        return true;
    const struct unit *left = columns_find_one(a), *right = columns_find_one(b);
    return left != NULL && right != NULL && left->family == right->family;
}

/* How many of the smallest unit of its kind one is; 1 for a unit of no known kind. */
static int64_t units_factor(struct str unit)
{
    const struct unit *found = columns_find_one(unit);
    return found != NULL ? found->factor : 1;
}

/* ---- columns ---- */

static bool are_alike(const struct pprof_type *a, const struct pprof_type *b)
{
    return str_equal(a->name, b->name) && units_are_alike(a->unit, b->unit);
}

uint32_t columns_find(const struct pprof *pprof, const struct pprof_type *types, uint32_t at)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < at; i++)
        before += are_alike(&types[i], &types[at]);
    for (uint32_t i = 0; i < pprof->type_count; i++)
        if (are_alike(&pprof->types[i], &types[at]) && before-- == 0)
            return i;
    return PPROF_NONE;
}

struct str columns_finest_unit(const struct pprof *const *profiles, uint32_t count, const struct pprof_type *types,
                               uint32_t at)
{
    struct str finest = types[at].unit;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t column = profiles[i] != NULL ? columns_find(profiles[i], types, at) : PPROF_NONE;
        if (column != PPROF_NONE && units_factor(profiles[i]->types[column].unit) < units_factor(finest))
            finest = profiles[i]->types[column].unit;
    }
    return finest;
}

int64_t columns_factor(const struct pprof *pprof, uint32_t at, const struct pprof_type *type)
{
    return units_factor(pprof->types[at].unit) / units_factor(type->unit);
}

int64_t columns_in_unit(int64_t value, int64_t factor)
{
    int64_t product;
    return !__builtin_mul_overflow(value, factor, &product) ? product : value > 0 ? INT64_MAX : INT64_MIN;
}

const struct pprof *columns_as(const struct pprof *pprof, const struct pprof_type *types, uint32_t type_count,
                               struct arena *arena)
{
    bool is_same = pprof->type_count == type_count;
    for (uint32_t i = 0; is_same && i < type_count; i++)
        is_same = str_equal(pprof->types[i].name, types[i].name) && str_equal(pprof->types[i].unit, types[i].unit);
    if (is_same)
        return pprof;
    struct pprof *out = arena_array(arena, struct pprof, 1);
    *out = *pprof;
    out->types = arena_array(arena, struct pprof_type, (size_t)type_count + 1);
    memcpy(out->types, types, type_count * sizeof(*types));
    out->type_count = type_count;
    out->default_type = 0;
    out->values = arena_array(arena, int64_t, (size_t)pprof->sample_count *type_count + 1);
    for (uint32_t type = 0; type < type_count; type++) {
        uint32_t column = columns_find(pprof, types, type);
        int64_t factor = columns_factor(pprof, column, &types[type]);
        if (column == pprof->default_type)
            out->default_type = type;
        for (uint32_t sample = 0; sample < pprof->sample_count; sample++)
            out->values[(size_t)sample * type_count + type] =
                columns_in_unit(pprof->values[(size_t)sample * pprof->type_count + column], factor);
    }
    return out;
}

uint32_t columns_named(const struct pprof *pprof, const char *name)
{
    for (uint32_t i = 0; i < pprof->type_count; i++)
        if (str_equal(pprof->types[i].name, str_of(name)))
            return i;
    return PPROF_NONE;
}

uint32_t columns_of_unit(const struct pprof *pprof, const char *unit)
{
    for (uint32_t i = 0; i < pprof->type_count; i++)
        if (str_equal(pprof->types[i].unit, str_of(unit)))
            return i;
    return PPROF_NONE;
}
