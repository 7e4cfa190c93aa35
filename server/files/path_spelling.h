/* SPDX-License-Identifier: Apache-2.0
 * path_spelling.h: one spelling for a path on disk, so that a file has one name however it was typed. */
#pragma once

/* "/a/b" of "b" in /a, "/a//b/", "/a/./b" and "/a/x/../b": absolute, without empty parts, "." and "..". What a ".."
 * leads back from is looked up on disk, for it may be a symbolic link; other links stay as they are named. free() */
char *path_spelling(const char *path);
