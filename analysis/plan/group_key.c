/* SPDX-License-Identifier: Apache-2.0
 * group_key.c: see group_key.h. */
#include "plan/group_key.h"

#include "base/hash.h"
#include "plan/jax_words.h"
#include "read/hlo/shape.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- keys ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool begins_number(struct str text, size_t at)
{
    return is_digit(text.data[at]) && (at == 0 || !is_digit(text.data[at - 1]));
}

struct str group_key_scope(struct str op_name, struct arena *arena)
{
    static const char number[] = "{i}";
    enum { NUMBER_LENGTH = sizeof(number) - 1 };
    size_t length = 0, number_count = 0;
    arena_work(arena, op_name.length);
    for (size_t i = 0; i < op_name.length; i++)
        number_count += begins_number(op_name, i);
    char *text = arena_raw(arena, op_name.length + number_count * NUMBER_LENGTH + 1);
    for (size_t i = 0; i < op_name.length; i++) {
        if (!is_digit(op_name.data[i])) {
            text[length++] = op_name.data[i];
        } else if (begins_number(op_name, i)) {
            memcpy(text + length, number, NUMBER_LENGTH);
            length += NUMBER_LENGTH;
        }
    }
    return (struct str){text, length};
}

struct str group_key_op_name(const struct plan *plan, const struct plan_row *row)
{
    if (row->named_by == HLO_NONE)
        return (struct str){"", 0};
    return plan->graph != NULL ? graph_op_name(plan->graph, row->named_by)
                               : hlo_detail(&plan->hlo, row->named_by).op_name;
}

struct group_key group_key_of(const struct plan *plan, const struct plan_row *row, struct buf *scratch,
                              struct arena *arena)
{
    struct str shape = row->buffer_at == PLAN_NONE ? (struct str){"", 0} : plan->shapes[row->buffer_at];
    arena_work(arena, shape.length);
    scratch->length = 0;
    shape_text(shape, false, scratch);
    struct str text = {scratch->data == NULL ? "" : scratch->data, scratch->length};
    return (struct group_key){(enum category)row->choice.category,
                              group_key_scope(group_key_op_name(plan, row), arena),
                              {arena_text(arena, text), text.length}};
}

void group_key_text(const struct group_key *key, char out[GROUP_KEY_TEXT_BYTES])
{
    uint64_t hash = hash_text(category_name(key->category), 0);
    hash = hash_number(key->scope.length, hash_bytes(key->scope.data, key->scope.length, hash));
    hash = hash_bytes(key->shape.data, key->shape.length, hash);
    snprintf(out, GROUP_KEY_TEXT_BYTES, "%016" PRIx64, hash);
}

/* ---- labels ---- */

/* Where the part of a scope ends that begins at `at`: at a slash outside of parentheses. */
static size_t part_end(struct str scope, size_t at)
{
    size_t depth = 0;
    for (; at < scope.length && (scope.data[at] != '/' || depth > 0); at++) {
        depth += scope.data[at] == '(';
        depth -= scope.data[at] == ')' && depth > 0;
    }
    return at;
}

/* "Model" of "transpose(jvp(Model))", and "" of "jit(step)", which names the whole program. */
static struct str unwrapped(struct str part, bool *is_wrapped)
{
    *is_wrapped = false;
    for (size_t open = 0; part.length > 0 && part.data[part.length - 1] == ')'; open = 0) {
        while (open < part.length && (isalnum((unsigned char)part.data[open]) || part.data[open] == '_'))
            open++;
        if (open == 0 || part.data[open] != '(')
            break;
        if (jax_words_has(JAX_PROGRAM, (struct str){part.data, open}))
            return (struct str){"", 0};
        part = (struct str){part.data + open + 1, part.length - open - 2};
        *is_wrapped = true;
    }
    return part;
}

struct str group_key_label(struct str scope, struct arena *arena)
{
    char *text = arena_raw(arena, scope.length + 1);
    size_t length = 0, class_length = 0, last = 0;
    if (scope.length == 0)
        return scope; /* of nothing: there may be no text at all */
    arena_work(arena, scope.length);
    for (size_t at = 0, end; at < scope.length; at = end + 1) {
        end = part_end(scope, at);
        bool is_wrapped, is_first = length == 0;
        struct str part = unwrapped((struct str){scope.data + at, end - at}, &is_wrapped);
        last = at;
        if (part.length == 0 || jax_words_has(JAX_UNLABELLED, part))
            continue;
        if (!is_first)
            text[length++] = '/';
        memcpy(text + length, part.data, part.length);
        length += part.length;
        /* a class begins with a capital; a module inside it has a number, or a name in small letters */
        if (is_first && is_wrapped && isupper((unsigned char)part.data[0]) &&
            memchr(part.data, '{', part.length) == NULL)
            class_length = length + 1;
    }
    if (length == 0)
        return (struct str){scope.data + last, scope.length - last};
    return class_length < length ? (struct str){text + class_length, length - class_length}
                                 : (struct str){text, length};
}

