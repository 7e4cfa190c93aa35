/* SPDX-License-Identifier: Apache-2.0
 * The verdict of a text alone: its cause, what its figures speak for and what they do not, and that nobody is told the
 * calls of another framework or what helps against another memory. */
#include "made.h"

#define SEED ASKED_DUMP "seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb"

/* ---- texts alone ---- */

/* A program whose largest buffer, made by the operation `op`, is asked for. */
#define STACK_OF(results, temporaries, op)                                                                             \
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 14745600000 bytes.\nBufferAssignment OOM Debugging.\n" \
    "BufferAssignment stats:\n parameter allocation: 802.3KiB\n maybe_live_out allocation: " results "\n"              \
    " preallocated temp allocation: " temporaries "\n total allocation: 13.74GiB\nPeak buffers:\n\tBuffer 1:\n"        \
    "\t\tSize: 13.73GiB\n\t\tOperator: op_name=\"" op "\" source_file=\"run.py\" source_line=4\n"                      \
    "\t\tShape: f32[500,18,640,640]\n\t\t==========================\n\n"

static const struct {
    const char *content, *cause;
    const char *kinds[5]; /* of advice that has to be there */
} texts[] = {
    {"Error loading program 'jit_embedding_pipeline_step_fn': Attempting to reserve 29.49G at the bottom of memory. "
     "That was not possible. There are 147.64M free, 0B reserved, and 147.64M reservable.",
     "live_arrays",
     {"leak", "fewer_programs", "flags", "batch", "sequence"}},
    {"RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 2.00G. That was not possible. There "
     "are 3.00G free. The largest contiguous region of free memory is 1.50G due to fragmentation.; (1x0x2_HBM0)",
     "fragmentation",
     {"fragmentation", "leak", "donate"}},
    {"Aborting compilation early because it's unlikely to have enough memory. Requires 3.84T, has 90.96G available. If "
     "more detailed logging is desired, set --xla_tpu_impure_oom_fast_exit_threshold=-1",
     "unknown",
     {"shard", "batch"}},
    {"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 33.34G of "
     "31.25G hbm. Exceeded hbm capacity by 2.09G.",
     "unknown",
     {"flags", "shard", "batch", "larger_chip"}},
    {"Out of host memory while trying to allocate 65.00GiB.", "host_memory", {NULL}},
    {"Failed to allocate request for 256.00MiB (268435456B) on device ordinal 1", "unknown", {"preallocation", "leak"}},
    /* results that a scan stacks; the same made at once, and a stack that is kept within the program, are none */
    {STACK_OF("13.73GiB", "7.92MiB", "jit(scan)/jit(main)/while/body/dynamic_update_slice"),
     "scan_outputs",
     {"scan_outputs", "preallocation"}},
    {STACK_OF("13.73GiB", "7.92MiB", "jit(scan)/jit(main)/while/body/mul"), "one_buffer", {"preallocation", "leak"}},
    {STACK_OF("7.92MiB", "13.73GiB", "jit(scan)/jit(main)/while/body/dynamic_update_slice"),
     "one_buffer",
     {"preallocation", "leak"}},
    /* more than any device has: nothing that makes room is advised, nor half of it; just below that nothing is known */
    {"jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 21149372098676 bytes.",
     "one_buffer",
     {"limit"}},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1280.00 GiB.", "one_buffer", {"limit"}},
    {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 687194767359 bytes.",
     "unknown",
     {"preallocation", "leak"}},
    /* a limit of the process or of its pool, though free pieces are large enough */
    {"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 23.41 GiB "
     "of which 21.22 GiB is free. 1.05 GiB allowed; Of the allocated memory 1017.01 MiB is allocated by PyTorch, and "
     "54.99 MiB is reserved by PyTorch but unallocated.",
     "limit",
     {"limit"}},
    {"cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 805,306,368 bytes (allocated so far: 536,870,912 "
     "bytes, limit set to: 1,073,741,824 bytes).",
     "limit",
     {"limit", "host_data"}},
    {"cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 805,306,368 bytes (allocated so far: 536,870,912 "
     "bytes).",
     "unknown",
     {"host_data"}},
    {"!!! Exception during processing !!! MPS backend out of memory (MPS allocated: 9.57 GiB, other allocations: 17.35 "
     "GiB, max allowed: 27.20 GiB). Tried to allocate 292.50 MiB on private pool.",
     "limit",
     {"batch"}},
    /* attention scores, by the operation and two equal sides; a plain product, or another operand of attention, is none
     * */
    {"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of "
     "30.75G hbm. Exceeded hbm capacity by 33.05G.\n\nProgram hbm requirement 63.80G:\n    HLO temp 63.79G\n\n  "
     "Largest program allocations in hbm:\n\n  1. Size: 2.00G\n     Operator: "
     "op_name=\"jit(step)/jvp(M)/self_attention/...qhd,...khd->...hqk/dot_general\"\n     Shape: "
     "f32[32,4096,4096]{1,2,0:T(8,128)}\n     Unpadded size: 2.00G\n     XLA label: fusion.1\n     Allocation type: "
     "HLO temp\n",
     "attention_logits",
     {"fused_attention", "shard"}},
    {"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of "
     "30.75G hbm. Exceeded hbm capacity by 33.05G.\n\nProgram hbm requirement 63.80G:\n    HLO temp 63.79G\n\n  "
     "Largest program allocations in hbm:\n\n  1. Size: 2.00G\n     Operator: "
     "op_name=\"jit(step)/jvp(M)/mlp/dot_general\"\n     Shape: f32[32,4096,4096]{1,2,0:T(8,128)}\n     Unpadded size: "
     "2.00G\n     XLA label: fusion.1\n     Allocation type: HLO temp\n",
     "unknown",
     {"shard"}},
    {"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of "
     "30.75G hbm. Exceeded hbm capacity by 33.05G.\n\nProgram hbm requirement 63.80G:\n    HLO temp 63.79G\n\n  "
     "Largest program allocations in hbm:\n\n  1. Size: 2.00G\n     Operator: "
     "op_name=\"jit(step)/jvp(M)/self_attention/...qhd,...khd->...hqk/dot_general\"\n     Shape: "
     "f32[32,4096,128]{1,2,0:T(8,128)}\n     Unpadded size: 2.00G\n     XLA label: fusion.1\n     Allocation type: HLO "
     "temp\n",
     "unknown",
     {"shard"}},
    {"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of "
     "30.75G hbm. Exceeded hbm capacity by 33.05G.\n\nProgram hbm requirement 63.80G:\n    HLO temp 63.79G\n\n  "
     "Largest program allocations in hbm:\n\n  1. Size: 2.00G\n     Operator: "
     "op_name=\"jit(step)/jvp(M)/self_attention/out/dot_general\"\n     Shape: f32[4096,4096]{1,0:T(8,128)}\n     "
     "Unpadded size: 2.00G\n     XLA label: fusion.1\n     Allocation type: HLO temp\n",
     "unknown",
     {"shard"}},
    {"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of "
     "30.75G hbm. Exceeded hbm capacity by 33.05G.\n\nProgram hbm requirement 63.80G:\n    HLO temp 63.79G\n\n  "
     "Largest program allocations in hbm:\n\n  1. Size: 2.00G\n     Operator: "
     "op_name=\"jit(step)/jvp(M)/self_attention/query/dot_general\"\n     Shape: f32[36,8192,8192]{2,1,0}\n     "
     "Unpadded size: 2.00G\n     XLA label: fusion.1\n     Allocation type: HLO temp\n",
     "unknown",
     {"shard"}},
    {"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of "
     "30.75G hbm. Exceeded hbm capacity by 33.05G.\n\nProgram hbm requirement 63.80G:\n    HLO temp 63.79G\n\n  "
     "Largest program allocations in hbm:\n\n  1. Size: 2.00G\n     Operator: "
     "op_name=\"jit(step)/jvp(M)/self_attention/bthd,bshd->bhts/dot_general\"\n     Shape: "
     "f32[8,16,4096,4096]{3,2,1,0}\n     Unpadded size: 2.00G\n     XLA label: fusion.1\n     Allocation type: HLO "
     "temp\n",
     "attention_logits",
     {"fused_attention"}},
    {"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of "
     "30.75G hbm. Exceeded hbm capacity by 33.05G.\n\nProgram hbm requirement 63.80G:\n    HLO temp 63.79G\n\n  "
     "Largest program allocations in hbm:\n\n  1. Size: 2.00G\n     Operator: "
     "op_name=\"jit(step)/jvp(M)/layer/softmax/dot_general\"\n     Shape: f32[8,4096,4096]{2,1,0}\n     Unpadded size: "
     "2.00G\n     XLA label: fusion.1\n     Allocation type: HLO temp\n",
     "attention_logits",
     {"fused_attention"}},
    {"[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of memory "
     "(/a/tllmBuffers.h:112)",
     "unknown",
     {"memory_share", "concurrency", "shard"}},
    {"[07/08/2025] [TRT-LLM] [RANK 1] [E] Executor creation failed due to insufficient GPU memory.",
     "unknown",
     {"memory_share", "shard"}},
    {"RuntimeError: Current platform can NOT allocate memory block with size larger than 4GB! Tried to allocate 6.85 "
     "GiB (GPU  0; 15.56 GiB total capacity; 0 bytes already allocated; 0 bytes reserved in total by PyTorch)",
     "limit",
     {"limit"}},
    /* in one piece 1 TiB of a memory that is not named */
    {"OOM when allocating tensor of shape [1000000,1000000] and type float", "unknown", {NULL}},
    /* what the list of allocations tells: its largest part, or that the program is little */
    {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.\nBufferAssignment OOM Debugging.\n"
     "BufferAssignment stats:\n             parameter allocation:  372.76MiB\n              constant allocation:    "
     "48.5KiB\n"
     "        maybe_live_out allocation:    9.64GiB\n     preallocated temp allocation:    4.44GiB\n"
     "                 total allocation:   14.44GiB\n",
     "outputs",
     {"leak", "batch"}},
    {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.\nBufferAssignment OOM Debugging.\n"
     "BufferAssignment stats:\n             parameter allocation:    5.00GiB\n        maybe_live_out allocation:    "
     "5.00GiB\n"
     "     preallocated temp allocation:    4.44GiB\n                 total allocation:   14.44GiB\n",
     "unknown",
     {"leak", "batch"}},
    {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.\nBufferAssignment OOM Debugging.\n"
     "BufferAssignment stats:\n             parameter allocation:    6.00MiB\n        maybe_live_out allocation:    "
     "6.00MiB\n"
     "     preallocated temp allocation:         0B\n                 total allocation:   12.00MiB\n",
     "live_arrays",
     {"leak"}},
};

