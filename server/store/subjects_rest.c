/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/subjects_rest.h"

#include "server/base/memory.h"

#include <stdlib.h>

enum { PIECE_BYTES = 64 << 10 };

/* A long table, and the subject that its rows are of. */
struct flowing {
    struct analysis_pieces *pieces;
    struct subject subject;
};

static bool flow(void *context, uint64_t *at, struct buf *out)
{
    const struct flowing *flowing = context;
    struct err err = ERR_INIT;
    return analysis_pieces_next(flowing->pieces, at, PIECE_BYTES, out, &err);
}

static void free_flowing(void *context)
{
    struct flowing *flowing = context;
    analysis_pieces_free(flowing->pieces);
    subjects_close(&flowing->subject);
    free(flowing);
}

struct body *subjects_rest_body(struct analysis_pieces *rest, struct subject *subject)
{
    struct flowing *flowing = memory_new(sizeof(*flowing));
    *flowing = (struct flowing){rest, *subject};
    *subject = (struct subject){0};
    return body_of_pieces(&(struct body_pieces){flow, free_flowing, flowing});
}
