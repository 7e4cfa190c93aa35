/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/peer_progress.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

bool peer_progress_read(int descriptor, uint64_t *taken_bytes, bool *is_waiting)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof(info);
    int waiting_bytes = 0;
    bool is_told = getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0;
    *taken_bytes = info.tcpi_bytes_acked;
    *is_waiting = is_told && ioctl(descriptor, SIOCOUTQ, &waiting_bytes) == 0 && waiting_bytes > 0;
    return is_told;
}
