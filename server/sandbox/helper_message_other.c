/* SPDX-License-Identifier: Apache-2.0
 * helper_message_other.c: see helper.h. On a socket of bytes: each message begins with its size, which carries the
 * descriptor. */
#include "server/sandbox/helper.h"
#include "server/sandbox/helper_control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

bool helper_pair(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

static bool send_all(int socket, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t part = send(socket, bytes, size, MSG_NOSIGNAL);
        if (part < 0 && errno != EINTR)
            return false;
        bytes += part > 0 ? part : 0;
        size -= part > 0 ? (size_t)part : 0;
    }
    return true;
}

static bool receive_all(int socket, char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t part = recv(socket, bytes, size, 0);
        if (part == 0 || (part < 0 && errno != EINTR))
            return false;
        bytes += part > 0 ? part : 0;
        size -= part > 0 ? (size_t)part : 0;
    }
    return true;
}

bool helper_send(int socket, const void *data, size_t size, int descriptor)
{
    uint32_t announced = (uint32_t)size;
    if (size == 0 || size > UINT32_MAX)
        return false;
    ssize_t sent = helper_control_send(socket, (struct iovec){&announced, sizeof(announced)}, descriptor);
    return sent == (ssize_t)sizeof(announced) && send_all(socket, data, size);
}

/* The size of the next message, and the descriptor that it carries, which is closed if the caller takes none; as
 * recvmsg(2). */
static ssize_t receive_size(int socket, uint32_t *announced, int *descriptor, bool waits)
{
    struct iovec part = {announced, sizeof(*announced)};
    union helper_control control = {.bytes = {0}};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
    ssize_t length;
    int taken = -1;
    do
        length = recvmsg(socket, &message, waits ? 0 : MSG_DONTWAIT);
    while (length < 0 && errno == EINTR);
    if (length > 0)
        helper_control_take(&message, &taken);
    if (taken >= 0)
        fcntl(taken, F_SETFD, FD_CLOEXEC);
    if (descriptor)
        *descriptor = taken;
    else if (taken >= 0)
        close(taken);
    if (length > 0 && (size_t)length < sizeof(*announced) &&
        !receive_all(socket, (char *)announced + length, sizeof(*announced) - (size_t)length))
        return 0;
    return length;
}

ssize_t helper_receive(int socket, void *data, size_t size, int *descriptor, bool waits)
{
    uint32_t announced;
    ssize_t length = receive_size(socket, &announced, descriptor, waits);
    if (length <= 0)
        return length;
    if (announced <= size && receive_all(socket, data, announced))
        return (ssize_t)announced;
    if (descriptor && *descriptor >= 0)
        close(*descriptor);
    if (descriptor)
        *descriptor = -1;
    return 0; /* torn, or longer than it may be: nothing behind it can be read */
}
