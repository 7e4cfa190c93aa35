/* SPDX-License-Identifier: Apache-2.0
 * httpd_door.h: how connections come to libmicrohttpd, and what is written on them past it. */
#pragma once

#include "server/http/acceptor.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* What the library calls; their contexts are `context`, of `connected` the door. */
struct httpd_door_calls {
    MHD_AccessHandlerCallback handle;
    void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback end;
    MHD_NotifyConnectionCallback connected;
    void *context;
};

/* One listening socket: a thread that accepts and one that reads requests and sends answers. */
struct httpd_door {
    void *context; /* as in the calls */
    struct MHD_Daemon *daemon;
    struct acceptor *acceptor;
};

/* At most `max_open` connections at a time. `door` stays where it is. False, then httpd_door_close, when it cannot
 * start. */
bool httpd_door_open(struct httpd_door *door, int listener, int max_open, const struct httpd_door_calls *calls);
void httpd_door_stop_accepting(struct httpd_door *door);
void httpd_door_close(struct httpd_door *door);

/* Where not even an answer can be made: a prepared one says so. MHD_NO: the library closes the connection then. */
enum MHD_Result httpd_door_refuse(struct MHD_Connection *connection);
/* In the middle of a body the library takes no answer: it is written past it, its `size` bytes of body, too. MHD_NO,
 * as above. */
enum MHD_Result httpd_door_send_past(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response,
                                     const char *body, size_t size);