START_TEST(a_text_alone)
{
    struct made made = make_of_text(texts[_i].content, NULL);
    const cJSON *advice = member(made.root, "advice"), *one;
    ck_assert_str_eq(cause_of(&made), texts[_i].cause);
    ck_assert_str_eq(text(made.root, "fits"), "no");
    for (int k = 0; k < 5 && texts[_i].kinds[k] != NULL; k++)
        ck_assert_msg(advice_of(&made, texts[_i].kinds[k]) != NULL, "%s: no %s", texts[_i].content, texts[_i].kinds[k]);
    ck_assert_ptr_null(advice_of(&made, "checkpoint"));
    cJSON_ArrayForEach(one, advice)
    {
        ck_assert(cJSON_IsNull(member(one, "change"))); /* nothing is predicted without a plan */
        ck_assert_str_ne(text(one, "fits"), "yes");
    }
    made_free(&made);
}
END_TEST

/* Whose memory or framework is another one: no calls of JAX, no flags of XLA, and nothing about a compiler's dump. */
static const struct {
    const char *content, *cause, *needle; /* needle: in the verdict as text; NULL: none */
} elsewhere[] = {
    {"RuntimeError: CUDA out of memory. Tried to allocate 1.00 MiB (GPU 0; 11.17 GiB total capacity; 10.90 GiB already "
     "allocated; 576.00 KiB free; 30.96 MiB cached)",
     "unknown", "Shortage"},
    {"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity; 14.05 GiB already "
     "allocated; 1.20 GiB free; 14.30 GiB reserved in total by PyTorch)",
     "unknown", "Shortage"},
    {"RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried to "
     "allocate 473910804480 bytes.",
     "host_memory", "Host memory ran out"},
    {"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "limit",
     "The runtime's own limit is reached"},
    {"java.lang.OutOfMemoryError: Java heap space", "limit", "The runtime's own limit is reached"},
    {"The node was low on resource: memory. Threshold quantity: 100Mi, available: 81920Ki. Container web was using "
     "2097152Ki, request is 1Gi, has larger consumption of memory.",
     "host_memory", "The node ran low on host memory"},
    {"Out of memory: Killed process 4711 (python3) total-vm:41943040kB, anon-rss:31457280kB, file-rss:0kB, "
     "shmem-rss:0kB",
     "host_memory", "Host memory ran out"},
    {"/tmp/job: line 3: 4711 Killed python train.py", "host_memory", "signal 9"},
    {"triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376. "
     "Reducing block sizes or `num_stages` may help.",
     "kernel_scratch", "triton.Config"},
    {"ptxas error   : Entry function 'tile' uses too much shared data (0xc400 bytes, 0xc000 max)", "kernel_scratch",
     "of shared memory"},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 3 has a total capacity of 39.39 GiB "
     "of which 1.94 GiB is free. Process 1 has 26.75 GiB memory in use. Including non-PyTorch memory, this process has "
     "10.70 GiB memory in use. Of the allocated memory 9.80 GiB is allocated by PyTorch, and 254.99 MiB is reserved by "
     "PyTorch but unallocated.",
     "other_process", "Other processes"},
};

