/* SPDX-License-Identifier: Apache-2.0
 * remote_needs.h: what a process in its sandbox has to be allowed so that addresses can be read: files and TCP ports, by the
 * environment and the addresses that are named. */
#pragma once

#include <stdint.h>

/* Names of hosts, certificates, credentials; some of them may not be there. */
void remote_needs_files(void (*file)(void *context, const char *path), void *context);
/* Of an address, of the services that it leads to, and of proxies. */
void remote_needs_ports(const char *address, void (*port)(void *context, uint16_t number), void *context);
