/* SPDX-License-Identifier: Apache-2.0
 * person_rules.c: see person_rules.h. */
#include "plan/person_rules.h"

#include "base/intern.h"
#include "base/nearest.h"
#include "base/regex.h"
#include "base/sum.h"
#include "plan/arguments.h"
#include "plan/describe.h"
#include "plan/group_key.h"

#include <ctype.h>

enum { NONE = UINT16_MAX, NOT_TRIED = UINT16_MAX - 1 };

struct rule {
    struct str expression;
    struct regex *regex;
    enum category category;
    uint32_t line; /* from 1 */
};

struct person_rules {
    struct arena *arena;
    struct rule rules[PERSON_RULES_MAX];
    uint32_t count;
    struct intern texts; /* what was tried: op names and lines are those of many buffers */
    uint16_t *first;     /* by number of a text: the first rule that matches it, NONE, NOT_TRIED */
    uint32_t capacity;
};

/* ---- reading ---- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static struct str person_rules_trimmed(struct str text)
{
    while (text.length > 0 && is_space(text.data[text.length - 1]))
        text.length--;
    while (text.length > 0 && is_space(text.data[0])) {
        text.data++;
        text.length--;
    }
    return text;
}

static bool category_read(struct str word, enum category *category, uint32_t line, size_t offset, struct err *err)
{
    size_t best_distance = SIZE_MAX;
    const char *best = "";
    if (category_find(word, category))
        return true;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        const char *name = category_name((enum category)i);
        size_t distance = nearest_name_distance(word, str_of(name));
        if (distance < best_distance) {
            best_distance = distance;
            best = name;
        }
    }
    return err_set(err, ERR_argument, offset,
                   "category_rules: line %u: there is no category \"%.*s\"; did you mean \"%s\"?", line,
                   word.length > 40 ? 40 : (int)word.length, word.data, best);
}

/* `offset`: of the line in the whole text. */
static bool rule_read(struct person_rules *rules, struct str line_text, uint32_t line, size_t offset, struct err *err)
{
    struct str text = person_rules_trimmed(line_text);
    size_t begin = text.length, at = offset + (size_t)(text.data - line_text.data);
    struct regex_fault fault = {0, ""};
    while (begin > 0 && !is_space(text.data[begin - 1]))
        begin--;
    struct str expression = person_rules_trimmed((struct str){text.data, begin});
    if (expression.length == 0)
        return err_set(err, ERR_argument, at,
                       "category_rules: line %u: write an expression, a space and a category; \"%.*s\" is one word",
                       line, text.length > 40 ? 40 : (int)text.length, text.data);
    if (rules->count == PERSON_RULES_MAX)
        return err_set(err, ERR_argument, at, "category_rules: line %u: more than %d rules", line, PERSON_RULES_MAX);
    struct rule *rule = &rules->rules[rules->count];
    *rule = (struct rule){.expression = expression, .line = line};
    if (!category_read((struct str){text.data + begin, text.length - begin}, &rule->category, line, at + begin, err))
        return false;
    rule->regex = regex_read(expression, false, rules->arena, &fault);
    if (rule->regex == NULL)
        return err_set(err, ERR_argument, at + fault.at,
                       "category_rules: line %u, character %zu: the expression is broken: %s", line,
                       (size_t)(expression.data - line_text.data) + fault.at + 1, fault.text);
    rules->count++;
    return true;
}

struct person_rules *person_rules_read(struct str text, struct arena *arena, struct err *err)
{
    struct person_rules *rules = arena_array(arena, struct person_rules, 1);
    uint32_t line = 1;
    rules->arena = arena;
    if (text.length > PERSON_RULES_LENGTH_MAX) {
        err_set(err, ERR_argument, PERSON_RULES_LENGTH_MAX, "category_rules: longer than %d characters",
                PERSON_RULES_LENGTH_MAX);
        return NULL;
    }
    for (size_t at = 0; at < text.length; line++) {
        const char *end = memchr(text.data + at, '\n', text.length - at);
        size_t length = end == NULL ? text.length - at : (size_t)(end - text.data) - at;
        struct str own = {text.data + at, length}, said = person_rules_trimmed(own);
        if (said.length > 0 && said.data[0] != '#' && !rule_read(rules, own, line, at, err))
            return NULL;
        at += length + 1;
    }
    intern_init(&rules->texts, arena);
    return rules;
}

/* ---- matching ---- */

static uint16_t first_tried(struct person_rules *rules, struct str text)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (regex_matches(rules->rules[i].regex, text))
            return (uint16_t)i;
    return NONE;
}

