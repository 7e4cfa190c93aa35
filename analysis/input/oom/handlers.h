/* SPDX-License-Identifier: Apache-2.0
 * handlers.h: what each family looks for and who reads it.
 *
 * To add a sentence: a function and a row in its family's table; to add a family:
 * a table here and in read.c, and a row in families.def. */
#ifndef ANALYSIS_INPUT_OOM_HANDLERS_H
#define ANALYSIS_INPUT_OOM_HANDLERS_H

#include "input/oom/draft.h"

struct oom_handler {
    const char *anchor; /* without white space */
    /* The anchor stands at clean bytes [from, at). Returns where to go on, or 0 when it is
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
extern const struct oom_handler oom_other_handlers[];   /* TensorFlow, PyTorch, CPU, status words alone */

/* Lines of a report that need no failure before them. */
void oom_report_outside(struct oom_reader *reader);

#endif
