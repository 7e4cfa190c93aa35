/* SPDX-License-Identifier: Apache-2.0
 * acceptor.h: takes the connections of one listening socket, on a thread of its own, and hands them on.
 *
 * A connection that cannot be handed on, for lack of memory or because too many are open at once, gets a prepared 503
 * and is closed: the library that serves connections would close it without a word. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct acceptor;

struct acceptor_taker {
    void *context;
    /* Takes the connection over, and closes it even where it cannot: then false. */
    bool (*take)(void *context, int connection, const struct sockaddr *from, socklen_t from_length);
    int (*count)(void *context); /* how many are open */
    size_t connection_bytes;     /* what one takes of the memory */
};

/* At most `max_open` of them are open; others wait in the queue of the socket. */
struct acceptor *acceptor_new(int listener, int max_open, const struct acceptor_taker *taker);
/* False without a thread or a pipe. */
bool acceptor_start(struct acceptor *acceptor);
/* One that was taken has ended. Threads: any number. */
void acceptor_count_closed(struct acceptor *acceptor);
/* Takes no more; NULL is fine. */
void acceptor_stop(struct acceptor *acceptor);
/* After the last call of acceptor_count_closed; NULL is fine. */
void acceptor_free(struct acceptor *acceptor);

/* Writes what fits, says that no more will come, and throws away what has come. The connection stays open. */
void acceptor_last_words(int connection, const char *bytes, size_t size);
/* The same with the answer that there is no memory. */
void acceptor_refuse(int connection);
