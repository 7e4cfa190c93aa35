/* SPDX-License-Identifier: Apache-2.0
 * negotiate.h: what the headers of a request allow the answer to be. */
#pragma once

#include <stdbool.h>

/* May (and should) the answer be sent as gzip? `accept_encoding` may be NULL. */
bool negotiate_gzip(const char *accept_encoding);

/* Does If-None-Match (may be NULL) name the entity tag `etag`, in plain or in
 * packed form ("…-gz")? Compares weakly, as RFC 9110 asks. */
bool negotiate_matches(const char *if_none_match, const char *etag);
