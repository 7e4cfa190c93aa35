/* SPDX-License-Identifier: Apache-2.0
 * cmd_serve.c: the daemon, from its options to its end. */
#include "server/api/api.h"
#include "server/api/captures.h"
#include "server/api/confirmations.h"
#include "server/api/routes.h"
#include "server/api/web_files.h"
#include "server/base/cgroups.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/service.h"
#include "server/base/system.h"
#include "server/cmd/box.h"
#include "server/cmd/capture_option.h"
#include "server/cmd/category_rules.h"
#include "server/cmd/commands.h"
#include "server/cmd/keeping.h"
#include "server/cmd/notify_option.h"
#include "server/cmd/options.h"
#include "server/cmd/serve_options.h"
#include "server/files/remote/remote.h"
#include "server/fleet/catalog/fleet_files.h"
#include "server/fleet/notify/notify.h"
#include "server/http/httpd.h"
#include "server/http/metrics.h"
#include "server/http/peer_user.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORK_DRAIN_MS = 3000, DRAIN_MS = 30000, LAST_DRAIN_MS = 2000, MAX_HOSTS = 64, RECEIVING_PART = 4 };

struct daemon {
    const struct options *options;
    struct listen_set listening;
    struct server server;
    struct httpd_settings settings;
    struct token token;           /* as it is at the start */
    const char *hosts[MAX_HOSTS]; /* allowed; their texts in `names` */
    struct compile_apart *apart;
    struct disk_cache *disk_cache;
    struct webhook *webhook; /* of --notify, or NULL */
    struct capture_addresses captures;
    struct notify *notify;
    char *names, *bind_name, *category_rules, *libraries, *path_prefix, *frame_ancestors;
};

static int cmd_serve_refuse(const char *reason)
{
    log_error("%s", reason);
    return COMMANDS_UNUSABLE;
}

static void allow_hosts(struct daemon *daemon)
{
    struct guard *guard = &daemon->server.guard;
    const struct options *options = daemon->options;
    guard->hosts = daemon->hosts;
    guard->takes_any_address = daemon->listening.is_any_address;
    if (options->bind) {
        bool is_six = strchr(options->bind, ':') && options->bind[0] != '[';
        daemon->bind_name = memory_format(is_six ? "[%s]" : "%s", options->bind);
        daemon->hosts[guard->host_count++] = daemon->bind_name;
    }
    daemon->names = memory_text(options->allowed_hosts ? options->allowed_hosts : "");
    for (char *rest = daemon->names, *name; (name = strsep(&rest, ",")) && guard->host_count < MAX_HOSTS;) {
        if (name[0])
            daemon->hosts[guard->host_count++] = name;
    }
}

/* "/a/b/" is "/a/b", and "/" none. */
static void place_pages(struct daemon *daemon)
{
    const struct options *options = daemon->options;
    daemon->path_prefix = memory_text(options->path_prefix ? options->path_prefix : "");
    size_t length = strlen(daemon->path_prefix);
    if (length > 0 && daemon->path_prefix[length - 1] == '/')
        daemon->path_prefix[length - 1] = '\0';
    daemon->frame_ancestors = memory_text(options->frame_ancestors ? options->frame_ancestors : "'none'");
    for (char *at = daemon->frame_ancestors; *at; at++)
        *at = *at == ',' ? ' ' : *at;
    daemon->settings.path_prefix = daemon->server.guard.path_prefix = daemon->path_prefix;
    daemon->settings.frame_ancestors = daemon->frame_ancestors;
    daemon->settings.script_hash = web_script_hash;
    daemon->settings.style_hash = web_style_hash;
    daemon->server.guard.is_framed = options->frame_ancestors != NULL;
}

/* The sockets: those that were handed over, else by --listen or --bind and --port. */
static bool open_sockets(struct daemon *daemon, char *reason, size_t reason_size)
{
    const struct options *options = daemon->options;
    int first;
    size_t count = service_sockets(&first);
    if (count > 0 && (options->listen || options->bind)) {
        snprintf(reason, reason_size, "sockets were handed over (LISTEN_FDS), and --%s asks for another",
                 options->listen ? "listen" : "bind");
        return false;
    }
    if (count > 0)
        return listen_take(&daemon->listening, first, count, reason, reason_size);
    return options->listen
               ? listen_open_unix(&daemon->listening, options->listen, reason, reason_size)
               : listen_open(&daemon->listening, options->bind, (uint16_t)options->port, reason, reason_size);
}

