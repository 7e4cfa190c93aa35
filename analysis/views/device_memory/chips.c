/* SPDX-License-Identifier: Apache-2.0 */
#include "views/device_memory/chips.h"

#include "base/nearest.h"

#include <stdlib.h>

static const char *const kind_names[CHIP_KIND_COUNT] = {"focus",     "ignore", "hide",     "show",
                                                        "show_from", "tag",    "tagfocus", "tagignore"};

static void read_one(const struct tool_request *request, enum chip_kind kind, const char *expression, struct chip *chip)
{
    *chip = (struct chip){.kind = kind, .expression = expression, .nearest = {"", 0}};
    if (kind >= CHIP_TAG)
        return;
    chip->regex = regex_read(str_of(expression), false, request->arena, &chip->fault);
    chip->is_literal = chip->regex == NULL;
    if (chip->is_literal)
        chip->regex = regex_literal(str_of(expression), request->arena);
}

void chips_read(const struct tool_request *request, struct chips *chips)
{
    chips->items = arena_array(request->arena, struct chip, request->param_count + 1);
    chips->count = 0;
    chips->scratch = request->scratch;
    for (size_t i = 0; i < request->param_count; i++) {
        const struct tool_param *param = &request->params[i];
        for (int kind = 0; kind < CHIP_KIND_COUNT; kind++)
            if (param->value[0] != '\0' && strcmp(param->name, kind_names[kind]) == 0)
                read_one(request, (enum chip_kind)kind, param->value, &chips->items[chips->count++]);
    }
}

bool chips_match_function(const struct chip *chip, const struct pprof_function *function)
{
    return regex_matches(chip->regex, function->name) || regex_matches(chip->regex, function->file);
}

/* ---- labels ---- */

enum { EXPRESSIONS_MAX = 32 };

/* pprof's tagfocus: [key=]range or [key=]expression,expression… */
struct tag_filter {
    struct str key; /* empty: any */
    bool is_range, has_min, has_max;
    double min, max; /* in units of `unit` */
    struct str min_unit, max_unit;
    struct regex *expressions[EXPRESSIONS_MAX];
    uint32_t count;
};

struct str chips_label_text(const struct pprof *pprof, uint32_t set, const char *key, struct buf *scratch)
{
    const struct pprof_label_set *labels = &pprof->sets[set];
    for (uint32_t i = 0; i < labels->count; i++) {
        const struct pprof_label *label = &pprof->labels[labels->first + i];
        if (!str_equal(label->key, str_of(key)))
            continue;
        if (!label->is_number)
            return label->text;
        scratch->length = 0;
        buf_format(scratch, "%lld%.*s", (long long)label->number, (int)label->unit.length, label->unit.data);
        return (struct str){scratch->data, scratch->length};
    }
    return (struct str){"", 0};
}

/* ---- ranges ---- */

/* How many of the smallest unit of its family one is; 0 for a unit without a family. */
static double factor_of(struct str unit, int *family)
{
    static const struct {
        const char *name;
        int family;
        double factor;
    } units[] = {
        /* clang-format off */
        {"b", 1, 1}, {"byte", 1, 1}, {"kb", 1, 1024}, {"kbyte", 1, 1024}, {"kilobyte", 1, 1024}, {"mb", 1, 1048576},
        {"mbyte", 1, 1048576},
        {"megabyte", 1, 1048576}, {"gb", 1, 1073741824}, {"gbyte", 1, 1073741824}, {"gigabyte", 1, 1073741824},
        {"tb", 1, 1099511627776}, {"tbyte", 1, 1099511627776}, {"pb", 1, 1125899906842624},
        {"pbyte", 1, 1125899906842624},
        {"ns", 2, 1}, {"nanosecond", 2, 1}, {"us", 2, 1e3}, {"microsecond", 2, 1e3}, {"ms", 2, 1e6},
        {"millisecond", 2, 1e6},
        {"s", 2, 1e9}, {"sec", 2, 1e9}, {"second", 2, 1e9}, {"min", 2, 60e9}, {"minute", 2, 60e9}, {"hr", 2, 3600e9},
        {"hour", 2, 3600e9},
        /* clang-format on */
    };
    struct str one = unit;
    if (one.length > 2 && (one.data[one.length - 1] == 's' || one.data[one.length - 1] == 'S'))
        one.length--; /* seconds */
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (str_equal_any_case(one, str_of(units[i].name)) || str_equal_any_case(unit, str_of(units[i].name))) {
            *family = units[i].family;
            return units[i].factor;
        }
    *family = 0;
    return 0;
}

