/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/device_fit.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "verdict/capacity.h"

#include <string.h>

bool device_fit_is_least(const struct device_fit_job *job) { return job->failed_bytes > 0; }

int64_t device_fit_needed_bytes(const struct device_fit_job *job)
{
    return device_fit_is_least(job) ? sum_add(job->total_bytes, job->failed_bytes) : job->total_bytes;
}

static bool is_split(const struct device_fit_job *job) { return job->is_program && job->part_count > 1; }

static bool is_own(const struct device_fit_job *job, const char *device_name)
{
    return job->own_device != NULL && strcmp(job->own_device, device_name) == 0;
}

bool device_fit_may_compile(const struct device_fit_job *job, const char *device_name)
{
    return job->is_program && !is_split(job) && !is_own(job, device_name);
}

/* ---- what is needed ---- */

const char *device_fit_sentence(const struct device_fit_job *job, struct arena *arena)
{
    char size[SIZE_TEXT_BYTES];
    const char *of = device_fit_is_least(job) ? "PyTorch's segments and the request that failed"
                     : !job->is_program       ? "PyTorch's segments at their peak"
                                              : "by this dump's plan";
    return arena_format(arena, "needs %s%s%s (%s).", device_fit_is_least(job) ? "at least " : "",
                        size_text(size, (uint64_t)device_fit_needed_bytes(job)), is_split(job) ? " of each device" : "",
                        of);
}

const char *device_fit_note(const struct device_fit_job *job)
{
    if (!job->is_program)
        return "What PyTorch's segments took of the device that was recorded; another GPU's kernels may need other "
               "workspaces.";
    if (is_split(job))
        return "By this dump's plan, predicted for the split and not compiled: a bound.";
    if (!job->is_confirmed)
        return "By this dump's plan, not compiled for these devices: layouts, padding and fusions differ. --confirm "
               "compiles it.";
    return "own plan: compiled for this device in the dump. plan: that of the dump's device. Changes are predicted "
           "from the dump's plan.";
}

/* ---- one device ---- */

static struct memory_capacity device_fit_capacity(const struct device_fit_job *job, const struct device *device)
{
    bool is_stated = is_own(job, device->name) && job->own_bytes > 0 && job->own_bytes <= INT64_MAX;
    const struct capacity_usable usable =
        capacity_usable_of(device->available_bytes, is_stated ? (int64_t)job->own_bytes : device->physical_bytes);
    return (struct memory_capacity){
        .bytes = usable.bytes > 0 ? usable.bytes : -1,
        .asked_bytes = -1,
        .source = device->title,
        .device = device->name,
        .is_physical = usable.is_physical,
        .is_of_gpu = device->platform == SPACE_PLATFORM_GPU && job->is_program, /* the share is JAX's */
    };
}

static const char *device_fit_source(const struct device_fit_job *job, const struct device *device, bool is_compiled)
{
    if (is_compiled)
        return "compiled";
    if (!job->is_program)
        return "replay";
    return is_own(job, device->name) ? "own plan" : "plan";
}

void device_fit_judge(const struct device_fit_job *job, const struct device *device, int64_t compiled_bytes,
                      struct arena *arena, struct device_fit *out)
{
    const struct memory_capacity capacity = device_fit_capacity(job, device);
    int64_t needed_bytes = compiled_bytes >= 0 ? compiled_bytes : device_fit_needed_bytes(job);
    *out = (struct device_fit){
        .device = device, .source = device_fit_source(job, device, compiled_bytes >= 0), .room_bytes = -1};
    memory_fit_judge(&capacity, needed_bytes, "Device memory", arena, &out->fit);
    bool is_within = out->fit.word == MEMORY_FIT_FITS;
    out->headroom_bytes = capacity.bytes - needed_bytes;
    out->is_fitting = is_within && !device_fit_is_least(job);
    out->word = is_within && !out->is_fitting ? "perhaps" : memory_fit_word_name(out->fit.word);
    if (job->is_program && !out->is_fitting)
        out->room_bytes = out->fit.share_bytes >= 0 ? out->fit.share_bytes : capacity.bytes;
}
