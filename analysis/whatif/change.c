/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/change.h"

#include "base/nearest.h"
#include "read/hlo/shape.h"
#include "whatif/call.h"
#include "whatif/change_kinds.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name, *form, *words;
    bool (*apply)(struct variant *variant, const struct change *change, struct change_result *out, struct err *err);
} kinds[CHANGE_COUNT] = {
#define CHANGE(constant, name, function, form, words) [CHANGE_##constant] = {name, form, words, change_##function},
#include "whatif/change.def"
#undef CHANGE
};

const char *change_name(enum change_kind kind) { return kinds[kind].name; }
const char *change_form(enum change_kind kind) { return kinds[kind].form; }
const char *change_words(enum change_kind kind) { return kinds[kind].words; }

const char *change_confidence_name(enum change_confidence confidence)
{
    static const char *const names[] = {"exact", "model", "bound", "guess"};
    return names[confidence];
}

/* ---- reading ---- */

static bool change_refuse(const struct change *change, struct err *err)
{
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "change \"%.*s\": it is written %s", (int)change->text.length,
                   change->text.data, kinds[change->kind].form);
}

/* A number that is all of a text. */
static bool number_read(struct str text, double *out)
{
    char copy[32], *end;
    if (text.length == 0 || text.length >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    *out = strtod(copy, &end);
    return *end == '\0' && isfinite(*out);
}

static bool whole_read(struct str text, int64_t max, int64_t *out)
{
    double value;
    if (!number_read(text, &value) || value < 0 || value > (double)max || value != floor(value))
        return false;
    *out = (int64_t)value;
    return true;
}

/* Cuts at the last `divider`: what is behind it goes into `after`. */
static bool change_cut(struct str *text, char divider, struct str *after)
{
    for (size_t i = text->length; i-- > 0;)
        if (text->data[i] == divider) {
            *after = (struct str){text->data + i + 1, text->length - i - 1};
            text->length = i;
            return true;
        }
    return false;
}

/* XLA's own names, and those that people use. */
static bool type_read(struct str text, uint64_t *type)
{
    static const char *const known_as[][2] = {
        {"bfloat16", "bf16"}, {"float16", "f16"}, {"int8", "s8"}, {"fp8", "f8e4m3fn"}};
    for (size_t i = 0; i < sizeof(known_as) / sizeof(known_as[0]); i++)
        if (str_equal(text, str_of(known_as[i][0])))
            text = str_of(known_as[i][1]);
    *type = shape_type_find(text);
    return shape_type_is_float(*type) || str_equal(text, STR("s8"));
}

static bool factor_read(struct change *change, struct str value)
{
    struct str target = {"", 0}, dimension;
    change->dimension = -1;
    if (change_cut(&value, '@', &target)) {
        change->argument = target;
        if (!change_cut(&change->argument, ':', &dimension) || !whole_read(dimension, 64, &change->dimension))
            return false;
    }
    return number_read(value, &change->factor) && change->factor > 0 && change->factor <= 1024;
}

static bool value_read(struct change *change, struct str value)
{
    struct str after;
    change->glob = value;
    switch (change->kind) {
    case CHANGE_BATCH:
    case CHANGE_SEQUENCE: return factor_read(change, value);
    case CHANGE_CAST:
        return change_cut(&change->glob, ':', &after) && change->glob.length > 0 && type_read(after, &change->type);
    case CHANGE_SHARD:
        return change_cut(&change->glob, ':', &after) && change->glob.length > 0 &&
               whole_read(after, UINT8_MAX, &change->device_count) && change->device_count > 1;
    default: return value.length > 0;
    }
}

bool change_read(struct str text, struct change *out, struct err *err)
{
    const char *names[CHANGE_COUNT];
    size_t at = 0, kind;
    *out = (struct change){.kind = CHANGE_COUNT, .text = text};
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        names[i] = kinds[i].name;
    while (at < text.length && text.data[at] != '=')
        at++;
    if (!nearest_choose("change", "change", (struct str){text.data, at}, names, CHANGE_COUNT, &kind, err))
        return false;
    out->kind = (enum change_kind)kind;
    struct str value = at < text.length ? (struct str){text.data + at + 1, text.length - at - 1} : (struct str){"", 0};
    return value_read(out, value) || change_refuse(out, err);
}

/* What layers compute again may take more at once than what they kept. By how much then depends on the order in which
 * the compiler runs them, and on what it rematerializes itself: that is no figure. */
static bool is_raised(struct variant *variant, int64_t before_bytes)
{
    struct variant_sums sums;
    variant_measure(variant, &sums, NULL);
    return sums.total_bytes > before_bytes;
}

bool change_apply(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    struct variant_sums before;
    struct variant unchanged;
    struct change_result result = {.reason = "", .call = ""};
    struct err ignored = ERR_INIT;
    *out = (struct change_result){.reason = "", .call = call_text(variant, change)};
    if (change->kind == CHANGE_CHECKPOINT) {
        variant_measure(variant, &before, NULL);
        variant_copy(&unchanged, variant, variant->arena);
    }
    if (!kinds[change->kind].apply(variant, change, out, err))
        return false;
    if (variant->without_remat != NULL && !kinds[change->kind].apply(variant->without_remat, change, &result, &ignored))
        variant->without_remat = NULL;
    if (change->kind == CHANGE_CHECKPOINT && is_raised(variant, before.total_bytes)) {
        *variant = unchanged;
        out->has_no_figure = true;
        out->doubt =
            "computing the layers again may take more memory at once than is saved; only a compile of the changed "
            "program can tell";
        out->has_extra_flops = false;
    }
    if (out->doubt != NULL && (out->has_no_figure || variant->without_remat == NULL || result.doubt != NULL)) {
        out->confidence = CHANGE_GUESS;
        out->reason = arena_format(variant->arena, "How much is not known, because %s.", out->doubt);
        return true;
    }
    out->doubt = NULL;
    if (variant->without_remat == NULL)
        return true;
    if (out->confidence == CHANGE_EXACT) {
        out->confidence = CHANGE_MODEL;
        out->reason =
            "The compiler rematerializes values to make the program fit: of what is saved, it first uses some to "
            "rematerialize less.";
    }
    return true;
}

/* The largest share of the whole that temporaries may have for a figure to be exact: how they are packed is not
 * known. */
enum { EXACT_TEMPORARIES_PERCENT = 5 };

void change_result_settle(struct change_result *result, const struct variant_sums *sums)
{
    if (result->confidence == CHANGE_EXACT &&
        sums->temporary_bytes > sums->total_bytes / 100 * EXACT_TEMPORARIES_PERCENT) {
        result->confidence = CHANGE_MODEL;
        result->reason = "Arguments and results shrink by exactly this much; the temporaries are packed again, which "
                         "may take less or more.";
    }
    if (!sums->is_at_most || result->confidence >= CHANGE_BOUND)
        return;
    result->confidence = CHANGE_BOUND;
    result->reason = "The compiler rematerializes values until the program fits, and may stop before: this is the most "
                     "that it takes.";
}
