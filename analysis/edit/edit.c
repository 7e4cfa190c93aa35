/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/edit.h"

#include "edit/edits.h"
#include "edit/verify.h"

static bool apply_one(struct program *program, const struct edit *edit)
{
    switch (edit->kind) {
    case EDIT_DONATE: return donate_apply(program, edit);
    case EDIT_RESIZE: return resize_apply(program, edit);
    case EDIT_CHECKPOINT: return checkpoint_apply(program, edit);
    case EDIT_SHARD: return shard_apply(program, edit);
    case EDIT_CAST: return cast_apply(program, edit);
    case EDIT_UNPAD: return unpad_apply(program, edit);
    }
    return err_set(program->err, ERR_argument, ERR_NO_OFFSET, "an edit of no kind");
}

/* A schedule or another split of the work was made for the program as it is. */
static bool is_editable(const struct program *program)
{
    return program->module->schedule == NULL ||
           err_set(program->err, ERR_unsupported, ERR_NO_OFFSET,
                   "the program is scheduled already: edits need the one before optimizations");
}

bool edit_apply(struct str bytes, enum kind kind, const struct edit *edits, size_t count, struct arena *arena,
                struct edit_outcome *outcome, struct err *err)
{
    struct program program;
    *outcome = (struct edit_outcome){.partitions = 1};
    if (!program_read(&program, bytes, kind, arena, err))
        return false;
    if (count > 0 && (!is_editable(&program) || !verify_program(&program)))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!apply_one(&program, &edits[i]) || !program_index(&program))
            return false;
        struct err fault = ERR_INIT;
        program.err = &fault;
        bool is_sound = verify_program(&program);
        program.err = err;
        if (!is_sound)
            return err_set(err, ERR_unsupported, ERR_NO_OFFSET, "the program does not follow the change: %s",
                           fault.text);
    }
    outcome->module = program_write(&program);
    outcome->partitions = program.partitions;
    outcome->changed_count = program.changed_count;
    outcome->left_count = program.left_count;
    outcome->partial = program.partial;
    return true;
}
