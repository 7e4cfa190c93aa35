/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/compile.h"

#include "server/base/cgroups.h"
#include "server/base/memory.h"
#include "server/compile/compile_child.h"
#include "server/compile/compile_watch.h"
#include "server/compile/dump.h"
#include "server/compile/folder.h"
#include "server/compile/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_QUOTE = 400 };
#define MIN_LIMIT_BYTES ((uint64_t)1 << 30)

const char *compile_status_name(enum compile_status status)
{
    switch (status) {
    case COMPILE_DONE: return "done";
    case COMPILE_DOES_NOT_FIT: return "does_not_fit";
    case COMPILE_NO_LIBTPU: return "no_libtpu";
    case COMPILE_NO_PLUGIN: return "no_plugin";
    case COMPILE_UNKNOWN_VERSION: return "unknown_version";
    case COMPILE_REFUSED: return "refused";
    case COMPILE_CRASHED: return "crashed";
    case COMPILE_TIMED_OUT: return "timed_out";
    case COMPILE_OUT_OF_MEMORY: return "out_of_memory";
    case COMPILE_TOO_MUCH_OUTPUT: return "too_much_output";
    case COMPILE_CANCELLED: return "cancelled";
    case COMPILE_CANNOT_START: return "cannot_start";
    }
    return "cannot_start";
}

const char *compile_stage_name(enum compile_stage stage)
{
    static const char *const names[] = {"starting", "loading", "compiling", "code"};
    return names[stage];
}

/* ---- Sentences ------------------------------------------------------------------ */

/* A line of somebody else's, in so many bytes, as part of a sentence. */
static void put_quote(struct buf *out, struct str text)
{
    while (text.length > 0 && (str_is_control(text.data[text.length - 1]) || text.data[text.length - 1] == '.'))
        text.length--;
    struct str cut = {text.data, str_cut(text, MAX_QUOTE)};
    for (size_t at = 0; at < cut.length; at++)
        buf_char(out, str_is_control(cut.data[at]) ? ' ' : cut.data[at]);
    buf_text(out, cut.length < text.length ? "…" : "");
}

static void compile_say(struct compile_result *result, enum compile_status status, struct buf *sentence)
{
    buf_char(sentence, '\0');
    result->status = status;
    result->sentence =
        sentence->failed ? memory_text("There is no memory left to say what happened.") : memory_text(sentence->data);
    buf_free(sentence);
}

static void put_plugin(struct buf *out, const struct compile_result *result)
{
    buf_text(out, plugin_kind_name(result->kind));
    if (result->plugin_version)
        buf_format(out, " %s", result->plugin_version);
    else if (result->build > 0)
        buf_format(out, " cl/%llu", (unsigned long long)result->build);
}

static void say_refusal(struct compile_result *result, enum compile_status status, const char *reason, struct str text)
{
    struct buf sentence = BUF_INIT;
    buf_text(&sentence, reason);
    put_quote(&sentence, text);
    buf_char(&sentence, '.');
    compile_say(result, status, &sentence);
}

static const char *doing(enum compile_stage stage)
{
    switch (stage) {
    case COMPILE_STAGE_STARTING: return "before it was loaded";
    case COMPILE_STAGE_LOADING: return "while it was loaded";
    case COMPILE_STAGE_COMPILING: return "while it compiled";
    case COMPILE_STAGE_CODE: return "while it generated code";
    }
    return "while it compiled";
}

/* The first line of its output by which it took itself down: "F1123 06:09:08.480900 22910 file.h:1847] Check
 * failed". */
static struct str fatal_line(const struct buf *output)
{
    const char *at = output->data, *end = at ? at + output->length : at;
    while (at && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct str line = {at, (size_t)((stop ? stop : end) - at)};
        const char *text = memmem(line.data, line.length, "] ", 2);
        if (line.length > 5 && line.data[0] == 'F' && str_digits(line, 1) == 4 && text)
            return (struct str){text + 2, line.length - (size_t)(text + 2 - line.data)};
        at = stop ? stop + 1 : end;
    }
    return (struct str){NULL, 0};
}