/* a and b in one unit, as far as their units can be compared: less, equal or greater; 2 when they cannot. */
static int chips_compare(double a, struct str a_unit, double b, struct str b_unit)
{
    int a_family, b_family;
    double a_factor = factor_of(a_unit, &a_family), b_factor = factor_of(b_unit, &b_family);
    if (a_unit.length > 0 && b_unit.length > 0 && !str_equal(a_unit, b_unit)) {
        if (a_family == 0 || a_family != b_family)
            return 2;
        a *= a_factor;
        b *= b_factor;
    }
    return (a > b) - (a < b);
}

/* A number with a unit at *at. */
static bool take_number(struct str text, size_t *at, double *number, struct str *unit)
{
    size_t begin = *at, end = begin;
    char digits[24];
    if (end < text.length && (text.data[end] == '+' || text.data[end] == '-'))
        end++;
    size_t first = end;
    while (end < text.length && text.data[end] >= '0' && text.data[end] <= '9')
        end++;
    if (end == first || end - begin >= sizeof(digits))
        return false;
    memcpy(digits, text.data + begin, end - begin);
    digits[end - begin] = '\0';
    *number = strtod(digits, NULL);
    size_t unit_at = end;
    while (end < text.length && ((text.data[end] | 32) >= 'a' && (text.data[end] | 32) <= 'z'))
        end++;
    *unit = (struct str){text.data + unit_at, end - unit_at};
    *at = end;
    return true;
}

/* N, N:, :N or A:B, each with a unit or not; anything else is an expression. */
static bool read_range(struct str text, struct tag_filter *filter)
{
    size_t at = 0;
    filter->has_min = take_number(text, &at, &filter->min, &filter->min_unit);
    bool has_colon = at < text.length && text.data[at] == ':';
    at += has_colon;
    filter->has_max = has_colon && take_number(text, &at, &filter->max, &filter->max_unit);
    if (at != text.length || (!filter->has_min && !filter->has_max))
        return false;
    if (!has_colon) {
        filter->has_max = true;
        filter->max = filter->min;
        filter->max_unit = filter->min_unit;
    }
    return true;
}

/* ---- pprof's syntax ---- */

static bool read_filter(const char *expression, struct arena *arena, struct tag_filter *filter, struct err *err)
{
    struct str rest = str_of(expression);
    const char *equals = memchr(rest.data, '=', rest.length);
    *filter = (struct tag_filter){.key = {"", 0}};
    if (equals != NULL) {
        filter->key = (struct str){expression, (size_t)(equals - expression)};
        rest = str_of(equals + 1);
    }
    filter->is_range = read_range(rest, filter);
    for (bool is_last = filter->is_range; !is_last;) {
        struct regex_fault fault;
        const char *comma = memchr(rest.data, ',', rest.length);
        struct str part = {rest.data, comma != NULL ? (size_t)(comma - rest.data) : rest.length};
        is_last = comma == NULL;
        if (filter->count == EXPRESSIONS_MAX)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "more than %d expressions in one filter on labels",
                           EXPRESSIONS_MAX);
        struct regex *regex = regex_read(part, false, arena, &fault);
        if (regex == NULL)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "\"%.60s\": %s; use tag=KEY=VALUE for an exact value",
                           expression, fault.text);
        filter->expressions[filter->count++] = regex;
        if (comma != NULL)
            rest = str_of(comma + 1);
    }
    return true;
}

/* As in pprof a number without a unit has that of the first number of its key; else its key is its unit. */
static struct str unit_of(const struct pprof *pprof, const struct pprof_label *label)
{
    for (uint32_t i = 0; label->unit.length == 0 && i < pprof->label_count; i++)
        if (pprof->labels[i].unit.length > 0 && str_equal(pprof->labels[i].key, label->key))
            return pprof->labels[i].unit;
    bool is_size = str_equal(label->key, STR("request")) || str_equal(label->key, STR("alignment"));
    return label->unit.length > 0 ? label->unit : is_size ? STR("bytes") : label->key;
}

