/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex_set.h"

static const struct regex_set_class named_classes[] = {
    {'d', "digit", {{'0', '9'}}, 1},
    {'s', "", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}, 3},
    {'w', "word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
    {0, "alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
    {0, "alpha", {{'A', 'Z'}, {'a', 'z'}}, 2},
    {0, "ascii", {{0, 127}}, 1},
    {0, "blank", {{'\t', '\t'}, {' ', ' '}}, 2},
    {0, "cntrl", {{0, 31}, {127, 127}}, 2},
    {0, "graph", {{'!', '~'}}, 1},
    {0, "lower", {{'a', 'z'}}, 1},
    {0, "print", {{' ', '~'}}, 1},
    {0, "punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
    {0, "space", {{'\t', '\r'}, {' ', ' '}}, 2},
    {0, "upper", {{'A', 'Z'}}, 1},
    {0, "xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3},
};
enum { NAMED_CLASS_COUNT = sizeof(named_classes) / sizeof(named_classes[0]) };

const struct regex_set_class *regex_set_class_at(size_t at)
{
    return at < NAMED_CLASS_COUNT ? &named_classes[at] : NULL;
}

void regex_set_add(struct regex_set *set, uint32_t first, uint32_t last)
{
    if (set->count == REGEX_SET_MAX)
        set->is_full = true;
    else
        set->ranges[set->count++] = (struct regex_parse_range){first, last};
}

void regex_set_add_others(struct regex_set *set, const struct regex_parse_range *ranges, uint32_t count)
{
    uint32_t from = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].first > from)
            regex_set_add(set, from, ranges[i].first - 1);
        from = ranges[i].last + 1;
    }
    if (from <= REGEX_PARSE_LAST_RUNE)
        regex_set_add(set, from, REGEX_PARSE_LAST_RUNE);
}

/* Ascending and apart; classes are short. */
void regex_set_sort(struct regex_set *set)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < set->count; i++) {
        struct regex_parse_range range = set->ranges[i];
        uint32_t at = i;
        for (; at > 0 && set->ranges[at - 1].first > range.first; at--)
            set->ranges[at] = set->ranges[at - 1];
        set->ranges[at] = range;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        if (kept > 0 && set->ranges[i].first <= set->ranges[kept - 1].last + 1) {
            if (set->ranges[i].last > set->ranges[kept - 1].last)
                set->ranges[kept - 1].last = set->ranges[i].last;
        } else {
            set->ranges[kept++] = set->ranges[i];
        }
    }
    set->count = kept;
}

void regex_set_add_other_case(struct regex_set *set)
{
    uint32_t count = set->count;
    for (uint32_t i = 0; i < count; i++) {
        struct regex_parse_range range = set->ranges[i];
        for (uint32_t begin = 'A', other = 'a', round = 0; round < 2; round++, begin = 'a', other = 'A') {
            uint32_t first = range.first > begin ? range.first : begin;
            uint32_t last = range.last < begin + 25 ? range.last : begin + 25;
            if (first <= last)
                regex_set_add(set, first - begin + other, last - begin + other);
        }
    }
}

void regex_set_add_class(struct regex_set *set, const struct regex_set_class *class, bool is_negated)
{
    if (is_negated)
        regex_set_add_others(set, class->ranges, class->count);
    for (uint32_t i = 0; !is_negated && i < class->count; i++)
        regex_set_add(set, class->ranges[i].first, class->ranges[i].last);
}
