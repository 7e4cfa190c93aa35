/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/call.h"

#include "base/buf.h"
#include "plan/arguments.h"
#include "plan/pattern.h"
#include "read/hlo/shape.h"
#include "whatif/call_arguments.h"
#include "whatif/call_library.h"
#include "whatif/glob.h"

#include <stdio.h>

/* ---- names ---- */

struct str call_function(const struct plan *plan)
{
    struct str name = plan->hlo.name;
    static const char *const prefixes[] = {"jit_", "pjit_", "pmap_"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (str_starts(name, str_of(prefixes[i]))) {
            size_t cut = strlen(prefixes[i]);
            return (struct str){name.data + cut, name.length - cut};
        }
    return name.length > 0 ? name : STR("step");
}

struct str call_argument(struct str path)
{
    size_t length = 0;
    while (length < path.length && path.data[length] != '.' && path.data[length] != '[')
        length++;
    return (struct str){path.data, length};
}

bool call_is_of_equinox(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct str name = call_argument(plan->arguments[i].path);
        if (!str_equal(name, STR("dynamic_nodonate")) && !str_equal(name, STR("dynamic_donate")))
            return false;
    }
    return plan->argument_count > 0;
}

const int64_t *call_argument_numbers(const struct plan *plan, struct arena *arena)
{
    int64_t *numbers = arena_array(arena, int64_t, (size_t)plan->argument_count + 1), number = -1;
    struct str last = {"", 0};
    bool has_names = true;
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct str name = call_argument(plan->arguments[i].path);
        has_names = has_names && name.length > 0;
        number += i == 0 || !str_equal(name, last);
        last = name;
        numbers[i] = has_names ? number : -1;
    }
    return numbers;
}

int64_t call_argument_number(const struct plan *plan, const int64_t *numbers, int64_t parameter_number)
{
    const struct plan_argument *argument = arguments_find(plan, parameter_number);
    return argument == NULL ? -1 : numbers[argument - plan->arguments];
}

/* ---- what a glob names ---- */

struct call_named {
    uint32_t count;
    struct str argument; /* the function's argument that the first belongs to */
};

static struct call_named named_of(const struct variant *variant, struct str glob)
{
    struct call_named named = {.count = 0};
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        arena_work(variant->arena, glob_work(glob, argument->path));
        if (!glob_matches(glob, argument->path))
            continue;
        if (named.count++ == 0)
            named.argument = call_argument(argument->path);
    }
    return named;
}

/* ---- lines ---- */

void call_donated(const struct variant *variant, const struct change *change, bool *flags)
{
    const struct plan *plan = variant->plan;
    bool *rows = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    change_donating(variant, change, rows);
    for (uint32_t i = 0; i < variant->space->indefinite_row_count; i++) {
        if (!rows[i])
            continue;
        const struct plan_argument *argument = arguments_find(plan, variant_parameter(variant, &variant->rows[i]));
        if (argument != NULL)
            flags[argument - plan->arguments] = true;
    }
}

static bool is_python_name(struct str name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool is_letter = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return name.length > 0;
}

/* "\"params\", \"opt_state\",": of the arguments flagged; NULL: not all have a name, or it is that of *args. */
static const char *donated_names(const struct plan *plan, const bool *flags, struct arena *arena)
{
    enum { NAMES_MAX = 8, NAME_MAX_BYTES = 64 };
    const char *text = NULL;
    struct str last = {"", 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct str name = call_argument(plan->arguments[i].path);
        if (!flags[i] || (count > 0 && str_equal(name, last)))
            continue;
        if (!is_python_name(name) || name.length > NAME_MAX_BYTES || count == NAMES_MAX ||
            str_equal(name, STR("args")) || str_equal(name, STR("kwargs")))
            return NULL;
        text = arena_format(arena, "%s%s\"%.*s\"", text == NULL ? "" : text, count == 0 ? "" : ", ", (int)name.length,
                            name.data);
        last = name;
        count++;
    }
    return count == 1 ? arena_format(arena, "%s,", text) : text;
}