static bool in_range(const struct tag_filter *filter, const struct pprof *pprof, const struct pprof_label *label,
                     struct arena *arena)
{
    arena_work(arena, label->unit.length == 0 ? pprof->label_count : 1);
    struct str unit = unit_of(pprof, label);
    int min = filter->has_min ? chips_compare((double)label->number, unit, filter->min, filter->min_unit) : 0;
    int max = filter->has_max ? chips_compare((double)label->number, unit, filter->max, filter->max_unit) : 0;
    return min != 2 && max != 2 && min >= 0 && max <= 0;
}

static bool any_value_matches(const struct tag_filter *filter, struct regex *regex, const struct pprof *pprof,
                              uint32_t set, struct buf *scratch)
{
    const struct pprof_label_set *labels = &pprof->sets[set];
    for (uint32_t i = 0; i < labels->count; i++) {
        const struct pprof_label *label = &pprof->labels[labels->first + i];
        if (label->is_number || (filter->key.length > 0 && !str_equal(filter->key, label->key)))
            continue;
        scratch->length = 0;
        if (filter->key.length == 0) {
            buf_add(scratch, label->key.data, label->key.length);
            buf_char(scratch, ':');
        }
        buf_add(scratch, label->text.data, label->text.length);
        if (regex_matches(regex, (struct str){scratch->data != NULL ? scratch->data : "", scratch->length}))
            return true;
    }
    return false;
}

/* With a key any expression may match; without one each must. */
static bool filter_matches_set(const struct tag_filter *filter, const struct pprof *pprof, uint32_t set,
                               struct arena *arena, struct buf *scratch)
{
    const struct pprof_label_set *labels = &pprof->sets[set];
    bool is_any = filter->key.length > 0;
    for (uint32_t i = 0; filter->is_range && i < labels->count; i++) {
        const struct pprof_label *label = &pprof->labels[labels->first + i];
        if (label->is_number && (!is_any || str_equal(filter->key, label->key)) &&
            in_range(filter, pprof, label, arena))
            return true;
    }
    for (uint32_t i = 0; i < filter->count; i++)
        if (any_value_matches(filter, filter->expressions[i], pprof, set, scratch) == is_any)
            return is_any;
    return !filter->is_range && !is_any;
}

/* ---- exact values ---- */

struct exact {
    struct str key, value;
    bool is_negated;
};

static bool read_exact(const char *expression, struct exact *exact, struct err *err)
{
    exact->is_negated = expression[0] == '-';
    expression += exact->is_negated;
    const char *equals = strchr(expression, '=');
    if (equals == NULL)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "tag: \"%.60s\" is not KEY=VALUE", expression);
    exact->key = (struct str){expression, (size_t)(equals - expression)};
    exact->value = str_of(equals + 1);
    return true;
}

static bool has_exact(const struct exact *exact, const struct pprof *pprof, uint32_t set, struct buf *scratch)
{
    const struct pprof_label_set *labels = &pprof->sets[set];
    bool has_key = false;
    for (uint32_t i = 0; i < labels->count; i++) {
        const struct pprof_label *label = &pprof->labels[labels->first + i];
        if (!str_equal(label->key, exact->key))
            continue;
        has_key = true;
        scratch->length = 0;
        if (label->is_number)
            buf_format(scratch, "%lld%.*s", (long long)label->number, (int)label->unit.length, label->unit.data);
        else
            buf_add(scratch, label->text.data, label->text.length);
        if (str_equal((struct str){scratch->data != NULL ? scratch->data : "", scratch->length}, exact->value))
            return true;
    }
    return !has_key && exact->value.length == 0; /* "device=": without the label */
}

/* Values of one key are alternatives; each key must be met. */
static void keep_exact(const struct exact *exacts, uint32_t count, const struct pprof *pprof, bool *keep,
                       struct buf *scratch)
{
    for (uint32_t set = 0; set < pprof->set_count; set++)
        for (uint32_t i = 0; i < count && keep[set]; i++) {
            bool is_met = has_exact(&exacts[i], pprof, set, scratch);
            for (uint32_t j = 0; j < count && !is_met && !exacts[i].is_negated; j++)
                is_met = !exacts[j].is_negated && str_equal(exacts[i].key, exacts[j].key) &&
                         has_exact(&exacts[j], pprof, set, scratch);
            keep[set] = is_met != exacts[i].is_negated;
        }
}

