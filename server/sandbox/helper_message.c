/* SPDX-License-Identifier: Apache-2.0
 * helper_message.c: see helper.h. The kernel keeps messages apart; where it does not: helper_message_other.c. */
#include "server/sandbox/helper.h"
#include "server/sandbox/helper_control.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

bool helper_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0; }

bool helper_send(int socket, const void *data, size_t size, int descriptor)
{
    struct iovec part = {(void *)(uintptr_t)data, size};
    return helper_control_send(socket, part, descriptor) == (ssize_t)size;
}

ssize_t helper_receive(int socket, void *data, size_t size, int *descriptor, bool waits)
{
    struct iovec part = {data, size};
    union helper_control control = {.bytes = {0}};
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
        helper_control_take(&message, descriptor);
    return length;
}
