/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/run_address.h"

#include "base/buf.h"
#include "server/base/descriptors.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/gather/index.h"

#include <cjson/cJSON.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PORT = RUN_ADDRESS_PORT, WAIT_MS = 500, MAX_ANSWER_BYTES = 1 << 20 };

static const char QUESTION[] =
    "GET /api/v1/about HTTP/1.1\r\nHost: localhost:6006\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n";

/* A daemon on this machine answers at once; whatever else listens there is not waited for long. */
static void answer_read(struct buf *answer)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct timeval wait = {.tv_usec = WAIT_MS * 1000};
    int connection = descriptors_socket(AF_INET, SOCK_STREAM, true);
    char part[4096];
    ssize_t length;
    if (connection < 0)
        return;
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    if (connect(connection, (const struct sockaddr *)&to, sizeof(to)) == 0 &&
        send(connection, QUESTION, sizeof(QUESTION) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(QUESTION) - 1)
        while (answer->length < MAX_ANSWER_BYTES && (length = recv(connection, part, sizeof(part), 0)) > 0)
            buf_add(answer, part, (size_t)length);
    close(connection);
}

/* How many folders the daemon at the default port serves before this one; -1: it does not, or there is none. */
static int served_at(const char *all)
{
    struct buf answer = BUF_INIT;
    int at = -1, found = -1;
    answer_read(&answer);
    buf_char(&answer, '\0');
    const char *body = answer.failed ? NULL : strstr(answer.data, "\r\n\r\n");
    cJSON *about = body ? cJSON_Parse(body) : NULL;
    const cJSON *name = cJSON_GetObjectItem(about, "name"), *roots = cJSON_GetObjectItem(about, "roots"), *root;
    bool is_memviewd = cJSON_IsString(name) && strcmp(name->valuestring, "memviewd") == 0;
    if (!is_memviewd)
        roots = NULL;
    cJSON_ArrayForEach(root, roots)
    {
        const cJSON *path = cJSON_GetObjectItem(root, "path");
        char *real = cJSON_IsString(path) ? realpath(path->valuestring, NULL) : NULL;
        at++;
        if (found < 0 && real && strcmp(real, all) == 0)
            found = at;
        free(real);
    }
    cJSON_Delete(about);
    buf_free(&answer);
    return found;
}

/* Does the session lie in the folder `name`: "run-…", "plugins/profile/…"? */
static bool is_of(const struct snapshot_session *session, const char *name)
{
    size_t length = strlen(name);
    const char *path = session->file_count > 0 ? session->files[0]->path : "";
    return strncmp(path, name, length) == 0 && path[length] == '/';
}

/* The rank of a session as a run's page, the best last; 0: it is shown only on the first page. */
static int page_rank(enum snapshot_kind kind)
{
    static const enum snapshot_kind ranks[] = {SNAPSHOT_PROFILES, SNAPSHOT_TEXT, SNAPSHOT_TRACE, SNAPSHOT_DUMP};
    for (int at = 0; at < (int)(sizeof(ranks) / sizeof(ranks[0])); at++)
        if (ranks[at] == kind)
            return at + 1;
    return 0;
}

/* The id of the run in a daemon that serves `all` as its first folder: that of its dump, else of its snapshots, else of
 * its device profiles if no text has a failure. NULL: it has none, and is shown on the first page. */
static char *session_id(const char *all, const char *name)
{
    struct index *index = index_new();
    index_add(index, all);
    index_scan_once(index);
    struct snapshot *snapshot = index_hold(index);
    const struct snapshot_session *found = NULL;
    for (size_t at = 0; at < snapshot->session_count; at++) {
        const struct snapshot_session *session = snapshot->sessions[at];
        int rank = is_of(session, name) ? page_rank(session->kind) : 0;
        if (rank > (found ? page_rank(found->kind) : 0))
            found = session;
    }
    char *id = found && found->kind != SNAPSHOT_TEXT ? memory_text(found->id) : NULL;
    index_release(index, snapshot);
    index_free(index);
    return id;
}

char *run_address_make(const char *all, const char *run, bool *is_served)
{
    int at = served_at(all);
    size_t length = strlen(all);
    bool is_below = strncmp(run, all, length) == 0 && run[length] == '/';
    char *id =
        at <= 0 ? session_id(all, is_below ? run + length + 1 : run) : NULL; /* of another folder it has another id */
    char *url = memory_format("http://localhost:%d/%s%s", PORT, id ? "?session=" : "", id ? id : "");
    *is_served = at >= 0;
    free(id);
    return url;
}

/* `url` is freed. */
static void url_say(char *url, bool is_served, const char *all)
{
    if (is_served)
        log_line("the page: %s", url);
    else
        log_line("the page: %s after memviewd --logdir=%s", url, all);
    free(url);
}

void run_address_say(const char *all, const char *run)
{
    bool is_served;
    char *url = run_address_make(all, run, &is_served);
    url_say(url, is_served, all);
}

void run_address_say_live(const char *all)
{
    url_say(memory_format("http://localhost:%d/?tool=live", PORT), served_at(all) >= 0, all);
}