/* No advice about a device, no bar of one, and nothing of the program beside the text. */
static void is_of_host_alone(const struct made *made)
{
    static const char *const kinds[] = {"limit", "workers", "host_data"};
    const cJSON *advice = member(made->root, "advice"), *one;
    cJSON_ArrayForEach(one, advice)
    {
        bool is_of_host = false;
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
            is_of_host |= strcmp(text(one, "kind"), kinds[i]) == 0;
        ck_assert_msg(is_of_host, "%s", text(one, "kind"));
    }
    ck_assert_int_eq(cJSON_GetArraySize(member(member(made->root, "ledger"), "bars")), 0);
    ck_assert_ptr_nonnull(strstr(text(member(made->root, "ledger"), "sentence"), "host's memory"));
    ck_assert_msg(strstr(made->text, "300.00 GiB") == NULL, "%s", made->text);
}

START_TEST(a_text_of_another_framework_or_memory)
{
    static const char *const never[] = {"jax", "jnp.", "pl.BlockSpec", "XLA_", "LIBTPU", "compiler's dump", "x[:"};
    struct asked asked;
    asked_open(&asked, SEED);
    for (int k = 0; k < 2; k++) { /* alone, and with a program beside it */
        struct made made = make_of_text(elsewhere[_i].content, k == 0 ? NULL : asked.module);
        ck_assert_str_eq(cause_of(&made), elsewhere[_i].cause);
        for (size_t at = 0; k == 0 && at < sizeof(never) / sizeof(never[0]); at++)
            ck_assert_msg(strstr(made.text, never[at]) == NULL, "%s in %s", never[at], made.text);
        ck_assert_msg(elsewhere[_i].needle == NULL || strstr(made.text, elsewhere[_i].needle) != NULL, "%s", made.text);
        ck_assert_int_gt(cJSON_GetArraySize(member(made.root, "advice")), 0);
        if (strcmp(elsewhere[_i].cause, "host_memory") == 0 ||
            strcmp(elsewhere[_i].cause, "limit") == 0) /* what the program takes of a device says nothing of it */
            is_of_host_alone(&made);
        made_free(&made);
    }
    asked_close(&asked);
}
END_TEST

