/* SPDX-License-Identifier: Apache-2.0
 * archive_path.h: paths that go on inside an archive: "run.zip/rank0/snapshot.pickle". */
#pragma once

/* The path of the archive, free(); `*inside` is what follows it in `path`, not empty. NULL: `path` itself exists, or no
 * part of it is a plain file. Does not check that the file is an archive, or that it has such a member. */
char *archive_path_split(const char *path, const char **inside);
