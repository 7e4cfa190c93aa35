/* SPDX-License-Identifier: Apache-2.0
 * print_answer.h: one answer of the core, printed. */
#pragma once

#include "analysis/analysis.h"
#include "server/cmd/unread_files.h"

enum print_form { PRINT_TEXT, PRINT_JSON, PRINT_CSV };

/* Asks and prints to stdout; JSON, an object, gets the member "not_read" and the end of a line behind it. Out: the exit
 * status; where there is no answer, why is in the log. */
int print_answer(const struct analysis_question *question, enum print_form form, const struct unread_files *unread);
