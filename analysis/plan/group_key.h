/* SPDX-License-Identifier: Apache-2.0
 * group_key.h: what buffers of repeated layers have in common, in one program and in two that are compared.
 *
 * The key: the category, the scope with every number written {i}, and the shape without its layout. The scope is the
 * op name of the instruction that names the value (plan_row.named_by), which for one of many outputs of a fusion is not
 * the fusion's own. A label is the part of a scope that the person wrote. */
#pragma once

#include "base/buf.h"
#include "plan/plan.h"

struct group_key {
    enum category category;
    struct str scope; /* "jit(step)/jvp(Model)/layer_{i}/mlp/dot_general"; "" where nothing names the value */
    struct str shape; /* "bf16[16,2048]"; "" where it is not known */
};

enum { GROUP_KEY_TEXT_BYTES = 17 };

/* The op name of what names a row's value, or "". Borrowed from the file. */
struct str group_key_op_name(const struct plan *plan, const struct plan_row *row);
/* Texts are in the arena. `scratch` holds one text meanwhile. */
struct group_key group_key_of(const struct plan *plan, const struct plan_row *row, struct buf *scratch,
                              struct arena *arena);
/* A name for addresses: equal keys have equal ones, in every program. Hexadecimal digits and a NUL. */
void group_key_text(const struct group_key *key, char out[GROUP_KEY_TEXT_BYTES]);

/* An op name with each number written {i}, in the arena. */
struct str group_key_scope(struct str op_name, struct arena *arena);
/* "layer_{i}/mlp/dot_general": a scope without what transformations and control flow put around it (jit(step), while,
 * body, checkpoint, …) and without the class of the outermost module; what is inside jvp(…) and transpose(…) stays.
 * Where nothing is left, its last part. In the arena. */
struct str group_key_label(struct str scope, struct arena *arena);

/* Op names that differ in their numbers alone: how many layers are they of? Counts what differs up to the first number
 * that does so behind a word like "layer" or "block", else up to the first that does so at all; 0 where none does. */
uint32_t group_key_layer_count(const struct str *op_names, uint32_t count, struct arena *arena);
/* Where the word ends that begins at `at` and means a layer: "layers", "encoder_block", "h"; else 0. */
size_t group_key_layer_word_end(struct str text, size_t at);
