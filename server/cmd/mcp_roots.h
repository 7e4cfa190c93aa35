/* SPDX-License-Identifier: Apache-2.0
 * mcp_roots.h: what a client of `memviewd mcp` may have read: the files and folders named at the start, and all below
 * them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct mcp_roots {
    char **paths; /* absolute, without links */
    size_t count;
};

/* `paths` may be empty: then the working folder. False, and why is in the log. mcp_roots_free in any case. */
bool mcp_roots_open(struct mcp_roots *roots, const char *const *paths, size_t count);
void mcp_roots_free(struct mcp_roots *roots);

/* The file or folder that `path` names, absolute and without links; a relative one lies below one of the roots. free().
 * NULL: why it cannot be read is in *fault, free(). */
char *mcp_roots_find(const struct mcp_roots *roots, const char *path, char **fault);
