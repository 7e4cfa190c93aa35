/* SPDX-License-Identifier: Apache-2.0
 * printable.h: which characters of a text out of a file may reach a terminal.
 *
 * Shown as they are: valid UTF-8 other than the characters below. Escaped, so that they can be seen: control characters
 * (C0, DEL, C1: terminals act upon U+009B as they do upon ESC [), marks that change the direction of what follows
 * (Trojan Source, CVE-2021-42574), separators of lines and paragraphs, and bytes that are not UTF-8. A character
 * becomes \uNNNN, which means the same in a string of JSON; a byte becomes \xNN. A backslash stays as it is: a text
 * that is escaped twice is the same as one that is escaped once. */
#pragma once

#include "base/str.h"

enum { PRINTABLE_ESCAPE_SIZE = 8 };

/* PRINTABLE_LINES: ends of lines ("\n", "\r\n") and tabs stay, for texts of many lines. */
enum printable_form { PRINTABLE_WORDS, PRINTABLE_LINES };

/* How many bytes at the start of `text` are shown as they are; may be 0. */
size_t printable_run(struct str text, enum printable_form form);
/* Writes what is shown in the place of the first character of `text`, which is not empty; returns that character's
 * length. */
size_t printable_escape(struct str text, char escape[PRINTABLE_ESCAPE_SIZE]);
