/* SPDX-License-Identifier: Apache-2.0
 * odd_hosts.h: which of the hosts that did the same are not like most of them, and why.
 *
 * Rule:   a host is odd whose limit, or whose program, is not that of more than half of the hosts; and one that needs
 *         more or less than the median by more than level_steps_threshold says, with the noise of their median absolute
 *         deviation. Of two that far apart both are odd, for which one it is cannot be known. The first reason that is
 *         true counts, in the order of enum odd_host_reason.
 * Units:  bytes; below 0, or NULL: not known, and then no reason.
 * Memory: the caller's; texts are borrowed. */
#pragma once

#include "base/buf.h"
#include "exchange/fleet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ODD_HOSTS_NAMED_MAX = 4 };

/* Sets reason and off_bytes of each. `scratch` has room for twice `count`. */
void odd_hosts_judge(struct odd_host *hosts, size_t count, int64_t *scratch);
/* "another limit", "another program", "another plan"; NULL: it is like most. */
const char *odd_hosts_reason(enum odd_host_reason reason);
/* Appends "64 hosts; h17 differs: another limit, 15.75 GiB." or "64 hosts." of judged ones; at most ODD_HOSTS_NAMED_MAX
 * are named. `noun`: what each is, "host". */
void odd_hosts_say(const struct odd_host *hosts, size_t count, const char *noun, struct buf *out);