static bool make_token(struct daemon *daemon, char *reason, size_t reason_size)
{
    const struct options *options = daemon->options;
    struct token *token = &daemon->token;
    if (options->token_file)
        return token_read(token, options->token_file, reason, reason_size);
    if (!daemon->listening.is_beyond_loopback || options->is_without_token || token_make(token))
        return true;
    snprintf(reason, reason_size, "the system gives no random numbers for a token");
    return false;
}

/* Who has a token may use it as any user, and where other machines are let in without one, so is everybody. */
static bool decide_users(struct daemon *daemon, char *reason, size_t reason_size)
{
    if (daemon->listening.unix_path[0]) /* the mode of its file decides */
        return true;
    if (daemon->options->is_shared || daemon->listening.is_beyond_loopback || daemon->token.text[0])
        return true;
    daemon->settings.is_own_user_only = true;
    errno = 0;
    enum peer_user_way way = peer_user_way(daemon->listening.sockets[0]);
    if (way == PEER_USER_PROC)
        log_info("sock_diag is not available: the user of a connection is read from /proc/net/tcp");
    if (way != PEER_USER_NO_WAY)
        return true;
    if (errno == EMFILE || errno == ENFILE) {
        snprintf(reason, reason_size, "no more files can be opened: %s (ulimit -n)", strerror(errno));
        return false;
    }
    snprintf(
        reason, reason_size,
        "which user a connection is of cannot be told here: there is neither sock_diag nor /proc/net/tcp; let every "
        "user of this machine in with --share, or ask for a token with --token-file=FILE");
    return false;
}

static struct index *make_index(const struct options *options)
{
    struct index *index = index_new();
    for (size_t at = 0; at < options->logdirs.count; at++)
        index_add(index, options->logdirs.items[at]);
    if (options->capture_logdir && !capture_option_is_watched(options))
        index_add(index, options->capture_logdir);
    for (size_t at = 0; at < options->paths.count; at++)
        index_add(index, options->paths.items[at]);
    if (options->is_demo)
        index_add_demo(index);
    return index;
}

/* The one line that goes to stdout. A token from the user's own file is left out, because printed lines end in logs. */
static void print_url(const struct daemon *daemon)
{
    const bool has_file = daemon->options->token_file != NULL;
    const char *token = has_file ? "" : daemon->token.text;
    if (has_file)
        log_info("the token is that of %s: the page asks for it, or open the address with #token=TOKEN",
                 daemon->options->token_file);
    if (daemon->listening.is_any_address)
        log_info("other machines reach this by its IP address; by a name only with --allowed-hosts=NAME");
    if (daemon->listening.is_beyond_loopback && !daemon->token.text[0])
        log_line("--no-token: everyone who can connect can read everything, from other machines too");
    if (daemon->listening.unix_path[0])
        printf("unix:%s\n", daemon->listening.unix_path);
    else
        printf("http://%s:%u%s/%s%s\n", daemon->listening.host, daemon->listening.port, daemon->path_prefix,
               token[0] ? "#token=" : "", token);
    fflush(stdout);
}

static bool has_terminal(void)
{
    int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal >= 0)
        close(terminal);
    return terminal >= 0;
}

/* SIGHUP: scans the folders again, and reads the token file again; a file that is no longer valid changes nothing. */
static void read_again(struct daemon *daemon)
{
    struct token token;
    char reason[512];
    index_nudge(daemon->server.index);
    if (!daemon->options->token_file)
        return;
    if (token_read(&token, daemon->options->token_file, reason, sizeof(reason)))
        access_set_token(daemon->server.guard.access, &token);
    else
        log_line("the token stays as it was: %s", reason);
}

/* The terminal that it was started from also says by SIGHUP that it is gone: then this ends with it. */
static void wait_for_end(struct daemon *daemon, struct httpd *httpd, const sigset_t *ends, bool had_terminal)
{
    struct system_signal signal;
    for (bool is_told; !(is_told = system_signal_wait(ends, 1000, &signal)) || signal.number == SIGHUP;) {
        if (is_told && had_terminal && !has_terminal())
            return;
        if (is_told) {
            service_tell_reloading();
            read_again(daemon);
            service_tell("READY=1");
        }
        service_tell_alive();
        httpd_watch(httpd);
        store_expire(daemon->server.store);
        api_fleet_cache_expire(daemon->server.fleets);
        log_sum_up(false);
        if (memory_is_short() && !memory_reserve())
            store_drop_all(daemon->server.store);
    }
}

/* Answers what can be answered within some seconds, refuses all other requests, and sends existing answers to their
 * end. Then the parts are freed, last made first. */
