/* SPDX-License-Identifier: Apache-2.0
 * cause_listed.c: why memory ran short by the sums and the buffers that a text lists, without a plan of the program. */
#include "verdict/facts.h"
#include "verdict/unplanned.h"

#include "base/sum.h"
#include "model/oom/meaning.h"

#include <string.h>

/* A program that takes no more than this fits any device that is empty. */
enum { SMALL_PROGRAM_BYTES = 256 << 20, FEWEST_TOKENS = 256, LEAST_VOCABULARY = 16000, LISTED_PARTS = 64 };

/* A text may state any number. */
static int64_t buffer_bytes(const struct oom_buffer *buffer)
{
    return buffer->size.value <= INT64_MAX ? (int64_t)buffer->size.value : INT64_MAX;
}

static bool of_small_program(const struct verdict_facts *facts)
{
    int64_t total = facts_figure(facts, OOM_total_bytes);
    if (!oom_has_assignment(facts->failure) || total <= 0 || total > SMALL_PROGRAM_BYTES)
        return false;
    cause_set(facts, VERDICT_CAUSE_LIVE_ARRAYS, -1, VERDICT_GUESS,
              arena_format(facts->arena,
                           "The program takes only %s in all: other arrays of this process, or other processes, filled "
                           "the device; the text does not name them.",
                           facts_size(facts, total)));
    return true;
}

/* Are arguments, outputs or temporaries most of what a GPU's program takes, by the list of its allocations? False:
 * there is no such list, or none of them is. */
static bool of_assignment(const struct verdict_facts *facts)
{
    static const struct {
        enum oom_figure_at at;
        enum verdict_cause_kind kind;
        const char *words;
    } parts[] = {{OOM_arguments_bytes, VERDICT_CAUSE_INPUTS, "Arguments"},
                 {OOM_output_bytes, VERDICT_CAUSE_OUTPUTS, "Outputs"},
                 {OOM_program_bytes, VERDICT_CAUSE_WORKSPACE, "Temporaries"}};
    int64_t total = facts_figure(facts, OOM_total_bytes);
    if (!oom_has_assignment(facts->failure) || total <= 0)
        return false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        int64_t bytes = facts_figure(facts, parts[i].at);
        if (bytes <= total / 2)
            continue;
        cause_set(facts, parts[i].kind, bytes, VERDICT_EXACT,
                  arena_format(facts->arena, "%s are %s of the %s that the program takes.", parts[i].words,
                               facts_size(facts, bytes), facts_size(facts, total)));
        return true;
    }
    return false;
}

/* Without the layout that may follow. */
static const char *shape_words(const struct verdict_facts *facts, const struct oom_buffer *buffer)
{
    const struct str shape = buffer->shape.text;
    const char *close = memchr(shape.data, ']', shape.length);
    return arena_text(facts->arena,
                      (struct str){shape.data, close != NULL ? (size_t)(close + 1 - shape.data) : shape.length});
}

/* " at model.py:12"; "": the text does not say where. */
static const char *place_words(const struct verdict_facts *facts, const struct oom_buffer *buffer)
{
    const struct str file = buffer->source_file.text;
    if (file.data == NULL || !buffer->source_line.is_known)
        return "";
    return arena_format(facts->arena, " at %.*s:%llu", (int)str_last_part(file).length, str_last_part(file).data,
                        (unsigned long long)buffer->source_line.value);
}

/* ---- what a scan stacks ---- */

/* Is what was asked for a result that a scan stacks, an output of each of its iterations? */
static bool of_stack(const struct verdict_facts *facts, const struct oom_group *group)
{
    const struct oom_buffer *buffer = group->buffer;
    int64_t total = facts_figure(facts, OOM_total_bytes), results = facts_figure(facts, OOM_output_bytes);
    if (!facts->is_xla || group->count != 1 || !oom_has_assignment(facts->failure) || buffer->op_name.text.data == NULL)
        return false;
    int64_t bytes = buffer_bytes(buffer);
    const struct str op_name = buffer->op_name.text;
    if (bytes <= total / 2 || results <= total / 2 || !str_contains(op_name, STR("while/body/")) ||
        !str_equal(str_last_part(op_name), STR("dynamic_update_slice")))
        return false;
    cause_set(facts, VERDICT_CAUSE_SCAN_OUTPUTS, bytes, VERDICT_GUESS,
              arena_format(facts->arena,
                           "%.*s, which a scan%s stacks as a result, is %s of the %s that the program takes.",
                           (int)buffer->shape.text.length, buffer->shape.text.data, place_words(facts, buffer),
                           facts_size(facts, bytes), facts_size(facts, total)));
    return true;
}

/* ---- attention scores ---- */

/* "f32[32,4096,4096]": the number of dimensions, and the last two; count 0: the text has none. */
struct sides {
    uint64_t before_last, last;
    size_t count;
};

