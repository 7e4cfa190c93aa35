/* SPDX-License-Identifier: Apache-2.0
 * fit_print.h: the answer of memviewd fit for a terminal. */
#pragma once

#include "base/buf.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* A member that is a number; -1: it is not there. */
int64_t fit_print_number(const cJSON *object, const char *name);

/* Appends a program of the list "programs" of `fit --json` as a table. */
void fit_print(const cJSON *program, struct buf *out);
