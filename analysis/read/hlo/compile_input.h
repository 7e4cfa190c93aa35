/* SPDX-License-Identifier: Apache-2.0
 * compile_input.h: what a compiler for TPU is handed beside a program, and what files of a dump say of it.
 *
 * In:     bytes of files as XLA dumps them, whole and unpacked; any content.
 * Out:    spans of them, names, bytes of a CompileOptionsProto.
 * Memory: none but the buf that is handed in.
 * Source: hlo.proto, xla_data.proto and compile_options.proto of XLA; dumps of libtpu 0.0.52 for six kinds of TPU. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "exchange/compile_input.h"

#include <stdint.h>

/* `program` is a HloProto (a module in field 1, as in *.hlo.pb of a dump) or a bare HloModuleProto. `malformed` or
 * `truncated` where it is neither; what is inside of the computations is not looked at. */
bool compile_input_read(struct str program, struct compile_input *input, struct err *err);

/* "v5e:2x2", "v4:2x2x1", …: a word, a colon, two or three sizes. */
bool compile_input_is_topology(struct str name);

/* Appends a CompileOptionsProto for `input` over `partition_count` devices (0: what the module says).
 * `options`: the bytes of a compile_options.pb; empty: as jax.jit compiles. What they say is kept as it is but for the
 * dumps, which go to `dump_folder`, and, where the counts in them are not those that are wanted, for the devices: then
 * the device assignment goes, results may be sharded as the compiler sees fit, and Shardy is on where the module has
 * its shardings. Options without flags of their own leave the dumps to XLA_FLAGS. */
bool compile_input_options(const struct compile_input *input, struct str options, int64_t partition_count,
                           struct str dump_folder, struct buf *out, struct err *err);
