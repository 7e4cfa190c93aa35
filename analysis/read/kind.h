/* SPDX-License-Identifier: Apache-2.0
 * kind.h: tells what a file is from the shape of its first fields.
 *
 * Every protobuf of ours may begin with the same byte (field 1, length-delimited),
 * so the second level of fields decides. */
#pragma once

#include "wire/stream.h"

enum kind {
    KIND_UNKNOWN,
    KIND_EMPTY,
    KIND_XSPACE,
    KIND_HLO_PROTO,
    KIND_HLO_MODULE,
    KIND_HLO_SNAPSHOT,
    KIND_PPROF,
    KIND_MEMORY_USAGE_REPORT,
    KIND_BUFFER_ASSIGNMENT, /* a BufferAssignmentProto alone */
    KIND_HLO_PARTS,         /* texts of a program, and parts of it behind each other: hlo_parts.h */
    /* of PyTorch's allocators: begins as a snapshot, or a trace of torch.profiler, does (torch_form.h) */
    KIND_TORCH_SNAPSHOT,
    KIND_PICKLE, /* any other pickle of Python */
    KIND_TEXT,
};

const char *kind_name(enum kind kind);
/* Looks at the first fields, of a plain (not gzipped) source. Never reports
 * more than `io` errors: what is broken is KIND_UNKNOWN. */
enum kind kind_of(const struct source *source, struct arena *arena, struct err *err);
