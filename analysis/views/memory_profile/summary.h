/* SPDX-License-Identifier: Apache-2.0
 * summary.h: hosts and pools of the view "summary", one at a time, so that
 * whoever has several hosts need not hold all their models at once. */
#pragma once

#include "views/memory_profile/views.h"

/* What the daemon calls a host; texts may be NULL. */
struct memory_profile_summary_names {
    const char *host, *host_name, *file;
};

/* One object each. */
void memory_profile_summary_host(struct json *json, const struct memory_profile *profile,
                                 const struct memory_profile_summary_names *names);
void memory_profile_summary_pool(struct json *json, const struct memory_profile_pool *pool,
                                 const struct memory_profile_summary_names *names);
