/* SPDX-License-Identifier: Apache-2.0
 * serve_options.h: what the daemon is asked to do, checked before it does anything. */
#pragma once

#include "server/cmd/options.h"

/* False with one line of at most `reason_size` bytes in `reason`: an option that cannot be used, options that exclude
 * each other, or a file or folder that is not there. What may come to be readable later is said in the log alone. */
bool serve_options_check(const struct options *options, char *reason, size_t reason_size);
