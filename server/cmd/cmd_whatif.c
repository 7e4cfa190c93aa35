/* SPDX-License-Identifier: Apache-2.0
 * cmd_whatif.c: what changes to a program would save, in a terminal or as JSON: the view "whatif" of each module. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/cmd/capacity_option.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/each_snapshot.h"
#include "server/cmd/interrupts.h"
#include "server/cmd/options.h"
#include "server/cmd/whatif_confirm.h"
#include "server/files/path_kind.h"
#include "server/store/account.h"
#include "server/store/body.h"
#include "server/store/capacity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cmd_whatif_printing {
    struct store *store;
    const struct options *options;
    const struct analysis_param *params; /* the last one is the format */
    size_t param_count;
    struct capacity chosen;      /* of --capacity; 0 bytes: not given */
    bool needs_comma, was_asked; /* the compiler, of one module */
    bool is_unconfirmed;
    struct unread_files unread;
};

static struct body *cmd_whatif_ask(struct cmd_whatif_printing *printing, const struct snapshot_session *session,
                                   const struct modules_entry *entry, const char *format)
{
    struct err err = ERR_INIT;
    struct capacity capacity = printing->chosen;
    size_t count = printing->param_count;
    bool wants_capacity = !printing->options->capacity;
    bool has_capacity =
        wants_capacity && capacity_find(NULL, session, entry->file->group, entry->file->opened.contents, &capacity);
    if (wants_capacity && !has_capacity && printing->options->is_fit) {
        if (capacity.lost.file[0])
            unread_files_add(&printing->unread, capacity.lost.file, &capacity.lost.err);
        log_line("%s: --fit needs --capacity=SIZE, the memory of the device: no file next to the program states it",
                 entry->program->key);
        return NULL;
    }
    struct analysis_param *params = memory_new((count + 1) * sizeof(*params));
    memcpy(params, printing->params, count * sizeof(*params));
    params[count++] = (struct analysis_param){"format", format};
    if (has_capacity && printing->options->is_fit && strcmp(format, "text") == 0)
        log_line("%s: --capacity is not given: that of %s", entry->program->key, capacity.source);
    const struct capacity_stated core = capacity_core(&capacity);
    const struct analysis_question question = {.tool = "memory_viewer",
                                               .view = "whatif",
                                               .params = params,
                                               .param_count = count,
                                               .capacities = &core,
                                               .capacity_count = capacity.bytes > 0,
                                               .is_bare = true};
    struct body *body = each_module_ask(printing->store, entry, &question, &err);
    if (!body)
        unread_files_add_module(&printing->unread, entry, &err);
    free(params);
    return body;
}

/* What the compiler says, behind the prediction: in JSON as further members of its object. */
static void print_confirmed(struct cmd_whatif_printing *printing, const struct snapshot_session *session,
                            const struct modules_entry *entry, const struct body *body)
{
    struct buf out = BUF_INIT;
    struct body *json = printing->options->is_json ? NULL : cmd_whatif_ask(printing, session, entry, "json");
    size_t size = body->size;
    printing->was_asked = true;
    if (printing->options->is_json || json)
        printing->is_unconfirmed = !whatif_confirm(printing->options, session, entry, json ? json : body, &out);
    while (printing->options->is_json && size > 0 && body->data[size - 1] != '}')
        size--;
    output_answer(body->data, printing->options->is_json && size > 0 ? size - 1 : size, printing->options->is_json);
    fputs(printing->options->is_json ? "," : "", stdout);
    if (out.length > 0)
        output_answer(out.data, out.length, printing->options->is_json);
    fputs(printing->options->is_json ? "}" : "", stdout);
    body_release(json);
    buf_free(&out);
}

static bool print_module(void *context, const struct snapshot_session *session, const struct modules_entry *entry)
{
    struct cmd_whatif_printing *printing = context;
    struct body *body = cmd_whatif_ask(printing, session, entry, printing->options->is_json ? "json" : "text");
    if (!body)
        return false;
    if (printing->needs_comma)
        fputs(printing->options->is_json ? ",\n" : "\n", stdout);
    if (printing->options->is_confirmed && printing->was_asked)
        log_line("%s: only the first module is confirmed; --module=NAME says which", entry->program->key);
    if (printing->options->is_confirmed && !printing->was_asked)
        print_confirmed(printing, session, entry, body);
    else
        output_answer(body->data, body->size, printing->options->is_json);
    printing->needs_comma = true;
    body_release(body);
    return true;
}

/* What the core is asked: the changes, and what the device has. False: it is not understood, and was said. */
static bool params_read(const struct options *options, struct analysis_param *params, size_t *count,
                        struct capacity *chosen)
{
    for (size_t i = 0; i < options->changes.count; i++)
        params[(*count)++] = (struct analysis_param){"change", options->changes.items[i]};
    if (options->capacity && !capacity_option_read("capacity", options->capacity, chosen))
        return false;
    if (options->is_fit)
        params[(*count)++] = (struct analysis_param){"fit", "1"};
    if (options->is_confirmed && !options->is_fit && options->changes.count == 0) {
        log_line("--confirm wants --change=CHANGE or --fit: what the compiler is asked");
        return false;
    }
    return true;
}

int cmd_whatif(const struct options *options)
{
    if (options->paths.count != 1) {
        log_line("whatif wants one PATH: a trace, an HLO file, a snapshot of PyTorch or a folder of them (--help tells "
                 "more)");
        return COMMANDS_UNUSABLE;
    }
    if (path_kind_of(options->paths.items[0], true) == PATH_KIND_NONE)
        return COMMANDS_UNUSABLE;
    struct analysis_param *params = memory_new((options->changes.count + 4) * sizeof(*params));
    struct capacity chosen = {0};
    size_t param_count = 0;
    if (!params_read(options, params, &param_count, &chosen)) {
        free(params);
        return COMMANDS_UNUSABLE;
    }
    size_t snapshot_param_count = param_count;
    char bytes[24];
    if (chosen.bytes > 0) { /* of a snapshot the size alone counts */
        snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)chosen.bytes);
        params[snapshot_param_count++] = (struct analysis_param){"capacity_bytes", bytes};
    }
    struct cmd_whatif_printing printing = {.store = store_new(account_default_limit()),
                                           .options = options,
                                           .params = params,
                                           .param_count = param_count,
                                           .chosen = chosen};
    fputs(options->is_json ? "{\"modules\":[" : "", stdout);
    struct each_snapshot snapshots = {.store = printing.store,
                                      .view = "whatif",
                                      .is_json = options->is_json,
                                      .params = params,
                                      .param_count = snapshot_param_count,
                                      .unread = &printing.unread};
    int result = each_snapshot_and_module(&snapshots, options->paths.items[0], options->module, print_module, &printing,
                                          &printing.needs_comma);
    unread_files_print_end(&printing.unread, options->is_json);
    unread_files_free(&printing.unread);
    store_free(printing.store);
    free(params);
    interrupts_end();
    return result == COMMANDS_DONE && printing.is_unconfirmed ? COMMANDS_FINDING : result;
}
