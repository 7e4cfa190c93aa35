/* SPDX-License-Identifier: Apache-2.0 */
#include "read/gpu_target.h"

#include <string.h>

static const struct target {
    const char *device;
    int major, minor, core_count, lane_count, thread_count, shared_kib, shared_optin_kib, l2_kib, bandwidth_gb,
        clock_mhz;
} TARGETS[] = {
#define TARGET(device, major, minor, cores, lanes, threads, shared, shared_optin, l2, bandwidth, clock)                \
    {device, major, minor, cores, lanes, threads, shared, shared_optin, l2, bandwidth, clock},
#include "read/gpu_target.def"
#undef TARGET
};

static void target_put(const struct target *target, const struct device *device, struct buf *out)
{
    size_t name_length = strcspn(device->kinds, "|");
    buf_text(out, "gpu_device_info {\n  threads_per_block_limit: 1024\n  threads_per_warp: 32\n"
                  "  shared_memory_per_block: 49152\n  block_dim_limit_x: 2147483647\n  block_dim_limit_y: 65535\n"
                  "  block_dim_limit_z: 65535\n  thread_dim_limit_x: 1024\n  thread_dim_limit_y: 1024\n"
                  "  thread_dim_limit_z: 64\n  registers_per_core_limit: 65536\n  registers_per_block_limit: 65536\n");
    buf_format(out, "  shared_memory_per_core: %d\n  shared_memory_per_block_optin: %d\n", target->shared_kib * 1024,
               target->shared_optin_kib * 1024);
    buf_format(out, "  threads_per_core_limit: %d\n  core_count: %d\n  fpus_per_core: %d\n", target->thread_count,
               target->core_count, target->lane_count);
    buf_format(out, "  memory_bandwidth: %d000000000\n  l2_cache_size: %d\n  clock_rate_ghz: %d.%03d\n",
               target->bandwidth_gb, target->l2_kib * 1024, target->clock_mhz / 1000, target->clock_mhz % 1000);
    buf_format(out, "  device_memory_size: %lld\n  cuda_compute_capability {\n    major: %d\n",
               (long long)device->physical_bytes, target->major);
    if (target->minor > 0)
        buf_format(out, "    minor: %d\n", target->minor);
    if (target->major >= 9) /* sm_90a, as JAX compiles for it */
        buf_text(out, "    feature_extension: ACCELERATED_FEATURES\n");
    buf_text(out, "  }\n}\nplatform_name: \"CUDA\"\ndnn_version_info {\n  major: 9\n}\n");
    buf_format(out, "device_description_str: \"%.*s\"\n", (int)name_length, device->kinds);
}

bool gpu_target_write(const struct device *device, struct buf *out)
{
    for (size_t at = 0; at < sizeof(TARGETS) / sizeof(TARGETS[0]); at++)
        if (strcmp(TARGETS[at].device, device->name) == 0) {
            target_put(&TARGETS[at], device, out);
            return true;
        }
    return false;
}
