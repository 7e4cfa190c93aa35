/* SPDX-License-Identifier: Apache-2.0
 * peers.h: the open connections, counted and watched.
 *
 * Limits: 256 connections in all, 64 from one address that is not this machine.
 * Beyond them a connection is still accepted, told 503 and closed. A connection
 * on which no whole request arrives within a minute is shut, however slowly
 * bytes trickle in. Where other users of this machine are kept out, each
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
    PEERS_UNKNOWN_USER, /* it could not be told whose it is */
};

/* `is_own_user_only`: connections of other users of this machine are none that is welcome. */
struct peers *peers_new(bool is_own_user_only);
void peers_free(struct peers *peers);

/* A connection begins and ends; its descriptor stays open in between. */
struct peer *peers_add(struct peers *peers, int descriptor, const struct sockaddr *address);
void peers_remove(struct peers *peers, struct peer *peer);

/* A whole request has come; its answer has gone. */
void peers_set_busy(struct peers *peers, struct peer *peer, bool is_busy);

/* A large body begins, or a good piece of it has come: the patience begins anew. */
void peers_progress(struct peers *peers, struct peer *peer);

/* Shuts the connections that have waited too long; to be called about once a second. */
void peers_watch(struct peers *peers);

/* As it was when the connection began. */
enum peers_standing peers_standing(const struct peer *peer);
/* The address as text. */
const char *peers_text(const struct peer *peer);