const char *call_donation(const struct plan *plan, const bool *flags, struct arena *arena)
{
    char numbers[96] = "";
    size_t length = 0;
    if (call_is_of_equinox(plan))
        return "@eqx.filter_jit(donate=\"all\")  # in place of @eqx.filter_jit";
    int64_t last = -1;
    uint32_t count = 0;
    const int64_t *of_arguments = call_argument_numbers(plan, arena);
    struct str function = call_function(plan);
    /* A program does not show its static arguments, nor those that nothing uses, which numbers count. */
    const char *names = donated_names(plan, flags, arena);
    if (names != NULL)
        return arena_format(arena, "jax.jit(%.*s, donate_argnames=(%s))", (int)function.length, function.data, names);
    for (uint32_t i = 0; i < plan->argument_count && length + 24 < sizeof(numbers); i++) {
        int64_t number = flags[i] ? of_arguments[i] : -1;
        if (number <= last)
            continue;
        length += (size_t)snprintf(numbers + length, sizeof(numbers) - length, "%s%lld", count++ ? ", " : "",
                                   (long long)number);
        last = number;
    }
    return arena_format(arena, "jax.jit(%.*s, donate_argnums=(%s%s))", (int)function.length, function.data,
                        count > 0 ? numbers : "…", count <= 1 ? "," : "");
}

static const char *donate_text(const struct variant *variant, const struct change *change)
{
    struct str function = call_function(variant->plan);
    bool is_one = memchr(change->glob.data, ',', change->glob.length) == NULL;
    if (str_equal(change->glob, STR("all")) || str_equal(change->glob, STR("*"))) {
        bool *flags = arena_array(variant->arena, bool, (size_t)variant->plan->argument_count + 1);
        call_donated(variant, change, flags);
        return call_donation(variant->plan, flags, variant->arena);
    }
    return arena_format(variant->arena, "jax.jit(%.*s, donate_argnums=(%.*s%s))", (int)function.length, function.data,
                        (int)change->glob.length, change->glob.data, is_one ? "," : "");
}

const char *call_attention(bool is_masked, bool has_backward, struct arena *arena)
{
    const char *before = has_backward ? "jax.checkpoint(" : "", *behind = has_backward ? ")" : "";
    if (!is_masked)
        return arena_format(arena,
                            "block = %slambda q: jax.nn.dot_product_attention(q[:, None], k, v)[:, 0]%s; "
                            "y = jax.lax.map(block, q.swapaxes(0, 1), batch_size=%d).swapaxes(0, 1)  "
                            "# [batch, length, heads, head]",
                            before, behind, CALL_QUERIES);
    return arena_format(arena,
                        "block = %slambda q, i: jax.nn.dot_product_attention(q[:, None], k, v, "
                        "mask=jnp.arange(k.shape[1])[None] <= i)[:, 0]%s; "
                        "y = jax.lax.map(lambda x: block(*x), (q.swapaxes(0, 1), jnp.arange(q.shape[1])), "
                        "batch_size=%d).swapaxes(0, 1)  # [batch, length, heads, head]; mask: if yours is causal",
                        before, behind, CALL_QUERIES);
}

static int64_t leaf_elements(const struct leaves *leaves, uint32_t leaf)
{
    const struct leaf *of = &leaves->items[leaf];
    int64_t elements = 1;
    for (uint32_t i = 0; i < of->rank; i++)
        if (__builtin_mul_overflow(elements, leaves->sizes[of->first + i], &elements))
            return 0;
    return elements;
}

