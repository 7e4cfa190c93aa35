/* SPDX-License-Identifier: Apache-2.0
 * output.h: what commands write on standard output.
 *
 * Texts for people have names out of files: what a terminal would act upon is escaped (base/printable.h), wherever the
 * text goes. That is the last of two nets: whoever puts a name in a line escapes ends of lines in it, too
 * (buf_printable). Data for programs (JSON, CSV) is written as it is to files and pipes, and escaped like a text on a
 * terminal. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>

/* Texts, on standard output. */
void output_text(const char *bytes, size_t size);
void output_word(const char *text);
void output_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A text, or data: of one command that has both forms. */
void output_answer(const char *bytes, size_t size, bool is_data);

/* For "%-*s": as many bytes as fill `columns` of a terminal with `shown`, which may have letters of several bytes. */
int output_width(const char *shown, int columns);

/* Writes data. False when some bytes could not be written; `errno` says why. */
bool output_data(FILE *out, const char *bytes, size_t size);
