/* SPDX-License-Identifier: Apache-2.0
 * archive_path.h: paths that go on inside an archive: "run.zip/rank0/snapshot.pickle". */
#pragma once

/* The path of the archive, free(); `*inside` is what follows it in `path`, not empty. NULL: `path` is there itself, or
 * nothing of it is a plain file. Whether that file is an archive, and holds what is named, is not looked at. */
char *archive_path_split(const char *path, const char **inside);
