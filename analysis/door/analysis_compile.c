/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_compile.c: what the daemon asks about compilers; each answer is that of the module below. */
#include "read/hlo/compile_input.h"
#include "whatif/confirmation.h"

#include "analysis.h"

bool analysis_compile_input_read(struct str program, struct compile_input *input, struct err *err)
{
    return compile_input_read(program, input, err);
}

bool analysis_compile_input_is_topology(struct str name) { return compile_input_is_topology(name); }

bool analysis_compile_input_options(const struct compile_input *input, struct str options, int64_t partition_count,
                                    struct str dump_folder, struct buf *out, struct err *err)
{
    return compile_input_options(input, options, partition_count, dump_folder, out, err);
}

struct confirmed_figures analysis_confirmed_of_assignment(int64_t parameter_bytes, int64_t output_bytes,
                                                          int64_t output_reused_bytes, int64_t temporary_bytes)
{
    return confirmed_of_assignment(parameter_bytes, output_bytes, output_reused_bytes, temporary_bytes);
}

int64_t analysis_confirmed_total_bytes(const struct confirmed_figures *figures)
{
    return confirmed_total_bytes(figures);
}

uint64_t analysis_confirmed_build(const char *text) { return confirmed_build(text); }

int64_t analysis_confirmation_needed_bytes(const struct confirmation_compile *compile)
{
    return confirmation_needed_bytes(compile);
}

enum confirmation_state analysis_confirmation_state(const struct confirmation *confirmation)
{
    return confirmation_state(confirmation);
}

bool analysis_confirmation_is_of_dump(const struct confirmation *confirmation)
{
    return confirmation_is_of_dump(confirmation);
}

void analysis_confirmation_sentence(const struct confirmation *confirmation, struct buf *out)
{
    confirmation_sentence(confirmation, out);
}

void analysis_confirmation_write(const struct confirmation *confirmation, struct json *json)
{
    confirmation_write(confirmation, json);
}

void analysis_confirmation_text(const struct confirmation *confirmation, struct buf *out)
{
    confirmation_text(confirmation, out);
}
