/* SPDX-License-Identifier: Apache-2.0
 * helper_message.c: see helper.h. The kernel keeps messages apart; where it does not: helper_message_other.c. */
#include "server/sandbox/helper.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool helper_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0; }

union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head; /* for its alignment */
};

bool helper_send(int socket, const void *data, size_t size, int descriptor)
{
    struct iovec part = {(void *)(uintptr_t)data, size};
    union control control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(descriptor));
        memcpy(CMSG_DATA(head), &descriptor, sizeof(descriptor));
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}

/* The first descriptor of a message. CMSG_SPACE rounds up, so that there may be room for one more, and who sends is not
 * trusted: what nobody takes is closed. */
static void take_first(struct msghdr *message, int *descriptor)
{
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= head->cmsg_len; at += sizeof(int)) {
        int taken;
        memcpy(&taken, (const char *)head + at, sizeof(taken));
        if (*descriptor < 0)
            *descriptor = taken;
        else
            close(taken);
    }
}

ssize_t helper_receive(int socket, void *data, size_t size, int *descriptor, bool waits)
{
    struct iovec part = {data, size};
    union control control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor) {
        *descriptor = -1;
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
    }
    ssize_t length;
    do
        length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (waits ? 0 : MSG_DONTWAIT));
    while (length < 0 && errno == EINTR);
    if (length >= 0 && descriptor)
        take_first(&message, descriptor);
    return length;
}
