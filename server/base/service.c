/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/service.h"

#include "server/base/clock.h"
#include "server/base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_SOCKET = 3, MAX_SOCKETS = 64 };

static int telling = -1;
static size_t socket_count;
static int64_t alive_every_ms, alive_at_ms; /* 0: the manager does not wait for it */

/* A number that the environment has for this process; 0: none. */
static uint64_t number_of(const char *variable, const char *process)
{
    const char *text = getenv(variable), *id = getenv(process);
    char *end = NULL;
    errno = 0;
    unsigned long long value = text && text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    bool is_number = end && *end == '\0' && errno == 0;
    return is_number && (!id || strtoull(id, NULL, 10) == (unsigned long long)getpid()) ? value : 0;
}

/* "/run/systemd/notify", or an abstract one: "@…". */
static int open_telling(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if ((path[0] != '/' && path[0] != '@') || length >= sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '/'));
    int made = descriptors_socket(AF_UNIX, SOCK_DGRAM, true);
    if (made >= 0 && connect(made, (const struct sockaddr *)&address, size) != 0) {
        close(made);
        made = -1;
    }
    return made;
}

void service_begin(void)
{
    static const char *const variables[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                            "LISTEN_PID",    "LISTEN_FDS",    "LISTEN_FDNAMES"};
    const char *path = getenv("NOTIFY_SOCKET");
    telling = path ? open_telling(path) : -1;
    uint64_t limit_us = number_of("WATCHDOG_USEC", "WATCHDOG_PID");
    alive_every_ms = telling >= 0 && limit_us > 0 && limit_us < INT64_MAX ? (int64_t)(limit_us / 2000) : 0;
    uint64_t count = getenv("LISTEN_PID") ? number_of("LISTEN_FDS", "LISTEN_PID") : 0;
    socket_count = count <= MAX_SOCKETS ? (size_t)count : 0;
    for (size_t at = 0; at < socket_count; at++)
        fcntl(FIRST_SOCKET + (int)at, F_SETFD, FD_CLOEXEC);
    for (size_t at = 0; at < sizeof(variables) / sizeof(variables[0]); at++)
        unsetenv(variables[at]);
}

void service_tell(const char *what)
{
    if (telling >= 0)
        send(telling, what, strlen(what), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void service_tell_reloading(void)
{
    char text[80];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
             (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    service_tell(text);
}

void service_tell_alive(void)
{
    int64_t now_ms = clock_ms();
    if (alive_every_ms == 0 || now_ms < alive_at_ms)
        return;
    service_tell("WATCHDOG=1");
    alive_at_ms = now_ms + alive_every_ms;
}

size_t service_sockets(int *first)
{
    *first = FIRST_SOCKET;
    return socket_count;
}