/* ---- remedies: what the figures of a text speak for, and what they do not ---- */

#define TORCH(asked, capacity, left, rest)                                                                             \
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " asked ". GPU 0 has a total capacity of " capacity \
    " of which " left " is free. " rest
#define OWN(allocated, kept)                                                                                           \
    "Of the allocated memory " allocated " is allocated by PyTorch, and " kept                                         \
    " is reserved by PyTorch but unallocated."
#define THIS "Including non-PyTorch memory, this process has 4.00 GiB memory in use. "

static const struct {
    const char *content, *kind, *fits, *confidence;
    double saves, lands; /* GiB; -1: not known */
    const char *needle;  /* in the line to write */
} remedies[] = {
    /* what is kept in pieces, with what is free, is just enough, or just not */
    {TORCH("3.00 GiB", "8.00 GiB", "1.00 GiB", OWN("5.00 GiB", "2.00 GiB")), "fragmentation", "perhaps", "bound", 2, -1,
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
    {TORCH("3.01 GiB", "8.00 GiB", "1.00 GiB", OWN("5.00 GiB", "2.00 GiB")), "fragmentation", NULL, NULL, -1, -1, NULL},
    /* others, where the text tells them apart from this process */
    {TORCH("2.00 GiB", "8.00 GiB", "1.00 GiB", "Process 7 has 3.00 GiB memory in use. " THIS), "other_process",
     "perhaps", "bound", 3, -1, "CUDA_VISIBLE_DEVICES"},
    {TORCH("6.00 GiB", "8.00 GiB", "1.00 GiB", "Process 7 has 3.00 GiB memory in use. " THIS), "other_process", "no",
     "bound", 3, -1, NULL},
    {TORCH("2.00 GiB", "8.00 GiB", "1.00 GiB", "Process 7 has 3.00 GiB memory in use. "), "other_process", NULL, NULL,
     -1, -1, NULL},
    /* more than the GPU has in all */
    {TORCH("9.00 GiB", "8.00 GiB", "1.00 GiB", OWN("1.00 GiB", "9.00 GiB")), "fragmentation", NULL, NULL, -1, -1, NULL},
    /* a limit that was set, not the size of the GPU */
    {TORCH("1.00 GiB", "80.00 GiB", "70.00 GiB", "4.00 GiB allowed; " OWN("3.50 GiB", "0.10 GiB")), "limit", "perhaps",
     "exact", -1, -1, "set_per_process_memory_fraction"},
    {TORCH("1.00 GiB", "80.00 GiB", "0.50 GiB", OWN("70.00 GiB", "0.10 GiB")), "limit", NULL, NULL, -1, -1, NULL},
    {"ValueError: To serve at least one request with the models's max seq len (4096), (8.00 GiB KV cache is needed, "
     "which is larger than the available KV cache memory (4.00 GiB). Based on the available memory, the estimated "
     "maximum model length is 2048.",
     "request_length", "yes", "exact", 4, 4, "--max-model-len 2048"},
    {"ValueError: To serve at least one request with the models's max seq len (4096), (8.00 GiB KV cache is needed, "
     "which is larger than the available KV cache memory (4.00 GiB).",
     "request_length", "perhaps", "guess", -1, -1, "--max-model-len …"},
    {"ValueError: To serve at least one request with the models's max seq len (4096), (8.00 GiB KV cache is needed, "
     "which is larger than the available KV cache memory (4.00 GiB).",
     "cast", "perhaps", "bound", 4, 4, "fp8"},
    {"ValueError: Free memory on device cuda:0 (40.00/80.00 GiB) on startup is less than desired GPU memory "
     "utilization (0.9, 72.00 GiB).",
     "memory_share", "perhaps", "exact", 32, 40, "--gpu-memory-utilization 0.50"},
    {"Unable to allocate 8.00 GiB for an array with shape (1024, 1024, 1024) and data type float64", "cast", "perhaps",
     "exact", 4, 4, "numpy.float32"},
    {"Unable to allocate 8.00 GiB for an array with shape (1024, 1024, 8192) and data type uint8", "cast", NULL, NULL,
     -1, -1, NULL},
    {"slurmstepd: error: Job 1 exceeded memory limit (4194305 > 4194304), being killed", "limit", "perhaps", "guess",
     -1, -1, "--mem=4097M"},
    {"ptxas error   : Entry function 'tile' uses too much shared data (0xc400 bytes, 0xc000 max)", "limit", "perhaps",
     "guess", -1, -1, "MaxDynamicSharedMemorySize, 50176"},
    {"ptxas error   : Entry function 'tile' uses too much shared data (0x40000 bytes, 0xc000 max)", "limit", "no",
     "guess", -1, -1, "262144"},
    {"ptxas error   : Entry function 'tile' uses too much shared data (0x5000 bytes, 0x4000 max)", "limit", NULL, NULL,
     -1, -1, NULL},
};

static double gib_of(const cJSON *one, const char *name)
{
    return cJSON_IsNull(member(one, name)) ? -1 : number(one, name) / (double)GIB;
}

START_TEST(a_remedy_is_what_the_figures_speak_for)
{
    struct made made = make_of_text(remedies[_i].content, NULL);
    const cJSON *one = advice_of(&made, remedies[_i].kind);
    ck_assert_msg((one != NULL) == (remedies[_i].fits != NULL), "%s: %s", remedies[_i].kind, made.text);
    if (one != NULL) {
        ck_assert_str_eq(text(one, "fits"), remedies[_i].fits);
        ck_assert_str_eq(text(one, "confidence"), remedies[_i].confidence);
        ck_assert_double_eq_tol(gib_of(one, "saves_bytes"), remedies[_i].saves, 0.01);
        ck_assert_double_eq_tol(gib_of(one, "lands_at_bytes"), remedies[_i].lands, 0.01);
        ck_assert_msg(remedies[_i].needle == NULL || strstr(text(one, "do"), remedies[_i].needle) != NULL, "%s",
                      text(one, "do"));
    }
    made_free(&made);
}
END_TEST

static const struct {
    const char *content, *needle;
} said_of_all[] = {
    {TORCH("9.00 GiB", "8.00 GiB", "1.00 GiB", OWN("1.00 GiB", "9.00 GiB")), "the GPU has 8.00 GiB in all: no setting"},
    {TORCH("3.00 GiB", "8.00 GiB", "1.00 GiB", OWN("6.00 GiB", "0.50 GiB")),
     "2.00 GiB are missing, and of what PyTorch has reserved 512.00 MiB are not allocated"},
    {"RuntimeError: CUDA error: out of memory", "The text does not say how much each of these saves."},
    {"/tmp/job: line 3: 4711 Killed python train.py", "none of these is measured"},
    {"RESOURCE_EXHAUSTED: out of memory of an unknown kind", "so there is no advice"},
};

START_TEST(what_no_advice_can_do_is_said)
{
    struct made made = make_of_text(said_of_all[_i].content, NULL);
    const char *sentence = text(made.root, "advice_sentence");
    ck_assert_msg(strstr(sentence, said_of_all[_i].needle) != NULL, "%s", sentence);
    ck_assert_ptr_nonnull(strstr(made.text, sentence));
    made_free(&made);
}
END_TEST

/* SMEM is no place of blocks, and figures that differ do not read alike. */
START_TEST(scalar_memory_past_its_size_by_little)
{
    struct made made =
        make_of_text("RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran "
                     "out of memory in memory space smem. Used 1.00M of 1.00M smem. Exceeded smem capacity by "
                     "1.7K.",
                     NULL);
    const cJSON *first = advice_of(&made, "block_size");
    ck_assert_str_eq(text(member(made.root, "fit"), "sentence"), "Needs 1.7 KiB more than the 1.00 MiB of SMEM.");
    ck_assert_ptr_nonnull(strstr(text(made.root, "verdict"), "needs 1.7 KiB more than the 1.00 MiB of SMEM"));
    ck_assert_ptr_nonnull(strstr(text(first, "do"), "pltpu.PrefetchScalarGridSpec"));
    ck_assert_ptr_null(strstr(made.text, "BlockSpec"));
    ck_assert_ptr_null(strstr(made.text, "vmem_limit"));
    made_free(&made);
    made = make_of_text(
        "Ran out of memory on HBM, the total memory required for HLO temporaries (17179869185) exceeds available "
        "HBM (17179869184).",
        NULL);
    ck_assert_str_eq(text(member(made.root, "fit"), "sentence"),
                     "Needs 17,179,869,185 B of HBM; 17,179,869,184 B are available: over by 1 B.");
    made_free(&made);
}
END_TEST

/* A plan of torch_xla is predicted as any, and its changes are told in the words of torch_xla. */
START_TEST(a_plan_of_another_front_end)
{
    struct asked asked;
    asked_open(&asked, SEED);
    struct made made =
        make_of_text("  File \"/opt/torch_xla/core/xla_model.py\", line 7\nRESOURCE_EXHAUSTED: XLA:TPU compile "
                     "permanent error. Ran out of memory in memory space hbm. Used 300.00G of 15.75G hbm. "
                     "Exceeded hbm capacity by 284.25G.",
                     asked.module);
    const cJSON *shard = advice_of(&made, "shard");
    ck_assert_ptr_nonnull(strstr(text(shard, "change"), "shard=*"));
    ck_assert_ptr_nonnull(strstr(text(shard, "do"), "XlaFullyShardedDataParallel"));
    ck_assert_msg(strstr(made.text, "jax.") == NULL, "%s", made.text);
    made_free(&made);
    asked_close(&asked);
}
END_TEST

START_TEST(a_larger_chip_saves_nothing_and_has_its_name)
{
    struct made made =
        make_of_text("Ran out of memory in memory space hbm. Used 96.00G of 31.25G hbm. Exceeded hbm capacity by "
                     "64.75G.",
                     NULL);
    ck_assert_ptr_null(advice_of(&made, "larger_chip")); /* none has this much */
    made_free(&made);
    made = make_of_text(
        "Ran out of memory in memory space hbm. Used 94.00G of 31.25G hbm. Exceeded hbm capacity by 62.75G.", NULL);
    const cJSON *larger = advice_of(&made, "larger_chip");
    ck_assert_ptr_nonnull(strstr(text(larger, "do"), "\"tpu7x:2x2x1\""));
    ck_assert(cJSON_IsNull(member(larger, "saves_bytes")));
    ck_assert_double_eq_tol(gib_of(larger, "lands_at_bytes"), 94, 0.01);
    made_free(&made);
}
END_TEST

/* ---- what cannot apply ---- */

#define HBM(used, over, program, arguments)                                                                            \
    "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used " used           \
    " of 15.75G hbm. Exceeded hbm capacity by " over ".\n\nTotal hbm usage >= 20.00G:\n    reserved        258.00M \n" \
    "    program         " program " \n    arguments       " arguments                                                 \
    " \n\nOutput size 0B; shares 0B with arguments.\n\n"
#define BUFFER(asked, left)                                                                                            \
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate " asked                                \
    ". That was not possible. There are " left " free.; (0x0x0_HBM0)"
#define CUDA(asked)                                                                                                    \
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " asked                                             \
    " GiB. GPU 0 has a total capacity of 79.11 GiB of "                                                                \
    "which 10.00 GiB is free. Including non-PyTorch memory, this process has 69.11 GiB memory in use. Of the "         \
    "allocated memory "                                                                                                \
    "68.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated."

#define BFC(asked, rounded)                                                                                            \
    "W external/xla/xla/tsl/framework/bfc_allocator.cc:497] Allocator (GPU_0_bfc) ran out of memory trying to "        \
    "allocate " asked " (rounded to " rounded                                                                          \
    ")requested by op \nI external/xla/xla/tsl/framework/bfc_allocator.cc:1120] "                                      \
    "Stats: \nLimit:  60.00GiB\nInUse:   1.00GiB\nMaxInUse: 1.00GiB\n"

/* Each with a twin to which it does apply. */
static const struct {
    const char *content;
    const char *there[4], *never[6];
} applying[] = {
    /* a Mac has one memory and one GPU */
    {"RuntimeError: MPS backend out of memory (MPS allocated: 17.92 GB, other allocations: 20.00 MB, max allowed: "
     "18.13 GB). Tried to allocate 256.00 MB on private pool.",
     {"batch", "limit"},
     {"offload", "shard"}},
    {CUDA("20.00"), {"batch", "offload", "no_gradients"}, {"limit"}},
    /* what makes room beside it does not help a request that is larger than the device */
    {CUDA("200.00"), {"limit", "batch"}, {"offload", "no_gradients", "checkpoint", "fragmentation", "other_process"}},
    /* recomputation saves temporaries alone */
    {HBM("18.00G", "2.25G", "1.00G", "17.00G"), {"shard", "batch"}, {"flags"}},
    {HBM("18.00G", "2.25G", "10.00G", "8.00G"), {"flags", "batch"}, {NULL}},
    /* without arguments there is no batch, and nothing to donate */
    {HBM("18.00G", "2.25G", "18.00G", "0B"), {"flags", "shard"}, {"batch", "donate"}},
    /* arrays fill the device: not what a small request is of */
    {BUFFER("16.00M", "15.47M"), {"leak"}, {"batch", "donate", "shard"}},
    {BUFFER("4.00G", "1.00G"), {"leak", "batch", "donate", "shard"}, {NULL}},
    /* JAX's allocator tells its limit, three quarters of the GPU: what is past the one may be within the other */
    {BFC("65.00GiB", "69793218560"), {"preallocation", "leak", "batch", "shard"}, {"limit"}},
    {BFC("90.00GiB", "96636764160"), {"limit", "batch", "shard"}, {"preallocation", "leak", "donate"}},
    {"Allocating 69793218560 bytes exceeds the memory limit of 64424509440 bytes.",
     {"preallocation", "leak"},
     {"limit"}},
    {"Allocating 96636764160 bytes exceeds the memory limit of 64424509440 bytes.",
     {"limit"},
     {"preallocation", "leak"}},
};

START_TEST(what_cannot_apply_is_not_advised)
{
    struct made made = make_of_text(applying[_i].content, NULL);
    for (size_t k = 0; k < 4 && applying[_i].there[k] != NULL; k++)
        ck_assert_msg(advice_of(&made, applying[_i].there[k]) != NULL, "no %s: %s", applying[_i].there[k], made.text);
    for (size_t k = 0; k < 6 && applying[_i].never[k] != NULL; k++)
        ck_assert_msg(advice_of(&made, applying[_i].never[k]) == NULL, "%s: %s", applying[_i].never[k], made.text);
    made_free(&made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verdict_texts");
    TCase *tests = tcase_create("verdict_texts");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_text_alone, 0, sizeof(texts) / sizeof(texts[0]));
    tcase_add_loop_test(tests, a_text_of_another_framework_or_memory, 0, sizeof(elsewhere) / sizeof(elsewhere[0]));
    tcase_add_loop_test(tests, a_remedy_is_what_the_figures_speak_for, 0, sizeof(remedies) / sizeof(remedies[0]));
    tcase_add_loop_test(tests, what_no_advice_can_do_is_said, 0, sizeof(said_of_all) / sizeof(said_of_all[0]));
    tcase_add_loop_test(tests, what_cannot_apply_is_not_advised, 0, sizeof(applying) / sizeof(applying[0]));
    tcase_add_test(tests, scalar_memory_past_its_size_by_little);
    tcase_add_test(tests, a_plan_of_another_front_end);
    tcase_add_test(tests, a_larger_chip_saves_nothing_and_has_its_name);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
