/* SPDX-License-Identifier: Apache-2.0
 * upload.h: the body of a request while it comes in, and for as long as somebody holds it.
 *
 * Small bodies cost nothing of the shared account (account.h) until they are kept; what goes beyond is
 * taken from it piece by piece, so that many large bodies at once cannot take more
 * memory than there is. What came after a fault is dropped.
 * Threads: one writes; then any number read, each with a reference of its own. */
#pragma once

#include "base/source.h"
#include "server/store/account.h"

#include <stdbool.h>
#include <stddef.h>

enum upload_fault { UPLOAD_GOOD, UPLOAD_TOO_LARGE, UPLOAD_NO_ROOM };

struct upload {
    char *data; /* NULL while empty */
    size_t size, limit_bytes;
    enum upload_fault fault;
};

/* One reference held. `account` may be NULL when the limit is small. */
struct upload *upload_new(size_t limit_bytes, struct account *account);
struct upload *upload_hold(struct upload *upload);
void upload_release(struct upload *upload); /* NULL is fine */

void upload_add(struct upload *upload, const char *bytes, size_t size);
/* Nothing more will come: gives back what was taken too much. */
void upload_end(struct upload *upload);

/* The maker of the upload calls it before others hold it. The upload will stay for long, so small ones count as well,
 * and so do `extra_bytes` for what is made from it. False when there is no room. */
bool upload_keep(struct upload *upload, uint64_t extra_bytes);

/* What all of them have taken from their accounts now. */
uint64_t upload_taken_bytes(void);

/* Its bytes, for the core; as long as it is held. */
struct source upload_source(const struct upload *upload);
