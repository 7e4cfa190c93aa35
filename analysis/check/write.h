/* SPDX-License-Identifier: Apache-2.0
 * write.h: a report of checks as text, JSON, JUnit's XML, Markdown, or annotations of GitHub.
 *
 * Names come out of files: what is no text of the format is written as "?" or U+FFFD. */
#pragma once

#include "base/err.h"
#include "check/check.h"

enum write_format {
#define FORMAT(constant, name) WRITE_##constant,
#include "check/formats.def"
#undef FORMAT
    WRITE_FORMAT_COUNT
};
/* "json" and the like; false with an `argument` report that names those there are. */
bool write_format_find(const char *name, enum write_format *format, struct err *err);
void write_report(const struct check_report *report, enum write_format format, struct buf *out);