static void say_death(struct compile_result *result, const struct compile_watch *watch)
{
    struct buf sentence = BUF_INIT;
    struct str fatal = fatal_line(&watch->output);
    int status = watch->wait_status;
    put_plugin(&sentence, result);
    if (WIFSIGNALED(status))
        buf_format(&sentence, " ended by signal %d (%s) ", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        buf_format(&sentence, " ended with status %d ", WEXITSTATUS(status));
    buf_text(&sentence, doing(watch->stage));
    if (fatal.length > 0) {
        buf_text(&sentence, ": ");
        put_quote(&sentence, fatal);
    }
    if (str_contains(fatal, STR("libdevice")))
        buf_text(&sentence, "; it needs the package nvidia-cuda-nvcc beside it");
    buf_char(&sentence, '.');
    compile_say(result, COMPILE_CRASHED, &sentence);
}

static void say_end(struct compile_result *result, enum compile_status status, const struct compile_watch *watch,
                    const char *reason, uint64_t figure, const char *unit)
{
    struct buf sentence = BUF_INIT;
    put_plugin(&sentence, result);
    buf_format(&sentence, " was ended %s: %s", doing(watch->stage), reason);
    if (figure > 0)
        buf_format(&sentence, " %llu %s", (unsigned long long)figure, unit);
    buf_char(&sentence, '.');
    compile_say(result, status, &sentence);
}

static void say_done(struct compile_result *result, const char *topology)
{
    struct buf sentence = BUF_INIT;
    buf_text(&sentence, "Compiled by ");
    put_plugin(&sentence, result);
    buf_format(&sentence, " for %s in %.1f s: ", topology, (double)result->took_ms / 1000);
    buf_text(&sentence, result->is_of_compiler ? "the compiler's own count."
                                               : "the buffer assignment that it dumped; no code was generated.");
    compile_say(result, COMPILE_DONE, &sentence);
}

/* The result */

static void set_figures(struct compile_result *result, const struct confirmed_figures *figures, bool is_of_compiler)
{
    result->figures = *figures;
    result->total_bytes = analysis_confirmed_total_bytes(figures);
    result->has_figures = true;
    result->is_of_compiler = is_of_compiler;
}

static void take_dump(struct compile_result *result, const char *dump, struct err *err)
{
    struct confirmed_figures figures;
    bool is_final;
    result->module_path = dump_find(dump, &is_final);
    if (!result->module_path)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "the compiler dumped no buffer assignment");
    else if (dump_figures(result->module_path, &figures, &result->peak_bytes, err))
        set_figures(result, &figures, false);
}

/* For the CUDA plug-in, libraries of other packages are missing as well, because JAX loads them first. */
static void say_no_load(struct compile_result *result, struct str text)
{
    struct buf sentence = BUF_INIT;
    buf_format(&sentence, "%s could not be loaded: ", plugin_kind_name(result->kind));
    put_quote(&sentence, text);
    if (result->kind == PLUGIN_CUDA && str_contains(text, STR("cannot open shared object file")))
        buf_text(&sentence,
                 "; it needs the nvidia-* packages beside it, which pip install \"jax[cuda12]\" (or cuda13) brings");
    buf_char(&sentence, '.');
    compile_say(result, result->kind == PLUGIN_CUDA ? COMPILE_NO_PLUGIN : COMPILE_NO_LIBTPU, &sentence);
}

/* The file beside the program has the fields of the release that wrote it. */
static void say_other_release(struct compile_result *result, struct str text)
{
    struct buf sentence = BUF_INIT;
    put_plugin(&sentence, result);
    buf_text(&sentence,
             " cannot read the target configuration of the GPU, so it is of another release than the dump; the "
             "plug-in of the dump's release is needed (pip install \"jax[cuda12]==RELEASE\"): ");
    put_quote(&sentence, text);
    buf_char(&sentence, '.');
    compile_say(result, COMPILE_REFUSED, &sentence);
}

static void take_refusal(struct compile_result *result, const struct compile_watch *watch, const char *dump)
{
    struct analysis_capacity capacity = {0};
    struct err err = ERR_INIT;
    const struct str text = {watch->fault_text.data, watch->fault_text.length};
    switch ((enum compile_report_cause)watch->fault.cause) {
    case COMPILE_REPORT_CANNOT_START:
        say_refusal(result, COMPILE_CANNOT_START, "The compile could not be started: ", text);
        return;
    case COMPILE_REPORT_CANNOT_LOAD: say_no_load(result, text); return;
    case COMPILE_REPORT_UNKNOWN_TABLE:
        say_refusal(
            result, COMPILE_UNKNOWN_VERSION,
            result->kind == PLUGIN_CUDA ? "This CUDA plug-in is not known: " : "This libtpu is not known: ", text);
        return;
    case COMPILE_REPORT_REFUSED: break;
    }
    result->text = memory_format("%.*s", (int)text.length, text.length > 0 ? text.data : "");
    if (result->kind == PLUGIN_CUDA && str_contains(text, STR("GpuTargetConfigProto"))) {
        say_other_release(result, text);
        return;
    }
    bool has_capacity = analysis_capacity_from_text(result->text, strlen(result->text), &capacity);
    bool is_of_hbm = has_capacity && capacity.space == 0 && capacity.has_needed;
    if (is_of_hbm) {
        result->needed_bytes = (int64_t)capacity.needed_bytes;
        result->available_bytes = (int64_t)capacity.available_bytes;
        take_dump(result, dump, &err);
        say_refusal(result, COMPILE_DOES_NOT_FIT, "It does not fit: ", text);
    } else {
        say_refusal(result, COMPILE_REFUSED, "The compiler refuses it: ", text);
    }
}

