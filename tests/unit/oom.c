/* SPDX-License-Identifier: Apache-2.0
 * Out-of-memory texts: one text a sentence, and what each must be read as. */
#include "oom.h"

/* key=value pairs of the failure, a space between; "buffers[0].key" looks into a list. */
static const struct {
    const char *text, *wanted;
} sentences[] = {
    /* clang-format off */
    /* TPU compiler */
    {"XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space smem. Used 1.50M of 1.00M smem. Exceeded "
     "smem capacity by 512.0K.",
     "family=tpu_compile framework=jax memory_class=smem form=report memory_space=smem needed_bytes=1572864 "
     "capacity_bytes=1048576 exceeded_bytes=524288 phase=compile"},
    {"(0) Resource exhausted: {{function_node f}} Compilation failure: Ran out of memory in memory space vmem. It "
     "should not be possible to run out of vmem - please file a bug against XLA.\n\n  Largest program allocations in "
     "vmem:\n\n  XLA label: register allocator spill slots\n  Allocation type: scoped\n  ==========================\n",
     "family=tpu_compile form=report memory_space=vmem needed_bytes=null buffer_count=1 "
     "buffers[0].label=register|allocator|spill|slots buffers[0].allocation_type=scoped buffers[0].size_bytes=null"},
    {"Ran out of memory in memory space vmem. Used 16.08M of 16.00M vmem.\n\nProgram vmem requirement 16.08M:\n    "
     "scoped 16.08M\n\n  Largest program allocations in vmem:\n\n  1. Size: 8.08M\n     XLA label: register allocator "
     "spill slots in HLO :: matmul.1\n     Allocation type: scoped\n     ==========================\n\n  2. Size: "
     "8.00M\n     Shape: f32[2048,1024]\n     Tag: scratch operand\n     Allocation type: scoped\n     =====",
     "memory_space=vmem requirement_bytes=16861102 buffer_count=2 buffers[1].label=scratch|operand "
     "buffers[1].shape=f32[2048,1024] buffers[0].size_bytes=8472494"},
    {"RESOURCE_EXHAUSTED: TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding available bytes: "
     "95.74G",
     "family=tpu_compile form=core_usage memory_space=hbm needed_bytes=null capacity_bytes=102800042230 buffer_count=2 "
     "buffers[0].label=TensorCore buffers[1].size_bytes=186938451558"},
    {"Aborting compilation early because it's unlikely to have enough memory. Requires 3.84T, has 90.96G available.",
     "form=fast_exit needed_bytes=4222124650660 capacity_bytes=97667556311"},
    {"RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (20.00G) exceeds "
     "available HBM (15.75G).",
     "form=short memory_space=hbm needed_bytes=21474836480 capacity_bytes=16911433728 module=null error_code=null"},
    {"INTERNAL: E3000: CompileTimeSparseCoreAllocationFailure: Failed to run pass pipeline. Hlo-Op: result.1:279:1: "
     "error: 'memref.alloca' op current allocation offset upper bound (140704 words) exceeds the legitimate user "
     "allocatable offset upper bound (131071 words) in memory space 201 when allocating 23440 words. note: see current "
     "operation: %232 = \"memref.alloca\"() : () -> memref<23440xf32, 201>",
     "family=tpu_compile framework=xla memory_class=on_chip form=sparse_core error_code=E3000 memory_space=tilespmem "
     "needed_bytes=null"},
    {"jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: a sentence of another release\n",
     "family=tpu_compile form=null error_code=E1000 needed_bytes=null"},
    /* TPU runtime */
    {"RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 2.00G. That was not possible. There "
     "are 3.00G free. The largest contiguous region of free memory is 1.50G due to fragmentation.; (1x0x2_HBM0)",
     "family=tpu_buffer needed_bytes=2147483648 free_bytes=3221225472 largest_free_bytes=1610612736 device=1x0x2_HBM0 "
     "memory_space=hbm phase=run"},
    {"RESOURCE_EXHAUSTED: Error loading program 'jit_f': Attempting to reserve 2.00G at the bottom of memory. That was "
     "not possible. There are 1.00G free, 16B reserved, and 1.00G reservable. Scope: unknown..: while running replica "
     "0 and partition 3 of a replicated computation",
     "family=tpu_program_load form=reserve module=jit_f reserved_bytes=16 available_bytes=1073741824 phase=load"},
    {"HBM capacity: 16.00G\nTop-of-Memory reserved: 512.00M\nCurrently allocated: 12.00G\nProgram requirement: 4.00G\n"
     "Heap allocator status: Max free chunk: 1.00G",
     "family=tpu_buffer capacity_bytes=17179869184 total_bytes=12884901888 requirement_bytes=4294967296 "
     "largest_free_bytes=1073741824"},
    /* GPU */
    {"Out of memory while trying to allocate 214748364800 bytes.",
     "family=gpu_xla needed_bytes=214748364800 phase=run"},
    {"Out of memory while trying to allocate 7.34GiB.", "family=gpu_xla needed_bytes=7881264988"},
    {"RESOURCE_EXHAUSTED: Out of host memory while trying to allocate 65.00GiB. Please set the environment variable "
     "XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB to allocate larger host memory than the default 64 GB.",
     "family=gpu_xla framework=xla memory_class=page_locked form=host memory_space=host needed_bytes=69793218560"},
    {"Out of memory while trying to allocate 1.95GiB with allocator GPU_0_bfc on device 3. [executable_name='jit_f'] "
     "[tf-allocator-allocation-error='']",
     "needed_bytes=2093796557 device=3 module=jit_f"},
    {"Failed to allocate request for 256.00MiB (268435456B) on device ordinal 1",
     "family=gpu_xla needed_bytes=268435456 device=1"},
    {"cuda_driver.cc:1] failed to allocate 2.2KiB (2254 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
     "family=gpu_xla needed_bytes=2254"},
    {"Not enough PA budget: pa_allocated=100B, allocation_size=50B, pa_budget=120B",
     "needed_bytes=50 capacity_bytes=120 total_bytes=100"},
    {"Allocating 300 bytes exceeds the memory limit of 200 bytes.",
     "family=gpu_xla needed_bytes=300 capacity_bytes=200"},
    /* the BFC allocator: 2017, 2022, 2026 */
    {"I tensorflow/core/common_runtime/bfc_allocator.cc:680] Chunk at 0x7f10 of size 1280\nW "
     "tensorflow/core/common_runtime/bfc_allocator.cc:275] Allocator (GPU_0_bfc) ran out of memory trying to allocate "
     "2.86GiB.  Current allocation summary follows.\nI tensorflow/core/common_runtime/bfc_allocator.cc:643] Bin (256): "
     "\tTotal Chunks: 1, Chunks in use: 1 256B allocated for chunks.\nI "
     "tensorflow/core/common_runtime/bfc_allocator.cc:660] Bin for 2.86GiB was 256.00MiB, Chunk State: \nI "
     "tensorflow/core/common_runtime/bfc_allocator.cc:678] Chunk at 0x1041ac00000 of size 1280\nI "
     "tensorflow/core/common_runtime/bfc_allocator.cc:687] Free at 0x1041ac00500 of size 4096\nI "
     "tensorflow/core/common_runtime/bfc_allocator.cc:687] Free at 0x1041ac01500 of size 512\nI "
     "tensorflow/core/common_runtime/bfc_allocator.cc:702] Stats: \nLimit:                  1000000\nInUse:            "
     "       600000\nMaxInUse:                700000\nNumAllocs:                   40\nMaxAllocSize:            "
     "300000\n\n",
     "family=gpu_bfc device=GPU_0_bfc needed_bytes=3070901617 capacity_bytes=1000000 total_bytes=600000 "
     "largest_free_bytes=4096"},
    {"2022-01-05 09:00:00.000001: W tensorflow/core/common_runtime/bfc_allocator.cc:462] Allocator (GPU_1_bfc) ran out "
     "of memory trying to allocate 1.97GiB (rounded to 2110783744)requested by op \nIf the cause is memory "
     "fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=x' will improve the situation. \nCurrent "
     "allocation summary follows.\nCurrent allocation summary follows.\n2022-01-05 09:00:00.000002: I "
     "tensorflow/core/common_runtime/bfc_allocator.cc:1010] BFCAllocator dump for GPU_1_bfc\n2022-01-05 "
     "09:00:00.000003: I tensorflow/core/common_runtime/bfc_allocator.cc:1071] InUse at 7f0c00000000 of size 1280 next "
     "1\n2022-01-05 09:00:00.000003: I tensorflow/core/common_runtime/bfc_allocator.cc:1071] Free  at 7f0c00000500 of "
     "size 2048 next 18446744073709551615\n2022-01-05 09:00:00.000004: I "
     "tensorflow/core/common_runtime/bfc_allocator.cc:1087] Total bytes in pool: 3000 memory_limit_: 5000 available "
     "bytes: 1500 curr_region_allocation_bytes_: 4096\n2022-01-05 09:00:00.000005: I "
     "tensorflow/core/common_runtime/bfc_allocator.cc:1100] Stats: \nLimit:                             5000\nInUse:   "
     "                          1280\nMaxInUse:                          1280\nLargestFreeBlock:                     "
     "0\n\n",
     "family=gpu_bfc device=GPU_1_bfc needed_bytes=2110783744 capacity_bytes=5000 available_bytes=1500 "
     "largest_free_bytes=2048 replicas=1"},
    {"W bfc_allocator.cc:500] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00MiB (rounded to 2097152) "
     "from the lower end requested by op f\nI bfc_allocator.cc:1049] BFCAllocator dump for GPU_0_bfc\nI "
     "bfc_allocator.cc:1109] Allocator memory summary: rounded request 2.00MiB, total free in pool 3.00MiB, largest "
     "free chunk usable by lower end 1.50MiB, unallocated bytes 0B, pool size 16.00MiB, pool limit 16.00MiB\nI "
     "bfc_allocator.cc:1120] Stats: \nLimit:                16.00MiB\nInUse:                13.00MiB\nNumAllocs:       "
     "           12\nLargestFreeBlock:      1.50MiB\n",
     "needed_bytes=2097152 capacity_bytes=16777216 free_bytes=3145728 largest_free_bytes=1572864 available_bytes=0 "
     "total_bytes=13631488"},
    /* TensorFlow, PyTorch, CPU */
    {"OP_REQUIRES failed at conv_ops.h:1 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[32,256,62,62] and "
     "type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n",
     "family=gpu_bfc framework=tensorflow memory_class=gpu form=tensor "
     "device=/job:localhost/replica:0/task:0/device:GPU:0 buffers[0].shape=[32,256,62,62] needed_bytes=125960192"},
    {"Resource exhausted: OOM when allocating tensor of shape [1,399,532,3] and type float",
     "family=other form=tensor needed_bytes=2547216"},
    {"OOM when allocating tensor with shape[4294967296,4294967296,2] and type float on /job:a/device:CPU:0 by "
     "allocator cpu",
     "family=cpu_alloc form=tensor needed_bytes=null"},
    {"OOM when allocating tensor with shape[9,9] and type string on /job:a/device:CPU:0 by allocator cpu",
     "family=cpu_alloc form=tensor needed_bytes=null"},
    {"CUDA out of memory. Tried to allocate more than 1EB memory.",
     "family=torch_gpu form=cuda needed_bytes=1152921504606846976"},
    {"W0207 hlo_rematerialization.cc:3204] Can't reduce memory use below 22.40GiB (24055867801 bytes) by "
     "rematerialization; only reduced to 41.70TiB (45845471998700 bytes)\nRESOURCE_EXHAUSTED: Out of memory while "
     "trying to allocate 21149372098676 bytes.",
     "family=gpu_xla needed_bytes=21149372098676 capacity_bytes=null notes[0].code=temporaries_over_limit"},
    {"W hlo_rematerialization.cc:3] Can't reduce memory use below 0B (0 bytes) by rematerialization; only reduced to "
     "41.70TiB (45845471998700 bytes)\nRESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.",
     "family=gpu_xla needed_bytes=9 capacity_bytes=null"},
    {"E gpu_hlo_schedule.cc:815] The byte size of input/output arguments (24696099900024) exceeds the base limit "
     "(27028357120). This indicates an error in the calculation!\nRESOURCE_EXHAUSTED: Out of memory while trying to "
     "allocate 9 bytes.",
     "family=gpu_xla needed_bytes=9 notes[0].code=arguments_over_limit"},
    {"call to cuMemAllocManaged returned error 2: Out of memory", "family=gpu_driver memory_class=gpu form=call"},
    {"call to cuMemAllocHost returned error 2: Out of memory", "family=gpu_driver memory_class=page_locked form=call"},
    {"OutOfResources: out of resource: shared memory, Required: 327680, Hardware limitation: 232448.",
     "family=triton needed_bytes=327680 capacity_bytes=232448"},
    {"OOM when allocating tensor with shape[0,3] and type float on /job:a/device:CPU:0 by allocator cpu",
     "family=cpu_alloc needed_bytes=null"},
    {"OOM when allocating tensor with shape[4000000000,4000000000] and type bool on /job:a/device:CPU:0 by allocator "
     "cpu",
     "family=cpu_alloc needed_bytes=null"},
    {"Executor creation failed due to insufficient GPU memory.\n", "family=tensorrt form=executor capacity_bytes=null"},
    {"Error out of memory at line 351 in file /a/csrc/pythonInterface.c", "family=gpu_driver form=call"},
    {"Accelerator Fatal Error: call to cuMemAlloc returned error 2 (CUDA_ERROR_OUT_OF_MEMORY): Out of memory",
     "family=gpu_driver form=call"},
    {"[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of memory "
     "(/a/tllmBuffers.h:112)",
     "family=gpu_driver form=call"},
    {"[E] Failed to initialize executor on rank 1: Executor creation failed due to insufficient GPU memory.\n\nThe "
     "following component could not be created: KV cache\nTotal GPU memory (GiB): 140.06\nFree GPU memory before "
     "component creation attempt (GiB): 108.86\n",
     "family=tensorrt form=executor phase=load capacity_bytes=150388279869 free_bytes=116887534961"},
    {"ggml_vulkan: Requested buffer size exceeds device buffer size limit: ErrorOutOfDeviceMemory",
     "family=vulkan form=buffer_limit"},
    {"Out of memory: Killed process 7899 (python) total-vm:26,184,840kB, anon-rss:153,700,88kB, file-rss:0kB",
     "family=linux_kill process_bytes=null"},
    {"OOM when allocating tensor with shape[9] and type double on /job:localhost/replica:0/task:0/device:CPU:0 by "
     "allocator cpu",
     "family=cpu_alloc form=tensor"},
    {"ResourceExhaustedError: OOM when allocating tensor with shape[9,190] and type double on "
     "/job:w/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n\t [[Node: Tile]]\n\nCurrent usage from device: "
     "/job:w/replica:0/task:0/device:GPU:0, allocator: GPU_0_bfc\n  250.78MiB from net/conv2d_5/Conv2D\n  217.34MiB "
     "from net/conv2d_6/Conv2D\n  Remaining 1252 nodes with 98.80MiB\n",
     "family=gpu_bfc form=tensor buffer_count=3 buffers[0].shape=[9,190] buffers[1].size_bytes=262961889 "
     "buffers[1].op_name=net/conv2d_5/Conv2D buffers[2].size_bytes=227897508 "
     "notes[0].text=TensorFlow|lists|the|largest|nodes|only;|the|other|1252|hold|98.80|MiB."},
    {"Current usage from device: /job:w/replica:0/task:1/device:GPU:0, allocator: GPU_0_bfc\n  1.50GiB from a/b\n",
     "family=gpu_bfc form=usage device=GPU_0_bfc buffer_count=1 needed_bytes=null"},
    {"E1103 18:23:55.1 3413767 gpu_cudamallocasync_allocator.cc:361] gpu_async_1 cuMemAllocAsync failed to allocate "
     "5000 bytes: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory\n Reported by CUDA: Free memory/Total "
     "memory: 2260/85095\nE1103 18:23:55.1 3413767 gpu_cudamallocasync_allocator.cc:366] Stats: Limit:                 "
     "              0\nInUse:                     61982\nMaxInUse:                  61982\nLargestFreeBlock:           "
     "         0\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate "
     "5000 bytes.\n",
     "family=gpu_xla form=trying needed_bytes=5000 free_bytes=2260 capacity_bytes=85095 "
     "allocated_bytes=61982 total_bytes=null replicas=1"},
    {"CompileTimeScopedVmemOom: Ran out of memory in memory space vmem ... for\n%flash_attention.1 = "
     "bf16[1,16,25344,80] ... Scoped allocation with size\n"
     "37.22M and limit 32.00M exceeded scoped vmem limit by 5.22M.\n",
     "family=tpu_compile form=scoped_vmem memory_space=vmem needed_bytes=39027999 capacity_bytes=33554432 "
     "buffers[0].shape=bf16[1,16,25344,80]"},
    {"XlaRuntimeError: INTERNAL: Failed to allocate 100663296 bytes for new constant\n",
     "family=gpu_xla form=constant phase=load needed_bytes=100663296"},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 9.77 GiB "
     "of which 185.50 MiB is free. ",
     "family=torch_gpu needed_bytes=268435456 capacity_bytes=10490457620 free_bytes=194510848"},
    {"CUDA out of memory. Tried to allocate 52.00 MiB (GPU 0; 79.20 GiB total capacity; 752.52 MiB already allocated; "
     "27.25 MiB free; 886.00 MiB reserved)",
     "family=torch_gpu needed_bytes=54525952 capacity_bytes=85040352461 free_bytes=28573696 reserved_bytes=929038336"},
    {"CUDA out of memory. Tried to allocate 1.00 GiB. GPU 10 has a total capacity of 9.77 GiB of which 185.50 MiB is "
     "free.", "family=torch_gpu form=cuda device=10"},
    {"RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: Out of memory allocating 1000 bytes.",
     "family=cpu_alloc framework=torch_xla memory_class=host needed_bytes=1000"},
    {"Failed to allocate 4096 bytes of aligned host memory.", "family=cpu_alloc needed_bytes=4096"},
    {"INTERNAL: RESOURCE_EXHAUSTED: device memory is all gone\n", "family=other form=null phase=null"},
    /* codes by number and by name, and words of lack in any spelling */
    {"OpenCL error: clCreateBuffer: -4", "family=other form=opencl memory_class=gpu"},
    {"ggml_opencl: clEnqueueNDRangeKernel error -5 at ggml-opencl.cpp:1", "family=other form=opencl memory_class=gpu"},
    {"ERROR: clBuildProgram failed with CL_OUT_OF_HOST_MEMORY", "family=other form=opencl memory_class=host"},
    {"cuMemAlloc_v2 failed with result 2", "family=gpu_driver memory_class=gpu"},
    {"cublasCreate_v2 failed: 3", "family=gpu_library memory_class=gpu"},
    {"vkQueueSubmit failed -2", "family=vulkan memory_class=gpu"},
    {"L0 error: zeMemAllocHost returned 0x70000002", "family=level_zero memory_class=host"},
    {"ID3D12Device::CreateCommittedResource: hr=0x8007000E", "family=other form=device memory_class=gpu"},
    {"RuntimeError: NRT_RESOURCE in nrt_load()", "family=neuron memory_class=device"},
    {"MIOpen(HIP): Error: miopenStatusAllocFailed", "family=gpu_library memory_class=gpu"},
    {"CNRT error, code=100004 cnrtErrorNoMem", "family=other form=device memory_class=device"},
    {"hipErrorMemoryAllocation (1002)", "family=gpu_driver memory_class=gpu"},
    {"foo: Fatal error: not enough free device memory for the plan", "family=unknown_runtime memory_class=device"},
    {"engine: Error: Cannot malloc 1234567 bytes", "family=unknown_runtime needed_bytes=1234567"},
    {"ghc: out of memory (requested 1048576 bytes)", "family=unknown_runtime needed_bytes=1048576"},
    /* a row of families.def at any width, with what may be missing and without */
    {"Not enough PA\nbudget: pa_allocated=100B,\n  allocation_size=50B",
     "form=budget needed_bytes=50 total_bytes=100 capacity_bytes=null"},
    {"Failed to allocate request for 256.00MiB", "form=request needed_bytes=268435456 device=null"},
    {"Out of memory while trying to allocate 7.", "form=trying needed_bytes=null"},
    /* numbers that are none */
    {"Ran out of memory in memory space hbm. Used NaN G of 15.75G hbm. Exceeded hbm capacity by infG.",
     "needed_bytes=null exceeded_bytes=null"},
    {"Out of memory while trying to allocate 99999999999999999999999 bytes.", "family=gpu_xla needed_bytes=null"},
    {"Out of memory while trying to allocate 21107", "family=gpu_xla needed_bytes=null"},
    {"Ran out of memory in memory space hbm. Used 99.00E of 17.6",
     "memory_space=hbm needed_bytes=null capacity_bytes=null"},
    /* clang-format on */
};

