/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/listen.h"

#include "server/base/descriptors.h"
#include "server/files/opener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128, TRIES = 16 };

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static bool is_any(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* The port lies at the same place for both families. */
static uint16_t *port_of(struct sockaddr *address) { return &((struct sockaddr_in *)(void *)address)->sin_port; }

static int open_one(struct sockaddr *address, socklen_t length, uint16_t *port)
{
    const int on = 1, only_six = address->sa_family == AF_INET6 && !is_any(address);
    int descriptor = descriptors_socket(address->sa_family, SOCK_STREAM, false);
    if (descriptor < 0)
        return -1;
    *port_of(address) = htons(*port);
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->sa_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only_six, sizeof(only_six));
    if (bind(descriptor, address, length) != 0 || listen(descriptor, BACKLOG) != 0 ||
        getsockname(descriptor, address, &length) != 0) {
        int reason = errno;
        close(descriptor);
        errno = reason;
        return -1;
    }
    *port = ntohs(*port_of(address));
    return descriptor;
}

static void listen_describe(struct listen_set *set, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = "";
    bool is_six = address->sa_family == AF_INET6;
    set->is_beyond_loopback |= !is_loopback(address);
    set->is_any_address |= is_any(address);
    if (set->host[0])
        return;
    if (is_any(address))
        snprintf(set->host, sizeof(set->host), "%s", is_six ? "[::1]" : "127.0.0.1");
    else if (is_six &&
             inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, text, sizeof(text)))
        snprintf(set->host, sizeof(set->host), "[%s]", text);
    else if (inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, text, sizeof(text)))
        snprintf(set->host, sizeof(set->host), "%s", text);
}

/* Opens every address of a list on set->port. A machine without IPv6 has no
 * ::1: with `may_miss` that is no failure. */
static bool open_list(struct listen_set *set, const struct addrinfo *list, bool may_miss)
{
    for (const struct addrinfo *at = list; at && set->count < LISTEN_MAX; at = at->ai_next) {
        struct sockaddr_storage address;
        memcpy(&address, at->ai_addr, at->ai_addrlen);
        int descriptor = open_one((struct sockaddr *)&address, at->ai_addrlen, &set->port);
        if (descriptor < 0 && may_miss && (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT))
            continue;
        if (descriptor < 0)
            return false;
        set->sockets[set->count++] = descriptor;
        listen_describe(set, (const struct sockaddr *)&address);
    }
    return true;
}

struct addresses {
    struct addrinfo *first, *second; /* of the default: 127.0.0.1 and ::1 */
};

static int listen_resolve(const char *address, struct addresses *addresses)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    *addresses = (struct addresses){NULL, NULL};
    if (address)
        return getaddrinfo(address, "0", &hints, &addresses->first);
    hints.ai_flags |= AI_NUMERICHOST;
    if (getaddrinfo("::1", "0", &hints, &addresses->second) != 0)
        addresses->second = NULL;
    return getaddrinfo("127.0.0.1", "0", &hints, &addresses->first);
}

static bool open_all(struct listen_set *set, const struct addresses *addresses, uint16_t port)
{
    *set = (struct listen_set){.port = port};
    bool has_two = addresses->second != NULL;
    if (open_list(set, addresses->first, has_two) && open_list(set, addresses->second, has_two) && set->count > 0)
        return true;
    int reason = set->count || errno ? errno : EADDRNOTAVAIL;
    listen_close(set);
    errno = reason;
    return false;
}

bool listen_open(struct listen_set *set, const char *address, uint16_t port, char *reason, size_t reason_size)
{
    char bare[80];
    struct addresses addresses;
    if (address && address[0] == '[') { /* as in a URL */
        snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(address + 1, "]"), address + 1);
        address = bare;
    }
    int fault = listen_resolve(address, &addresses);
    if (fault) {
        snprintf(reason, reason_size, "--bind=%s: %s", address ? address : "", gai_strerror(fault));
        return false;
    }
    bool is_open = open_all(set, &addresses, port);
    /* A free port of one address may be taken on the other. */
    for (int tries = 1; !is_open && port == 0 && errno == EADDRINUSE && tries < TRIES; tries++)
        is_open = open_all(set, &addresses, port);
    if (!is_open && errno == EADDRINUSE)
        snprintf(reason, reason_size, "port %u is in use; choose another with --port=N, or --port=0 for a free one",
                 port);
    else if (!is_open)
        snprintf(reason, reason_size, "cannot listen on %s port %u: %s", address ? address : "127.0.0.1", port,
                 strerror(errno));
    freeaddrinfo(addresses.first);
    if (addresses.second)
        freeaddrinfo(addresses.second);
    return is_open;
}

/* "mode=0660" → *mode. Digits only: strtoul alone would take blanks and signs, too. */
static bool read_mode(const char *text, mode_t *mode)
{
    const char *digits = text + 5;
    if (strncmp(text, "mode=", 5) != 0 || *digits == '\0' || digits[strspn(digits, "01234567")] != '\0')
        return false;
    unsigned long value = strtoul(digits, NULL, 8);
    *mode = (mode_t)value;
    return value <= 0777;
}

