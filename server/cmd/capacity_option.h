/* SPDX-License-Identifier: Apache-2.0
 * capacity_option.h: how much memory a device has, on the command line. */
#pragma once

#include "server/store/capacity.h"

/* "v5e", "H100-80G": a row of the table of devices, what a program may use of it, where that is known; "15.75GiB",
 * "16G", "17179869184": bytes; units are powers of 1024, with or without iB. False, said in the log with the option's
 * name, when it is neither. */
bool capacity_option_read(const char *option, const char *text, struct capacity *capacity);
