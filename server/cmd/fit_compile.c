/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/fit_compile.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/cmd/interrupts.h"
#include "server/compile/before.h"
#include "server/compile/confirm.h"
#include "server/gather/dump_beside.h"

#include <stdlib.h>
#include <string.h>

enum { TELL_EVERY_MS = 5000 };

struct fit_compile_telling {
    const char *device;
    int64_t told_ms;
};

static void fit_compile_tell(void *context, const struct compile_progress *progress)
{
    struct fit_compile_telling *telling = context;
    if (progress->took_ms - telling->told_ms < TELL_EVERY_MS)
        return;
    telling->told_ms = progress->took_ms;
    log_line("compiling for %s, %lld s, %llu MiB", telling->device, (long long)(progress->took_ms / 1000),
             (unsigned long long)(progress->resident_bytes >> 20));
}

static bool is_of_gpu(const struct analysis_device *device) { return strcmp(device->platform, "gpu") == 0; }

/* The chips to pass to the compiler: the dump's own configuration of that GPU, else one of the table; for TPUs a slice
 * with a chip for each part of the program. False: none is known. */
static bool chips_take(const struct analysis_device *device, const struct dump_beside *beside, int64_t part_count,
                       struct buf *target, char **topology)
{
    char name[ANALYSIS_TOPOLOGY_SIZE];
    struct err err = ERR_INIT;
    if (is_of_gpu(device)) {
        if (beside->target.length > 0 && strcmp(beside->gpu, device->title) == 0)
            buf_add(target, beside->target.data, beside->target.length);
        else
            analysis_device_target(device->name, target);
        *topology = memory_text(device->title);
        return target->length > 0 && !target->failed;
    }
    if (!analysis_device_topology(device->name, name, &err) || name[0] == '\0')
        return false;
    *topology = confirm_slice(name, part_count);
    if (!*topology)
        *topology = memory_text(name);
    return true;
}

static void result_take(struct compile_result *result, struct fit_compile *out)
{
    out->is_answered = result->has_figures || result->needed_bytes > 0;
    out->total_bytes = result->has_figures ? result->total_bytes : result->needed_bytes > 0 ? result->needed_bytes : -1;
    out->took_ms = result->took_ms;
    out->sentence = memory_text(result->sentence);
    out->compiler = plugin_kind_name(result->kind);
    out->version = result->plugin_version ? memory_text(result->plugin_version) : NULL;
}

void fit_compile_run(const struct options *options, const struct snapshot_session *session,
                     const struct modules_entry *entry, const struct analysis_device *device, struct fit_compile *out)
{
    struct buf before = BUF_INIT, target = BUF_INIT;
    struct compile_input input;
    struct compile_result result;
    struct dump_beside beside;
    struct err err = ERR_INIT;
    char reason[BEFORE_REASON_SIZE], *topology = NULL;
    *out = (struct fit_compile){.total_bytes = -1};
    dump_beside_read(&entry->file->file->place, &beside);
    struct fit_compile_telling telling = {.device = device->title};
    if (!before_read(session, entry->file->file, &before, reason)) {
        out->sentence = memory_format("%s.", reason);
    } else if (!analysis_compile_input_read((struct str){before.data, before.length}, &input, &err)) {
        out->sentence = memory_format("The program before optimizations cannot be read: %s.", err.text);
    } else if (!chips_take(device, &beside, input.replica_count * input.partition_count, &target, &topology)) {
        out->sentence = memory_format("No compiler is known for %s.", device->title);
    } else {
        bool is_same_platform = is_of_gpu(device) == (beside.target.length > 0);
        const struct compile_request request = {
            .module = {before.data, before.length},
            .options = {beside.options.data, is_same_platform ? beside.options.length : 0},
            .target = {target.data, target.length},
            .topology = topology,
            .plugin = target.length > 0 ? options->cuda_plugin : options->libtpu,
            .limit_ms = options->limit_seconds * 1000,
            .progress = fit_compile_tell,
            .context = &telling,
            .is_cancelled = interrupts_flag(),
        };
        compile_run(&request, &result);
        result_take(&result, out);
        compile_free(&result);
    }
    free(topology);
    buf_free(&target);
    buf_free(&before);
    dump_beside_free(&beside);
}

void fit_compile_free(struct fit_compile *compile)
{
    free(compile->sentence);
    free(compile->version);
    *compile = (struct fit_compile){.total_bytes = -1};
}
