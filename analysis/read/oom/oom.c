/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/oom.h"

const char *oom_family_name(enum oom_family family)
{
    static const char *const names[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) #name,
#include "read/oom/families.def"
    };
    return names[family];
}

const char *oom_family_title(enum oom_family family)
{
    static const char *const titles[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) title,
#include "read/oom/families.def"
    };
    return titles[family];
}

const char *oom_framework_name(enum oom_framework framework)
{
    static const char *const names[] = {
#define FRAMEWORK(name) #name,
#include "read/oom/families.def"
    };
    return framework == OOM_FRAMEWORK_not_known ? NULL : names[framework];
}

static const char *const program_names[] = {
#define PROGRAM(name, title) #name,
#include "read/oom/around.def"
};
static const char *const program_titles[] = {
#define PROGRAM(name, title) title,
#include "read/oom/around.def"
};
static const char *const activity_names[] = {
#define ACTIVITY(name, phrase) #name,
#include "read/oom/around.def"
};
static const char *const activity_phrases[] = {
#define ACTIVITY(name, phrase) phrase,
#include "read/oom/around.def"
};

const char *oom_framework_title(enum oom_framework framework)
{
    static const char *const titles[] = {
        [OOM_FRAMEWORK_jax] = "JAX",
        [OOM_FRAMEWORK_tensorflow] = "TensorFlow",
        [OOM_FRAMEWORK_torch] = "PyTorch",
        [OOM_FRAMEWORK_torch_xla] = "PyTorch/XLA",
        [OOM_FRAMEWORK_triton] = "Triton",
        [OOM_FRAMEWORK_vllm] = "vLLM",
        [OOM_FRAMEWORK_sglang] = "SGLang",
        [OOM_FRAMEWORK_tgi] = "Text Generation Inference",
        [OOM_FRAMEWORK_paddle] = "PaddlePaddle",
        [OOM_FRAMEWORK_onnxruntime] = "ONNX Runtime",
        [OOM_FRAMEWORK_tensorrt] = "TensorRT",
        [OOM_FRAMEWORK_mlx] = "MLX",
        [OOM_FRAMEWORK_cupy] = "CuPy",
        [OOM_FRAMEWORK_rmm] = "RAPIDS",
        [OOM_FRAMEWORK_julia] = "Julia",
        [OOM_FRAMEWORK_ggml] = "ggml",
        [OOM_FRAMEWORK_ollama] = "Ollama",
    };
    return (size_t)framework < sizeof(titles) / sizeof(titles[0]) ? titles[framework] : NULL;
}

const char *oom_program_name(enum oom_program program)
{
    return program == OOM_PROGRAM_not_known ? NULL : program_names[program];
}

const char *oom_program_title(enum oom_program program)
{
    return program == OOM_PROGRAM_not_known ? NULL : program_titles[program];
}

const char *oom_activity_name(enum oom_activity activity)
{
    return activity == OOM_ACTIVITY_not_known ? NULL : activity_names[activity];
}

const char *oom_activity_phrase(enum oom_activity activity)
{
    return activity == OOM_ACTIVITY_not_known ? NULL : activity_phrases[activity];
}

const char *oom_memory_name(enum oom_memory memory)
{
    static const char *const names[] = {
#define MEMORY(name) #name,
#include "read/oom/families.def"
    };
    return memory == OOM_MEMORY_not_known ? NULL : names[memory];
}

enum oom_memory oom_family_memory(enum oom_family family)
{
    static const enum oom_memory memories[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) OOM_MEMORY_##memory,
#include "read/oom/families.def"
    };
    return memories[family];
}

const char *oom_looked_for(size_t at)
{
    static const char *const kinds[] = {
#define LOOKED_FOR(text) text,
#include "read/oom/families.def"
    };
    return at < sizeof(kinds) / sizeof(kinds[0]) ? kinds[at] : NULL;
}

bool oom_family_is_kill(enum oom_family family)
{
    return family == OOM_FAMILY_linux_kill || family == OOM_FAMILY_systemd_kill || family == OOM_FAMILY_kubernetes ||
           family == OOM_FAMILY_slurm || family == OOM_FAMILY_ray || family == OOM_FAMILY_job_limit ||
           family == OOM_FAMILY_killed;
}
