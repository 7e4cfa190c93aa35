/* SPDX-License-Identifier: Apache-2.0
 * crew.h: threads that the core borrows (base/hands.h) to read one large file side by side.
 *
 * At no time are more lent than there are other processors that the daemon may use, to all who ask together; who gets
 * none works alone. They live as long as the work. */
#ifndef SERVER_STORE_CREW_H
#define SERVER_STORE_CREW_H

#include "base/hands.h"

struct crew;

struct crew *crew_new(void);
/* When nobody works with its hands any more. */
void crew_free(struct crew *crew);
const struct hands *crew_hands(const struct crew *crew);

#endif
