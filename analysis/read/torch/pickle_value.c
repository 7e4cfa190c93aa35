/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/pickle_store.h"

enum pickle_kind pickle_value_kind(const struct pickle *pickle, struct pickle_value value)
{
    switch (pickle_store_tag(value)) {
    case TAG_ATOM: return pickle_store_payload(value) == ATOM_NONE ? PICKLE_NONE : PICKLE_BOOL;
    case TAG_INT:
    case TAG_WIDE: return PICKLE_INT;
    case TAG_REAL: return PICKLE_REAL;
    case TAG_TEXT: return PICKLE_TEXT;
    case TAG_BYTES: return PICKLE_BYTES;
    case TAG_TUPLE: return PICKLE_TUPLE;
    case TAG_LIST: return pickle_store_list(pickle, value)->capacity == PICKLE_IS_TAKEN ? PICKLE_TAKEN : PICKLE_LIST;
    case TAG_DICT: return pickle_store_list(pickle, value)->capacity == PICKLE_IS_TAKEN ? PICKLE_TAKEN : PICKLE_DICT;
    case TAG_TAKEN: return PICKLE_TAKEN;
    case TAG_MEMO: break;
    }
    return PICKLE_NONE;
}

bool pickle_value_int(const struct pickle *pickle, struct pickle_value value, int64_t *found)
{
    if (pickle_store_tag(value) == TAG_INT)
        *found = (int64_t)value.bits >> 4;
    else if (pickle_store_tag(value) == TAG_WIDE)
        *found = CHUNKS_AT(&pickle->numbers, int64_t, pickle_store_payload(value));
    else
        return false;
    return true;
}

bool pickle_value_real(const struct pickle *pickle, struct pickle_value value, double *found)
{
    int64_t whole;
    if (pickle_value_int(pickle, value, &whole)) {
        *found = (double)whole;
        return true;
    }
    if (pickle_store_tag(value) != TAG_REAL)
        return false;
    *found = CHUNKS_AT(&pickle->numbers, double, pickle_store_payload(value));
    return true;
}

bool pickle_value_bool(struct pickle_value value, bool *is_true)
{
    if (pickle_store_tag(value) != TAG_ATOM || pickle_store_payload(value) == ATOM_NONE)
        return false;
    *is_true = pickle_store_payload(value) == ATOM_TRUE;
    return true;
}

int64_t pickle_value_whole(const struct pickle *pickle, struct pickle_value value, int64_t min, int64_t max,
                           int64_t default_value, uint64_t *odd_count)
{
    int64_t number;
    double real;
    bool is_told = pickle_value_int(pickle, value, &number);
    if (!is_told && pickle_value_kind(pickle, value) == PICKLE_NONE)
        return default_value;
    if (!is_told && pickle_value_real(pickle, value, &real) && real > -1e15 && real < 1e15) {
        number = (int64_t)real;
        is_told = (double)number >= real && (double)number <= real;
    }
    if (is_told && number >= min && number <= max)
        return number;
    ++*odd_count;
    return default_value;
}

struct str pickle_value_text(const struct pickle *pickle, struct pickle_value value)
{
    return pickle_store_tag(value) == TAG_TEXT ? pickle->texts.items[pickle_store_payload(value)] : (struct str){"", 0};
}

const struct pickle_value *pickle_value_items(const struct pickle *pickle, struct pickle_value value, size_t *count)
{
    bool is_list = pickle_store_tag(value) == TAG_LIST || pickle_store_tag(value) == TAG_TUPLE;
    const struct pickle_list *list = is_list ? pickle_store_list(pickle, value) : NULL;
    *count = list == NULL || list->capacity == PICKLE_IS_TAKEN ? 0 : list->count;
    return *count > 0 ? list->items : NULL;
}

const struct pickle_value *pickle_value_pairs(const struct pickle *pickle, struct pickle_value dict, size_t *pair_count)
{
    const struct pickle_list *list = pickle_store_tag(dict) == TAG_DICT ? pickle_store_list(pickle, dict) : NULL;
    *pair_count = list == NULL || list->capacity == PICKLE_IS_TAKEN ? 0 : list->count / 2;
    return *pair_count > 0 ? list->items : NULL;
}

struct pickle_value pickle_value_key(struct pickle *pickle, const char *text)
{
    return pickle_store_value(TAG_TEXT, intern_number(&pickle->texts, str_of(text)));
}

struct pickle_value pickle_value_none(void) { return pickle_store_value(TAG_ATOM, ATOM_NONE); }

struct pickle_value pickle_value_get(const struct pickle *pickle, struct pickle_value dict, struct pickle_value key)
{
    size_t count;
    const struct pickle_value *pairs = pickle_value_pairs(pickle, dict, &count);
    while (count-- > 0)
        if (pairs[2 * count].bits == key.bits)
            return pairs[2 * count + 1];
    return pickle_value_none();
}

uint32_t pickle_value_taken(const struct pickle *pickle, struct pickle_value value)
{
    if (pickle_store_tag(value) == TAG_TAKEN)
        return (uint32_t)pickle_store_payload(value);
    bool is_list = pickle_store_tag(value) == TAG_LIST || pickle_store_tag(value) == TAG_DICT;
    const struct pickle_list *list = is_list ? pickle_store_list(pickle, value) : NULL;
    return list != NULL && list->capacity == PICKLE_IS_TAKEN ? list->count : UINT32_MAX;
}

uint32_t pickle_value_list_number(struct pickle_value list)
{
    return pickle_store_tag(list) == TAG_LIST ? (uint32_t)pickle_store_payload(list) : UINT32_MAX;
}
