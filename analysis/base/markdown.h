/* SPDX-License-Identifier: Apache-2.0
 * markdown.h: texts out of files in Markdown, as GitHub reads it: shown as they are, whatever is in them. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/* Appends `text` so that nothing in it marks up, ends a line or a cell, links, mentions a person or a team ("@name"),
 * or refers to an issue ("#1", "GH-1"). A backslash does not keep GitHub from the last three: it looks for them in what
 * was made of the Markdown; so a character that takes no room is in them. What a terminal would act upon and marks
 * of direction are escaped (base/printable.h), bytes that are no UTF-8 become U+FFFD. */
void markdown_text(struct buf *out, struct str text);
