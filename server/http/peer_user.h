/* SPDX-License-Identifier: Apache-2.0
 * peer_user.h: which user of this machine is at the other end of a connection.
 *
 * The kernel is asked for the owner of the socket at the other end: by NETLINK_SOCK_DIAG, or where that is not to be
 * had from /proc/net/tcp and tcp6. A socket that its process has closed has no owner any more: not known, and not user
 * 0, which both would say of it. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

enum peer_user_way { PEER_USER_NO_WAY, PEER_USER_SOCK_DIAG, PEER_USER_PROC };

/* How the user can be found on this system, tried out on a listening TCP socket. With PEER_USER_NO_WAY errno may say
 * why: EMFILE, ENFILE. */
enum peer_user_way peer_user_way(int listening);

/* The user at the end `theirs` of a TCP connection of this machine to `ours`: IPv4, IPv6, or IPv4 within IPv6. False
 * when that is not known. Threads: any number. */
bool peer_user_find(const struct sockaddr *theirs, const struct sockaddr *ours, uid_t *user);