static struct sides sides_of(struct str shape)
{
    struct sides sides = {0, 0, 0};
    if (shape.length == 0)
        return sides;
    uint64_t side = 0;
    size_t digits = 0;
    const char *at = memchr(shape.data, '[', shape.length), *end = shape.data + shape.length;
    for (at = at != NULL ? at + 1 : end; at < end; at++)
        if (*at >= '0' && *at <= '9' && digits++ < 9) {
            side = side * 10 + (uint64_t)(*at - '0');
        } else {
            sides = (struct sides){sides.last, side, sides.count + 1};
            side = digits = 0;
            if (*at != ',')
                break;
        }
    return sides;
}

/* Its last two sides are alike, as the tokens are, and long. Of "[tokens, tokens]" alone it is not told. */
static bool is_square(struct str shape)
{
    struct sides sides = sides_of(shape);
    return sides.count > 2 && sides.before_last == sides.last && sides.last >= FEWEST_TOKENS;
}

static bool has_word(struct str name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_contains(name, str_of(words[i])))
            return true;
    return false;
}

/* A softmax, or a product of attention by its equation or its four sides; not one of its weights, stacked by layers. */
static bool is_of_attention(struct str name, struct str shape)
{
    static const char *const words[] = {"attention", "Attention", "attn", "Attn"}, *const weights[] = {
                                                                                       "query", "key",    "value",
                                                                                       "proj",  "kernel", "params",
                                                                                       "/out/"};
    size_t sides = 1;
    for (size_t i = 0; i < shape.length && shape.data[i] != ']'; i++)
        sides += shape.data[i] == ',';
    if (str_contains(name, STR("softmax")))
        return true;
    return has_word(name, words, sizeof(words) / sizeof(words[0])) && (sides > 3 || str_contains(name, STR("->"))) &&
           !has_word(name, weights, sizeof(weights) / sizeof(weights[0]));
}

/* Are attention scores more than half of what is listed? False: they are not, or the list does not tell. */
static bool of_scores(const struct verdict_facts *facts, int64_t listed_bytes)
{
    const struct oom_buffers *list = &facts->failure->lists[OOM_ALLOCATIONS];
    const struct oom_buffer *first = NULL;
    int64_t bytes = 0;
    unsigned long long count = 0;
    for (size_t i = 0; facts->is_xla && i < list->count; i++) {
        const struct oom_buffer *buffer = &list->items[i];
        if (!buffer->size.is_known || buffer->shape.text.data == NULL || !is_square(buffer->shape.text) ||
            !is_of_attention(buffer->op_name.text, buffer->shape.text))
            continue;
        first = first == NULL ? buffer : first;
        bytes = sum_add(bytes, buffer_bytes(buffer));
        count++;
    }
    if (first == NULL || bytes <= listed_bytes / 2)
        return false;
    cause_set(
        facts, VERDICT_CAUSE_ATTENTION_LOGITS, bytes, VERDICT_GUESS,
        arena_format(
            facts->arena,
            "What looks like attention scores, tokens × tokens for each head, is %s of the %s that the text lists: "
            "%llu buffer%s such as %s.",
            facts_size(facts, bytes), facts_size(facts, listed_bytes), count, count == 1 ? "" : "s",
            shape_words(facts, first)));
    return true;
}

/* ---- logits ---- */

/* Is it an argument? In a list of arguments and outputs, all but the outputs are. */
static bool is_argument(const struct oom_buffer *buffer, enum oom_list list)
{
    if (list == OOM_ARGUMENTS_AND_OUTPUTS)
        return buffer->label.text.data == NULL || !str_starts(buffer->label.text, STR("Output"));
    return buffer->allocation_type.text.data != NULL &&
           str_starts(buffer->allocation_type.text, STR("Entry Parameter"));
}

/* Do the sides of one of the listed arguments fit? Those of weights from which logits are made have the vocabulary as
 * one of two sides. Those of `like` belong to a copy or a gradient of the argument. */
static bool has_argument(const struct oom_failure *failure, uint64_t vocabulary, const struct sides *like)
{
    for (size_t l = 0; l < OOM_LIST_COUNT; l++)
        for (size_t i = 0; i < failure->lists[l].count; i++) {
            const struct oom_buffer *buffer = &failure->lists[l].items[i];
            struct sides sides = sides_of(buffer->shape.text);
            bool is_head = sides.count == 2 && (sides.last == vocabulary || sides.before_last == vocabulary);
            bool is_like = like != NULL && sides.count == like->count && sides.last == like->last &&
                           sides.before_last == like->before_last;
            if (is_argument(buffer, (enum oom_list)l) && (like != NULL ? is_like : is_head))
                return true;
        }
    return false;
}

