/* SPDX-License-Identifier: Apache-2.0
 * zip_view.h: a member of a zip archive as a file of its own: a stored one as it is, a deflated one as the gzip file
 * that the same bytes would be. Nothing is inflated here, and nothing is checked: gzip.h does. */
#pragma once

#include "base/source.h"
#include "exchange/member.h"

struct zip_view {
    const struct source *packed; /* the archive */
    struct member member;
};

/* As long as `view` lives. Several threads may read it apart if they may the archive. */
struct source zip_view_source(struct zip_view *view);
