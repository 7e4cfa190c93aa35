/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/acceptor.h"

#include "server/base/descriptors.h"
#include "server/base/memory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where the system has no descriptor or no memory for one more connection, it is asked again after RETRY_MS. */
enum { RETRY_MS = 100, MAX_DROPPED_BYTES = 1 << 20, PROBE_FACTOR = 4 };

#define BODY                                                                                                           \
    "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,"                                      \
    "\"detail\":\"there is no memory for one more connection; ask again\",\"code\":\"exhausted\","                     \
    "\"request_id\":\"\"}"
static const char NO_MEMORY[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
                                "X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nRetry-After: 1\r\n"
                                "Connection: close\r\nContent-Length: 165\r\n\r\n" BODY;
static_assert(sizeof(BODY) - 1 == 165, "as Content-Length has it");

struct acceptor {
    struct acceptor_taker taker;
    pthread_t thread;
    int listener, wake[2]; /* a byte in the pipe: look again */
    int max_open;
    atomic_int open_count;
    atomic_bool is_full, is_stopping;
    bool is_running;
};

void acceptor_last_words(int connection, const char *bytes, size_t size)
{
    char dropped[4096];
    (void)!send(connection, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(connection, SHUT_WR);
    /* If bytes were not read, closing resets the connection, and the answer may be lost with it. */
    for (size_t size_dropped = 0; size_dropped < MAX_DROPPED_BYTES; size_dropped += sizeof(dropped))
        if (recv(connection, dropped, sizeof(dropped), MSG_DONTWAIT) <= 0)
            break;
}

void acceptor_refuse(int connection) { acceptor_last_words(connection, NO_MEMORY, sizeof(NO_MEMORY) - 1); }

/* The reserve (memory.h) is for what is under way: as long as it is used up, new connections do not share in it. The
 * library takes the most for a connection later, on its own thread, and does not say so when there is none: so it is
 * asked now whether there is some times as much. */
static bool has_memory(const struct acceptor *acceptor)
{
    if (memory_is_short() && !memory_reserve())
        return false;
    size_t size = PROBE_FACTOR * acceptor->taker.connection_bytes;
    void *probe = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return probe != MAP_FAILED && munmap(probe, size) == 0;
}

/* The taker closes what it cannot take, so the last words go through a descriptor of our own. */
static void hand_on(struct acceptor *acceptor, int connection, const struct sockaddr *from, socklen_t from_length)
{
    if (!has_memory(acceptor)) {
        acceptor_refuse(connection);
        close(connection);
        return;
    }
    int own = fcntl(connection, F_DUPFD_CLOEXEC, 0);
    atomic_fetch_add(&acceptor->open_count, 1);
    if (!acceptor->taker.take(acceptor->taker.context, connection, from, from_length)) {
        atomic_fetch_sub(&acceptor->open_count, 1);
        if (own >= 0)
            acceptor_refuse(own);
    }
    if (own >= 0)
        close(own);
}

/* False when there is no connection to take, and none will come before something else ends. */
static bool take_one(struct acceptor *acceptor)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof(from);
    int connection = descriptors_accept(acceptor->listener, (struct sockaddr *)&from, &length);
    if (connection < 0)
        return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS;
    hand_on(acceptor, connection, (const struct sockaddr *)&from, length);
    return true;
}

/* False when none came in that time. */
static bool wait_for_byte(const struct acceptor *acceptor, int wait_ms)
{
    struct pollfd wake = {.fd = acceptor->wake[0], .events = POLLIN};
    char bytes[64];
    return poll(&wake, 1, wait_ms) > 0 && read(acceptor->wake[0], bytes, sizeof(bytes)) > 0;
}

/* One that the library closed before it was one of its own was not told as closed: its own number is without it. */
static void wait_for_room(struct acceptor *acceptor)
{
    if (!wait_for_byte(acceptor, RETRY_MS))
        atomic_store(&acceptor->open_count, acceptor->taker.count(acceptor->taker.context));
}

/* Set before it is looked again: who ends a connection in between sees it. */
static bool is_full(struct acceptor *acceptor)
{
    atomic_store(&acceptor->is_full, true);
    bool is = atomic_load(&acceptor->open_count) >= acceptor->max_open;
    if (!is)
        atomic_store(&acceptor->is_full, false);
    return is;
}

static void *accept_all(void *context)
{
    struct acceptor *acceptor = context;
    while (!atomic_load(&acceptor->is_stopping)) {
        struct pollfd both[] = {{.fd = acceptor->listener, .events = POLLIN},
                                {.fd = acceptor->wake[0], .events = POLLIN}};
        if (is_full(acceptor)) {
            wait_for_room(acceptor);
            continue;
        }
        if (poll(both, 2, -1) < 0)
            continue;
        if (both[1].revents)
            wait_for_byte(acceptor, 0);
        else if (both[0].revents && !take_one(acceptor))
            wait_for_byte(acceptor, RETRY_MS);
    }
    return NULL;
}

static void acceptor_wake(struct acceptor *acceptor)
{
    (void)!write(acceptor->wake[1], "", 1); /* a pipe that is full wakes, too */
}

struct acceptor *acceptor_new(int listener, int max_open, const struct acceptor_taker *taker)
{
    struct acceptor *acceptor = memory_new(sizeof(*acceptor));
    *acceptor = (struct acceptor){.taker = *taker, .listener = listener, .max_open = max_open, .wake = {-1, -1}};
    return acceptor;
}

bool acceptor_start(struct acceptor *acceptor)
{
    if (!descriptors_pipe(acceptor->wake))
        return false;
    fcntl(acceptor->listener, F_SETFL, fcntl(acceptor->listener, F_GETFL) | O_NONBLOCK);
    fcntl(acceptor->wake[1], F_SETFL, O_NONBLOCK);
    acceptor->is_running = pthread_create(&acceptor->thread, NULL, accept_all, acceptor) == 0;
    return acceptor->is_running;
}

void acceptor_count_closed(struct acceptor *acceptor)
{
    atomic_fetch_sub(&acceptor->open_count, 1);
    if (atomic_exchange(&acceptor->is_full, false))
        acceptor_wake(acceptor);
}

void acceptor_stop(struct acceptor *acceptor)
{
    if (!acceptor || !acceptor->is_running)
        return;
    atomic_store(&acceptor->is_stopping, true);
    acceptor_wake(acceptor);
    pthread_join(acceptor->thread, NULL);
    acceptor->is_running = false;
}

void acceptor_free(struct acceptor *acceptor)
{
    acceptor_stop(acceptor);
    for (int end = 0; acceptor && end < 2; end++)
        if (acceptor->wake[end] >= 0)
            close(acceptor->wake[end]);
    free(acceptor);
}