static const cJSON *list_item(const cJSON *failure, char **key)
{
    char *bracket = strchr(*key, '[');
    if (bracket == NULL)
        return failure;
    *bracket = '\0';
    const cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(failure, *key), atoi(bracket + 1));
    *key = strchr(bracket + 1, '.') + 1;
    return item;
}

static void check_pairs(const char *text, const cJSON *failure, const char *wanted)
{
    char pairs[1024], found[128], *rest = pairs;
    snprintf(pairs, sizeof(pairs), "%s", wanted);
    for (char *pair; (pair = strtok_r(rest, " ", &rest)) != NULL;) {
        char *key = pair, *value = strchr(pair, '=');
        *value++ = '\0';
        const cJSON *object = list_item(failure, &key);
        for (char *bar; (bar = strchr(value, '|')) != NULL;)
            *bar = ' ';
        ck_assert_msg(strcmp(oom_value(object, key, found), value) == 0, "%s is %s, not %s in: %.100s", key, found,
                      value, text);
    }
}

START_TEST(each_sentence_is_read)
{
    const char *text = sentences[_i].text;
    struct oom_answer answer = oom_ask(text, strlen(text));
    ck_assert_msg(answer.explanation.failure_count >= 1, "not recognised: %.100s", text);
    int last = cJSON_GetArraySize(answer.failures) - 1;
    check_pairs(text, cJSON_GetArrayItem(answer.failures, last), sentences[_i].wanted);
    cJSON_Delete(answer.failures);
}
END_TEST

