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
#include "server/cmd/options.h"
#include "server/files/path_kind.h"
#include "server/store/account.h"
#include "server/store/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cmd_whose_printing {
    struct store *store;
    const struct options *options;
    bool needs_comma;
    const struct snapshot_session *session; /* the session whose hosts were printed last; NULL */
    struct buf hosts;                       /* "{…},{…}": of sessions with several */
    struct unread_files unread;
};

/* Which hosts of the session are odd: a line, or an object for the end of the answer. */
static void cmd_whose_hosts(struct cmd_whose_printing *printing, const struct snapshot_session *session)
{
    struct hosts_told hosts = {.store = printing->store, .session = session};
    struct buf one = BUF_INIT;
    struct json json = JSON_INIT(&one);
    if (!printing->options->is_json) {
        hosts_told_print(&hosts, "Hosts: ", true);
        hosts_told_free(&hosts);
        return;
    }
    json_object_begin(&json);
    json_key_text(&json, "session", session->name);
    size_t without = one.length;
    hosts_told_write(&hosts, &json);
    bool has_hosts = one.length > without;
    json_object_end(&json);
    if (has_hosts && !one.failed) {
        buf_text(&printing->hosts, printing->hosts.length > 0 ? ",\n" : "");
        buf_add(&printing->hosts, one.data, one.length);
    }
    hosts_told_free(&hosts);
    buf_free(&one);
}

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
    if (printing->session != session)
        cmd_whose_hosts(printing, session);
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
    if (path_kind_of(options->paths.items[0], true) == PATH_KIND_NONE)
        return COMMANDS_UNUSABLE;
    char *rules = NULL;
    if (!category_rules_load(options->category_rules, &rules))
        return COMMANDS_UNUSABLE;
    struct cmd_whose_printing printing = {
        .store = store_new(account_default_limit()), .options = options, .hosts = BUF_INIT};
    store_set_category_rules(printing.store, rules);
    fputs(options->is_json ? "{\"modules\":[" : "", stdout);
    struct each_snapshot snapshots = {
        .store = printing.store, .view = "whose", .is_json = options->is_json, .unread = &printing.unread};
    int result = each_snapshot_and_module(&snapshots, options->paths.items[0], options->module, print_module, &printing,
                                          &printing.needs_comma);
    if (result == COMMANDS_DONE && printing.unread.count > 0)
        result = COMMANDS_UNUSABLE; /* some of the files were not printed */
    if (options->is_json && printing.hosts.length > 0 && !printing.hosts.failed) {
        fputs("],\n\"sessions\":[", stdout);
        output_data(stdout, printing.hosts.data, printing.hosts.length);
    }
    unread_files_print_end(&printing.unread, options->is_json);
    buf_free(&printing.hosts);
    unread_files_free(&printing.unread);
    store_free(printing.store);
    free(rules);
    return result;
}
