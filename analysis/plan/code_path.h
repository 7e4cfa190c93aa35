/* SPDX-License-Identifier: Apache-2.0
 * code_path.h: where in the user's code a value comes from, as a path from the outside inwards: by scopes of its op
 * name, or by the frames of its stack.
 *
 * Of an op name stays what the person wrote: "jit(step)/transpose(jvp(layer_3))/while/body/closed_call/mlp/dot_general"
 * is layer_{i} › mlp › dot_general. Entry arguments stand below "(arguments)" by their paths, values without a name
 * below "(no scope)", those without a stack below "(no source)".
 * Of a stack the user's frames come first, from the outermost inwards, then those of libraries.
 * Cost: linear in the op name and the stack; at most CODE_PATH_DEPTH_MAX pieces, each at most CODE_PATH_TEXT_MAX bytes;
 * what is deeper stays in the last piece. */
#pragma once

#include "base/buf.h"
#include "plan/plan.h"

enum { CODE_PATH_DEPTH_MAX = 1024, CODE_PATH_TEXT_MAX = 400 };

enum code_path_kind {
    CODE_PATH_SCOPE,
    CODE_PATH_LAYERS,   /* numbers in it are written {i} */
    CODE_PATH_OP,       /* the operation itself: the last piece of an op name, or an opcode */
    CODE_PATH_ARGUMENT, /* a piece of an entry argument's path */
    CODE_PATH_FRAME,    /* of the user's code */
    CODE_PATH_LIBRARY,  /* a frame of a library: read/library.def */
    CODE_PATH_GROUP,    /* "(arguments)", "(no scope)", "(no source)" */
    CODE_PATH_KIND_COUNT
};

/* What is in one place of a path. The texts live until the visitor returns. */
struct code_path_piece {
    enum code_path_kind kind;
    struct str text;           /* "layer_{i}"; of a frame "models.py:11 attention" with its path */
    struct str own;            /* "layer_3"; the same as `text` where nothing was folded */
    struct str file, function; /* of a frame */
    int64_t line;              /* −1: none */
};

enum code_path_way { CODE_PATH_BY_SCOPE, CODE_PATH_BY_STACK, CODE_PATH_WAY_COUNT };

typedef void code_path_visitor(void *context, const struct code_path_piece *piece);

/* Calls back for each piece, from the outermost on; at least once. */
void code_path_walk(const struct plan *plan, const struct plan_row *row, enum code_path_way way,
                    code_path_visitor *visit, void *context);
/* Bytes and frames that a walk looks at, about: what a caller charges. */
uint64_t code_path_work(const struct plan *plan, const struct plan_row *row);

/* "scope", "stack". */
const char *code_path_way_name(enum code_path_way way);
/* "scope", "layers", "op", "argument", "frame", "library", "group". */
const char *code_path_kind_name(enum code_path_kind kind);

/* Appends the pieces, a slash behind each: "layer_{i}/mlp/dot_general/"; " > " behind each frame. */
void code_path_text(const struct plan *plan, const struct plan_row *row, enum code_path_way way, struct buf *out);
/* Appends what was folded as it is, in slashes: "/layer_3/"; nothing where nothing was. */
void code_path_layers_text(const struct plan *plan, const struct plan_row *row, struct buf *out);