static const char *const others[] = {
    "",
    "nothing to see here, step 12 loss 0.5, memory in use 12.0G of 16.0G\n",
    "Used 5 of 7 apples. Total cost >= 3\n",
    "RESOURCE_EXHAUSTED: quota of requests per minute is used up\n",
    "Allocating 5 servers. Attempting to allocate a desk. Stats: wins 4\n",
    /* prose and source code that speak of such failures */
    "### CUDA out of memory\nReduce the batch size. If you see `OOMKilled` or exit code 137, raise the limit of the "
    "container.\n",
    "#### CUDA error: out of memory\n- Runtime, Restart runtime. A pod that was OOMKilled ended with exit code 137 "
    "(128 + 9).\n",
    "    case CUBLAS_STATUS_ALLOC_FAILED:\n      return \"CUBLAS_STATUS_ALLOC_FAILED\";\n    cudaErrorMemoryAllocation "
    "= 2,\n",
    "if 'out of memory' in str(e) or 'CUBLAS_STATUS_ALLOC_FAILED' in str(e):\n    errors = {'oom': RuntimeError('CUDA "
    "error: out of memory')}\n",
    "try:\n    load()\nexcept MemoryError:\n    raise\nMemoryError\n    Raised when an operation runs out of memory.\n",
    "catch (std::bad_alloc &e) { throw std::bad_alloc(); } printf(\"Cannot allocate memory\\n\");\n",
    "import of libgomp: cannot allocate memory in static TLS block\nThe OOM killer has killed many a process; Killed "
    "processes are listed.\n",
    "raise ValueError(\"No available memory for the cache blocks. \"\n    \"Try increasing `gpu_memory_utilization` "
    "when initializing.\")\n",
    "raise RuntimeError(\"Not enough memory. Please try to increase --mem-fraction-static.\")\n",
    "INFO KV cache pool is full. Retract requests. GPU KV cache size: 175,856 tokens, model's max seq len (4096)\n",
    "0 Workers (tasks / actors) killed due to memory pressure (OOM), 2 Workers crashed due to other reasons at node\n",
    "Out of resource: shared memory is scarce on this chip; ptxas info : Used 32 registers, 49152 bytes smem\n",
    "systemd: Killed /tmp/a by hand. The node was low on sleep. NCCL WARN Cuda failure 'invalid resource handle'\n",
    "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 999 'unknown error'\n",
    "\xff\xfe\x80\x81 \x01\x02 Ran out of luck in memory lane",
    "        report_error(\"failed to allocate %zu bytes of device memory\", size);\n",
    "    status = Status::Error(format(\"device error: failed to allocate {} bytes\", size))\n",
    "  Failed: allocation failed; error = out of memory;\n",
    /* codes in a list, codes that are searched for, and codes about something else */
    "  CUDA_ERROR_OUT_OF_MEMORY = 2,\n  cudaErrorMemoryAllocation = 2,\n| CL_OUT_OF_RESOURCES | -5 |\n",
    "if \"CUDNN_STATUS_ALLOC_FAILED\" in message:\nIf you see CL_OUT_OF_RESOURCES, update the driver.\n",
    "make[1]: *** [CMakeFiles/CUDA.dir/all] Error 2\ncuMemAlloc took 2 ms; clCreateBuffer line 4, 5 and 61\n",
    "Out of memory\nPT_DEVMEM Allocation size 12, no error\n",
    /* what went on without it, a warning that quotes the error, and prose with a status in backquotes */
    "mem total: 5875 MiB, SIGTERM at 22 %\nCould not lock memory - continuing anyway: Cannot allocate memory\n",
    "a.py:40: UserWarning: Synchronous transfer, as pinned memory could not be allocated. The original error was: "
    "cudaErrorMemoryAllocation: out of memory\n  return array(obj)\n",
    "The runner never looked - so it arrived as a bare exit, or an unexplained `signal: killed`.\n",
};

