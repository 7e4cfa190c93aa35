/* SPDX-License-Identifier: Apache-2.0
 * category_rules.h: the files of --category-rules and --libraries. */
#pragma once

#include <stdbool.h>

/* Reads and checks the file; nothing without a path. False after a line in the log that says what is wrong with it and
 * where. *lines (NULL before) are for store_set_category_rules, and to be freed after the store. */
bool category_rules_load(const char *path, char **lines);
/* The file of --libraries, which has no lines that are wrong; for store_set_libraries. */
bool category_rules_load_libraries(const char *path, char **lines);
