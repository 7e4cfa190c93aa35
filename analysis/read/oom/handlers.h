/* SPDX-License-Identifier: Apache-2.0
 * handlers.h: what each family looks for and who reads it.
 *
 * A sentence that opens a failure is a row of families.def; here are those that a pattern cannot say, and what adds to
 * a failure that is open: a function and a row in a table. */
#pragma once

#include "read/oom/draft.h"

struct oom_handler {
    const char *anchor; /* without white space */
    /* The anchor is at clean bytes [from, at). Returns where to go on, or 0 when it is
     * nothing after all. */
    size_t (*read)(struct oom_reader *reader, size_t from, size_t at);
    bool is_head; /* opens a failure */
};

/* Each ends with a NULL anchor. */
extern const struct oom_handler oom_compile_handlers[]; /* TPU compiler: sentences */
extern const struct oom_handler oom_report_handlers[];  /* TPU compiler: the long report */
extern const struct oom_handler oom_runtime_handlers[]; /* TPU runtime */
extern const struct oom_handler oom_gpu_handlers[];     /* XLA on GPUs, buffer assignment */
extern const struct oom_handler oom_bfc_handlers[];     /* the BFC allocator's dump */
extern const struct oom_handler oom_host_handlers[];    /* kills by the kernel and by what watches it, Python */
extern const struct oom_handler oom_python_handlers[];  /* Python's MemoryError */
extern const struct oom_handler oom_jvm_handlers[];     /* Java's memory, as build tools tell of it */
extern const struct oom_handler oom_shells_handlers[];  /* shells in other languages */
extern const struct oom_handler oom_serving_handlers[]; /* servers of language models */
extern const struct oom_handler oom_other_handlers[];   /* TensorFlow, PyTorch, CPU, status words alone */

/* What follows a sentence of families.def and is no pattern: where to go on. */
size_t oom_compile_module(struct oom_reader *reader, size_t at, struct oom_failure *failure); /* "HLO module: jit_f." */
size_t oom_compile_flag_note(struct oom_reader *reader, size_t at, struct oom_failure *failure); /* tells of a flag */
size_t oom_compile_scoped(struct oom_reader *reader, size_t at,
                          struct oom_failure *failure); /* "%NAME = SHAPE op(…)…. Scoped allocation with …" */
size_t oom_compile_scoped_short(struct oom_reader *reader, size_t at, struct oom_failure *failure); /* if it is that */
size_t oom_compile_allocation(struct oom_reader *reader, size_t at,
                              struct oom_failure *failure); /* " :: #allocation7 [shape = 'u8[8]', …]" */
size_t oom_gpu_echo(struct oom_reader *reader, size_t at, struct oom_failure *failure); /* of a status that follows */
size_t oom_gpu_payload(struct oom_reader *reader, size_t at,
                       struct oom_failure *failure); /* "[executable_name='jit_f']" */
size_t oom_gpu_entry(struct oom_reader *reader, size_t at,
                     struct oom_failure *failure); /* the "Entry function 'NAME'" before */
size_t oom_torch_rest(struct oom_reader *reader, size_t at,
                      struct oom_failure *failure); /* what its allocator holds, and other processes */
size_t oom_torch_limit(struct oom_reader *reader, size_t at,
                       struct oom_failure *failure); /* that a program set for itself */
size_t oom_serving_length(struct oom_reader *reader, size_t at,
                          struct oom_failure *failure); /* "… estimated maximum model length is 34736" */
size_t oom_serving_sleep(struct oom_reader *reader, size_t at,
                         struct oom_failure *failure); /* what "Sleep mode freed …" before it says */
size_t oom_serving_tokens(struct oom_reader *reader, size_t at,
                          struct oom_failure *failure); /* the number of tokens in the sentence before */
size_t oom_other_wrapped(struct oom_reader *reader, size_t at,
                         struct oom_failure *failure); /* a counter below zero, printed as a huge size: not known */
size_t oom_host_compressed(struct oom_reader *reader, size_t at,
                           struct oom_failure *failure); /* "python3.12 [43928] 64604 MB" */
size_t oom_host_own_limit(struct oom_reader *reader, size_t at,
                          struct oom_failure *failure); /* that the program set for itself */
size_t oom_host_unsaid(struct oom_reader *reader, size_t at,
                       struct oom_failure *failure); /* a process that ended, of which nothing says why */
size_t oom_other_array(struct oom_reader *reader, size_t at,
                       struct oom_failure *failure); /* "(9, 9) and data type float64" */

/* A line of a shell: "Killed", "run.sh: line 12: 4711 Killed  python train.py", "[1]+  Killed  python train.py". The
 * word is at clean bytes [from, at), in any language. */
size_t oom_host_shell(struct oom_reader *reader, size_t from, size_t at);

/* Lines of a report that need no failure before them. */
void oom_report_outside(struct oom_reader *reader);
