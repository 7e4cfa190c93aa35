/* SPDX-License-Identifier: Apache-2.0
 * peers.h: the open connections, counted and watched.
 *
 * Limits: 256 connections in all, 64 from one address that is not this machine.
 * Beyond them a connection is still accepted, told 503 and closed. A connection
 * on which no whole request arrives within a minute is shut, however slowly
 * bytes trickle in. Threads: any number. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

enum { PEERS_MAX = 256, PEERS_MAX_OF_ONE = 64, PEERS_TEXT = 48 };

struct peers;
struct peer;

struct peers *peers_new(void);
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

/* Was the connection one too many? */
bool peers_is_refused(const struct peer *peer);
/* The address as text. */
const char *peers_text(const struct peer *peer);