static void take_figures(struct compile_result *result, const struct compile_watch *watch,
                         const struct compile_request *request, const char *dump)
{
    struct err err = ERR_INIT;
    take_dump(result, dump, &err);
    if (watch->has_stats) {
        const struct confirmed_figures figures = {watch->stats.argument_bytes, watch->stats.output_bytes,
                                                  watch->stats.alias_bytes, watch->stats.temporary_bytes};
        set_figures(result, &figures, true);
    }
    if (result->has_figures)
        say_done(result, request->topology);
    else
        say_refusal(result, COMPILE_CRASHED, "What the compiler dumped cannot be read: ", str_of(err.text));
}

/* A compiler for GPUs goes on to start ptxas, which the box does not let it: what it dumped before counts. */
static void take_death(struct compile_result *result, const struct compile_watch *watch,
                       const struct compile_request *request, const char *dump)
{
    struct err err = ERR_INIT;
    if (result->kind == PLUGIN_CUDA)
        take_dump(result, dump, &err);
    if (result->has_figures)
        say_done(result, request->topology);
    else
        say_death(result, watch);
}

static void take_end(struct compile_result *result, const struct compile_watch *watch,
                     const struct compile_request *request, const char *dump)
{
    switch (watch->end) {
    case COMPILE_WATCH_REPORTED:
        if (watch->has_fault)
            take_refusal(result, watch, dump);
        else
            take_figures(result, watch, request, dump);
        return;
    case COMPILE_WATCH_STOPPED: take_figures(result, watch, request, dump); return;
    case COMPILE_WATCH_DIED: take_death(result, watch, request, dump); return;
    case COMPILE_WATCH_GARBLED:
        say_end(result, COMPILE_CRASHED, watch, "what it reported cannot be read", 0, "");
        return;
    case COMPILE_WATCH_TIME:
        say_end(result, COMPILE_TIMED_OUT, watch, "it took longer than", (uint64_t)request->limit_ms / 1000, "s");
        return;
    case COMPILE_WATCH_MEMORY:
        say_end(result, COMPILE_OUT_OF_MEMORY, watch, "it took more memory than", request->limit_bytes >> 20, "MiB");
        return;
    case COMPILE_WATCH_OUTPUT:
        say_end(result, COMPILE_TOO_MUCH_OUTPUT, watch, "it printed more than", watch->output_bytes >> 20, "MiB");
        return;
    case COMPILE_WATCH_CANCELLED: say_end(result, COMPILE_CANCELLED, watch, "cancelled", 0, ""); return;
    }
}

/* ---- The request ----------------------------------------------------------------- */

/* The files that the child reads, in `folder`. */
static bool files_write(const struct compile_request *request, const struct compile_input *input, const char *folder,
                        struct err *err)
{
    struct buf options = BUF_INIT;
    bool is_done = analysis_compile_input_options(input, request->options, request->partition_count,
                                                  STR(COMPILE_CHILD_DUMP), &options, err) &&
                   folder_write(folder, COMPILE_CHILD_MODULE, input->module, err) &&
                   (request->target.length == 0 || folder_write(folder, COMPILE_CHILD_TARGET, request->target, err)) &&
                   folder_write(folder, COMPILE_CHILD_OPTIONS, (struct str){options.data, options.length}, err);
    buf_free(&options);
    return is_done;
}

static uint64_t default_limit_bytes(void)
{
    uint64_t half = cgroups_usable_memory_bytes() / 2;
    return half > MIN_LIMIT_BYTES ? half : MIN_LIMIT_BYTES;
}

