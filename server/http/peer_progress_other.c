/* SPDX-License-Identifier: Apache-2.0
 * peer_progress_other.c: see peer_progress.h. What was sent counts as taken: the other side's window lets no more be
 * sent. */
#include "server/http/peer_progress.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

bool peer_progress_read(int descriptor, uint64_t *taken_bytes, bool *is_waiting)
{
    struct tcp_connection_info info = {0};
    socklen_t length = sizeof(info);
    bool is_told = getsockopt(descriptor, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &length) == 0;
    *taken_bytes = info.tcpi_txbytes;
    *is_waiting = is_told && info.tcpi_snd_sbbytes > 0;
    return is_told;
}
