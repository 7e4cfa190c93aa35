/* SPDX-License-Identifier: Apache-2.0
 * sessions_reason.h: why a file of the tree cannot be shown. */
#pragma once

#include "server/disk/sessions_folder.h"

/* NULL: it can. `code` says of what kind the reason is. */
const char *sessions_reason(struct sessions_builder *builder, const struct tree_file *file, enum err_code *code);
