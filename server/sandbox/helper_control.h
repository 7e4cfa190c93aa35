/* SPDX-License-Identifier: Apache-2.0
 * helper_control.h: the descriptor that a message carries, for both ways of keeping messages apart (helper_message.c,
 * helper_message_other.c). */
#pragma once

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union helper_control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head; /* for its alignment */
};

/* Sends one piece with a descriptor, or without one if it is below 0. Out: as sendmsg(2). */
static inline ssize_t helper_control_send(int socket, struct iovec part, int descriptor)
{
    union helper_control control = {.bytes = {0}};
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
    return sent;
}

/* Puts the first descriptor of a message into *descriptor, which is below 0 before. CMSG_SPACE rounds up: there may be
 * room for one more, and the sender is not trusted: further descriptors are closed. */
static inline void helper_control_take(struct msghdr *message, int *descriptor)
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
