/* SPDX-License-Identifier: Apache-2.0
 * standin.c: a library with the table of PJRT that compiles nothing, and goes wrong as MEMVIEWD_STANDIN says.
 *
 * Its figures are made up, its dump is the file of MEMVIEWD_STANDIN_DUMP, which it may only read where
 * LD_LIBRARY_PATH has its folder. Words: compiles, stops (the dump is there, code
 * generation never ends), hangs, segfaults, aborts, exits, prints, allocates, refuses, too_large, grandchild, escapes
 * (a grandchild in a session of its own), new_version, old_version, other_major, short_table, short_version, no_table,
 * empty_entry, garbage (in the report), lies (figures below 0), forges (records of the report), closes (all
 * descriptors), fills (a file without end), vast (a dump of zeros), no_dump, broken_dump, no_figures. */
#include "server/compile/pjrt.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pjrt_error {
    int code;
    const char *text;
};

struct pjrt_topology {
    const char *version;
};

const struct pjrt_api *GetPjrtApi(void);

static bool is_told(const char *word)
{
    const char *told = getenv("MEMVIEWD_STANDIN");
    return told && strcmp(told, word) == 0;
}

static struct pjrt_error *error(int code, const char *text)
{
    struct pjrt_error *made = malloc(sizeof(*made));
    *made = (struct pjrt_error){code, text};
    return made;
}

/* ---- The entries ---------------------------------------------------------------- */

static void error_destroy(void *arguments) { free(((struct pjrt_error_destroy *)arguments)->error); }

static void error_message(void *arguments)
{
    struct pjrt_error_message *call = arguments;
    call->message = call->error->text;
    call->message_size = strlen(call->error->text);
}

static struct pjrt_error *error_code(void *arguments)
{
    struct pjrt_error_code *call = arguments;
    call->code = call->error->code;
    return NULL;
}

static struct pjrt_error *initialize(void *arguments)
{
    const struct pjrt_head *head = arguments;
    return head->struct_size == sizeof(*head) ? NULL : error(3, "wrong size of PJRT_Plugin_Initialize_Args");
}

static bool is_gpu; /* what is compiled for */

static bool is_option(const struct pjrt_named_value *option, const char *name, const char *part)
{
    return option->head.struct_size == sizeof(*option) && option->type == PJRT_NAMED_VALUE_STRING &&
           option->name_size == strlen(name) && memcmp(option->name, name, option->name_size) == 0 &&
           memmem(option->text, option->value_size, part, strlen(part));
}

/* Of a GPU there are options instead of a name. */
static struct pjrt_error *gpu_create(const struct pjrt_topology_create *call)
{
    is_gpu = true;
    if (call->create_option_count != 2 || !is_option(&call->create_options[0], "target_config", "gpu_device_info") ||
        !is_option(&call->create_options[1], "topology", "1x1x1"))
        return error(3, "no target_config and topology");
    return is_told("other_release") ? error(3, "Failed to parse GpuTargetConfigProto") : NULL;
}

static struct pjrt_error *topology_create(void *arguments)
{
    static struct pjrt_topology topology = {"TFRT TPU v5 lite\nBuilt on a stand-in (1) cl/4242"};
    struct pjrt_topology_create *call = arguments;
    call->topology = &topology;
    if (call->topology_name_size == 0)
        return gpu_create(call);
    return strncmp(call->topology_name, "v5e:", 4) == 0 ? NULL : error(3, "Invalid TPU external name: stand-in");
}

static struct pjrt_error *topology_version(void *arguments)
{
    struct pjrt_topology_version *call = arguments;
    call->version = call->topology->version;
    call->version_size = strlen(call->version);
    return NULL;
}

static struct pjrt_error *memory_stats(void *arguments)
{
    struct pjrt_memory_stats *call = arguments;
    call->argument_bytes = 1000;
    call->output_bytes = 300;
    call->alias_bytes = 200;
    call->temporary_bytes = 16384;
    if (is_told("lies")) {
        call->argument_bytes = INT64_MAX;
        call->alias_bytes = INT64_MIN;
    }
    return is_told("no_figures") ? error(12, "not implemented") : NULL;
}

/* ---- The dump -------------------------------------------------------------------- */

static void dump(const char *stage, const char *bytes, size_t size)
{
    static const char flag[] = "--xla_dump_to=";
    const char *flags = getenv("XLA_FLAGS"), *to = flags ? strstr(flags, flag) : NULL;
    char path[600];
    if (!to)
        return;
    to += sizeof(flag) - 1;
    snprintf(path, sizeof(path), "%.*s/module_0000.jit_f.cl_4242.%s%s", (int)strcspn(to, " "), to, stage,
             strcmp(stage, "debug_options") == 0 ? "" : ".hlo.pb");
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(bytes, 1, size, file);
        fclose(file);
    }
}

static void dump_after(bool is_final)
{
    const char *path = getenv("MEMVIEWD_STANDIN_DUMP");
    static char bytes[1 << 22];
    FILE *file = path ? fopen(path, "rb") : NULL;
    size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    if (file)
        fclose(file);
    if (is_gpu) {
        dump("sm_9.0a_gpu_after_optimizations", bytes, is_told("broken_dump") ? size / 2 : size);
        if (!is_told("no_marker"))
            dump("debug_options", "", 0);
        return;
    }
    dump("after_optimizations", bytes, is_told("broken_dump") ? size / 2 : size);
    dump(is_final ? "after_optimizations_after_buffer_assignment" : "oom_intermediate_module", "", 0);
}

