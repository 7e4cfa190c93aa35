/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/confirm.h"

#include "server/base/memory.h"
#include "server/compile/before.h"
#include "server/compile/dump.h"
#include "server/gather/dump_beside.h"

#include <stdlib.h>
#include <string.h>

const char *confirm_stage_name(enum confirm_stage stage)
{
    static const char *const names[] = {"reading", "base", "changed"};
    return names[stage];
}

/* What is read before anything is compiled. */
struct work {
    const struct confirm_request *request;
    struct confirm_result *result;
    struct buf before; /* the program before optimizations */
    struct dump_beside beside;
    struct analysis_changed changed;
    bool is_gpu; /* the chip that is compiled for, as the dump tells it */
    enum confirm_stage stage;
};

static bool obstacle(struct confirm_result *result, const char *status, const char *reason, const char *text)
{
    struct confirmation *confirmation = &result->confirmation;
    size_t length = strlen(text);
    bool has_stop = length > 0 && strchr(".!?", text[length - 1]);
    result->obstacle = memory_format("%s%s%s", reason, text, has_stop ? "" : ".");
    confirmation->obstacle_status = status;
    confirmation->obstacle = result->obstacle;
    return false;
}

static bool is_stopped(const struct work *work)
{
    return work->request->is_cancelled && atomic_load(work->request->is_cancelled);
}

/* Checked between two steps; reading and changing end by themselves. */
static bool goes_on(const struct work *work)
{
    if (!is_stopped(work))
        return true;
    work->result->is_cancelled = true;
    return obstacle(work->result, "cancelled", "Cancelled before anything was compiled", "");
}

static bool program_before_read(struct work *work)
{
    char reason[BEFORE_REASON_SIZE];
    return before_read(work->request->session, work->request->module, &work->before, reason) ||
           obstacle(work->result, "no_program", reason, "");
}

/* ---- the compiled program, and the changes ---- */

static const struct analysis_program *program_find(const struct analysis_contents *contents, const char *key)
{
    for (size_t at = 0; at < contents->program_count; at++)
        if (!key || strcmp(contents->programs[at].key, key) == 0)
            return &contents->programs[at];
    return NULL;
}

static bool changes_do(struct work *work, const struct source *source, const struct analysis_program *program,
                       struct err *err)
{
    struct confirmation *confirmation = &work->result->confirmation;
    const struct analysis_reading reading = {
        .kind = ANALYSIS_MODULE, .program = program, .libraries = work->request->libraries};
    struct analysis_subject *subject = analysis_subject_read(source, &reading, err);
    bool is_done = subject && dump_subject_figures(subject, &confirmation->dump, &confirmation->dump_peak_bytes, err);
    if (!is_done) {
        obstacle(work->result, "no_plan", "The plan of the dump cannot be read: ", err->text);
    } else if (!goes_on(work)) {
        is_done = false;
    } else if (!analysis_change(subject, (struct str){work->before.data, work->before.length}, work->request->changes,
                                work->request->change_count, &work->changed, err)) {
        is_done = obstacle(work->result, "not_editable", "The program cannot be changed so: ", err->text);
    } else {
        confirmation->predicted_bytes = work->changed.predicted_total_bytes;
        confirmation->changed_count = work->changed.changed_count;
        confirmation->left_count = work->changed.left_count;
        confirmation->partial = work->changed.partial;
    }
    analysis_subject_free(subject);
    return is_done;
}

static bool program_read(struct work *work)
{
    struct err err = ERR_INIT;
    struct file *file = files_open(&work->request->module->place, &err);
    struct analysis_contents *contents = file ? analysis_contents_read(files_source(file), &err) : NULL;
    const struct analysis_program *program = contents ? program_find(contents, work->request->key) : NULL;
    bool is_done = false;
    if (program)
        is_done = changes_do(work, files_source(file), program, &err);
    else
        obstacle(work->result, "no_plan", "The plan of the dump cannot be read: ",
                 err_is_set(&err) ? err.text : "the file holds no such program");
    analysis_contents_free(contents);
    if (file)
        files_close(file);
    return is_done;
}

/* ---- compiling ---- */

static void confirm_tell(void *context, const struct compile_progress *progress)
{
    const struct work *work = context;
    if (work->request->progress)
        work->request->progress(work->request->context, work->stage, progress);
}

/* `capacity_bytes`: of a GPU, where a program that does not fit is compiled all the same; 0: not known. */
static void confirm_take(const struct compile_result *from, uint64_t capacity_bytes, struct confirmation_compile *to)
{
    to->status = compile_status_name(from->status);
    to->sentence = from->sentence;
    to->has_figures = from->has_figures;
    to->does_fit = from->status == COMPILE_DONE &&
                   (capacity_bytes == 0 || !from->has_figures || (uint64_t)from->total_bytes <= capacity_bytes);
    to->figures = from->figures;
    to->needed_bytes = from->status == COMPILE_DOES_NOT_FIT ? from->needed_bytes : 0;
    to->available_bytes = from->available_bytes > 0 ? from->available_bytes : (int64_t)capacity_bytes;
    to->peak_bytes = from->has_figures ? from->peak_bytes : -1;
    to->took_ms = from->took_ms;
    to->resident_bytes = from->resident_bytes;
}

