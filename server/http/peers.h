/* SPDX-License-Identifier: Apache-2.0
 * peers.h: the open connections, counted and watched.
 *
 * Limits: 256 connections in all, 64 from one address that is not this machine.
 * For one more the connection is shut that waits longest for a request or for the
 * rest of its headers; where none does, the new one is told 503 and closed, or how the daemon is. Shut are as well:
 * after ten seconds without all headers of a request, twenty without 64 KiB of a body, sixty without another request,
 * and thirty in which no 64 KiB of an answer were taken. Where other users of this machine are kept out, each
 * connection is asked once whose it is (peer_user.h). Threads: any number. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

enum { PEERS_MAX = 256, PEERS_MAX_OF_ONE = 64, PEERS_TEXT = 48 };

struct peers;
struct peer;

enum peers_standing {
    PEERS_WELCOME,
    PEERS_ONE_TOO_MANY,
    PEERS_OTHER_USER,   /* neither the daemon's own user nor root */
    PEERS_UNKNOWN_USER, /* its user could not be found out */
};

/* `is_own_user_only`: connections of other users of this machine are none that is welcome. */
struct peers *peers_new(bool is_own_user_only);
void peers_free(struct peers *peers);

/* A connection begins and ends; its descriptor stays open in between. */
struct peer *peers_add(struct peers *peers, int descriptor, const struct sockaddr *address);
void peers_remove(struct peers *peers, struct peer *peer);

enum peers_phase {
    PEERS_HEADERS, /* of a request are awaited, at first, and from its first line on */
    PEERS_BODY,    /* is awaited, or PEERS_PROGRESS_BYTES more bytes are */
    PEERS_ANSWER,  /* is made */
    PEERS_SENDING, /* of the answer */
    PEERS_IDLE,    /* after an answer */
};
enum { PEERS_PROGRESS_BYTES = 64 * 1024 };

/* A phase begins, or the same begins anew. */
void peers_enter(struct peers *peers, struct peer *peer, enum peers_phase phase);

/* Shuts the connections that have taken too long; to be called about once a second. */
void peers_watch(struct peers *peers);

/* As it was when the connection began. */
enum peers_standing peers_standing(const struct peer *peer);
/* The address as text. */
const char *peers_text(const struct peer *peer);
