/* SPDX-License-Identifier: Apache-2.0
 * input_path.h: the PATH options of the command line: which are addresses of a server (server/files/remote), and what
 * reads those. What one path is: files/path_kind.h. */
#pragma once

#include "base/err.h"
#include "server/cmd/options.h"

/* Lists the addresses among the options' paths, folders and baselines, one for each `at`: 0, 1, …; NULL after the last.
 * For `run`, whose paths are a command, there are none. */
const char *input_path_address(const struct options *options, size_t at);
/* Paths and addresses in other spellings (remote_address_respell) are spelled as here; what that takes is the options'.
 */
void input_path_respell(struct options *options);
/* The same for folders that get files, as of `run` and `capture`, whose paths are none. */
void input_path_respell_folders(struct options *options);
/* Prepares reading from servers if there is an address. Call it before the sandbox and any thread. False, with the
 * reason in the log. */
bool input_path_set_up(const struct options *options);

/* May files be written there: it is a folder of this machine, whether or not it is there. False with `err`
 * (unsupported). `option`: "--logdir=". */
bool input_path_check_folder(const char *path, const char *option, struct err *err);
