/* SPDX-License-Identifier: Apache-2.0
 * describe.h: names, shapes and source lines of buffers, for every view. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "plan/plan.h"

/* Where an instruction comes from. */
struct describe_source {
    struct str file; /* empty: not recorded */
    int64_t line;    /* −1 or 0: not recorded */
};

/* The frames of an instruction's stack, innermost first, at most DESCRIBE_FRAMES. */
enum { DESCRIBE_FRAMES = 1024 };
/* Calls back for each; stops at a circle by the limit. */
void describe_stack(const struct hlo *hlo, uint32_t frame_at,
                    void (*visit)(void *context, const struct hlo_frame *frame), void *context);
/* Appends the stack as XProf writes it: "file:line:column" a line. */
void describe_stack_text(const struct hlo *hlo, uint32_t frame_at, struct buf *out);
/* What tells where a row comes from: its own instruction; of one of many outputs, of a copy and what else the compiler
 * put in, the one that names its value. */
struct hlo_detail describe_origin(const struct plan *plan, const struct plan_row *row);
/* What the instruction says of itself: often a line of a library. Source: XProf's hlo_module_utils.cc. */
struct describe_source describe_innermost_source(const struct hlo *hlo, const struct hlo_detail *detail);
/* The user's line: of the innermost frame outside of installed packages, else of the innermost outside of the libraries
 * that read/library.def names, else what the instruction says of itself. */
struct describe_source describe_source(const struct hlo *hlo, const struct hlo_detail *detail);

/* Appends "name{index}", or "name" for a value that is no element of a tuple. */
void describe_name(const struct hlo *hlo, uint32_t buffer_at, struct str instruction_name, struct buf *out);

/* Writes "key": "text" for a picture that names many things: a text of more than DESCRIBE_SHORT bytes gives up its
 * middle, where "…" is. Out: whether it did. describe_shortened: the text itself, or what is left of it in
 * `room`. */
enum { DESCRIBE_SHORT = 240 };
struct str describe_shortened(struct str text, char room[DESCRIBE_SHORT]);
bool describe_short(struct json *json, const char *key, struct str text);
/* The same for an element of an array. */
void describe_short_element(struct json *json, struct str text);

/* "Saved activations" of "saved activations", to begin a sentence with. In the arena. */
const char *describe_capital(const char *text, struct arena *arena);

/* The text in `buf` as a str. */
static inline struct str describe_str(const struct buf *buf)
{
    return (struct str){buf->data == NULL ? "" : buf->data, buf->length};
}
