/* SPDX-License-Identifier: Apache-2.0
 * hosts_told.h: which hosts of a session are odd, and why, as the view "summary" of the tool "modules" says it: for all
 * commands that look at one host's modules. Reads the modules of every host; equal ones are decoded once. */
#pragma once

#include "server/gather/snapshot.h"
#include "server/store/store.h"

#include <stdbool.h>

struct cJSON;

/* The hosts of one session; found when it is first written or printed. hosts_told_free. */
struct hosts_told {
    struct store *store;
    const struct snapshot_session *session;
    bool is_found;
    struct cJSON *answer; /* of the view; NULL: there is one host, or no answer */
};

/* The key "hosts" of the object that is open in `json`, with members sentence, outlier_count and outliers; nothing
 * where there are no several traces. */
void hosts_told_write(struct hosts_told *told, struct json *json);
/* `before` and the sentence as a line on standard output. `is_odd_alone`: nothing where all hosts are alike. */
void hosts_told_print(struct hosts_told *told, const char *before, bool is_odd_alone);
void hosts_told_free(struct hosts_told *told);
