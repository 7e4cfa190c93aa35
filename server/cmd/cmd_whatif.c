/* SPDX-License-Identifier: Apache-2.0
 * cmd_whatif.c: what changes to a program would save, in a terminal or as JSON: the view "whatif" of each module. */
#include "server/base/log.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/options.h"
#include "server/store/account.h"
#include "server/store/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct printing {
    struct store *store;
    const struct options *options;
    const struct analysis_param *params;
    size_t param_count;
    bool needs_comma;
};

static bool print_module(void *context, const struct snapshot_session *session, const struct modules_entry *entry)
{
    struct printing *printing = context;
    struct err err = ERR_INIT;
    const struct analysis_question question = {.tool = "memory_viewer",
                                               .view = "whatif",
                                               .params = printing->params,
                                               .param_count = printing->param_count,
                                               .is_bare = true};
    (void)session;
    struct body *body = each_module_ask(printing->store, entry, &question, &err);
    if (!body) {
        log_line("%s: %s: %s", entry->file->file->path, entry->program->key, err.text);
        return false;
    }
    if (printing->needs_comma)
        fputs(printing->options->is_json ? ",\n" : "\n", stdout);
    fwrite(body->data, 1, body->size, stdout);
    printing->needs_comma = true;
    body_release(body);
    return true;
}

/* "15.75GiB", "16G", "17179869184": bytes, with or without iB; units are powers of 1024. */
static bool size_read(const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    double size = strtod(text, &end);
    if (end == text || !(size >= 0))
        return false;
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *at = units; unit && at <= unit; at++)
        size *= 1024;
    end += unit != NULL;
    if ((*end && strcmp(end, "iB") != 0 && strcmp(end, "B") != 0) || size > 0x1p48)
        return false;
    *bytes = (int64_t)size;
    return true;
}

/* What the core is asked: the changes, and what the device has. False: it is not understood, and was said. */
static bool params_read(const struct options *options, struct analysis_param *params, size_t *count, char *capacity,
                        size_t capacity_size)
{
    int64_t capacity_bytes;
    for (size_t i = 0; i < options->changes.count; i++)
        params[(*count)++] = (struct analysis_param){"change", options->changes.items[i]};
    if (options->capacity) {
        if (!size_read(options->capacity, &capacity_bytes)) {
            log_line("--capacity: \"%s\" is no size: 15.75GiB, 16G or a number of bytes", options->capacity);
            return false;
        }
        snprintf(capacity, capacity_size, "%lld", (long long)capacity_bytes);
        params[(*count)++] = (struct analysis_param){"capacity_bytes", capacity};
    } else if (options->is_fit) {
        log_line("--fit wants --capacity=SIZE: what the device has");
        return false;
    }
    if (options->is_fit)
        params[(*count)++] = (struct analysis_param){"fit", "1"};
    params[(*count)++] = (struct analysis_param){"format", options->is_json ? "json" : "text"};
    return true;
}

int cmd_whatif(const struct options *options)
{
    struct stat status;
    if (options->paths.count != 1) {
        log_line("whatif wants one PATH: a trace, an HLO file or a folder of them (--help tells more)");
        return COMMANDS_UNUSABLE;
    }
    if (stat(options->paths.items[0], &status) != 0) {
        log_line("%s: no such file or folder", options->paths.items[0]);
        return COMMANDS_UNUSABLE;
    }
    struct analysis_param *params = calloc(options->changes.count + 4, sizeof(*params));
    char capacity[24];
    size_t param_count = 0;
    if (!params || !params_read(options, params, &param_count, capacity, sizeof(capacity))) {
        free(params);
        return COMMANDS_UNUSABLE;
    }
    struct printing printing = {store_new(account_default_limit()), options, params, param_count, false};
    fputs(options->is_json ? "{\"modules\":[" : "", stdout);
    int result = each_module(printing.store, options->paths.items[0], options->module, print_module, &printing);
    fputs(options->is_json ? "]}\n" : "", stdout);
    store_free(printing.store);
    free(params);
    return result;
}