/* ---- layers ---- */

static bool is_letter(char c) { return isalpha((unsigned char)c) != 0; }

size_t group_key_layer_word_end(struct str text, size_t at)
{
    static const char *const words[] = {"layer", "block", "stage"};
    size_t end = at;
    while (end < text.length && (is_letter(text.data[end]) ||
                                 (text.data[end] == '_' && end + 1 < text.length && is_letter(text.data[end + 1]))))
        end++;
    size_t stem = end > at && tolower((unsigned char)text.data[end - 1]) == 's' ? end - 1 : end;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t own = strlen(words[i]);
        if (stem - at >= own && str_equal_any_case((struct str){text.data + stem - own, own}, str_of(words[i])))
            return end;
    }
    return end == at + 1 && tolower((unsigned char)text.data[at]) == 'h' ? end : 0;
}

/* A walk over the numbers of an op name. */
struct numbers {
    struct str text, digits; /* digits: those of the current number */
    size_t at;               /* behind them */
    bool is_of_layer;        /* it follows a word that means a layer, at most three characters behind it */
};

static bool numbers_next(struct numbers *numbers)
{
    enum { SIGNS_MAX = 3 };
    struct str text = numbers->text;
    size_t layer_end = SIZE_MAX;
    for (; numbers->at < text.length && !is_digit(text.data[numbers->at]); numbers->at++) {
        bool is_begin =
            is_letter(text.data[numbers->at]) &&
            (numbers->at == 0 || !(is_letter(text.data[numbers->at - 1]) || text.data[numbers->at - 1] == '_'));
        size_t end = is_begin ? group_key_layer_word_end(text, numbers->at) : 0;
        layer_end = end > 0 ? end : layer_end;
    }
    size_t first = numbers->at;
    while (numbers->at < text.length && is_digit(text.data[numbers->at]))
        numbers->at++;
    numbers->digits = (struct str){text.data + first, numbers->at - first};
    numbers->is_of_layer = layer_end <= first && first - layer_end <= SIGNS_MAX;
    return numbers->digits.length > 0;
}

/* Places, counted from 0, of the first number in which two op names differ, and of the first such one of a layer. */
static void first_differences(struct str left, struct str right, uint32_t *any, uint32_t *of_layer)
{
    struct numbers a = {.text = left}, b = {.text = right};
    for (uint32_t i = 0; i < *of_layer && numbers_next(&a) && numbers_next(&b); i++) {
        if (str_equal(a.digits, b.digits))
            continue;
        *any = i < *any ? i : *any;
        if (a.is_of_layer)
            *of_layer = i;
    }
}

static int compare_hashes(const void *left, const void *right)
{
    return ORDER(*(const uint64_t *)left, *(const uint64_t *)right);
}

uint32_t group_key_layer_count(const struct str *op_names, uint32_t count, struct arena *arena)
{
    uint32_t any = UINT32_MAX, of_layer = UINT32_MAX, layer_count = 0;
    for (uint32_t i = 1; i < count; i++) {
        arena_work(arena, op_names[i].length);
        first_differences(op_names[0], op_names[i], &any, &of_layer);
    }
    uint32_t last = of_layer != UINT32_MAX ? of_layer : any;
    if (last == UINT32_MAX)
        return 0;
    uint64_t *hashes = arena_array(arena, uint64_t, count);
    for (uint32_t i = 0; i < count; i++) {
        struct numbers numbers = {.text = op_names[i]};
        for (uint32_t j = 0; j <= last && numbers_next(&numbers); j++)
            hashes[i] =
                hash_number(numbers.digits.length, hash_bytes(numbers.digits.data, numbers.digits.length, hashes[i]));
    }
    qsort(hashes, count, sizeof(*hashes), compare_hashes);
    for (uint32_t i = 0; i < count; i++)
        layer_count += i == 0 || hashes[i] != hashes[i - 1];
    return layer_count;
}