/* tokens × vocabulary, by the operation or by weights with the same long side. */
static bool is_of_logits(const struct oom_failure *failure, const struct oom_buffer *buffer)
{
    static const char *const words[] = {"logits", "lm_head", "unembed", "vocab", "log_softmax", "cross_entropy"};
    struct sides sides = sides_of(buffer->shape.text);
    if (sides.count < 2 || sides.last < LEAST_VOCABULARY || is_argument(buffer, OOM_ALLOCATIONS) ||
        has_argument(failure, sides.last, &sides))
        return false;
    return has_word(buffer->op_name.text, words, sizeof(words) / sizeof(words[0])) ||
           (str_contains(buffer->op_name.text, STR("dot_general")) && has_argument(failure, sides.last, NULL));
}

/* Are logits more than half of what is listed? */
static bool of_logits(const struct verdict_facts *facts, int64_t listed_bytes)
{
    const struct oom_buffers *list = &facts->failure->lists[OOM_ALLOCATIONS];
    const struct oom_buffer *first = NULL;
    int64_t bytes = 0;
    unsigned long long count = 0;
    for (size_t i = 0; facts->is_xla && i < list->count; i++)
        if (list->items[i].size.is_known && buffer_bytes(&list->items[i]) > listed_bytes / LISTED_PARTS &&
            is_of_logits(facts->failure, &list->items[i])) {
            first = first == NULL ? &list->items[i] : first;
            bytes = sum_add(bytes, buffer_bytes(&list->items[i]));
            count++;
        }
    if (first == NULL || bytes <= listed_bytes / 2)
        return false;
    cause_set(facts, VERDICT_CAUSE_LOGITS, bytes, VERDICT_GUESS,
              arena_format(facts->arena,
                           "What looks like logits, tokens × vocabulary, is %s of the %s that the text lists: %s%s%s.",
                           facts_size(facts, bytes), facts_size(facts, listed_bytes), shape_words(facts, first),
                           place_words(facts, first),
                           count > 1 ? arena_format(facts->arena, " and %llu more", count - 1) : ""));
    return true;
}

/* What an XLA program without a plan or a list asks for. */
static const char *of_request(const struct verdict_facts *facts, int64_t needed)
{
    if (facts->is_compile || needed <= 0 || facts->failure->family != OOM_FAMILY_gpu_xla)
        return "The error gives a total only; what fills it is in the compiler's dump.";
    return arena_format(facts->arena,
                        "%s were requested in one piece: one array, or all that a program holds besides its arguments "
                        "and results. The compiler's dump shows which.",
                        facts_size(facts, needed));
}

static const char *buffer_words(const struct verdict_facts *facts, const struct oom_buffer *buffer)
{
    const struct oom_words *named[] = {&buffer->label, &buffer->op_name, &buffer->shape};
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (named[i]->text.data != NULL && named[i]->text.length > 0)
            return arena_text(facts->arena, named[i]->text);
    return "One buffer";
}

/* What a text without a plan lists: one array that is more than half of what was asked for, or, where that is not told,
 * of all that is listed. */
void cause_listed_make(const struct verdict_facts *facts)
{
    const struct oom_group group = oom_group_largest(facts->failure);
    int64_t needed = facts_figure(facts, OOM_needed_bytes), listed = 0;
    const struct oom_buffers *list = &facts->failure->lists[OOM_ALLOCATIONS];
    for (size_t i = 0; i < list->count; i++)
        listed = sum_add(listed, buffer_bytes(&list->items[i]));
    if (of_small_program(facts) || of_scores(facts, listed) || of_logits(facts, listed) || of_stack(facts, &group))
        return;
    if (facts->parts->failure->cause == OOM_CAUSE_TOO_LARGE)
        cause_set(facts, VERDICT_CAUSE_ONE_BUFFER, needed, VERDICT_EXACT,
                  facts_sentence(facts, &facts->parts->failure->cause_text));
    else if (oom_is_form(facts->failure, "allocation_exceeds") ||
             (group.count == 1 && needed > 0 && buffer_bytes(group.buffer) > needed / 2))
        cause_set(facts, VERDICT_CAUSE_ONE_BUFFER, group.count > 0 ? buffer_bytes(group.buffer) : needed, VERDICT_EXACT,
                  cause_said(facts));
    else if (group.count == 1 && needed < 0 && buffer_bytes(group.buffer) > listed / 2 && list->count > 1)
        cause_set(facts, VERDICT_CAUSE_UNKNOWN, buffer_bytes(group.buffer), VERDICT_EXACT,
                  arena_format(facts->arena, "%s uses %s of the %s that the text lists.",
                               buffer_words(facts, group.buffer), facts_size(facts, buffer_bytes(group.buffer)),
                               facts_size(facts, listed)));
    else if (!of_assignment(facts) && (!facts->is_xla || group.count > 0 || !unplanned_cause(facts)))
        cause_set(facts, VERDICT_CAUSE_UNKNOWN, needed, VERDICT_EXACT,
                  !facts->is_xla ? cause_said(facts)
                  : group.count > 0
                      ? "The log lists the largest buffers; no single one explains the total. The compiler's "
                        "dump has the rest."
                      : of_request(facts, needed));
}