/* ---- What goes wrong -------------------------------------------------------------- */

static void allocate_without_end(void)
{
    for (size_t size = (size_t)16 << 20;; usleep(2000)) {
        char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes != MAP_FAILED)
            memset(bytes, 1, size);
    }
}

static void print_without_end(void)
{
    static char line[4096];
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    for (;;)
        if (write(1, line, sizeof(line)) < 0)
            _exit(1);
}

/* A process that outlives this one by far. */
static void leave_a_process(bool is_apart)
{
    if (fork() != 0)
        return;
    if (is_apart)
        setsid();
    for (;;)
        pause();
}

/* A stage that there is not, and a fault of an unknown cause. */
static void forge(void)
{
    static const uint32_t records[] = {0, 4, 9999, 2, 10, 77, 8};
    if (write(3, records, sizeof(records)) > 0 && write(3, "\x1b]", 2) > 0)
        for (;;)
            pause();
}

static void close_all(void)
{
    for (int at = 0; at < 64; at++)
        close(at);
}

/* Takes no room on the disk. */
static void grow_a_file(off_t size)
{
    int file = open("dump/module_0000.jit_f.cl_4242.after_optimizations.hlo.pb", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, size) != 0)
        _exit(1);
    close(file);
}

static void go_wrong(void)
{
    if (is_told("forges"))
        forge();
    if (is_told("closes"))
        close_all();
    if (is_told("fills"))
        grow_a_file((off_t)64 << 30);
    if (is_told("hangs"))
        for (;;)
            pause();
    if (is_told("segfaults")) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would exit instead */
        kill(getpid(), SIGSEGV);
    }
    if (is_told("aborts")) {
        fputs("W0101 00:00:00.000000 1 a.cc:1] a warning\n"
              "F0101 00:00:00.000000 1 a.cc:2] Check failed: size >= 0 (-1 vs. 0)\x1b[31m\n*** trace ***\n",
              stderr);
        kill(getpid(), SIGABRT);
    }
    if (is_told("exits"))
        _exit(3);
    if (is_told("prints"))
        print_without_end();
    if (is_told("allocates"))
        allocate_without_end();
    if (is_told("grandchild") || is_told("escapes"))
        leave_a_process(is_told("escapes"));
    if (is_told("garbage"))
        while (write(3, "\xff\xff\xff\xff\xff\xff\xff\xff", 8) == 8)
            continue;
}

static struct pjrt_error *compile(void *arguments)
{
    struct pjrt_compile *call = arguments;
    if (call->program->format_size != 3 || memcmp(call->program->format, "hlo", 3) != 0 || call->option_size == 0)
        return error(3, "not a program");
    go_wrong();
    dump("before_optimizations", call->program->code, call->program->code_size);
    if (is_told("refuses"))
        return error(3, "INVALID_ARGUMENT: Not enough cores\nsecond line.");
    if (is_told("too_large")) {
        dump_after(false);
        return error(
            PJRT_RESOURCE_EXHAUSTED,
            "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries "
            "(16.72G) exceeds available HBM (15.75G). HLO module: jit_train_step.\nSee "
            "https://openxla.org/xla/errors/error_1000 for more details.");
    }
    if (is_told("vast")) {
        grow_a_file((off_t)3 << 30);
        dump("after_optimizations_after_buffer_assignment", "", 0);
    } else if (!is_told("no_dump")) {
        dump_after(true);
    }
    if (is_told("no_marker")) /* at the program that the box does not let it start */
        kill(getpid(), SIGABRT);
    if (is_told("vast") || is_told("stops") || is_told("broken_dump") || is_told("escapes"))
        for (;;)
            pause();
    return NULL;
}

/* ---- The table -------------------------------------------------------------------- */

const struct pjrt_api *GetPjrtApi(void)
{
    static struct pjrt_api api = {.head = {sizeof(api), NULL}};
    if (is_told("no_table"))
        return NULL;
    api.version.head.struct_size = is_told("short_version") ? 8 : sizeof(api.version);
    api.version.major = is_told("other_major") ? 1 : PJRT_MAJOR;
    api.version.minor = is_told("new_version")   ? PJRT_MAX_MINOR + 1
                        : is_told("old_version") ? PJRT_MIN_MINOR - 1
                                                 : PJRT_MAX_MINOR;
    api.head.struct_size = is_told("short_table") ? sizeof(api) - 8 : sizeof(api);
    api.entries[PJRT_ERROR_DESTROY] = (void (*)(void))error_destroy;
    api.entries[PJRT_ERROR_MESSAGE] = (void (*)(void))error_message;
    api.entries[PJRT_ERROR_GET_CODE] = (void (*)(void))error_code;
    api.entries[PJRT_PLUGIN_INITIALIZE] = (void (*)(void))initialize;
    api.entries[PJRT_TOPOLOGY_CREATE] = (void (*)(void))topology_create;
    api.entries[PJRT_TOPOLOGY_PLATFORM_VERSION] = (void (*)(void))topology_version;
    api.entries[PJRT_COMPILE] = is_told("empty_entry") ? NULL : (void (*)(void))compile;
    api.entries[PJRT_EXECUTABLE_GET_MEMORY_STATS] = (void (*)(void))memory_stats;
    return &api;
}
