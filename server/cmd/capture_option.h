/* SPDX-License-Identifier: Apache-2.0
 * capture_option.h: which profiler servers are asked, and where their traces go, as the command line has it. */
#pragma once

#include "server/capture/capture_address.h"
#include "server/cmd/options.h"

struct capture_addresses {
    const struct capture_address **items;
    size_t count;
};

/* Each once, CAPTURE_HOSTS_MAX at most. False with `argument`; then nothing is to be freed. */
bool capture_option_read(const struct options_list *texts, struct capture_addresses *addresses, struct err *err);
void capture_option_free(struct capture_addresses *addresses);

/* For `serve`: checks and prepares --capture with --capture-logdir, before the sandbox. False, with the reason in the
 * log. */
bool capture_option_open(const struct options *options, struct capture_addresses *addresses);
/* Is --capture-logdir one of the folders of --logdir? */
bool capture_option_is_watched(const struct options *options);
