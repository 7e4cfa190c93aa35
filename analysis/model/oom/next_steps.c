/* SPDX-License-Identifier: Apache-2.0
 * next_steps.c: what to run to see more, by kind of failure; what helps is advice (verdict/remedy.def). Which releases
 * give what was found by running them; the sentence itself tells the release. A line that begins with two spaces is a
 * command. */
#include "model/oom/meaning.h"

#include <string.h>

#define DUMP "  XLA_FLAGS=\"--xla_dump_to=/tmp/dump --xla_dump_hlo_as_proto\" python YOUR_PROGRAM.py"
#define DUMP_OF_JULIA "  XLA_FLAGS=\"--xla_dump_to=/tmp/dump --xla_dump_hlo_as_proto\" julia --project YOUR_PROGRAM.jl"
#define LOOK "  memviewd /tmp/dump    # the Memory Viewer of module_*.after_optimizations.hlo.pb"
#define TRACE "  with jax.profiler.trace(\"/tmp/trace\"): step()"
#define ALIVE "  jax.profiler.save_device_memory_profile(\"/tmp/memory.prof\")"
#define NO_TPU "No TPU is needed for that. "
/* Lines that stand in several answers. The topology stands for a device: the program is lowered and compiled for it. */
#define DUMP_OF_TPU                                                                                                    \
    DUMP, LOOK, NO_TPU "Compile, with arguments that are sharded over the devices of this topology:",                  \
        "  jax.experimental.topologies.get_topology_desc(\"v5e:2x2\", platform=\"tpu\")",                              \
        "  jax.jit(f).lower(*arguments).compile()"
#define ALIVE_AND_ALLOCATIONS                                                                                          \
    "Which arrays are alive, and from which line of code (call it before the failing step):", ALIVE,                   \
        "The runtime's own list of allocations at the failure:",                                                       \
        "  LIBTPU_INIT_ARGS=\"--tpu_log_allocations_on_oom\" python YOUR_PROGRAM.py"
#define OVER_TIME "How the memory fills over time:", TRACE

#define SNAPSHOT                                                                                                       \
    "What holds the memory, and from which lines of code (start it first, dump where the error is caught):",           \
        "  torch.cuda.memory._record_memory_history(max_entries=100000)",                                              \
        "  torch.cuda.memory._dump_snapshot(\"/tmp/torch.pickle\")",                                                   \
        "The allocator's own account:", "  print(torch.cuda.memory_summary())"
#define WHO_ON_GPU                                                                                                     \
    "Who holds the memory of this GPU:", "  nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv"

#define STEPS(name, ...) static const char *const after_##name[] = {__VA_ARGS__, NULL};
#include "model/oom/next_steps.def"

static const struct {
    struct oom_kind kind;
    const char *const *lines;
} rows[] = {
#define ROW(family, framework, memory, cause, form, steps)                                                             \
    {{OOM_FAMILY_##family, OOM_FRAMEWORK_##framework, OOM_MEMORY_##memory, OOM_CAUSE_##cause, form}, after_##steps},
#include "model/oom/next_steps.def"
};

static bool is_command(const char *line) { return strncmp(line, "  ", 2) == 0; }

/* Of lines [0, count), which begin with a sentence and have its commands behind it: is `command` one of them? */
static bool is_about(const char *const *lines, size_t count, const char *command)
{
    bool is_about = false;
    for (size_t i = 0; i < count; i++)
        is_about = is_about || strcmp(lines[i], command) == 0;
    return is_about;
}

/* Of such lines as one step each. */
static void step_fill(const char *const *lines, size_t count, struct oom_step *steps)
{
    bool is_for_dump = strncmp(lines[0], NO_TPU, strlen(NO_TPU)) == 0 || is_about(lines, count, DUMP) ||
                       is_about(lines, count, DUMP_OF_JULIA);
    bool is_for_profile = is_about(lines, count, ALIVE);
    for (size_t i = 0; i < count; i++)
        steps[i] = (struct oom_step){.is_command = is_command(lines[i]),
                                     .is_for_dump = is_for_dump,
                                     .is_for_profile = is_for_profile,
                                     .text = lines[i] + (is_command(lines[i]) ? 2 : 0)};
}

static void steps_fill(const char *const *lines, size_t count, struct oom_step *steps)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && !is_command(lines[end]);)
            end++;
        while (end < count && is_command(lines[end]))
            end++;
        step_fill(lines + first, end - first, steps + first);
    }
}

void oom_next_steps_set(struct oom_meaning *meaning, struct arena *arena)
{
    const char *const *lines = after_other;
    size_t count = 0;
    for (size_t i = sizeof(rows) / sizeof(rows[0]); i-- > 0;)
        if (oom_is_kind(meaning, &rows[i].kind))
            lines = rows[i].lines;
    while (lines[count] != NULL)
        count++;
    struct oom_step *steps = arena_array(arena, struct oom_step, count);
    steps_fill(lines, count, steps);
    meaning->steps = steps;
    meaning->step_count = count;
}
