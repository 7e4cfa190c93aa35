/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/box.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/cmd/input_path.h"
#include "server/cmd/run_address.h"
#include "server/files/opener.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_needs.h"
#include "server/fleet/catalog/catalog_needs.h"
#include "server/fleet/notify/webhook.h"
#include "server/sandbox/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { DNS_PORT = 53 };

/* What the options name and the daemon reads as long as it runs. */
struct paths {
    const char **items;
    size_t count, capacity;
};

static void box_add(struct paths *paths, const char *path)
{
    if (!path)
        return;
    paths->items = memory_grow(paths->items, &paths->capacity, paths->count + 1, sizeof(*paths->items));
    paths->items[paths->count++] = path;
}

static void add_list(struct paths *paths, const struct options_list *list)
{
    for (size_t at = 0; at < list->count; at++) {
        if (!remote_address_is(list->items[at]))
            box_add(paths, list->items[at]);
    }
}

static void read_file(void *context, const char *path) { sandbox_reads(context, path); }

/* The folder that it lies in; free(). */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? memory_format("%.*s", (int)(slash > path ? slash - path : 1), path) : memory_text(".");
}

/* Would it open much more than the file that is meant? */
static bool is_wide(const char *folder)
{
    const char *home = getenv("HOME");
    char *real = realpath(folder, NULL), *real_home = home ? realpath(home, NULL) : NULL;
    bool is = real && (strcmp(real, "/") == 0 || (real_home && strcmp(real, real_home) == 0));
    free(real);
    free(real_home);
    return is;
}

/* Credentials are replaced by rename, or by a link to another folder that is led elsewhere (Kubernetes), while rules of
 * Landlock are about the file that was there: so the folder is allowed as well. */
static void read_replaced(void *context, const char *path)
{
    char *folder = folder_of(path);
    sandbox_reads(context, path);
    if (!is_wide(folder))
        sandbox_reads(context, folder);
    free(folder);
}

static void connect_port(void *context, uint16_t port) { sandbox_connects(context, port); }

/* Where addresses are named: what reading them takes. They are appended to `addresses`. */
static void add_addresses(struct sandbox *sandbox, const struct options *options, struct paths *addresses)
{
    const char *address;
    for (size_t at = 0; (address = input_path_address(options, at)); at++) {
        remote_needs_ports(address, connect_port, sandbox);
        remote_needs_program(address);
        box_add(addresses, address);
    }
    if (addresses->count == 0)
        return;
    remote_needs_files(read_file, sandbox);
    remote_needs_credentials(read_replaced, sandbox);
    if (options->endpoint_url)
        remote_needs_ports(options->endpoint_url, connect_port, sandbox);
}

/* Names of hosts are looked up again whenever a connection is made again. */
static void add_network(struct sandbox *sandbox)
{
    remote_needs_files(read_file, sandbox);
    sandbox_connects(sandbox, DNS_PORT);
}

static void add_catalog(struct sandbox *sandbox, const struct options *options)
{
    if (!options->catalog)
        return;
    add_network(sandbox);
    catalog_needs_ports(options->catalog, connect_port, sandbox);
    catalog_needs_files(options->catalog, read_file, sandbox);
}

static void add_captures(struct sandbox *sandbox, const struct options *options)
{
    struct err err = ERR_INIT;
    struct capture_address address;
    if (options->captures.count == 0)
        return;
    add_network(sandbox);
    tzset(); /* names of folders are of local time, whose file the box does not open */
    for (size_t at = 0; at < options->captures.count; at++) {
        if (!capture_address_read(options->captures.items[at], &address, &err))
            continue; /* cmd_serve.c has refused it */
        sandbox_connects(sandbox, address.port);
        capture_address_free(&address);
    }
}

static void add_webhook(struct sandbox *sandbox, const struct options *options)
{
    if (!options->notify_url)
        return;
    add_network(sandbox);
    webhook_ports(options->notify_url, connect_port, sandbox);
}

/* "reads /tmp/xprof, /srv/job.log": control bytes are the log's to escape. */
static void box_say(struct buf *said, const char *does, const struct paths *paths)
{
    buf_format(said, "; %s ", does);
    for (size_t at = 0; at < paths->count; at++)
        buf_format(said, "%s%s", at > 0 ? ", " : "", paths->items[at]);
    buf_text(said, paths->count == 0 ? "nothing" : "");
}

