/* SPDX-License-Identifier: Apache-2.0
 * service.h: what a service manager is told, and the sockets that it hands over: the protocols of systemd, without its
 * library.
 *
 * Source: sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3). Without a manager nothing happens. Threads: one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the manager's variables and removes them from the environment, because they are not meant for programs started
 * later. Opens the socket for messages to the manager; call it before the process gives up the right to open
 * sockets. */
void service_begin(void);
/* Tells "READY=1" and the like, several apart by line feeds. */
void service_tell(const char *what);
/* Tells that it is read again what can be: RELOADING=1 with the time. service_tell("READY=1") ends it. */
void service_tell_reloading(void);
/* Tells the manager that this process is alive, once half of the manager's time limit has passed. */
void service_tell_alive(void);

/* Sockets that it handed over: so many descriptors from *first on. */
size_t service_sockets(int *first);
