/* SPDX-License-Identifier: Apache-2.0
 * tree_profiles.h: which files of a tree are profiles or allocator snapshots; their bytes say, not their names. */
#pragma once

#include "server/gather/facts.h"
#include "server/gather/tree.h"

/* Looks into each file whose name says that it may be one, when it is new or
 * changed. Reads a few kB of each of which `facts` (NULL: none) tell nothing. True when something is known better now.
 * */
bool tree_profiles_look(struct tree *tree, const struct facts *facts);