void box_serve(const struct options *options, const char *socket_path)
{
    struct paths reads = {0}, writes = {0}, addresses = {0};
    struct buf said = BUF_INIT;
    if (options->is_without_sandbox) {
        log_line("no sandbox: --no-sandbox");
        return;
    }
    add_list(&reads, &options->logdirs);
    add_list(&reads, &options->paths);
    add_list(&reads, &options->source_roots);
    box_add(&reads, options->capture_logdir);
    box_add(&reads, options->web_folder);
    box_add(&reads, options->token_file);
    struct sandbox *sandbox = sandbox_new(SANDBOX_DAEMON);
    box_add(&writes, options->cache_folder);
    box_add(&writes, options->capture_logdir);
    add_catalog(sandbox, options);
    add_addresses(sandbox, options, &addresses);
    add_webhook(sandbox, options);
    add_captures(sandbox, options);
    for (size_t at = 0; at < reads.count; at++)
        sandbox_reads(sandbox, reads.items[at]);
    for (size_t at = 0; at < writes.count; at++)
        sandbox_writes(sandbox, writes.items[at]);
    if (!opener_start(reads.items, reads.count, socket_path))
        log_line("sandbox: a folder that is made anew cannot be read: no process for that");
    bool is_on = sandbox_enter(sandbox, &said);
    box_say(&said, "reads", &reads);
    box_say(&said, "writes", &writes);
    if (addresses.count > 0)
        box_say(&said, "connects to", &addresses);
    buf_text(&said, options->catalog ? "; connects to the catalog" : "");
    if (!said.failed && is_on)
        log_info("sandbox: %.*s", (int)said.length, said.data);
    else if (!said.failed)
        log_line("no sandbox: %.*s", (int)said.length, said.data);
    buf_free(&said);
    free(reads.items);
    free(writes.items);
    free(addresses.items);
}

/* Is there a pipe, or "-", which no path means as well? It is read twice, so its content lies in a temporary file
 * meanwhile. */
static bool has_stream(const struct options *options)
{
    struct stat status;
    bool has = options->paths.count == 0;
    for (size_t at = 0; at < options->paths.count; at++)
        has |= strcmp(options->paths.items[at], "-") == 0 ||
               (stat(options->paths.items[at], &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
    return has;
}

void box_command(const struct options *options)
{
    if (options->is_without_sandbox)
        return;
    struct paths addresses = {0};
    struct sandbox *sandbox = sandbox_new(SANDBOX_COMMAND);
    sandbox_reads(sandbox, "/");
    add_catalog(sandbox, options);
    add_addresses(sandbox, options, &addresses);
    free(addresses.items);
    add_webhook(sandbox, options);
    if (options->out_path) {
        char *folder = folder_of(options->out_path);
        sandbox_writes(sandbox, folder);
        sandbox_writes(sandbox, options->out_path); /* where it is there already: a link may lead elsewhere */
        free(folder);
    }
    if (has_stream(options))
        sandbox_writes(sandbox, P_tmpdir);
    sandbox_enter(sandbox, NULL);
}

void box_capture(const struct options *options, const char *logdir, const struct capture_address *const *addresses,
                 size_t count)
{
    if (options->is_without_sandbox)
        return;
    struct sandbox *sandbox = sandbox_new(SANDBOX_COMMAND);
    sandbox_writes(sandbox, logdir);
    tzset();
    add_network(sandbox);
    sandbox_connects(sandbox, RUN_ADDRESS_PORT);
    for (size_t at = 0; at < count; at++)
        sandbox_connects(sandbox, addresses[at]->port);
    sandbox_enter(sandbox, NULL);
}

void box_capture_runs(const struct options *options, const char *const *runs, size_t count)
{
    if (options->is_without_sandbox)
        return;
    struct sandbox *sandbox = sandbox_new(SANDBOX_COMMAND);
    sandbox_reads(sandbox, "/proc"); /* why a process does not answer */
    for (size_t at = 0; at < count; at++) {
        char *all = folder_of(runs[at]);
        sandbox_reads(sandbox, all); /* its address depends on what else is there */
        sandbox_writes(sandbox, runs[at]);
        free(all);
    }
    sandbox_connects(sandbox, RUN_ADDRESS_PORT);
    sandbox_enter(sandbox, NULL);
}

void box_question(const struct options *options, const char *const *roots, size_t root_count)
{
    if (options->is_without_sandbox)
        return;
    struct sandbox *sandbox = sandbox_new(SANDBOX_COMMAND);
    for (size_t at = 0; at < root_count; at++)
        sandbox_reads(sandbox, roots[at]);
    if (options->category_rules)
        sandbox_reads(sandbox, options->category_rules);
    sandbox_enter(sandbox, NULL);
}

void box_question_warn(const struct options *options)
{
    const char *reason = options->is_without_sandbox ? "--no-sandbox" : sandbox_reads_all_because();
    if (reason)
        log_line("no sandbox for files: %s; only checks of paths limit what is read", reason);
}
