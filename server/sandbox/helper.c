/* SPDX-License-Identifier: Apache-2.0 */
#include "server/sandbox/helper.h"

#include "server/base/descriptors.h"
#include "server/base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { SOCKET = 3 };

static void be_apart(const char *name, int socket)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    for (size_t at = 0; at < sizeof(ends) / sizeof(ends[0]); at++)
        signal(ends[at], SIG_IGN);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (socket != SOCKET)
        dup2(socket, SOCKET);
    fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
    descriptors_close_from(SOCKET + 1);
    system_name_process(name);
}

int helper_start(const char *name, void (*work)(int socket, void *context), void *context)
{
    int ends[2];
    if (!helper_pair(ends))
        return -1;
    pid_t id = fork();
    if (id == 0) {
        be_apart(name, ends[1]);
        work(SOCKET, context);
        _exit(0);
    }
    int reason = errno;
    close(ends[1]);
    if (id > 0)
        return ends[0];
    close(ends[0]);
    errno = reason;
    return -1;
}
