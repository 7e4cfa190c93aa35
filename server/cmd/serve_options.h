/* SPDX-License-Identifier: Apache-2.0
 * serve_options.h: what the daemon is asked to do, checked before it does anything. */
#pragma once

#include "server/cmd/options.h"

/* False with one line of at most `reason_size` bytes in `reason`: an option cannot be used, options exclude each other,
 * or a file or folder does not exist. A path that may become readable later only gets a line in the log. */
bool serve_options_check(const struct options *options, char *reason, size_t reason_size);
