/* SPDX-License-Identifier: Apache-2.0
 * input_path.h: what a PATH of the command line is: a file, one inside a zip archive, a folder, a pipe, or an address
 * of a server (server/files/remote). */
#pragma once

#include "base/err.h"
#include "server/cmd/options.h"

/* Of the options' paths, folders and baselines those that are addresses, one after the other; NULL behind the last.
 * `at`: 0, 1, … Of `run`, whose paths are a command, there are none. */
const char *input_path_address(const struct options *options, size_t at);
/* Paths and addresses in other spellings (remote_address_respell) are spelled as here; what that takes is the options'.
 */
void input_path_respell(struct options *options);
/* The same for folders that get files, as of `run` and `capture`, whose paths are none. */
void input_path_respell_folders(struct options *options);
/* Before the sandbox and any thread: where there is an address, what reads them is made ready. False, and why is said
 * in the log. */
bool input_path_set_up(const struct options *options);

enum input_path_kind { INPUT_PATH_NONE, INPUT_PATH_FILE, INPUT_PATH_FOLDER, INPUT_PATH_STREAM };
/* An address is listed by that, once in a process. INPUT_PATH_NONE: there is nothing; with `says_why` that is in the
 * log. */
enum input_path_kind input_path_kind(const char *path, bool says_why);

/* Does it go on inside a file, as "run.zip/rank0.pickle" does? The scanner tells what is there. */
bool input_path_is_inside(const char *path);
/* Is it a folder of this machine? */
bool input_path_is_folder(const char *path);
/* Why `path`, which is not there, is not: a clause; static. */
const char *input_path_why_not(const char *path, int fault);
/* May files be written there: it is a folder of this machine, whether or not it is there. False with `err`
 * (unsupported). `option`: "--logdir=". */
bool input_path_check_folder(const char *path, const char *option, struct err *err);
/* Without links; an address as it is. NULL: it is gone. free() */
char *input_path_real(const char *path);
/* Calls `file` with the whole address of each file that was listed below this one; nothing when it was not listed. */
void input_path_each_file(const char *address, void (*file)(void *context, const char *path), void *context);
