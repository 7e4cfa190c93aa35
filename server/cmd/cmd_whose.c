/* SPDX-License-Identifier: Apache-2.0
 * cmd_whose.c: whose memory it is, in a terminal or as JSON: the view "whose" of each snapshot of PyTorch and of each
 * module. */
#include "server/base/log.h"
#include "server/base/output.h"
#include "server/cmd/category_rules.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/each_snapshot.h"
#include "server/cmd/hosts_told.h"
#include "server/cmd/input_path.h"
#include "server/cmd/options.h"
#include "server/store/account.h"
#include "server/store/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cmd_whose_printing {
    struct store *store;
    const struct options *options;
    bool needs_comma;
    const struct snapshot_session *session; /* whose hosts were told of last; NULL */
    struct unread_files unread;
};

static bool print_module(void *context, const struct snapshot_session *session, const struct modules_entry *entry)
{
    struct cmd_whose_printing *printing = context;
    struct err err = ERR_INIT;
    bool is_json = printing->options->is_json;
    const struct analysis_param format = {"format", is_json ? "json" : "text"};
    const struct analysis_question question = {
        .tool = "memory_viewer", .view = "whose", .params = &format, .param_count = 1, .is_bare = true};
    struct body *body = each_module_ask(printing->store, entry, &question, &err);
    if (!body) {
        unread_files_add_module(&printing->unread, entry, &err);
        return false;
    }
    if (printing->needs_comma)
        fputs(is_json ? ",\n" : "\n", stdout);
    if (!is_json && printing->session != session) {
        struct hosts_told hosts = {.store = printing->store, .session = session};
        hosts_told_print(&hosts, "Hosts: ", true);
        hosts_told_free(&hosts);
    }
    printing->session = session;
    output_answer(body->data, body->size, is_json);
    printing->needs_comma = true;
    body_release(body);
    return true;
}

int cmd_whose(const struct options *options)
{
    if (options->paths.count != 1) {
        log_line("whose wants one PATH: a trace, an HLO file, a snapshot of PyTorch or a folder of them (--help tells "
                 "more)");
        return COMMANDS_UNUSABLE;
    }
    if (input_path_kind(options->paths.items[0], true) == INPUT_PATH_NONE)
        return COMMANDS_UNUSABLE;
    char *rules = NULL;
    if (!category_rules_load(options->category_rules, &rules))
        return COMMANDS_UNUSABLE;
    struct cmd_whose_printing printing = {.store = store_new(account_default_limit()), .options = options};
    store_set_category_rules(printing.store, rules);
    fputs(options->is_json ? "{\"modules\":[" : "", stdout);
    struct each_snapshot snapshots = {
        .store = printing.store, .view = "whose", .is_json = options->is_json, .unread = &printing.unread};
    int result = each_snapshot_and_module(&snapshots, options->paths.items[0], options->module, print_module, &printing,
                                          &printing.needs_comma);
    if (result == COMMANDS_DONE && printing.unread.count > 0)
        result = COMMANDS_UNUSABLE; /* what was told is not of all that is there */
    unread_files_print_end(&printing.unread, options->is_json);
    unread_files_free(&printing.unread);
    store_free(printing.store);
    free(rules);
    return result;
}
