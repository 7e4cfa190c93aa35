/* SPDX-License-Identifier: Apache-2.0
 * index_objects.h: `memviewd index --objects`: objects that somebody else finds, one by one, and their rows.
 *
 * The rows of an object depend on it, on files with its name and on labels alone, and their ids on its address
 * alone: any number of processes may take any of them, in any order and as often as they like. */
#pragma once

#include "server/cmd/options.h"
#include "server/fleet/catalog/rows.h"

#include <stdio.h>

/* Objects that the lines of `in` name (object_lines.h), below the options' paths: their rows are taken by
 * wanted->take. Lines that are none, and objects that cannot be read now, are named in the log. False: there were some,
 * or what was taken could not be. */
bool index_objects(const struct options *options, const struct rows_wanted *wanted, FILE *in);