/* Takes a socket away that a daemon left behind which did not end well. Nothing waits here: where as many connections
 * wait as may, connecting fails with EAGAIN, and somebody listens. */
static void remove_stale(int descriptor, const struct sockaddr_un *address)
{
    struct stat status;
    if (lstat(address->sun_path, &status) == 0 && S_ISSOCK(status.st_mode) &&
        connect(descriptor, (const struct sockaddr *)address, sizeof(*address)) != 0 && errno == ECONNREFUSED)
        unlink(address->sun_path);
}

static bool open_path(struct listen_set *set, const struct sockaddr_un *address, mode_t mode)
{
    int trying = descriptors_socket(AF_UNIX, SOCK_STREAM, false);
    int descriptor = descriptors_socket(AF_UNIX, SOCK_STREAM, false);
    if (trying >= 0) {
        remove_stale(trying, address);
        close(trying);
    }
    mode_t before = umask(0777 & ~mode); /* so that it never has another one */
    bool is_bound = descriptor >= 0 && bind(descriptor, (const struct sockaddr *)address, sizeof(*address)) == 0;
    int reason = errno;
    umask(before);
    if (is_bound && listen(descriptor, BACKLOG) == 0) {
        set->sockets[set->count++] = descriptor;
        snprintf(set->unix_path, sizeof(set->unix_path), "%s", address->sun_path);
        return true;
    }
    if (descriptor >= 0)
        close(descriptor);
    errno = reason;
    return false;
}

bool listen_open_unix(struct listen_set *set, const char *text, char *reason, size_t reason_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    mode_t mode = S_IRUSR | S_IWUSR;
    bool is_unix = strncmp(text, "unix:/", 6) == 0;
    const char *path = is_unix ? text + 5 : text;
    size_t length = strcspn(path, ",");
    *set = (struct listen_set){0};
    if (!is_unix || length >= sizeof(address.sun_path) || (path[length] && !read_mode(path + length + 1, &mode))) {
        snprintf(reason, reason_size,
                 "--listen=%s: wanted is unix:/PATH, of at most %zu characters, or unix:/PATH,mode=0660", text,
                 sizeof(address.sun_path) - 1);
        return false;
    }
    memcpy(address.sun_path, path, length);
    if (open_path(set, &address, mode))
        return true;
    snprintf(reason, reason_size, "--listen=%s: %s", text, strerror(errno));
    return false;
}

/* NULL, or what is wrong with it. */
static const char *take_one(struct listen_set *set, int descriptor)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    struct sockaddr_un local;
    socklen_t length = sizeof(address), type_length = sizeof(int), listens_length = sizeof(int);
    int type = 0, listens = 0;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0 ||
        getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &type_length) != 0 ||
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_length) != 0)
        return strerror(errno);
    if (type != SOCK_STREAM || !listens)
        return "it does not listen for streams (ListenStream=)";
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    bool is_first = set->count == 0, had_path = set->unix_path[0] != '\0';
    set->sockets[set->count++] = descriptor;
    if (address.ss_family == AF_UNIX) {
        memcpy(&local, &address, sizeof(local));
        local.sun_path[sizeof(local.sun_path) - 1] = '\0';
        if (local.sun_path[0] != '/')
            return "a Unix socket without a file admits every user";
        memcpy(set->unix_path, local.sun_path, sizeof(set->unix_path));
        return is_first || had_path ? NULL : "TCP and Unix sockets do not go together";
    }
    if (address.ss_family != AF_INET && address.ss_family != AF_INET6)
        return "it is neither TCP nor a Unix socket";
    set->port = ntohs(*port_of((struct sockaddr *)&address));
    listen_describe(set, (const struct sockaddr *)&address);
    return had_path ? "TCP and Unix sockets do not go together" : NULL;
}

bool listen_take(struct listen_set *set, int first, size_t count, char *reason, size_t reason_size)
{
    *set = (struct listen_set){.is_handed_over = true};
    const char *fault = count > LISTEN_MAX ? "there are more than four" : NULL;
    for (size_t at = 0; at < count && !fault; at++)
        fault = take_one(set, first + (int)at);
    if (fault)
        snprintf(reason, reason_size, "the socket that was handed over (LISTEN_FDS) cannot be used: %s", fault);
    return !fault;
}

void listen_refuse(struct listen_set *set)
{
    for (size_t at = 0; at < set->count && !set->is_handed_over; at++)
        shutdown(set->sockets[at], SHUT_RDWR);
}

void listen_close(struct listen_set *set)
{
    for (size_t at = 0; at < set->count; at++)
        close(set->sockets[at]);
    set->count = 0;
    if (set->unix_path[0] && !set->is_handed_over)
        opener_unlink(set->unix_path);
    set->unix_path[0] = '\0';
}
