/* SPDX-License-Identifier: Apache-2.0
 * peer_user_other.c: see peer_user.h. Where the kernel is not Linux nobody is asked: whose a TCP connection is, is not
 * known, so that the daemon asks for a token or a Unix socket. */
#include "server/http/peer_user.h"

enum peer_user_way peer_user_way(int listening)
{
    (void)listening;
    return PEER_USER_NO_WAY;
}

bool peer_user_find(const struct sockaddr *theirs, const struct sockaddr *ours, uid_t *user)
{
    (void)theirs, (void)ours, (void)user;
    return false;
}
