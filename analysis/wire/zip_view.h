/* SPDX-License-Identifier: Apache-2.0
 * zip_view.h: a member of an archive as a file of its own: a stored one as it is, a deflated one as the gzip file that
 * the same bytes would be. Nothing is inflated here: gzip.h does, and checks what it inflates. A stored one is held to
 * its checksum while it is read from its begin to its end by one thread; the read that meets the fault fails. */
#pragma once

#include "base/source.h"
#include "exchange/member.h"

struct zip_view {
    const struct source *packed; /* the archive */
    struct member member;
    uint64_t checked_bytes; /* of a stored one, from its begin on */
    uint32_t checked;       /* checksum of those */
    bool is_damaged;
};

/* As long as `view` lives. Several threads may read it apart if they may the archive. */
struct source zip_view_source(struct zip_view *view);