/* Where the dump is, absolute. In `folder` it has one fixed name, so that the child needs no other path: this process
 * and the child work in different folders, and a flag ends at a space. NULL with `io` or `conflict`. */
static char *dump_make(const struct compile_request *request, const char *folder, struct err *err)
{
    char *inside = memory_format("%s/" COMPILE_CHILD_DUMP, folder), *dump = NULL;
    if (!request->folder)
        dump = folder_make_at(inside, err) ? memory_text(inside) : NULL;
    else if (folder_make_at(request->folder, err))
        dump = folder_link(request->folder, inside, err);
    free(inside);
    return dump;
}

/* The chips as the child gets them: unchanged, or for GPUs "1x1x8", which are slices, hosts and GPUs of a host. */
static char *chips_of(const struct compile_request *request, const struct compile_input *input)
{
    int64_t partition_count = request->partition_count > 0 ? request->partition_count : input->partition_count;
    if (request->target.length == 0)
        return memory_text(request->topology);
    return memory_format("1x1x%lld", (long long)(input->replica_count * partition_count));
}

static void run_in(const struct compile_request *request, struct compile_result *result, const struct plugin *plugin,
                   const char *folder)
{
    struct compile_watch watch = {.version = BUF_INIT};
    struct compile_input input;
    struct err err = ERR_INIT;
    char *dump = dump_make(request, folder, &err), *chips = NULL;
    if (dump && analysis_compile_input_read(request->module, &input, &err))
        chips = chips_of(request, &input);
    if (chips && files_write(request, &input, folder, &err) &&
        compile_watch_run(&watch, request, plugin, chips, folder, dump, &err)) {
        buf_char(&watch.version, '\0');
        result->build = watch.version.failed ? 0 : analysis_confirmed_build(watch.version.data);
        result->took_ms = watch.took_ms;
        result->resident_bytes = watch.resident_bytes;
        take_end(result, &watch, request, dump);
    } else {
        say_refusal(result, COMPILE_CANNOT_START, "The compile could not be started: ", str_of(err.text));
    }
    compile_watch_free(&watch);
    free(chips);
    result->folder = dump;
}

void compile_run(const struct compile_request *asked, struct compile_result *result)
{
    struct compile_request request = *asked;
    struct plugin plugin;
    struct err err = ERR_INIT;
    *result = (struct compile_result){.peak_bytes = -1, .module_descriptor = -1};
    request.limit_ms = asked->limit_ms > 0 ? asked->limit_ms : COMPILE_LIMIT_MS;
    request.limit_bytes = asked->limit_bytes > 0 ? asked->limit_bytes : default_limit_bytes();
    result->kind = request.target.length > 0 ? PLUGIN_CUDA : PLUGIN_TPU;
    if (result->kind == PLUGIN_CUDA) {
        request.topology = request.topology ? request.topology : "a GPU";
    } else if (!request.topology || !analysis_compile_input_is_topology(str_of(request.topology))) {
        say_refusal(result, COMPILE_CANNOT_START, "The compile could not be started: ",
                    str_of(request.topology ? "a topology is written as v5e:2x2"
                                            : "the dump does not say for which chip; --topology=v5e:2x2 says it"));
        return;
    }
    if (!plugin_find(result->kind, request.plugin, &plugin, &err)) {
        say_refusal(result, result->kind == PLUGIN_CUDA ? COMPILE_NO_PLUGIN : COMPILE_NO_LIBTPU,
                    "No compiler: ", str_of(err.text));
        plugin_free(&plugin);
        return;
    }
    result->plugin = memory_text(plugin.path);
    result->plugin_version = plugin.version ? memory_text(plugin.version) : NULL;
    char *folder = folder_make(&err);
    if (folder)
        run_in(&request, result, &plugin, folder);
    else
        say_refusal(result, COMPILE_CANNOT_START, "The compile could not be started: ", str_of(err.text));
    plugin_free(&plugin);
    result->work = folder;
}

void compile_drop_files(struct compile_result *result)
{
    if (result->work)
        folder_remove(result->work);
    free(result->work);
    result->work = NULL;
}

void compile_free(struct compile_result *result)
{
    compile_drop_files(result);
    if (result->module_descriptor > 0) /* 0: of a result that was never filled */
        close(result->module_descriptor);
    char *texts[] = {result->sentence,    result->text,   result->folder,
                     result->module_path, result->plugin, result->plugin_version};
    for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++)
        free(texts[at]);
    *result = (struct compile_result){0};
}
