/* SPDX-License-Identifier: Apache-2.0
 * sessions_reason.h: why a file of the tree cannot be shown. */
#pragma once

#include "server/gather/sessions_folder.h"

/* Not set: it can. */
struct err sessions_reason(const struct sessions_builder *builder, const struct tree_file *file);
