/* SPDX-License-Identifier: Apache-2.0
 * hlo_text_attributes.h: what follows the operands of an instruction in a text, as fields of a
 * HloInstructionProto.
 *
 * In:  the key and the value of one attribute, "dimensions" and "{0,1}". Out: its field; keys that are not known, or
 *      say nothing here, write nothing. Room: 16 bytes for each of the value, and HLO_TEXT_ROOM. */
#pragma once

#include "base/buf.h"
#include "read/text_cursor.h"

enum { HLO_TEXT_ROOM = 512 };

/* `opcode` tells gather from scatter. */
void hlo_text_attribute_write(struct str opcode, struct str key, struct str value, struct buf *out);
/* Appends the text in quotes, without them and with its escapes undone; a text without quotes as it is. */
void hlo_text_unquote(struct str value, struct buf *out);
