/* SPDX-License-Identifier: Apache-2.0
 * access.h: the token, who has shown it, and who showed wrong ones.
 *
 * Who shows the token gets a random id to show instead, so that no browser keeps the token. Of these there are
 * 256 at a time, the one longest not used goes first; one that is not used for twelve hours ends, and all do when the
 * token changes and when the daemon ends. An address that has shown ten wrong tokens waits: one more is looked at each
 * six seconds. Ids count meanwhile. Threads: any number. */
#pragma once

#include "server/http/token.h"

enum { ACCESS_ID_SIZE = 33, ACCESS_WAIT_SECONDS = 6 };

struct access;

struct access *access_new(void); /* without a token: everybody may come in */
void access_free(struct access *access);

/* What was let in by another token is not any more. */
void access_set_token(struct access *access, const struct token *token);
bool access_needs_token(struct access *access);

enum access_answer {
    ACCESS_GOOD,
    ACCESS_WRONG,
    ACCESS_NOT_YET, /* too many wrong ones from there: not looked at */
};
/* Checks the token that `peer` (an address as text) sent. */
enum access_answer access_try(struct access *access, const char *peer, const char *text, size_t length);

/* A new id; false when the system gives no random numbers. */
bool access_begin(struct access *access, char id[ACCESS_ID_SIZE]);
bool access_has(struct access *access, const char *id, size_t length);
