/* SPDX-License-Identifier: Apache-2.0
 * capture_address.h: HOST:PORT of a profiler server, as people write it. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct capture_address {
    char *text; /* "tpu-3:9999", "[::1]:9999": as it was given; also a part of a URL */
    uint16_t port;
};

/* A name, an IPv4 address or an IPv6 address in brackets, and a port from 1 on. False with `argument`; then nothing is
 * to be freed. */
bool capture_address_read(const char *text, struct capture_address *address, struct err *err);
void capture_address_free(struct capture_address *address);
