/* SPDX-License-Identifier: Apache-2.0
 * remote_address.h: gs://BUCKET/PATH, s3://BUCKET/PATH and https://HOST/PATH, taken apart.
 *
 * Pure: no I/O. Plain http:// is taken for this machine alone (127.0.0.1, [::1], localhost). User names, passwords,
 * queries and fragments are refused: what is a secret does not belong into an address that is shown and logged. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

enum remote_address_kind { REMOTE_ADDRESS_S3, REMOTE_ADDRESS_GCS, REMOTE_ADDRESS_HTTP };

struct remote_address {
    enum remote_address_kind kind;
    char *text;   /* as given, without slashes at its end */
    char *bucket; /* its name; of HTTP: "https://host:port" */
    char *key;    /* what lies below, "" for all: "a/b", without slashes around it; of HTTP percent-encoded as given */
    bool is_folder; /* it ended with a slash, or is a whole bucket or host */
};

/* Begins with one of the schemes; whether it can be taken is another question. */
bool remote_address_is(const char *text);
/* Is a part between its slashes "." or ".."; of HTTP also with its %XX decoded? A server may take such an address for
 * another one. */
bool remote_address_has_dots(const char *text);
/* False with `err` (argument); free the address with remote_address_free either way. */
bool remote_address_read(const char *text, struct remote_address *address, struct err *err);
void remote_address_free(struct remote_address *address);

/* Other spellings that tools write, as the one that is used here: gcs://… is gs://…, s3a:// and s3n:// are s3://…, and
 * file:///PATH is /PATH, its %XX decoded; the scheme in small letters. NULL: it is spelled so already, or is neither.
 * free() */
char *remote_address_respell(const char *text);
/* Why a text that looks like an address of another kind ("az://…", "hf://…") is not read, and what to do instead: a
 * clause. NULL: it does not look like one. */
const char *remote_address_why_not(const char *text);

/* Does the URL have a user, and so maybe a password, before its host? */
bool remote_address_has_user(const char *url);
/* Is the host of this http:// or https:// URL this machine? False with a user before it: readers differ in what is the
 * host then. */
bool remote_address_is_loopback(const char *url);

/* Appends `text` with all but letters, digits and -._~ as %XX; `keeps_slashes`: these too. */
void remote_address_encode(struct buf *out, const char *text, bool keeps_slashes);
/* Decodes %XX in place; false when that yields a NUL or `text` has a % without two hex digits. */
bool remote_address_decode(char *text);
