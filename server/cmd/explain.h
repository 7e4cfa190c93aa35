/* SPDX-License-Identifier: Apache-2.0
 * explain.h: how `memviewd explain` reads a log and prints what the core found in it. */
#pragma once

#include "analysis/analysis.h"

/* Reads a file, a pipe or ("-") standard input. NULL and `err` when it cannot be read; free with analysis_subject_free. */
struct analysis_subject *explain_read(const char *path, struct err *err);

/* Prints what a person wants to know of one log to stdout; `name` as the user gave it, "-" is standard input. */
void explain_text(const char *name, const struct oom_report *report);
