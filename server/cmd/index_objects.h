/* SPDX-License-Identifier: Apache-2.0
 * index_objects.h: `memviewd index --objects`: objects that somebody else finds, one by one, and their rows.
 *
 * The rows of an object depend on it, on files with its name and on labels alone, and their ids on its address
 * alone: any number of processes may take any of them, in any order and as often as they like. */
#pragma once

#include "server/cmd/options.h"
#include "server/fleet/catalog/rows.h"

#include <stdio.h>

/* Reads the objects that the lines of `in` name (object_lines.h), below the options' paths, and gives their rows to
 * wanted->take. Logs lines that are no object and objects that cannot be read now. False: there were some of these, or
 * wanted->take failed. */
bool index_objects(const struct options *options, const struct rows_wanted *wanted, FILE *in);
