/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/httpd_door.h"

#include "base/buf.h"
#include "server/http/httpd_headers.h"

enum { IDLE_SECONDS = 90, CONNECTION_MEMORY_BYTES = 256 * 1024, BEYOND = 64 };

static bool httpd_door_take(void *context, int connection, const struct sockaddr *from, socklen_t from_length)
{
    const struct httpd_door *door = context;
    return MHD_add_connection(door->daemon, connection, from, from_length) == MHD_YES;
}

static int count_open(void *context)
{
    const struct httpd_door *door = context;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(door->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? (int)info->num_connections : 0;
}

/* The library does not listen: it would close a connection for which it has no memory without a word. Its own limit of
 * connections lies beyond ours, for the same reason. By poll: with epoll it takes 128 events at a time, and where
 * there were just as many, or twice as many, it waits for a further one before it looks at any of them. */
bool httpd_door_open(struct httpd_door *door, int listener, int max_open, const struct httpd_door_calls *calls)
{
    const struct acceptor_taker taker = {door, httpd_door_take, count_open, CONNECTION_MEMORY_BYTES};
    void *context = calls->context;
    *door = (struct httpd_door){.context = context};
    door->daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
        calls->handle, context, MHD_OPTION_URI_LOG_CALLBACK, calls->begin, context, MHD_OPTION_NOTIFY_COMPLETED,
        calls->end, context, MHD_OPTION_NOTIFY_CONNECTION, calls->connected, door, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(max_open + BEYOND), MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES, MHD_OPTION_END);
    door->acceptor = acceptor_new(listener, max_open, &taker); /* before the first connection ends */
    return door->daemon && acceptor_start(door->acceptor);
}

void httpd_door_stop_accepting(struct httpd_door *door) { acceptor_stop(door->acceptor); }

void httpd_door_close(struct httpd_door *door)
{
    acceptor_stop(door->acceptor);
    if (door->daemon)
        MHD_stop_daemon(door->daemon);
    acceptor_free(door->acceptor);
}

static void write_past(struct MHD_Connection *connection, const struct buf *text)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info && text)
        acceptor_last_words(info->connect_fd, text->data, text->length);
    else if (info)
        acceptor_refuse(info->connect_fd);
}

enum MHD_Result httpd_door_refuse(struct MHD_Connection *connection)
{
    write_past(connection, NULL);
    return MHD_NO;
}

enum MHD_Result httpd_door_send_past(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response,
                                     const char *body, size_t size)
{
    struct buf text = BUF_INIT;
    httpd_headers_write(status, size, response, &text);
    if (size > 0)
        buf_add(&text, body, size);
    write_past(connection, text.failed ? NULL : &text);
    buf_free(&text);
    return MHD_NO;
}
