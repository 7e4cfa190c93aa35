/* SPDX-License-Identifier: Apache-2.0
 * hlo_parts.h: a program whose module and buffer assignment are apart, or are texts, as one HloProto.
 *
 * What is taken: the text of a module or of a buffer assignment; a BufferAssignmentProto; or several files of one
 * program behind each other, each framed as XLA frames what it dumps to the standard output:
 *
 *     *** Begin NAME ***
 *     …
 *     *** End NAME ***
 *
 * Of the modules in it, text or proto, that one whose name goes with the first buffer assignment, else the first. A
 * HloProto's own assignment is taken rather than another. A BufferAssignmentProto numbers instructions, and texts have
 * no numbers: it goes with a proto alone, of which it must name the instructions.
 *
 * In:     a source, read whole. Out: a source of a HloProto. Memory: the arena; four to eight times the input.
 * Errors: as those of the parts; `malformed` where a frame is not closed, `unsupported` where it holds no program. */
#pragma once

#include "base/source.h"
#include "read/kind.h"

/* What is not known of a program that was not one proto. */
enum hlo_lack {
    HLO_LACKS_HEAP_TRACE = 1, /* its buffer assignment is a text */
    HLO_LACKS_MODULE = 2,     /* only the buffer assignment is there: instructions are made up of its values */
    HLO_LACKS_NAMES = 4,      /* and it is a proto, which names nothing */
    HLO_LACKS_MATCH = 8,      /* the buffer assignment beside the module is not of that module: it was left out */
    HLO_LACKS_NUMBERS = 16,   /* a text has numbers that are none */
};

struct hlo_parts {
    struct source source; /* of the HloProto, as long as the arena */
    unsigned lacks;       /* of enum hlo_lack */
};

/* `source` is of KIND_HLO_PARTS. */
bool hlo_parts_join(const struct source *source, struct arena *arena, struct hlo_parts *out, struct err *err);
/* Could a text with this beginning be a part? */
bool hlo_parts_is_text(struct str begin);
