/* SPDX-License-Identifier: Apache-2.0
 * webhook.h: the one receiver that is told what happened, by HTTP POST of JSON of the form that it takes.
 *
 * Its address is secret but for scheme, host and port: those alone are in errors and in webhook_name. Each message is
 * sent with the headers X-Memviewd-Delivery (the message's id) and, with a secret, X-Memviewd-Signature: "sha256=" and
 * the HMAC-SHA256 of the body by that secret in hex digits, as GitHub's webhooks have it in theirs. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "server/fleet/notify/notice_form.h"

#include <stdbool.h>
#include <stdint.h>

struct webhook;

/* `url`: https://…, or http://… of a loopback address, without a user. `secret_path`: a file that only its owner may
 * open; its first line signs what is sent; NULL: nothing is signed. `form`: the form of the bodies. Connects to nothing
 * yet. NULL with `err`: argument, io, unsupported (a build without libcurl). Before any thread and the sandbox. */
struct webhook *webhook_open(const char *url, const char *secret_path, enum notice_form form, struct err *err);
void webhook_free(struct webhook *webhook);

/* "https://hooks.example:8443" */
const char *webhook_name(const struct webhook *webhook);
/* The TCP ports that such an address leads to: its own, as no_proxy may name it, and those of proxies, by https_proxy
 * and the like; 443 of one that is none. */
void webhook_ports(const char *url, void (*port)(void *context, uint16_t number), void *context);

/* Sends one notice (notice.h) in its form, at most three times within some 40 s. True when the receiver took it (2xx).
 * False with `err`: `argument` where it is no notice, or the answer says that the receiver never takes it (400, 410,
 * 413, 415, 422). */
bool webhook_post(const struct webhook *webhook, const char *id, const struct buf *notice, struct err *err);
