/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_compile.h: a part of analysis.h, and included by it: what a compiler is handed, and what its word is
 * worth for a change that was predicted.
 *
 * Memory: answers are appended to the caller's buf; texts are borrowed. Errors: those of analysis.h. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "exchange/compile_input.h"
#include "exchange/confirmation.h"

#include <stdbool.h>
#include <stdint.h>

/* `program` is a HloProto (a module in field 1, as in *.hlo.pb of a dump) or a bare HloModuleProto. `malformed` or
 * `truncated` where it is neither; what is inside of the computations is not looked at. */
bool analysis_compile_input_read(struct str program, struct compile_input *input, struct err *err);
/* "v5e:2x2", "v4:2x2x1", …: a word, a colon, two or three sizes. */
bool analysis_compile_input_is_topology(struct str name);
/* Appends a CompileOptionsProto for `input` over `partition_count` devices (0: what the module says); `options` are the
 * bytes of a compile_options.pb, or empty (read/hlo/compile_input.h). */
bool analysis_compile_input_options(const struct compile_input *input, struct str options, int64_t partition_count,
                                    struct str dump_folder, struct buf *out, struct err *err);

/* The figures of a buffer assignment, as the compiler counts them: its parameters, outputs, reused outputs and
 * temporaries. */
struct confirmed_figures analysis_confirmed_of_assignment(int64_t parameter_bytes, int64_t output_bytes,
                                                          int64_t output_reused_bytes, int64_t temporary_bytes);
/* Arguments + outputs − aliased + temporaries; at least 0, at most INT64_MAX. */
int64_t analysis_confirmed_total_bytes(const struct confirmed_figures *figures);
/* The number in "module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb" and in "… cl/1014260217"; 0 if there is
 * none. */
uint64_t analysis_confirmed_build(const char *text);

/* What a compile says is needed, whether it fits or not; −1: it says nothing. */
int64_t analysis_confirmation_needed_bytes(const struct confirmation_compile *compile);
enum confirmation_state analysis_confirmation_state(const struct confirmation *confirmation);
/* Both compiled, the unchanged program to the figures of the dump: confirmed or refuted. */
bool analysis_confirmation_is_of_dump(const struct confirmation *confirmation);
/* A few sentences of one line. */
void analysis_confirmation_sentence(const struct confirmation *confirmation, struct buf *out);
/* An object, as the next value of `json`: schema Confirmed in docs/openapi.yaml. */
void analysis_confirmation_write(const struct confirmation *confirmation, struct json *json);
/* The same for a terminal. */
void analysis_confirmation_text(const struct confirmation *confirmation, struct buf *out);
