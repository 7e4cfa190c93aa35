/* SPDX-License-Identifier: Apache-2.0
 * chips.c: see chips.h. */
#include "tool/device_memory/chips.h"

#include "base/nearest.h"

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
    json_key(json, "filters");
    json_array_begin(json);
    for (uint32_t i = 0; i < chips->count; i++) {
        const struct chip *chip = &chips->items[i];
        json_object_begin(json);
        json_key_text(json, "parameter", kind_names[chip->kind]);
        json_key_text(json, "expression", chip->expression);
        json_key_uint(json, "matched_count", chip->matched_count);
        json_key_bool(json, "is_literal", chip->is_literal);
        json_key_known(json, "fault_at", chip->is_literal ? (int64_t)chip->fault.at : -1);
        json_key_text(json, "fault", chip->is_literal ? chip->fault.text : NULL);
        if (chip->nearest.length > 0)
            json_key_string(json, "nearest", chip->nearest);
        else
            json_key_null(json, "nearest");
        json_object_end(json);
    }
    json_array_end(json);
}
