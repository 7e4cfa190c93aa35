/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/quantity.h"

#include "read/oom/cursor.h"

/* Does `letter` stand at clean byte `at`, right behind the byte before it? */
static bool is_joined_letter(const struct oom_text *text, size_t at, char letter)
{
    return at > 0 && at < text->length && text->bytes[at] == letter && text->raw_of[at] == text->raw_of[at - 1] + 1;
}

bool oom_quantity_take(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    static const char units[] = "kMGTP";
    size_t end = *at, plain = *at;
    if (!oom_cursor_take_amount(text, &plain, 'B', figure))
        return false;
    if (!is_joined_letter(text, plain, 'k') && oom_cursor_take_size(text, &end, figure)) {
        const char *unit = strchr(units, text->bytes[end - 1]);
        bool is_binary = is_joined_letter(text, end, 'i');
        *at = end + is_binary;
        for (size_t power = 0; !is_binary && unit != NULL && power <= (size_t)(unit - units); power++) {
            figure->value = (uint64_t)((unsigned __int128)figure->value * 1000 / 1024);
            figure->half_unit = (uint64_t)((unsigned __int128)figure->half_unit * 1000 / 1024);
        }
        return true;
    }
    *at = plain;
    if (!is_joined_letter(text, plain, 'k'))
        return true;
    ++*at;
    return !__builtin_mul_overflow(figure->value, 1000u, &figure->value);
}
