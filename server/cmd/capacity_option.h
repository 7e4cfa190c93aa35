/* SPDX-License-Identifier: Apache-2.0
 * capacity_option.h: how much memory a device has, on the command line. */
#pragma once

#include "server/store/capacity.h"

/* Reads a row of the device table ("v5e", "H100-80G"), which means what a program may use on that device where it is
 * known, or bytes: "15.75GiB", "16G", "17179869184". Units are powers of 1024, with or without iB. If it is neither,
 * logs that with the option's name and returns false. */
bool capacity_option_read(const char *option, const char *text, struct capacity *capacity);
