/* SPDX-License-Identifier: Apache-2.0
 * listen.h: the sockets that the daemon listens on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LISTEN_MAX = 4 };

struct listen_set {
    int sockets[LISTEN_MAX];
    size_t count;
    uint16_t port;           /* the same for all */
    bool is_beyond_loopback; /* other machines can reach one of them */
    bool is_any_address;     /* one is bound to all addresses of the machine */
    char host[80];           /* of the URL to print: "127.0.0.1", "[::1]" */
    bool is_handed_over;     /* by a service manager, whose they are */
    char unix_path[108];     /* of Unix sockets, which are then all of them; else empty */
};

/* `address` NULL: 127.0.0.1 and, where the machine has it, ::1. `port` 0: a
 * free one. On failure false, a line in `reason`, and nothing stays open. */
bool listen_open(struct listen_set *set, const char *address, uint16_t port, char *reason, size_t reason_size);
/* A Unix socket by `text`, "unix:/PATH" or "unix:/PATH,mode=0660"; 0600 without. Replaces an existing socket that no
 * process listens on. Before any thread is started. On failure as listen_open. */
bool listen_open_unix(struct listen_set *set, const char *text, char *reason, size_t reason_size);
/* Sockets that listen already, so many descriptors from `first` on: TCP, or Unix sockets with a path. `set` gets them.
 * On failure false and a line in `reason`. */
bool listen_take(struct listen_set *set, int first, size_t count, char *reason, size_t reason_size);
/* From now on new connections are refused, and connections that were not accepted yet are reset. On sockets that the
 * service manager handed over, they wait for its next receiver. The sockets stay open, so that a thread still waiting
 * on one cannot meet another file under its number. */
void listen_refuse(struct listen_set *set);
/* No thread may use the sockets any more. Takes the file of a Unix socket of its own away. */
void listen_close(struct listen_set *set);
