/* SPDX-License-Identifier: Apache-2.0
 * catalog_needs.h: what a process in its sandbox has to be allowed so that it can reach the catalog: by its address and
 * the environment, as libpq reads them. */
#pragma once

#include <stdint.h>

/* TCP ports of its servers, and 0 for a Unix socket. Nothing of what is no address. */
void catalog_needs_ports(const char *url, void (*port)(void *context, uint16_t number), void *context);
/* Passwords, certificates and services; some of them may not be there. */
void catalog_needs_files(const char *url, void (*file)(void *context, const char *path), void *context);
