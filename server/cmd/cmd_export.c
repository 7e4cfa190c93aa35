/* SPDX-License-Identifier: Apache-2.0
 * cmd_export.c: modules as one file to keep or to pass on: a page that needs no daemon, rows of buffers, answers. */
#include "server/base/log.h"
#include "server/base/output.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/export.h"
#include "server/cmd/options.h"
#include "server/files/path_kind.h"
#include "server/store/account.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct export_form *const FORMS[] = {&export_html, &export_csv, &export_json, &export_ndjson};
enum { FORM_COUNT = sizeof(FORMS) / sizeof(FORMS[0]), NS_PER_S = 1000000000 };

struct exporting {
    struct store *store;
    const struct export_form *form;
    struct buf out;
    size_t count;
    struct unread_files *unread;
};

static void write_time(int64_t unix_ns, char text[EXPORT_TIME_SIZE])
{
    time_t seconds = (time_t)(unix_ns / NS_PER_S);
    struct tm parts;
    text[0] = '\0';
    if (unix_ns > 0 && gmtime_r(&seconds, &parts))
        strftime(text, EXPORT_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static bool export_one(void *context, const struct snapshot_session *session, const struct modules_entry *entry)
{
    struct exporting *exporting = context;
    struct export_module module = {.store = exporting->store,
                                   .session = session,
                                   .entry = entry,
                                   .unread = exporting->unread,
                                   .is_first = exporting->count == 0};
    size_t before = exporting->out.length;
    write_time(entry->file->file->identity.modified_at_ns, module.modified_at);
    bool is_good = exporting->form->module(&module, &exporting->out);
    if (!is_good)
        exporting->out.length = before;
    exporting->count += is_good;
    return is_good;
}

static const struct export_form *form_find(const char *name)
{
    for (size_t at = 0; at < FORM_COUNT; at++)
        if (strcmp(FORMS[at]->name, name) == 0)
            return FORMS[at];
    log_line("--format=%s: it is html, csv, json or ndjson", name);
    return NULL;
}

static bool cmd_export_put(const char *path, const struct buf *out)
{
    FILE *file = path ? fopen(path, "wb") : stdout;
    if (!file) {
        log_line("%s: %s", path, strerror(errno));
        return false;
    }
    bool is_written = output_data(file, out->data, out->length);
    is_written = (path ? fclose(file) : fflush(file)) == 0 && is_written;
    if (!is_written)
        log_line("%s: %s", path ? path : "standard output", strerror(errno));
    return is_written;
}

int cmd_export(const struct options *options)
{
    if (options->paths.count != 1) {
        log_line("export wants one PATH: a trace, an HLO file or a folder of them (--help tells more)");
        return COMMANDS_UNUSABLE;
    }
    struct exporting exporting = {.form = form_find(options->format), .out = BUF_INIT};
    if (!exporting.form)
        return COMMANDS_UNUSABLE;
    if (path_kind_of(options->paths.items[0], true) == PATH_KIND_NONE)
        return COMMANDS_UNUSABLE;
    struct unread_files unread = {0};
    exporting.unread = &unread;
    exporting.store = store_new(account_default_limit());
    if (exporting.form->begin)
        exporting.form->begin(&exporting.out);
    int result =
        each_module(exporting.store, options->paths.items[0], options->module, export_one, &exporting, &unread);
    if (exporting.form->end)
        exporting.form->end(&exporting.out, &unread);
    if (exporting.out.failed)
        log_line("there is no memory for all of it; --module=NAME writes one module");
    if (exporting.out.failed || (result == COMMANDS_DONE && !cmd_export_put(options->out_path, &exporting.out)))
        result = COMMANDS_UNUSABLE;
    buf_free(&exporting.out);
    unread_files_free(&unread);
    store_free(exporting.store);
    return result;
}