START_TEST(other_texts_hold_no_failure)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct oom_answer answer = oom_ask(others[i], strlen(others[i]));
        ck_assert_msg(answer.explanation.failure_count == 0, "%s", others[i]);
        ck_assert_uint_eq(answer.explanation.report_line_count, 0);
        cJSON_Delete(answer.failures);
    }
}
END_TEST

static const char *const good_compiles[] = {
    "I0320 03:59:34.7 855 x.cc:1] XLA::TPU program HBM usage: 52.5K / 31.25G\nI0320 03:59:34.7 855 x.cc:1] Total hbm "
    "usage >= 260.14M:\n"
    "I0320 03:59:34.7 855 x.cc:1] Program hbm requirement 70.0K:\n",
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB with freed_by_count=0. The caller indicates "
    "that this is not a failure, but this may mean that there could be performance gains if more memory were "
    "available.\n",
    ("Can't reduce memory use below 15.00GiB (16106127360 bytes) by rematerialization; only reduced to 16.00GiB "
     "(17179869184 bytes)\n"),
};

START_TEST(reports_without_failure_are_told)
{
    for (size_t i = 0; i < sizeof(good_compiles) / sizeof(good_compiles[0]); i++) {
        struct oom_answer answer = oom_ask(good_compiles[i], strlen(good_compiles[i]));
        ck_assert_msg(answer.explanation.failure_count == 0, "%s", good_compiles[i]);
        ck_assert_uint_ge(answer.explanation.report_line_count, 1);
        cJSON_Delete(answer.failures);
    }
}
END_TEST

