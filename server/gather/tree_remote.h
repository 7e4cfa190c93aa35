/* SPDX-License-Identifier: Apache-2.0
 * tree_remote.h: the folders below an address, made of what its server listed. */
#pragma once

#include "server/gather/tree.h"

/* Takes the newest list, if it is another one than before; true when anything differs. Never waits for a server when
 * the tree is followed. */
bool tree_remote_refresh(struct tree *tree);
