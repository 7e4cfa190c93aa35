/* SPDX-License-Identifier: Apache-2.0
 * sessions_place.h: where the files of a snapshot lie: on disk, in memory, or in an archive of either. */
#pragma once

#include "server/gather/sessions_folder.h"

/* Is what is looked at the one file that the root is? */
bool sessions_place_is_lone(const struct sessions_builder *builder);

/* Fills `file` from `from`, a file of `folder`; its texts are in the snapshot's pool. */
void sessions_place_file(struct sessions_builder *builder, const struct tree_folder *folder,
                         const struct tree_file *from, struct snapshot_file *file);

/* Adds what the archive `from` of `folder` holds: `walk` finds its sessions; members that cannot be shown become
 * problems. */
void sessions_place_archive(struct sessions_builder *builder, const struct tree_folder *folder,
                            const struct tree_file *from,
                            void (*walk)(struct sessions_builder *builder, const struct tree_folder *folder));
