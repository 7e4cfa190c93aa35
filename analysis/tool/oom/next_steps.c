/* SPDX-License-Identifier: Apache-2.0
 * next_steps.c: what to run to see more, by kind of failure. Which releases give what was found by running them; the
 * sentence itself tells the release. A line that begins with two spaces is a command. */
#include "tool/oom/verdict.h"

#include <string.h>

#define DUMP "  XLA_FLAGS=\"--xla_dump_to=/tmp/dump --xla_dump_hlo_as_proto\" python YOUR_PROGRAM.py"
#define LOOK "  memviewd /tmp/dump    # the Memory Viewer of module_*.after_optimizations.hlo.pb"
#define TRACE "  with jax.profiler.trace(\"/tmp/trace\"): step()"
#define ALIVE "  jax.profiler.save_device_memory_profile(\"/tmp/memory.prof\")"
/* Lines that stand in several answers. The topology stands for a device: the program is lowered and compiled for it. */
#define DUMP_OF_TPU                                                                                                    \
    DUMP, LOOK,                                                                                                        \
        "No TPU is needed for that. Compile, with arguments that are sharded over the devices of this topology:",      \
        "  jax.experimental.topologies.get_topology_desc(\"v5e:2x2\", platform=\"tpu\")",                              \
        "  jax.jit(f).lower(*arguments).compile()"
#define ALIVE_AND_ALLOCATIONS                                                                                          \
    "Which arrays are alive, and from which line of code (call it before the failing step):", ALIVE,                   \
        "The runtime's own list of allocations at the failure:",                                                       \
        "  LIBTPU_INIT_ARGS=\"--tpu_log_allocations_on_oom\" python YOUR_PROGRAM.py"
#define OVER_TIME "How the memory fills over time:", TRACE

/* The report lists the largest buffers only. */
static const char *const after_report[] = {
    "The report lists the largest buffers; when each is alive is in the compiler's dump:", DUMP_OF_TPU, NULL};
/* libtpu 0.0.42 and later. */
static const char *const after_short[] = {
    "This release prints no list of buffers, whatever the flags. The dump has them, although the compile failed:",
    DUMP_OF_TPU, NULL};
/* libtpu up to 0.0.11. */
static const char *const after_fast_exit[] = {
    "The compiler gave up before it planned any buffer. This release goes on and prints the long report with:",
    "  LIBTPU_INIT_ARGS=\"--xla_tpu_impure_oom_fast_exit_threshold=-1\" python YOUR_PROGRAM.py",
    "(releases from libtpu 0.0.13 on ignore the flag)", NULL};
static const char *const after_allocation[] = {
    "One buffer alone is larger than the memory. What makes it, and from what:", DUMP, LOOK, NULL};
static const char *const after_scratch[] = {
    "On-chip memory of one kernel. The HLO dump shows nothing of it: make the block shapes or the scratch smaller,",
    "or let the kernel have more:",
    "  pltpu.CompilerParams(vmem_limit_bytes=…)",
    "or all kernels:",
    "  LIBTPU_INIT_ARGS=\"--xla_tpu_scoped_vmem_limit_kib=…\" python YOUR_PROGRAM.py",
    "The kernel as the compiler saw it:",
    "  LIBTPU_INIT_ARGS=\"--xla_mosaic_dump_to=/tmp/mosaic\" python YOUR_PROGRAM.py",
    NULL};
static const char *const after_sparse[] = {
    "Memory of the SparseCore. Which operation it is:",
    "  LIBTPU_INIT_ARGS=\"--xla_sc_dump_mlir_to=/tmp/sparse\" python YOUR_PROGRAM.py", NULL};
static const char *const after_load[] = {
    "Arrays fill the memory that the program needs; loaded programs are evicted for arrays, not arrays for programs.",
    ALIVE_AND_ALLOCATIONS, "What the program itself needs:", DUMP, NULL};
static const char *const after_buffer[] = {ALIVE_AND_ALLOCATIONS, OVER_TIME, NULL};
static const char *const after_gpu[] = {"What the program needs and when:",
                                        DUMP,
                                        LOOK,
                                        "Which arrays are alive besides (call it before the failing step):",
                                        ALIVE,
                                        OVER_TIME,
                                        NULL};
static const char *const after_bfc[] = {"How the memory fills over time, and how broken up it is:",
                                        TRACE,
                                        "Which arrays are alive (call it before the failing step):",
                                        ALIVE,
                                        "When the largest free chunk is far smaller than what is free:",
                                        "  TF_GPU_ALLOCATOR=cuda_malloc_async python YOUR_PROGRAM.py",
                                        NULL};
static const char *const after_other[] = {"Which arrays are alive (call it before the failing step):", ALIVE,
                                          "What the program needs and when:", DUMP, NULL};

static const struct {
    enum oom_family family;
    const char *form, *space; /* NULL: any */
    const char *const *lines;
} rows[] = {
    {OOM_FAMILY_tpu_compile, "fast_exit", NULL, after_fast_exit},
    {OOM_FAMILY_tpu_compile, "sparse_core", NULL, after_sparse},
    {OOM_FAMILY_tpu_compile, "scoped_vmem", NULL, after_scratch},
    {OOM_FAMILY_tpu_compile, NULL, "vmem", after_scratch},
    {OOM_FAMILY_tpu_compile, NULL, "smem", after_scratch},
    {OOM_FAMILY_tpu_compile, "allocation_exceeds", NULL, after_allocation},
    {OOM_FAMILY_tpu_compile, "report", NULL, after_report},
    {OOM_FAMILY_tpu_compile, NULL, NULL, after_short},
    {OOM_FAMILY_tpu_program_load, NULL, NULL, after_load},
    {OOM_FAMILY_tpu_buffer, NULL, NULL, after_buffer},
    {OOM_FAMILY_gpu_xla, NULL, NULL, after_gpu},
    {OOM_FAMILY_gpu_bfc, NULL, NULL, after_bfc},
};

static bool is_row(size_t at, const struct oom_failure *failure)
{
    const struct str space = failure->memory_space.text;
    return rows[at].family == failure->family && (rows[at].form == NULL || oom_is_form(failure, rows[at].form)) &&
           (rows[at].space == NULL || (space.data != NULL && str_equal(space, str_of(rows[at].space))));
}

void oom_next_steps_set(struct oom_verdict *verdict, struct arena *arena)
{
    const char *const *lines = after_other;
    size_t count = 0;
    for (size_t i = sizeof(rows) / sizeof(rows[0]); i-- > 0;)
        if (is_row(i, verdict->failure))
            lines = rows[i].lines;
    while (lines[count] != NULL)
        count++;
    struct oom_step *steps = arena_array(arena, struct oom_step, count);
    for (size_t i = 0; i < count; i++) {
        bool is_command = strncmp(lines[i], "  ", 2) == 0;
        steps[i] = (struct oom_step){is_command, lines[i] + (is_command ? 2 : 0)};
    }
    verdict->steps = steps;
    verdict->step_count = count;
}
