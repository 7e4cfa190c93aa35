/* SPDX-License-Identifier: Apache-2.0
 * size_option.h: sizes on the command line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* "15.75GiB", "16G", "17179869184": bytes, with or without iB; units are powers of 1024. False, said in the log with the
 * option's name, when it is no size. */
bool size_option_read(const char *option, const char *text, int64_t *bytes);
