/* SPDX-License-Identifier: Apache-2.0
 * print_answer.h: one answer of the core, printed. */
#pragma once

#include "analysis/analysis.h"

#include <stdbool.h>

/* Asks and prints to stdout, with the end of a line behind a text that has none (`is_json`). Out: the exit status; where
 * there is no answer, why is in the log. */
int print_answer(const struct analysis_question *question, bool is_json);
