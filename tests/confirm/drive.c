/* SPDX-License-Identifier: Apache-2.0
 * drive.c: compiles one program by server/compile and prints what came of it as JSON.
 *
 *   drive [--libtpu=PATH | --pjrt-plugin=PATH] [--topology=v5e:2x2] [--limit-ms=N] [--limit-mib=N] [--cancel-ms=N]
 * [--partitions=N] [--code]
 *         [--keep=FOLDER] MODULE
 *
 * Chip and options come from the files beside MODULE where they are there. Each progress is a line on stderr. */
#include "analysis/analysis.h"
#include "server/compile/compile.h"
#include "server/compile/compile_child.h"
#include "server/gather/dump_beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wish {
    struct compile_request request;
    int64_t cancel_ms; /* 0: never */
    atomic_bool is_cancelled;
};

static void tell(void *context, const struct compile_progress *progress)
{
    struct wish *wish = context;
    fprintf(stderr, "%lld ms, stage %d, %llu MiB\n", (long long)progress->took_ms, (int)progress->stage,
            (unsigned long long)progress->resident_bytes >> 20);
    if (wish->cancel_ms > 0 && progress->took_ms >= wish->cancel_ms)
        atomic_store(&wish->is_cancelled, true);
}

static const char *value_of(const char *argument, const char *name)
{
    size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 ? argument + length : NULL;
}

/* The path of the module, or NULL if an option is not known. */
static const char *wish_read(struct wish *wish, char **arguments)
{
    const char *path = NULL, *value;
    for (; *arguments; arguments++) {
        if ((value = value_of(*arguments, "--libtpu=")) || (value = value_of(*arguments, "--pjrt-plugin=")))
            wish->request.plugin = value;
        else if ((value = value_of(*arguments, "--topology=")))
            wish->request.topology = value;
        else if ((value = value_of(*arguments, "--keep=")))
            wish->request.folder = value;
        else if ((value = value_of(*arguments, "--limit-ms=")))
            wish->request.limit_ms = atoll(value);
        else if ((value = value_of(*arguments, "--limit-mib=")))
            wish->request.limit_bytes = (uint64_t)atoll(value) << 20;
        else if ((value = value_of(*arguments, "--cancel-ms=")))
            wish->cancel_ms = atoll(value);
        else if ((value = value_of(*arguments, "--partitions=")))
            wish->request.partition_count = atoll(value);
        else if (strcmp(*arguments, "--code") == 0)
            wish->request.with_code = true;
        else if (**arguments != '-')
            path = *arguments;
        else
            return NULL;
    }
    return path;
}

static void print(const struct compile_result *result, const struct dump_beside *beside)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    json_object_begin(&json);
    json_key_text(&json, "status", compile_status_name(result->status));
    json_key_text(&json, "sentence", result->sentence);
    json_key_bool(&json, "has_figures", result->has_figures);
    json_key_bool(&json, "is_of_compiler", result->is_of_compiler);
    json_key_int(&json, "argument_bytes", result->figures.argument_bytes);
    json_key_int(&json, "output_bytes", result->figures.output_bytes);
    json_key_int(&json, "alias_bytes", result->figures.alias_bytes);
    json_key_int(&json, "temporary_bytes", result->figures.temporary_bytes);
    json_key_int(&json, "total_bytes", result->total_bytes);
    json_key_int(&json, "needed_bytes", result->needed_bytes);
    json_key_int(&json, "available_bytes", result->available_bytes);
    json_key_text(&json, "text", result->text);
    json_key_text(&json, "module_path", result->module_path);
    json_key_text(&json, "folder", result->folder);
    json_key_text(&json, "plugin_version", result->plugin_version);
    json_key_text(&json, "topology_source", beside->source);
    json_key_uint(&json, "build", result->build);
    json_key_int(&json, "took_ms", result->took_ms);
    json_key_uint(&json, "resident_bytes", result->resident_bytes);
    json_object_end(&json);
    printf("%.*s\n", (int)buf.length, buf.data);
    buf_free(&buf);
}

int main(int count, char **arguments)
{
    struct wish wish = {.request = {.progress = tell}};
    struct dump_beside beside;
    struct compile_result result;
    struct buf module = BUF_INIT;
    struct err err = ERR_INIT;
    if (count > 1 && strcmp(arguments[1], COMPILE_CHILD_COMMAND) == 0)
        return compile_child_run(arguments + 2);
    const char *path = wish_read(&wish, arguments + 1);
    const struct files_place place = {.root = path, .path = ""};
    if (!path || !files_read_text(&place, 1 << 26, &module, &err)) {
        fprintf(stderr, "drive: %s\n", path ? err.text : "wants one MODULE, and options that it knows");
        return 2;
    }
    dump_beside_read(&place, &beside);
    wish.request.module = (struct str){module.data, module.length};
    wish.request.options = (struct str){beside.options.data, beside.options.length};
    if (!wish.request.topology && beside.source) {
        bool is_gpu = beside.target.length > 0;
        wish.request.topology = is_gpu ? beside.gpu : beside.topology;
        wish.request.target = (struct str){beside.target.data, beside.target.length};
    }
    wish.request.context = &wish;
    wish.request.is_cancelled = &wish.is_cancelled;
    compile_run(&wish.request, &result);
    print(&result, &beside);
    compile_free(&result);
    dump_beside_free(&beside);
    buf_free(&module);
    return 0;
}