static int cmd_serve_stop(struct daemon *daemon, struct httpd *httpd, struct jobs *jobs, const sigset_t *ends)
{
    service_tell("STOPPING=1");
    pthread_sigmask(SIG_UNBLOCK, ends, NULL); /* a second signal ends at once */
    httpd_stop_accepting(httpd);
    listen_refuse(&daemon->listening);
    confirmations_stop(daemon->server.confirmations);
    captures_stop(daemon->server.captures);
    notify_stop(daemon->notify);
    if (!httpd_drain(httpd, WORK_DRAIN_MS))
        store_stop(daemon->server.store);
    httpd_drain(httpd, LAST_DRAIN_MS); /* a text that is not read to its end is reported as such */
    jobs_cancel(jobs);
    httpd_drain(httpd, DRAIN_MS);
    bool is_idle = jobs_stop(jobs, LAST_DRAIN_MS);
    httpd_drain(httpd, LAST_DRAIN_MS); /* refuses requests that came meanwhile on open connections */
    log_sum_up(true);
    if (!is_idle)
        _exit(COMMANDS_DONE); /* a worker is stuck in a read; nothing is lost */
    httpd_free(httpd);
    listen_close(&daemon->listening);
    remote_stop();   /* its threads tell the index */
    jobs_free(jobs); /* only now: until its threads ended, a connection could still submit */
    confirmations_free(daemon->server.confirmations);
    captures_free(daemon->server.captures);
    cache_free(daemon->server.fleets);
    fleet_files_free(daemon->server.fleet_files);
    index_free(daemon->server.index);
    store_free(daemon->server.store);
    access_free(daemon->server.guard.access);
    metrics_free(daemon->server.metrics);
    return COMMANDS_DONE;
}

static bool start_notify(struct daemon *daemon)
{
    struct err err = ERR_INIT;
    const struct notify_settings settings = {.webhook = daemon->webhook,
                                             .index = daemon->server.index,
                                             .store = daemon->server.store,
                                             .fleet_files = daemon->server.fleet_files,
                                             .labels = getenv("MEMVIEWD_LABELS"),
                                             .label_paths = daemon->options->label_paths.items,
                                             .label_path_count = daemon->options->label_paths.count,
                                             .catalog_url = daemon->options->catalog};
    daemon->notify = daemon->webhook ? notify_start(&settings, &err) : NULL;
    if (err_is_set(&err))
        log_line("notify: %s", err.text);
    return !err_is_set(&err);
}

static int cmd_serve_run(struct daemon *daemon, const sigset_t *ends)
{
    bool had_terminal = has_terminal(); /* before anybody knows of this: it may be gone right after */
    daemon->server.started_at_ms = clock_unix_ms();
    daemon->server.web_folder = daemon->options->web_folder;
    daemon->server.source_roots = daemon->options->source_roots.items;
    daemon->server.source_root_count = daemon->options->source_roots.count;
    daemon->server.guard.access = access_new();
    access_set_token(daemon->server.guard.access, &daemon->token);
    daemon->server.index = make_index(daemon->options);
    int64_t limit_mib = daemon->options->memory_limit_mib;
    uint64_t limit_bytes = limit_mib ? (uint64_t)limit_mib << 20 : account_default_limit();
    uint64_t usable_bytes = cgroups_usable_memory_bytes();
    if (limit_mib && usable_bytes > 0 && limit_bytes > usable_bytes)
        log_line("--memory-limit=%lld: this process may have %llu MiB in all (machine, control group or ulimit): the "
                 "kernel may end it before the limit is reached",
                 (long long)limit_mib, (unsigned long long)(usable_bytes >> 20));
    daemon->settings.metrics = daemon->server.metrics = metrics_new();
    daemon->server.memory_limit_bytes = limit_bytes;
    daemon->settings.receiving_limit_bytes = limit_bytes / RECEIVING_PART;
    daemon->server.is_without_uploads = daemon->options->is_without_uploads;
    daemon->server.store = store_new(limit_bytes);
    store_set_category_rules(daemon->server.store, daemon->category_rules);
    daemon->server.fleets = api_fleet_cache_new();
    store_set_libraries(daemon->server.store, daemon->libraries);
    store_set_disk_cache(daemon->server.store, daemon->disk_cache);
    daemon->server.confirmations = confirmations_new(daemon->server.store, daemon->apart, daemon->options->topology);
    const struct captures_settings captures = {daemon->captures.items, daemon->captures.count,
                                               daemon->options->capture_logdir, daemon->server.index};
    daemon->server.captures = captures_new(&captures);
    const struct http_handler handler = routes_handler(&daemon->server);
    struct jobs *jobs = jobs_new(&handler);
    const struct cache_waiting waiting = jobs_waiting(jobs); /* a worker that waits gives up its place meanwhile */
    store_on_wait(daemon->server.store, &waiting);
    struct httpd *httpd = httpd_start(&handler, jobs, &daemon->listening, &daemon->settings);
    if (!httpd || !index_start(daemon->server.index) || !start_notify(daemon)) {
        log_error("cannot start: %s", strerror(errno));
        listen_close(&daemon->listening);
        _exit(COMMANDS_INTERNAL); /* threads may be there already: nothing is freed under them */
    }
    print_url(daemon);
    service_tell("READY=1");
    wait_for_end(daemon, httpd, ends, had_terminal);
    return cmd_serve_stop(daemon, httpd, jobs, ends);
}

