/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/compile_child.h"

#include "base/buf.h"
#include "server/base/descriptors.h"
#include "server/base/memory.h"
#include "server/base/process.h"
#include "server/base/system.h"
#include "server/compile/compile_report.h"
#include "server/compile/compile_stage.h"
#include "server/compile/pjrt.h"
#include "server/sandbox/sandbox.h"

#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* No file of a dump is as large. */
#define MAX_FILE_BYTES ((rlim_t)4 << 30)

struct child {
    const struct pjrt_api *api;
    struct pjrt_topology *topology;
    struct buf module, options;
    struct buf target; /* of a GPU; else empty */
};

/* ---- Reports ------------------------------------------------------------------ */

static void compile_child_report(enum compile_report_kind kind, const void *first, size_t first_size, const char *text,
                                 size_t length)
{
    struct buf record = BUF_INIT;
    size_t room = COMPILE_REPORT_MAX_BYTES - first_size;
    length = length < room ? length : room;
    const struct compile_report_head head = {(uint32_t)kind, (uint32_t)(first_size + length)};
    buf_add(&record, &head, sizeof(head));
    buf_add(&record, first, first_size);
    buf_add(&record, text, length);
    for (size_t at = 0; at < record.length && !record.failed;) {
        ssize_t part = write(PROCESS_REPORTS_APART, record.data + at, record.length - at);
        if (part <= 0)
            break;
        at += (size_t)part;
    }
    buf_free(&record);
}

static void report_stage(enum compile_stage stage)
{
    uint32_t number = (uint32_t)stage;
    compile_child_report(COMPILE_REPORT_STAGE, &number, sizeof(number), "", 0);
}

static bool fault(enum compile_report_cause cause, int code, const char *text, size_t length)
{
    const struct compile_report_fault head = {(uint32_t)cause, code};
    compile_child_report(COMPILE_REPORT_FAULT, &head, sizeof(head), text, length);
    return false;
}

static __attribute__((format(printf, 2, 3))) bool faultf(enum compile_report_cause cause, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return fault(cause, 0, text, strlen(text));
}

/* ---- The library -------------------------------------------------------------- */

static struct pjrt_error *call(const struct pjrt_api *api, int entry, void *arguments)
{
    assert(api); /* loaded */
    return ((pjrt_call *)api->entries[entry])(arguments);
}

/* True if the call went well; else what the library says is reported. */
static bool is_done(const struct pjrt_api *api, struct pjrt_error *error)
{
    if (!error)
        return true;
    struct pjrt_error_message message = {.head = {sizeof(message), NULL}, .error = error};
    struct pjrt_error_code code = {.head = {sizeof(code), NULL}, .error = error};
    ((pjrt_note *)api->entries[PJRT_ERROR_MESSAGE])(&message);
    struct pjrt_error *second = call(api, PJRT_ERROR_GET_CODE, &code);
    return fault(COMPILE_REPORT_REFUSED, second ? 0 : code.code, message.message ? message.message : "",
                 message.message ? message.message_size : 0);
}

