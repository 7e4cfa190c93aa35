/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/peer_user.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ADDRESS_WORDS = 4, ANSWER_BYTES = 4096 };

/* One end of a connection, as the kernel lists it; in network order. */
struct end {
    int family;
    uint32_t address[ADDRESS_WORDS]; /* of AF_INET the first */
    uint16_t port;
};

/* A socket of the kernel's list. */
struct entry {
    uint8_t state;
    uid_t user;
    uint32_t inode; /* 0: no process has it open */
};

/* IPv4 within IPv6 is IPv4. */
static void unmap(struct end *end)
{
    if (end->address[0] == 0 && end->address[1] == 0 && end->address[2] == htonl(0xffff))
        *end = (struct end){.family = AF_INET, .address = {end->address[3]}, .port = end->port};
}

/* False for any other kind of address. */
static bool read_end(const struct sockaddr *from, struct end *end)
{
    *end = (struct end){.family = from ? from->sa_family : AF_UNSPEC};
    if (end->family == AF_INET) {
        const struct sockaddr_in *four = (const void *)from;
        end->address[0] = four->sin_addr.s_addr;
        end->port = four->sin_port;
        return true;
    }
    if (end->family != AF_INET6)
        return false;
    const struct sockaddr_in6 *six = (const void *)from;
    memcpy(end->address, &six->sin6_addr, sizeof(six->sin6_addr));
    end->port = six->sin6_port;
    unmap(end);
    return true;
}

/* ---- NETLINK_SOCK_DIAG ------------------------------------------------------------- */

static bool ask_kernel(int netlink, const struct end *source, const struct end *target, struct entry *entry)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } question = {
        .head = {.nlmsg_len = sizeof(question), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = (uint8_t)source->family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_MAX,
                 .id = {.idiag_sport = source->port,
                        .idiag_dport = target->port,
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
    memcpy(question.body.id.idiag_src, source->address, sizeof(source->address));
    memcpy(question.body.id.idiag_dst, target->address, sizeof(target->address));
    _Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
    if (send(netlink, &question, sizeof(question), 0) != (ssize_t)sizeof(question))
        return false;
    ssize_t count = recv(netlink, answer, sizeof(answer), MSG_DONTWAIT); /* it is there when send returns */
    const struct nlmsghdr *head = (const void *)answer;
    if (count < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    const struct inet_diag_msg *found = NLMSG_DATA(head);
    *entry = (struct entry){found->idiag_state, found->idiag_uid, found->idiag_inode};
    return found->id.idiag_sport == source->port;
}

static bool find_by_netlink(const struct end *source, const struct end *target, struct entry *entry)
{
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    bool is_found = netlink >= 0 && ask_kernel(netlink, source, target, entry);
    if (netlink >= 0)
        close(netlink);
    return is_found;
}

/* ---- /proc/net/tcp ------------------------------------------------------------------- */

/* "0100007F:1770", or four such words: each as the number that it is on this machine. */
static bool read_listed(const char *text, struct end *end)
{
    size_t word_count = strcspn(text, ":") / 8;
    unsigned words[ADDRESS_WORDS] = {0}, port;
    *end = (struct end){.family = word_count == 1 ? AF_INET : AF_INET6};
    for (size_t at = 0; at < word_count && at < ADDRESS_WORDS; at++, text += 8)
        if (sscanf(text, "%8x", &words[at]) != 1)
            return false;
    if (sscanf(text, ":%4x", &port) != 1)
        return false;
    memcpy(end->address, words, sizeof(words));
    end->port = htons((uint16_t)port);
    unmap(end);
    return true;
}

static bool is_same(const struct end *one, const struct end *other)
{
    return one->family == other->family && one->port == other->port &&
           memcmp(one->address, other->address, sizeof(one->address)) == 0;
}

static bool find_in_list(const char *path, const struct end *source, const struct end *target, struct entry *entry)
{
    char line[512], local[64], remote[64];
    struct end from, to;
    unsigned state, user, inode;
    bool is_found = false;
    FILE *list = fopen(path, "re");
    while (list && !is_found && fgets(line, sizeof(line), list))
        is_found = sscanf(line, "%*s %63s %63s %2x %*s %*s %*s %u %*s %u", local, remote, &state, &user, &inode) == 5 &&
                   read_listed(local, &from) && read_listed(remote, &to) && is_same(&from, source) &&
                   is_same(&to, target);
    if (list)
        fclose(list);
    if (is_found)
        *entry = (struct entry){(uint8_t)state, user, inode};
    return is_found;
}

/* A program that uses IPv6 sockets for IPv4 is in the list of IPv6. */
static bool find_by_proc(const struct end *source, const struct end *target, struct entry *entry)
{
    return (source->family == AF_INET && find_in_list("/proc/net/tcp", source, target, entry)) ||
           find_in_list("/proc/net/tcp6", source, target, entry);
}

/* ---- both ---------------------------------------------------------------------------- */

enum peer_user_way peer_user_way(int listening)
{
    struct sockaddr_storage own = {0};
    socklen_t length = sizeof(own);
    struct end source, target;
    struct entry entry;
    if (getsockname(listening, (struct sockaddr *)&own, &length) != 0 ||
        !read_end((const struct sockaddr *)&own, &source))
        return PEER_USER_NO_WAY;
    target = (struct end){.family = source.family};
    return find_by_netlink(&source, &target, &entry) ? PEER_USER_SOCK_DIAG
           : find_by_proc(&source, &target, &entry)  ? PEER_USER_PROC
                                                     : PEER_USER_NO_WAY;
}

bool peer_user_find(const struct sockaddr *theirs, const struct sockaddr *ours, uid_t *user)
{
    struct end source, target;
    struct entry entry;
    if (!read_end(theirs, &source) || !read_end(ours, &target) || source.family != target.family ||
        (!find_by_netlink(&source, &target, &entry) && !find_by_proc(&source, &target, &entry)))
        return false;
    *user = entry.user;
    /* The kernel also names a socket that listens at that port, when the connection itself is gone. */
    return entry.inode != 0 && entry.state != TCP_LISTEN;
}