char *confirm_slice(const char *topology, int64_t partition_count)
{
    static const struct {
        const char *chip, *sizes;
        int64_t count;
    } slices[] = {
        {"v5e", "2x4", 8},     {"v5e", "4x4", 16},    {"v5e", "4x8", 32},   {"v5e", "8x8", 64},   {"v5e", "8x16", 128},
        {"v5e", "16x16", 256}, {"v6e", "2x4", 8},     {"v6e", "4x4", 16},   {"v6e", "4x8", 32},   {"v6e", "8x8", 64},
        {"v6e", "8x16", 128},  {"v6e", "16x16", 256}, {"v4", "2x2x2", 8},   {"v4", "2x2x4", 16},  {"v4", "2x4x4", 32},
        {"v4", "4x4x4", 64},   {"v5p", "2x2x2", 8},   {"v5p", "2x2x4", 16}, {"v5p", "2x4x4", 32}, {"v5p", "4x4x4", 64},
    };
    int64_t count = 1;
    const char *sizes = topology ? strchr(topology, ':') : NULL;
    for (const char *at = sizes; at && *at; at += strcspn(at + 1, "x") + 1)
        if (__builtin_mul_overflow(count, strtoll(at + 1, NULL, 10), &count))
            return NULL; /* no topology: compiling for it reports the fault */
    for (size_t at = 0; sizes && count < partition_count && at < sizeof(slices) / sizeof(slices[0]); at++)
        if (slices[at].count >= partition_count && strlen(slices[at].chip) == (size_t)(sizes - topology) &&
            strncmp(slices[at].chip, topology, (size_t)(sizes - topology)) == 0)
            return memory_format("%s:%s", slices[at].chip, slices[at].sizes);
    return NULL;
}

/* False: it says nothing of what is needed. */
static bool confirm_compile(struct work *work, enum confirm_stage stage, struct str module, int64_t partition_count,
                            struct compile_result *result, struct confirmation_compile *to)
{
    const struct confirm_request *request = work->request;
    struct confirm_result *confirmed = work->result;
    if (stage == CONFIRM_CHANGED && !work->is_gpu)
        confirmed->slice = confirm_slice(confirmed->topology, partition_count);
    to->topology = confirmed->slice ? confirmed->slice : confirmed->topology;
    const struct compile_request asked = {
        .module = module,
        .options = {work->beside.options.data, work->beside.options.length},
        .partition_count = partition_count,
        .target = {work->beside.target.data, work->is_gpu ? work->beside.target.length : 0},
        .topology = to->topology,
        .plugin = work->is_gpu ? request->cuda_plugin : request->libtpu,
        .limit_ms = request->limit_ms,
        .limit_bytes = request->limit_bytes,
        .folder = stage == CONFIRM_CHANGED ? request->folder : NULL,
        .progress = confirm_tell,
        .context = work,
        .is_cancelled = request->is_cancelled,
    };
    work->stage = stage;
    if (work->request->apart)
        compile_apart_run(work->request->apart, &asked, result);
    else
        compile_run(&asked, result);
    confirm_take(result, work->is_gpu ? work->beside.memory_bytes : 0, to);
    confirmed->is_cancelled |= result->status == COMPILE_CANCELLED;
    return result->has_figures || to->needed_bytes > 0;
}

static void compile_both(struct work *work)
{
    struct confirm_result *result = work->result;
    const struct compile_result *base = work->request->base ? work->request->base : &result->base;
    struct confirmation *confirmation = &result->confirmation;
    const struct str before = {work->before.data, work->before.length};
    const struct str after = {work->changed.program.data, work->changed.program.length};
    bool is_answered = work->request->base != NULL;
    if (is_answered) {
        confirm_take(base, work->is_gpu ? work->beside.memory_bytes : 0, &confirmation->base);
        confirmation->base.topology = result->topology;
    } else {
        is_answered = confirm_compile(work, CONFIRM_BASE, before, 0, &result->base, &confirmation->base);
    }
    confirmation->compiler = plugin_kind_name(base->kind);
    confirmation->compiler_version = base->plugin_version;
    confirmation->compiler_build = base->build;
    if (!is_answered)
        return;
    confirm_compile(work, CONFIRM_CHANGED, after, work->changed.partition_count, &result->changed,
                    &confirmation->changed);
    if (work->request->folder)
        confirmation->plan = result->changed.module_path;
}

static void topology_take(struct work *work)
{
    struct confirmation *confirmation = &work->result->confirmation;
    dump_beside_read(&work->request->module->place, &work->beside);
    if (work->request->topology) {
        work->result->topology = memory_text(work->request->topology);
        confirmation->topology_source = "given";
    } else if (work->beside.source) {
        work->is_gpu = work->beside.target.length > 0;
        work->result->topology = memory_text(!work->is_gpu         ? work->beside.topology
                                             : work->beside.gpu[0] ? work->beside.gpu
                                                                   : "a GPU");
        confirmation->topology_source = work->beside.source;
    } else if (work->request->otherwise) {
        work->result->topology = memory_text(work->request->otherwise);
        confirmation->topology_source = "given";
    }
    confirmation->topology = work->result->topology;
    confirmation->is_gpu = work->is_gpu;
}

void confirm_run(const struct confirm_request *request, struct confirm_result *result)
{
    struct work work = {.request = request, .result = result, .before = BUF_INIT, .changed = {.program = BUF_INIT}};
    const struct compile_progress begin = {.stage = COMPILE_STAGE_STARTING};
    *result = (struct confirm_result){.confirmation = {.dump_peak_bytes = -1, .predicted_bytes = -1}};
    result->confirmation.dump_build = analysis_confirmed_build(request->module->path);
    confirm_tell(&work, &begin);
    topology_take(&work);
    if (program_before_read(&work) && goes_on(&work) && program_read(&work) && goes_on(&work))
        compile_both(&work);
    compile_drop_files(&result->base);
    if (request->folder)
        compile_drop_files(&result->changed);
    dump_beside_free(&work.beside);
    analysis_changed_free(&work.changed);
    buf_free(&work.before);
}

void confirm_free(struct confirm_result *result)
{
    compile_free(&result->base);
    compile_free(&result->changed);
    free(result->obstacle);
    free(result->topology);
    free(result->slice);
    *result = (struct confirm_result){0};
}
