/* SPDX-License-Identifier: Apache-2.0
 * notify_option.h: --notify, --notify-format and --notify-secret: whether they can be used, and the receiver that they
 * name. */
#pragma once

#include "server/cmd/options.h"
#include "server/fleet/notify/webhook.h"

/* Call before the sandbox and any thread. *webhook is NULL if the options name no webhook. False, with the reason in
 * the log. */
bool notify_option_open(const struct options *options, struct webhook **webhook);