static void set_up_process(sigset_t *ends)
{
    struct rlimit files;
    memory_set_up();
    memory_reserve();
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(ends);
    sigaddset(ends, SIGTERM);
    sigaddset(ends, SIGINT);
    sigaddset(ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ends, NULL); /* every thread made later inherits this */
}

static bool open_catalog(struct daemon *daemon, char *reason, size_t reason_size)
{
    struct err err = ERR_INIT;
    if (daemon->options->catalog)
        daemon->server.catalog = catalog_open(daemon->options->catalog, &err);
    snprintf(reason, reason_size, "--catalog: %s", err.text);
    return !err_is_set(&err);
}

/* All that may be refused before the daemon begins. COMMANDS_DONE, or what to end with, said in the log. */
static int cmd_serve_prepare(struct daemon *daemon, sigset_t *ends)
{
    const struct options *options = daemon->options;
    char reason[512];
    /* Before there is anything that it should not have. */
    daemon->apart = compile_apart_start(&(struct compile_apart_named){options->libtpu, options->cuda_plugin});
    if (!daemon->apart) {
        snprintf(reason, sizeof(reason), "cannot start a process for compilers: %s", strerror(errno));
        return cmd_serve_refuse(reason);
    }
    if (!open_sockets(daemon, reason, sizeof(reason)))
        return cmd_serve_refuse(reason);
    if (!make_token(daemon, reason, sizeof(reason)) || !decide_users(daemon, reason, sizeof(reason)))
        return cmd_serve_refuse(reason);
    if (!category_rules_load(options->category_rules, &daemon->category_rules) ||
        !category_rules_load_libraries(options->libraries, &daemon->libraries))
        return COMMANDS_UNUSABLE;
    if (!keeping_open(options, daemon->category_rules, daemon->libraries, &daemon->disk_cache, reason, sizeof(reason)))
        return cmd_serve_refuse(reason);
    if (!open_catalog(daemon, reason, sizeof(reason)))
        return cmd_serve_refuse(reason);
    if (!notify_option_open(options, &daemon->webhook) || !capture_option_open(options, &daemon->captures))
        return COMMANDS_UNUSABLE;
    daemon->server.fleet_files =
        fleet_files_new(options->label_paths.items, options->label_paths.count, getenv("MEMVIEWD_LABELS"));
    if (!daemon->server.fleet_files)
        return COMMANDS_UNUSABLE;
    set_up_process(ends);
    allow_hosts(daemon);
    place_pages(daemon);
    box_serve(options, daemon->listening.is_handed_over ? "" : daemon->listening.unix_path);
    return COMMANDS_DONE;
}

int cmd_serve(const struct options *options)
{
    struct daemon daemon = {.options = options};
    char reason[512];
    sigset_t ends;
    log_set_up(options->is_verbose, strcmp(options->log_format, "json") == 0);
    if (!serve_options_check(options, reason, sizeof(reason)))
        return cmd_serve_refuse(reason);
    service_begin();
    int status = cmd_serve_prepare(&daemon, &ends);
    if (status == COMMANDS_DONE)
        status = cmd_serve_run(&daemon, &ends);
    listen_close(&daemon.listening);
    compile_apart_free(daemon.apart);
    disk_cache_close(daemon.disk_cache);
    catalog_close(daemon.server.catalog);
    webhook_free(daemon.webhook);
    capture_option_free(&daemon.captures);
    free(daemon.names);
    free(daemon.bind_name);
    free(daemon.path_prefix);
    free(daemon.frame_ancestors);
    free(daemon.category_rules);
    free(daemon.libraries);
    return status;
}