/* The table is only looked at as far as it says that it goes. */
static bool table_is_known(const struct pjrt_api *api)
{
    if (!api)
        return faultf(COMPILE_REPORT_CANNOT_LOAD, "GetPjrtApi gives no table");
    if (api->head.struct_size < offsetof(struct pjrt_api, entries) ||
        api->version.head.struct_size < sizeof(api->version))
        return faultf(COMPILE_REPORT_UNKNOWN_TABLE, "its table of PJRT is only %zu bytes long, its version %zu",
                      api->head.struct_size, api->version.head.struct_size);
    if (api->version.major != PJRT_MAJOR || api->version.minor < PJRT_MIN_MINOR || api->version.minor > PJRT_MAX_MINOR)
        return faultf(COMPILE_REPORT_UNKNOWN_TABLE, "it speaks version %d.%d of PJRT, known here are %d.%d to %d.%d",
                      api->version.major, api->version.minor, PJRT_MAJOR, PJRT_MIN_MINOR, PJRT_MAJOR, PJRT_MAX_MINOR);
    if (api->head.struct_size < sizeof(*api))
        return faultf(COMPILE_REPORT_UNKNOWN_TABLE, "its table of PJRT %d.%d is %zu bytes long, not at least %zu",
                      api->version.major, api->version.minor, api->head.struct_size, sizeof(*api));
    static const int needed[] = {PJRT_ERROR_DESTROY,   PJRT_ERROR_MESSAGE,
                                 PJRT_ERROR_GET_CODE,  PJRT_PLUGIN_INITIALIZE,
                                 PJRT_TOPOLOGY_CREATE, PJRT_TOPOLOGY_PLATFORM_VERSION,
                                 PJRT_COMPILE,         PJRT_EXECUTABLE_GET_MEMORY_STATS};
    for (size_t at = 0; at < sizeof(needed) / sizeof(needed[0]); at++)
        if (!api->entries[needed[at]])
            return faultf(COMPILE_REPORT_UNKNOWN_TABLE, "entry %d of its table of PJRT is empty", needed[at]);
    return true;
}

static bool library_load(struct child *child, const char *path)
{
    report_stage(COMPILE_STAGE_LOADING);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return faultf(COMPILE_REPORT_CANNOT_LOAD, "%s", dlerror());
    const struct pjrt_api *(*get_api)(void) = (const struct pjrt_api *(*)(void))dlsym(library, "GetPjrtApi");
    if (!get_api)
        return faultf(COMPILE_REPORT_CANNOT_LOAD, "it has no GetPjrtApi: not a library of PJRT");
    child->api = get_api();
    if (!table_is_known(child->api))
        return false;
    struct pjrt_head initialize = {sizeof(initialize), NULL};
    return is_done(child->api, call(child->api, PJRT_PLUGIN_INITIALIZE, &initialize));
}

static bool topology_create(struct child *child, const char *name)
{
    const struct pjrt_named_value of_gpu[] = {
        {.head = {sizeof(of_gpu[0]), NULL},
         .name = "target_config",
         .name_size = strlen("target_config"),
         .type = PJRT_NAMED_VALUE_STRING,
         .text = child->target.data,
         .value_size = child->target.length},
        {.head = {sizeof(of_gpu[0]), NULL},
         .name = "topology",
         .name_size = strlen("topology"),
         .type = PJRT_NAMED_VALUE_STRING,
         .text = name,
         .value_size = strlen(name)},
    };
    bool is_gpu = child->target.length > 0;
    struct pjrt_topology_create create = {.head = {sizeof(create), NULL},
                                          .topology_name = is_gpu ? "" : name,
                                          .topology_name_size = is_gpu ? 0 : strlen(name),
                                          .create_options = is_gpu ? of_gpu : NULL,
                                          .create_option_count = is_gpu ? 2 : 0};
    if (!is_done(child->api, call(child->api, PJRT_TOPOLOGY_CREATE, &create)))
        return false;
    struct pjrt_topology_version version = {.head = {sizeof(version), NULL}, .topology = create.topology};
    child->topology = create.topology;
    if (!is_done(child->api, call(child->api, PJRT_TOPOLOGY_PLATFORM_VERSION, &version)))
        return false;
    compile_child_report(COMPILE_REPORT_VERSION, "", 0, version.version ? version.version : "",
                         version.version ? version.version_size : 0);
    return true;
}

