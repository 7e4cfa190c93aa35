/* SPDX-License-Identifier: Apache-2.0
 * small_file.h: files of credentials, read whole. */
#pragma once

/* NULL when it cannot be read, holds a NUL or is larger than 1 MiB (errno says why; EFBIG); free(). */
char *small_file_read(const char *path);
/* The same without spaces and line ends around it; NULL when nothing is left. */
char *small_file_word(const char *path);