static void count_matched(struct chip *chip, const bool *matches, const struct pprof *pprof)
{
    for (uint32_t i = 0; i < pprof->sample_count; i++)
        chip->matched_count += matches[pprof->label_sets[i]];
}

static bool chips_apply(struct chips *chips, const struct pprof *pprof, struct arena *arena, bool *keep,
                        struct buf *scratch, struct err *err)
{
    struct exact *exacts = arena_array(arena, struct exact, (size_t)chips->count + 1);
    bool *matches = arena_array(arena, bool, (size_t)pprof->set_count + 1);
    uint32_t exact_count = 0;
    for (uint32_t i = 0; i < chips->count; i++) {
        struct chip *chip = &chips->items[i];
        struct tag_filter filter;
        if (chip->kind < CHIP_TAG)
            continue;
        if (chip->kind == CHIP_TAG ? !read_exact(chip->expression, &exacts[exact_count], err)
                                   : !read_filter(chip->expression, arena, &filter, err))
            return false;
        for (uint32_t set = 0; set < pprof->set_count; set++) {
            matches[set] = chip->kind == CHIP_TAG ? has_exact(&exacts[exact_count], pprof, set, scratch)
                                                  : filter_matches_set(&filter, pprof, set, arena, scratch);
            if (chip->kind != CHIP_TAG)
                keep[set] &= matches[set] == (chip->kind == CHIP_TAGFOCUS);
        }
        exact_count += chip->kind == CHIP_TAG;
        count_matched(chip, matches, pprof);
    }
    keep_exact(exacts, exact_count, pprof, keep, scratch);
    return true;
}

bool *chips_keep(struct chips *chips, const struct pprof *pprof, struct arena *arena, struct err *err)
{
    struct buf *scratch = chips->scratch;
    bool has_any = false;
    for (uint32_t i = 0; i < chips->count; i++)
        has_any |= chips->items[i].kind >= CHIP_TAG;
    if (!has_any)
        return NULL;
    bool *keep = arena_array(arena, bool, (size_t)pprof->set_count + 1);
    memset(keep, true, pprof->set_count);
    return chips_apply(chips, pprof, arena, keep, scratch, err) ? keep : NULL;
}

/* ---- the nearest name ---- */

enum { NAMES_MAX = 20000 };

void chips_find_nearest(struct chips *chips, const struct pprof *pprof, struct arena *arena)
{
    for (uint32_t i = 0; i < chips->count; i++) {
        struct chip *chip = &chips->items[i];
        struct str wanted = str_of(chip->expression);
        size_t best = wanted.length / 2 + 1;
        if (chip->kind >= CHIP_TAG || chip->matched_count > 0 || wanted.length > NEAREST_LENGTH_MAX)
            continue;
        for (uint32_t at = 0; at < pprof->function_count && at < NAMES_MAX; at++) {
            struct str name = pprof->functions[at].name;
            size_t min = name.length > wanted.length ? name.length - wanted.length : wanted.length - name.length;
            if (name.length == 0 || name.length > NEAREST_LENGTH_MAX || min >= best)
                continue;
            arena_work(arena, name.length * wanted.length);
            size_t changes = nearest_distance(wanted, name);
            if (changes < best) {
                best = changes;
                chip->nearest = name;
            }
        }
    }
}

void chips_write(const struct chips *chips, struct json *json)
{
    json_key_array(json, "filters");
    for (uint32_t i = 0; i < chips->count; i++) {
        const struct chip *chip = &chips->items[i];
        json_object_begin(json);
        json_key_text(json, "parameter", kind_names[chip->kind]);
        json_key_text(json, "expression", chip->expression);
        json_key_uint(json, "matched_count", chip->matched_count);
        json_key_bool(json, "is_literal", chip->is_literal);
        json_key_known(json, "fault_at", chip->is_literal ? (int64_t)chip->fault.at : -1);
        json_key_text(json, "fault", chip->is_literal ? chip->fault.text : NULL);
        json_key_string_if_any(json, "nearest", chip->nearest);
        json_object_end(json);
    }
    json_array_end(json);
}
