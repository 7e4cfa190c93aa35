/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/edits.h"

bool shard_apply(struct program *program, const struct edit *edit)
{
    (void)edit;
    return err_set(program->err, ERR_unsupported, ERR_NO_OFFSET, "not built yet");
}
