/* SPDX-License-Identifier: Apache-2.0
 * tree_profiles.h: which files of a tree are profiles or allocator snapshots; their bytes say, not their names. */
#pragma once

#include "server/gather/facts.h"
#include "server/gather/tree.h"

/* Looks into each file that is new or changed and whose name may be that of a profile. Reads a few kB of each file that
 * `facts` (NULL: none) do not know. True when it learned anything. */
bool tree_profiles_look(struct tree *tree, const struct facts *facts);