/* The smaller of `best` and the first rule that matches the text; an empty one matches none. */
static uint16_t first_of(struct person_rules *rules, struct str text, uint16_t best)
{
    if (text.length == 0)
        return best;
    uint32_t number = intern_number(&rules->texts, text);
    if (number >= rules->capacity) {
        uint32_t capacity = number < 512 ? 1024 : 2 * number;
        uint16_t *first = arena_raw(rules->arena, capacity * sizeof(*first));
        if (rules->capacity > 0)
            memcpy(first, rules->first, rules->capacity * sizeof(*first));
        for (uint32_t i = rules->capacity; i < capacity; i++)
            first[i] = NOT_TRIED;
        rules->first = first;
        rules->capacity = capacity;
    }
    if (rules->first[number] == NOT_TRIED)
        rules->first[number] = first_tried(rules, text);
    return rules->first[number] < best ? rules->first[number] : best;
}

static struct str source_of(const struct plan *plan, const struct hlo_detail *detail, struct buf *scratch)
{
    struct describe_source source = describe_source(&plan->hlo, detail);
    scratch->length = 0;
    buf_add(scratch, source.file.data, source.file.length);
    if (source.file.length > 0)
        buf_format(scratch, ":%lld", (long long)source.line);
    return describe_str(scratch);
}

/* The first rule that matches a text of the row, or NONE. */
static uint16_t rule_of(struct person_rules *rules, const struct plan *plan, const struct plan_row *row,
                        struct buf *scratch)
{
    const struct plan_argument *argument = arguments_find_allocation(plan, &plan->hlo.allocations[row->allocation_at]);
    uint16_t best = first_of(rules, group_key_op_name(plan, row), NONE);
    if (argument != NULL)
        best = first_of(rules, argument->path, best);
    if (row->buffer_at == PLAN_NONE)
        return best;
    uint32_t instruction_at = plan->hlo.buffers[row->buffer_at].instruction_at;
    struct hlo_detail detail = hlo_detail(&plan->hlo, instruction_at);
    best = first_of(rules, detail.op_name, best);
    best = first_of(rules, source_of(plan, &detail, scratch), best);
    scratch->length = 0;
    describe_name(&plan->hlo, row->buffer_at, hlo_instruction_name(&plan->hlo, instruction_at), scratch);
    return first_of(rules, describe_str(scratch), best);
}

static struct category_choice choice_of(const struct person_rules *rules, uint16_t rule)
{
    return category_choice_of((enum category)rules->rules[rule].category, CATEGORY_RULE_PERSON);
}

static void space_apply(struct person_rules *rules, const struct plan *plan, struct plan_space *space,
                        struct buf *scratch)
{
    struct plan_row *rows = arena_raw(rules->arena, ((size_t)space->row_count + 1) * sizeof(*rows));
    memcpy(rows, space->rows, space->row_count * sizeof(*rows));
    memset(space->category_bytes, 0, sizeof(space->category_bytes));
    for (uint32_t i = 0; i < space->row_count; i++) {
        uint16_t rule = rule_of(rules, plan, &rows[i], scratch);
        if (rule != NONE)
            rows[i].choice = choice_of(rules, rule);
        int64_t *sum = &space->category_bytes[rows[i].choice.category];
        if (plan_row_is_alive(&rows[i], space->peak_step))
            *sum = sum_add(*sum, rows[i].bytes);
    }
    space->rows = rows;
}

const struct plan *person_rules_apply(struct person_rules *rules, const struct plan *plan, struct buf *scratch)
{
    struct plan *own = arena_array(rules->arena, struct plan, 1);
    *own = *plan;
    own->spaces = arena_array(rules->arena, struct plan_space, (size_t)plan->space_count + 1);
    own->arguments = arena_array(rules->arena, struct plan_argument, (size_t)plan->argument_count + 1);
    for (uint32_t i = 0; i < plan->space_count; i++) {
        own->spaces[i] = plan->spaces[i];
        space_apply(rules, plan, &own->spaces[i], scratch);
    }
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        own->arguments[i] = plan->arguments[i];
        uint16_t rule = first_of(rules, plan->arguments[i].path, NONE);
        if (rule != NONE)
            own->arguments[i].choice = choice_of(rules, rule);
    }
    return own;
}

bool person_rules_line_of(struct person_rules *rules, const struct plan *plan, const struct plan_row *row,
                          struct buf *scratch, struct str *expression, uint32_t *line)
{
    uint16_t rule = rule_of(rules, plan, row, scratch);
    if (rule == NONE)
        return false;
    *expression = rules->rules[rule].expression;
    *line = rules->rules[rule].line;
    return true;
}
