/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/peers.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/http/peer_user.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 60000 };

struct peer {
    struct peer *next, **back;
    int descriptor;
    char text[PEERS_TEXT];
    bool is_local, is_busy;
    enum peers_standing standing;
    int64_t waiting_since_ms; /* while not busy */
};

struct peers {
    pthread_mutex_t lock;
    struct peer *first;
    size_t count;
    bool is_own_user_only;
};

struct peers *peers_new(bool is_own_user_only)
{
    struct peers *peers = memory_new(sizeof(*peers));
    peers->is_own_user_only = is_own_user_only;
    pthread_mutex_init(&peers->lock, NULL);
    return peers;
}

void peers_free(struct peers *peers)
{
    while (peers->first)
        peers_remove(peers, peers->first);
    pthread_mutex_destroy(&peers->lock);
    free(peers);
}

static void describe(struct peer *peer, const struct sockaddr *address)
{
    if (address && address->sa_family == AF_INET) {
        const struct in_addr *four = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
        inet_ntop(AF_INET, four, peer->text, sizeof(peer->text));
        peer->is_local = ntohl(four->s_addr) >> 24 == 127;
    } else if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        inet_ntop(AF_INET6, six, peer->text, sizeof(peer->text));
        peer->is_local = IN6_IS_ADDR_LOOPBACK(six) || strncmp(peer->text, "::ffff:127.", 11) == 0;
    } else {
        snprintf(peer->text, sizeof(peer->text), "-");
    }
}

static size_t count_of(const struct peers *peers, const char *text)
{
    size_t count = 0;
    for (const struct peer *peer = peers->first; peer; peer = peer->next)
        count += strcmp(peer->text, text) == 0;
    return count;
}

/* Root may read everything on the machine anyway. */
static enum peers_standing standing_of_user(int descriptor, const struct sockaddr *address)
{
    struct sockaddr_storage own = {0};
    socklen_t length = sizeof(own);
    uid_t user;
    if (getsockname(descriptor, (struct sockaddr *)&own, &length) != 0 ||
        !peer_user_find(address, (const struct sockaddr *)&own, &user))
        return PEERS_UNKNOWN_USER;
    return user == geteuid() || user == 0 ? PEERS_WELCOME : PEERS_OTHER_USER;
}

struct peer *peers_add(struct peers *peers, int descriptor, const struct sockaddr *address)
{
    struct peer *peer = memory_new(sizeof(*peer));
    peer->descriptor = descriptor;
    peer->waiting_since_ms = clock_ms();
    describe(peer, address);
    if (peers->is_own_user_only)
        peer->standing = standing_of_user(descriptor, address);
    pthread_mutex_lock(&peers->lock);
    if (peers->count >= PEERS_MAX || (!peer->is_local && count_of(peers, peer->text) >= PEERS_MAX_OF_ONE))
        peer->standing = PEERS_ONE_TOO_MANY;
    peer->next = peers->first;
    peer->back = &peers->first;
    if (peers->first)
        peers->first->back = &peer->next;
    peers->first = peer;
    peers->count++;
    pthread_mutex_unlock(&peers->lock);
    return peer;
}

void peers_remove(struct peers *peers, struct peer *peer)
{
    pthread_mutex_lock(&peers->lock);
    *peer->back = peer->next;
    if (peer->next)
        peer->next->back = peer->back;
    peers->count--;
    pthread_mutex_unlock(&peers->lock);
    free(peer);
}

void peers_set_busy(struct peers *peers, struct peer *peer, bool is_busy)
{
    pthread_mutex_lock(&peers->lock);
    peer->is_busy = is_busy;
    peer->waiting_since_ms = clock_ms();
    pthread_mutex_unlock(&peers->lock);
}

void peers_progress(struct peers *peers, struct peer *peer)
{
    pthread_mutex_lock(&peers->lock);
    peer->waiting_since_ms = clock_ms();
    pthread_mutex_unlock(&peers->lock);
}

void peers_watch(struct peers *peers)
{
    int64_t now_ms = clock_ms();
    pthread_mutex_lock(&peers->lock);
    for (struct peer *peer = peers->first; peer; peer = peer->next) {
        if (!peer->is_busy && now_ms - peer->waiting_since_ms > TIMEOUT_MS)
            shutdown(peer->descriptor, SHUT_RDWR); /* the library sees the end and closes it */
    }
    pthread_mutex_unlock(&peers->lock);
}

enum peers_standing peers_standing(const struct peer *peer) { return peer->standing; }

const char *peers_text(const struct peer *peer) { return peer->text; }