static void compile_child_compile(struct child *child)
{
    struct pjrt_program program = {.head = {sizeof(program), NULL},
                                   .code = child->module.data,
                                   .code_size = child->module.length,
                                   .format = "hlo",
                                   .format_size = 3};
    struct pjrt_compile compile = {.head = {sizeof(compile), NULL},
                                   .topology = child->topology,
                                   .program = &program,
                                   .options = child->options.data,
                                   .option_size = child->options.length};
    report_stage(COMPILE_STAGE_COMPILING);
    if (!is_done(child->api, call(child->api, PJRT_COMPILE, &compile)))
        return;
    struct pjrt_memory_stats stats = {.head = {sizeof(stats), NULL}, .executable = compile.executable};
    if (!is_done(child->api, call(child->api, PJRT_EXECUTABLE_GET_MEMORY_STATS, &stats)))
        return;
    const struct compile_report_stats figures = {stats.argument_bytes, stats.output_bytes, stats.alias_bytes,
                                                 stats.temporary_bytes, stats.peak_bytes};
    compile_child_report(COMPILE_REPORT_STATS, &figures, sizeof(figures), "", 0);
}

/* ---- The process -------------------------------------------------------------- */

static bool file_read(const char *name, struct buf *out)
{
    ssize_t part = -1;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    while (file >= 0) {
        char *to = buf_reserve(out, 1 << 16);
        part = to ? read(file, to, 1 << 16) : -1;
        if (part <= 0)
            break;
        out->length += (size_t)part;
    }
    if (file >= 0)
        close(file);
    return part == 0 || faultf(COMPILE_REPORT_CANNOT_START, "%s cannot be read", name);
}

/* Before any code of the library runs. */
static void process_bind(void)
{
    const struct rlimit no_core = {0, 0}, file = {MAX_FILE_BYTES, MAX_FILE_BYTES};
    system_end_with_parent();
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &file);
    /* Descriptors of the daemon that were not marked to be closed; where memory runs out, this one goes first. */
    descriptors_close_from(PROCESS_REPORTS_APART + 1);
    FILE *score = fopen("/proc/self/oom_score_adj", "we");
    if (score) {
        fputs("1000", score);
        fclose(score);
    }
}

/* What a library of others may do: read itself, what it is linked with and what it asks the system, and write into the
 * folder that this process works in and the one that it dumps into. No program, no socket, no other process. */
static void box_put_on(const char *library)
{
    static const char *const system[] = {"/usr", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/proc", "/sys", "/dev"};
    struct sandbox *sandbox = sandbox_new(SANDBOX_COMPILER);
    char *folder = memory_text(library);
    char *dump = realpath(COMPILE_CHILD_DUMP, NULL);
    const char *variable = getenv("LD_LIBRARY_PATH");
    char *places = memory_text(variable ? variable : "");
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    char *nvidia = memory_format("%s/../../nvidia", folder); /* beside jax_plugins: libdevice, which is no library */
    for (size_t at = 0; at < sizeof(system) / sizeof(system[0]); at++)
        sandbox_reads(sandbox, system[at]);
    sandbox_reads(sandbox, folder);
    sandbox_reads(sandbox, nvidia);
    for (char *rest = places, *place; (place = strsep(&rest, ":"));)
        if (place[0] == '/')
            sandbox_reads(sandbox, place);
    sandbox_writes(sandbox, ".");
    if (dump)
        sandbox_writes(sandbox, dump);
    sandbox_enter(sandbox, NULL);
    free(places);
    free(nvidia);
    free(folder);
    free(dump);
}

int compile_child_run(char *const *arguments)
{
    static struct child child = {.module = BUF_INIT, .options = BUF_INIT, .target = BUF_INIT};
    if (!arguments[0] || !arguments[1] || fcntl(PROCESS_REPORTS_APART, F_GETFD) < 0)
        return 2;
    process_bind();
    box_put_on(arguments[0]);
    if (file_read(COMPILE_CHILD_MODULE, &child.module) && file_read(COMPILE_CHILD_OPTIONS, &child.options) &&
        (access(COMPILE_CHILD_TARGET, F_OK) != 0 || file_read(COMPILE_CHILD_TARGET, &child.target)) &&
        library_load(&child, arguments[0]) && topology_create(&child, arguments[1]))
        compile_child_compile(&child);
    /* Not through exit(3): threads of the library still use what it would take down. */
    _exit(0);
}