/* Does a select go over as many floats as attention scores have? A mask does, and dropout. */
static bool has_mask(const struct variant *variant)
{
    const struct graph *graph = variant->plan->graph;
    const struct leaves *leaves = &variant->dimensions.leaves;
    int64_t scores = 0;
    for (uint32_t i = 0; i < variant->row_count && scores == 0; i++) {
        const struct variant_row *row = &variant->rows[i];
        if (row->plan_row != PLAN_NONE && row->leaf != HLO_NONE &&
            (variant->space->rows[row->plan_row].patterns & 1U << PATTERN_ATTENTION_SCORES) != 0)
            scores = leaf_elements(leaves, row->leaf);
    }
    arena_work(variant->arena, graph->hlo->instruction_count);
    for (uint32_t at = 0; scores > 0 && at < graph->hlo->instruction_count; at++)
        if (leaves_count(leaves, at) == 1 && leaf_elements(leaves, leaves->first[at]) == scores &&
            shape_type_is_float(leaves->items[leaves->first[at]].type) &&
            str_equal(hlo_instruction_opcode(graph->hlo, at), STR("select")))
            return true;
    return false;
}

/* On a TPU jax.nn.dot_product_attention stores the scores, and the kernel beside it takes no length that is not a
 * multiple of 128, few lengths of heads and no arrays that are split over devices: attention in blocks of queries takes
 * all of them. */
static const char *attention_text(const struct variant *variant)
{
    bool is_masked = has_mask(variant);
    if (variant->plan->platform == SPACE_PLATFORM_GPU)
        return arena_format(variant->arena, "jax.nn.dot_product_attention(q, k, v%s, implementation=\"cudnn\")%s",
                            is_masked ? ", is_causal=True" : "", is_masked ? "  # is_causal: if the mask is" : "");
    return call_attention(is_masked, variant->plan->graph->has_backward, variant->arena);
}

/* By the pattern that is gone. */
static const char *without_text(const struct variant *variant, const struct change *change)
{
    static const char *const lines[][2] = {
        {"mask", "jax.nn.dot_product_attention(q, k, v, is_causal=True)  # instead of mask="},
        {"logits", "loss = jax.lax.map(jax.checkpoint(chunk_loss), chunks).sum()  # chunks of the sequence"},
        {"prefill_logits", "logits = x[:, -1] @ table  # of the last position only"},
        {"cache_copy", "cache = jax.lax.dynamic_update_slice(cache, new, start)  # in what the loop carries"},
        {"constant", "def f(x, table):  # as an argument, not closed over"},
    };
    if (str_equal(change->glob, STR("attention_scores")))
        return attention_text(variant);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (str_equal(change->glob, str_of(lines[i][0])))
            return lines[i][1];
    return "";
}

const char *call_text(const struct variant *variant, const struct change *change)
{
    struct call_named named;
    switch (change->kind) {
    case CHANGE_DONATE: return donate_text(variant, change);
    case CHANGE_CAST: return call_cast(variant, change);
    case CHANGE_BATCH:
    case CHANGE_SEQUENCE: break; /* call_resize */
    case CHANGE_CHECKPOINT:
        if (str_equal(change->glob, STR("*")))
            return call_library_names(call_library_of(variant->plan, variant->arena))->line;
        return arena_format(variant->arena, "layer = jax.checkpoint(layer)  # where jax.named_scope is %.*s",
                            (int)change->glob.length, change->glob.data);
    case CHANGE_OFFLOAD:
        named = named_of(variant, change->glob);
        if (named.count == 0)
            return "jax.checkpoint(layer, policy=jax.checkpoint_policies.save_and_offload_only_these_names(…))";
        return arena_format(variant->arena, "jax.device_put(%.*s, sharding.with_memory_kind(\"pinned_host\"))",
                            (int)named.argument.length, named.argument.data);
    case CHANGE_SHARD: return call_shard(variant, change);
    case CHANGE_UNPAD: return "x = jnp.swapaxes(x, …)  # a long dimension last";
    case CHANGE_WITHOUT: return without_text(variant, change);
    case CHANGE_COUNT: break;
    }
    return "";
}
