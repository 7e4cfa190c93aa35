/* SPDX-License-Identifier: Apache-2.0 */
#include "read/space.h"

const char *space_platform_name(enum space_platform platform)
{
    static const char *const names[] = {"unknown", "tpu", "gpu", "cpu"};
    return names[platform];
}

static bool space_holds(struct str text, struct str part)
{
    return text.length >= part.length && memmem(text.data, text.length, part.data, part.length) != NULL;
}

enum space_platform space_platform_of(struct str backend_config, struct str custom_call_target)
{
    if (str_starts(custom_call_target, STR("tpu_custom_call")) ||
        space_holds(backend_config, STR("\"scoped_memory_configs\"")))
        return SPACE_PLATFORM_TPU;
    if (str_starts(custom_call_target, STR("__cu")) || str_starts(custom_call_target, STR("__gpu$")) ||
        str_starts(custom_call_target, STR("__triton")) ||
        space_holds(backend_config, STR("\"fusion_backend_config\"")) ||
        space_holds(backend_config, STR("\"gemm_backend_config\"")) ||
        space_holds(backend_config, STR("\"operation_queue_id\"")))
        return SPACE_PLATFORM_GPU;
    if (str_starts(custom_call_target, STR("__onednn")) ||
        space_holds(backend_config, STR("\"outer_dimension_partitions\"")))
        return SPACE_PLATFORM_CPU;
    return SPACE_PLATFORM_UNKNOWN;
}

const char *space_name(enum space_platform platform, int64_t space)
{
    static const char *const tpu[] = {"HBM",
                                      "VMEM",
                                      "Sflag",
                                      "CMEM",
                                      "SMEM",
                                      "Host",
                                      "Workspace register",
                                      "SparseCore private stack HBM",
                                      "SparseCore sequencer sflag",
                                      "Pinned HBM",
                                      "SparseCore tile sflag"};
    static const char *const gpu[] = {"Device memory", "Collective memory", "Temporary buffers", NULL, NULL, "Host"};
    if (platform == SPACE_PLATFORM_TPU && space >= 0 && space < (int64_t)(sizeof(tpu) / sizeof(tpu[0])))
        return tpu[space];
    if (platform == SPACE_PLATFORM_GPU && space >= 0 && space < (int64_t)(sizeof(gpu) / sizeof(gpu[0])))
        return gpu[space];
    if (space != 0)
        return NULL;
    return platform == SPACE_PLATFORM_CPU       ? "Host memory"
           : platform == SPACE_PLATFORM_UNKNOWN ? "Default memory"
                                                : NULL;
}
