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

static inline size_t count_opcode(const struct program *program, const char *opcode)
{
    size_t count = 0;
    for (size_t i = 0; i < program->entry->computation->n_instructions; i++)
        count += program_is(program->entry->computation->instructions[i], opcode);
    return count;
}
