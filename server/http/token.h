/* SPDX-License-Identifier: Apache-2.0
 * token.h: the secret that lets somebody in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_MAX = 128 };

struct token {
    char text[TOKEN_MAX + 1]; /* "" = no token is needed; otherwise letters, digits and -._~ */
};

/* 128 random bits as 32 hex digits. False when the system gives none. */
bool token_make(struct token *token);
/* The first word of a file, 16 to 128 characters that need no quoting in a
 * cookie; else false and a line that says why in `reason`, as of a file that
 * other users may open. */
bool token_read(struct token *token, const char *path, char *reason, size_t reason_size);

/* Compares in a time that tells nothing about where they differ. */
bool token_matches(const struct token *token, const char *text, size_t length);
