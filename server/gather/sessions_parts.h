/* SPDX-License-Identifier: Apache-2.0
 * sessions_parts.h: modules of a folder that are texts, or whose buffer assignment is a file of its own: which files
 * belong together. Names alone decide. */
#pragma once

#include "server/gather/sessions_folder.h"

/* The module of `text`, "module_0000.NAME.STAGE.txt", with the text of its buffer assignment where the folder has it;
 * of an assignment whose module is not there, that alone. NULL: it is neither, or its stage's module has it. */
const struct snapshot_file *sessions_parts_of_text(struct sessions_builder *builder, const struct tree_folder *folder,
                                                   const struct snapshot_file *files, size_t at);
/* An HLO file outside of a dump, with the BufferAssignmentProto with its name, or the only one of the folder that
 * has none; itself where there is none. NULL: `at` is such an assignment, and joined to another file. */
const struct snapshot_file *sessions_parts_of_hlo(struct sessions_builder *builder, const struct tree_folder *folder,
                                                  const struct snapshot_file *files, size_t at);