START_TEST(a_lower_layers_line_is_part_of_the_failure)
{
    static const char text[] =
        "W bfc_allocator.cc:482] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.97GiB (rounded to "
        "2110783744)requested by op \n"
        "E pjrt.cc:1] Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out of memory while trying to allocate "
        "2110783616 bytes.\n"
        "ValueError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2110783616 bytes.\n";
    struct oom_answer answer = oom_ask(text, sizeof(text) - 1);
    char value[128];
    ck_assert_uint_eq(answer.explanation.failure_count, 1);
    ck_assert_str_eq(oom_value(answer.failures->child, "family", value), "gpu_xla");
    ck_assert_str_eq(oom_value(answer.failures->child, "replicas", value), "2");
    cJSON_Delete(answer.failures);
}
END_TEST

/* White space ends no word here, so a whole log may be one: of each sentence in it no more than this is looked at. */
START_TEST(a_word_ends_where_none_is_so_long)
{
    enum { COPIES = 40, LONGEST_WORD = 256 };
    static const char sentence[] = "Ran out of memory in memory space ";
    char text[COPIES * sizeof(sentence)] = "";
    for (size_t i = 0; i < COPIES; i++)
        memcpy(text + i * (sizeof(sentence) - 1), sentence, sizeof(sentence));
    struct oom_answer answer = oom_ask(text, strlen(text));
    const cJSON *space = cJSON_GetObjectItemCaseSensitive(answer.failures->child, "memory_space");
    ck_assert_uint_ge(strlen(space->valuestring), 1);
    ck_assert_uint_le(strlen(space->valuestring), LONGEST_WORD);
    cJSON_Delete(answer.failures);
}
END_TEST

START_TEST(what_is_looked_for_is_listed)
{
    size_t count = 0;
    while (analysis_oom_looked_for(count) != NULL)
        count++;
    ck_assert_uint_ge(count, 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("oom");
    TCase *tests = tcase_create("oom");
    tcase_add_loop_test(tests, each_sentence_is_read, 0, (int)(sizeof(sentences) / sizeof(sentences[0])));
    tcase_add_test(tests, other_texts_hold_no_failure);
    tcase_add_test(tests, reports_without_failure_are_told);
    tcase_add_test(tests, a_lower_layers_line_is_part_of_the_failure);
    tcase_add_test(tests, a_word_ends_where_none_is_so_long);
    tcase_add_test(tests, what_is_looked_for_is_listed);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
