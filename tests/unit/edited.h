/* SPDX-License-Identifier: Apache-2.0
 * edited.h: what suites about edits of programs need: small programs, and what became of them. Included last. */
#pragma once

#include "edit/edit.h"
#include "edit/program.h"
#include "edit/shapes.h"

#include "arena.h"

#define KV "tests/fixtures/edits/kv.before_optimizations.hlo.pb"
#define CNN "tests/fixtures/edits/cnn.before_optimizations.hlo.pb"

static struct bytes input;

static inline struct edit donation(const int64_t *parameters, size_t count, bool is_every)
{
    return (struct edit){.kind = EDIT_DONATE, .parameters = parameters, .parameter_count = count, .is_every = is_every};
}

static inline struct edit resizing(const struct edit_dimension *dimensions, size_t count, int64_t numerator,
                                   int64_t denominator)
{
    return (struct edit){.kind = EDIT_RESIZE,
                         .dimensions = dimensions,
                         .dimension_count = count,
                         .numerator = numerator,
                         .denominator = denominator};
}

static inline struct edit sharding(const int64_t *parameters, size_t count, int64_t partitions, bool is_every)
{
    return (struct edit){.kind = EDIT_SHARD,
                         .parameters = parameters,
                         .parameter_count = count,
                         .split = {.devices = partitions},
                         .is_every = is_every};
}

static inline struct str load(const char *path)
{
    bytes_load(&input, path);
    return (struct str){input.data, input.length};
}

/* The edited program, read again; the test fails where the edit is refused. */
static inline struct program edited(struct str bytes, const struct edit *edits, size_t count)
{
    struct edit_outcome outcome;
    struct program program;
    ck_assert_msg(edit_apply(bytes, KIND_HLO_PROTO, edits, count, &arena, &outcome, &err), "%s", err.text);
    ck_assert_msg(program_read(&program, outcome.module, KIND_HLO_MODULE, &arena, &err), "%s", err.text);
    return program;
}

static inline void must_refuse(struct str bytes, const struct edit *edits, size_t count, enum err_code code,
                               const char *reason)
{
    struct edit_outcome outcome;
    err = (struct err)ERR_INIT;
    ck_assert(!edit_apply(bytes, KIND_HLO_PROTO, edits, count, &arena, &outcome, &err));
    ck_assert_msg(err.code == code && strstr(err.text, reason) != NULL, "%s: %s", err_name(err.code), err.text);
}

static inline program_instruction *named(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->module->n_computations; i++)
        for (size_t j = 0; j < program->module->computations[i]->n_instructions; j++)
            if (strcmp(program->module->computations[i]->instructions[j]->name, name) == 0)
                return program->module->computations[i]->instructions[j];
    ck_abort_msg("no instruction %s", name);
    return NULL;
}

/* Verifying or editing takes more than so many steps, and is ended for it. */
static inline void must_run_out(struct str module, const struct edit *edit, uint64_t steps)
{
    struct arena small;
    struct err fault = ERR_INIT;
    struct edit_outcome outcome;
    arena_init(&small, 0, &fault);
    arena_allot_work(&small, steps);
    if (setjmp(small.trap) == 0)
        ck_abort_msg("it ends: %s",
                     edit_apply(module, KIND_HLO_MODULE, edit, 1, &small, &outcome, &fault) ? "done" : fault.text);
    ck_assert_msg(fault.code == ERR_limit && strstr(fault.text, "made to be slow") != NULL, "%s", fault.text);
    arena_free(&small);
}

/* `count` copies of an instruction of the entry, behind it. */
static inline void entry_fill(struct program *program, program_instruction *like, size_t count)
{
    program_computation *entry = program->entry->computation;
    size_t place = program_place(program->entry, like->id) + 1;
    program_instruction **all = arena_array(&arena, program_instruction *, entry->n_instructions + count);
    memcpy(all, entry->instructions, place * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        all[place + i] = program_clone(program, like);
        all[place + i]->id = program_new_id(program, program->entry);
    }
    memcpy(all + place + count, entry->instructions + place, (entry->n_instructions - place) * sizeof *all);
    entry->instructions = all;
    entry->n_instructions += count;
}

static inline size_t count_opcode(const struct program *program, const char *opcode)
{
    size_t count = 0;
    for (size_t i = 0; i < program->entry->computation->n_instructions; i++)
        count += program_is(program->entry->computation->instructions[i], opcode);
    return count;
}
