/* SPDX-License-Identifier: Apache-2.0
 * edit.c: any bytes as a program before optimizations, edited in every way: what comes out can be edited again, and a
 * refusal has a reason. */
#include "edit/edit.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIMIT_BYTES = 64 << 20, BF16 = 16, PARAMETERS_SEEN = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t numbers[PARAMETERS_SEEN] = {0, 1, 2, 3, 4, 5, 6, 7};
static const struct edit_dimension halves[] = {{8, 0}, {0, 0}};

/* Of small programs here, and of the fixtures. */
static const int64_t of_two[] = {128, 8}, of_three[] = {128, 128, 2}, of_four[] = {128, 28, 28, 32};
static const struct edit_shape shapes[] = {{of_two, 2}, {of_three, 3}, {of_four, 4}};

#define EVERY .parameters = numbers, .parameter_count = PARAMETERS_SEEN, .is_every = true

static const struct edit edits[] = {
    {.kind = EDIT_DONATE, EVERY},
    {.kind = EDIT_CAST, EVERY, .element_type = BF16},
    {.kind = EDIT_CHECKPOINT, .scopes = {"*", 1}},
    {.kind = EDIT_RESIZE, .dimensions = halves, .dimension_count = 1, .numerator = 1, .denominator = 2},
    {.kind = EDIT_RESIZE, .dimensions = halves + 1, .dimension_count = 1, .numerator = 3, .denominator = 2},
    {.kind = EDIT_UNPAD, .shapes = shapes, .shape_count = sizeof shapes / sizeof *shapes},
    {.kind = EDIT_SHARD, EVERY, .split = {.devices = 4}},
};

static void must_have_reason(const struct err *err)
{
    if (err->code != ERR_none && err->code != ERR_internal && err->text[0] != '\0')
        return;
    fprintf(stderr, "edit: %s: %s\n", err_name(err->code), err->text);
    abort();
}

static void apply(struct str bytes, enum kind kind, size_t first, size_t count)
{
    struct arena arena;
    struct err err = ERR_INIT;
    struct edit_outcome outcome;
    arena_init(&arena, LIMIT_BYTES, &err);
    if (setjmp(arena.trap) != 0)
        must_have_reason(&err);
    else if (!edit_apply(bytes, kind, edits + first, count, &arena, &outcome, &err))
        must_have_reason(&err);
    else if (first + 1 < sizeof edits / sizeof *edits)
        apply(outcome.module, KIND_HLO_MODULE, first + 1, 1);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        apply((struct str){(const char *)data, size}, KIND_HLO_PROTO, i, 1);
    return 0;
}
