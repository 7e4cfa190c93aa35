/* SPDX-License-Identifier: Apache-2.0
 * remote_needs.h: what a process in its sandbox has to be allowed so that addresses can be read: files and TCP ports,
 * by the environment and the addresses that are named. */
#pragma once

#include <stdint.h>

/* Names of hosts and certificates; some of them may not be there. */
void remote_needs_files(void (*file)(void *context, const char *path), void *context);
/* Credentials, which are replaced while the process runs; some of them may not be there. */
void remote_needs_credentials(void (*file)(void *context, const char *path), void *context);
/* Before any thread and the box: starts the process that runs the program by which this address's credentials are had,
 * where there is one. */
void remote_needs_program(const char *address);
/* The port that a URL or "host:port" leads to; `usual` where neither it nor its scheme tells. */
uint16_t remote_needs_port(const char *url, uint16_t usual);
/* Calls back with the ports of the proxies that the environment names. */
void remote_needs_proxy_ports(void (*port)(void *context, uint16_t number), void *context);
/* Calls back with the ports of an address, of the services that it leads to, and of proxies. */
void remote_needs_ports(const char *address, void (*port)(void *context, uint16_t number), void *context);
