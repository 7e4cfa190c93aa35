/* SPDX-License-Identifier: Apache-2.0
 * notice_hosts.h: the hosts that one notice is about: a job that fails on 64 hosts is one message.
 *
 * While a notice waits, each host that fails of the same job, commit and cause is added: one JSON object with "host" or
 * "file" and what is known of "program", "needed_bytes", "capacity_bytes". What is said of all of them is the core's
 * (model/fleet/odd_hosts.h). */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* `notice`: one JSON object. `hosts`: a JSON array. Appends the notice with the member "hosts", or as it is if there
 * are fewer than two hosts. False with `err`. */
bool notice_hosts_write(const struct buf *notice, const struct buf *hosts, struct buf *out, struct err *err);
