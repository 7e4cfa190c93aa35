/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/peers.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/http/peer_progress.h"
#include "server/http/peer_user.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADERS_MS = 10000, BODY_MS = 20000, SENDING_MS = 30000, IDLE_MS = 60000 };

struct peer {
    struct peer *next, **back;
    int descriptor;
    char text[PEERS_TEXT];
    bool is_local, is_shut;
    enum peers_standing standing;
    enum peers_phase phase;
    int64_t since_ms;
    uint64_t taken_bytes; /* while an answer is sent: what the other side had by then */
};

struct peers {
    pthread_mutex_t lock;
    struct peer *first;
    size_t count; /* without those that are shut */
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

static void peers_describe(struct peer *peer, const struct sockaddr *address)
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
        peer->is_local = true; /* of a Unix socket */
    }
}

static size_t count_of(const struct peers *peers, const char *text)
{
    size_t count = 0;
    for (const struct peer *peer = peers->first; peer; peer = peer->next)
        count += !peer->is_shut && strcmp(peer->text, text) == 0;
    return count;
}

/* The library sees the end and closes it. */
static void shut(struct peers *peers, struct peer *peer)
{
    shutdown(peer->descriptor, SHUT_RDWR);
    peers->count -= !peer->is_shut;
    peer->is_shut = true;
}

/* Shuts the connection, of one address or of any, that waits longest for a request. False when none does. */
static bool make_place(struct peers *peers, const char *text)
{
    struct peer *oldest = NULL;
    for (struct peer *peer = peers->first; peer; peer = peer->next)
        if (!peer->is_shut && (peer->phase == PEERS_HEADERS || peer->phase == PEERS_IDLE) &&
            (!text || strcmp(peer->text, text) == 0) && (!oldest || peer->since_ms <= oldest->since_ms))
            oldest = peer;
    if (oldest)
        shut(peers, oldest);
    return oldest != NULL;
}

static bool has_place(struct peers *peers, const struct peer *peer)
{
    if (!peer->is_local && count_of(peers, peer->text) >= PEERS_MAX_OF_ONE && !make_place(peers, peer->text))
        return false;
    return peers->count < PEERS_MAX || make_place(peers, NULL);
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
    peer->since_ms = clock_ms();
    peers_describe(peer, address);
    if (peers->is_own_user_only)
        peer->standing = standing_of_user(descriptor, address);
    pthread_mutex_lock(&peers->lock);
    if (!has_place(peers, peer))
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
    peers->count -= !peer->is_shut;
    pthread_mutex_unlock(&peers->lock);
    free(peer);
}

void peers_enter(struct peers *peers, struct peer *peer, enum peers_phase phase)
{
    bool is_waiting;
    pthread_mutex_lock(&peers->lock);
    peer->phase = phase;
    peer->since_ms = clock_ms();
    peer->taken_bytes = 0;
    if (phase == PEERS_SENDING)
        peer_progress_read(peer->descriptor, &peer->taken_bytes, &is_waiting);
    pthread_mutex_unlock(&peers->lock);
}

/* While there is something to send, and it is not taken. What is made piece by piece may take its time. */
static bool is_stalled(struct peer *peer, int64_t now_ms)
{
    uint64_t taken = 0;
    bool is_waiting = false;
    if (peer_progress_read(peer->descriptor, &taken, &is_waiting) && is_waiting &&
        taken < peer->taken_bytes + PEERS_PROGRESS_BYTES)
        return now_ms - peer->since_ms > SENDING_MS;
    peer->taken_bytes = taken;
    peer->since_ms = now_ms;
    return false;
}

static bool is_over(struct peer *peer, int64_t now_ms)
{
    int64_t passed_ms = now_ms - peer->since_ms;
    switch (peer->phase) {
    case PEERS_HEADERS: return passed_ms > HEADERS_MS;
    case PEERS_BODY: return passed_ms > BODY_MS;
    case PEERS_IDLE: return passed_ms > IDLE_MS;
    case PEERS_SENDING: return is_stalled(peer, now_ms);
    case PEERS_ANSWER: break;
    }
    return false;
}

void peers_watch(struct peers *peers)
{
    int64_t now_ms = clock_ms();
    pthread_mutex_lock(&peers->lock);
    for (struct peer *peer = peers->first; peer; peer = peer->next)
        if (!peer->is_shut && is_over(peer, now_ms))
            shut(peers, peer);
    pthread_mutex_unlock(&peers->lock);
}

enum peers_standing peers_standing(const struct peer *peer) { return peer->standing; }

const char *peers_text(const struct peer *peer) { return peer->text; }
