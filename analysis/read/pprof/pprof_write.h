/* SPDX-License-Identifier: Apache-2.0
 * pprof_write.h: a profile as profile.proto, for pprof and whatever else reads it. */
#pragma once

#include "base/buf.h"
#include "read/pprof/pprof.h"

/* Appends the plain (not gzipped) message to `out`. Ids are places in the arrays of `pprof` plus 1; functions,
 * locations and mappings that no sample reaches are left out, and so are samples whose values are all 0. A
 * sample of a base gets the label pprof::base=true, with which pprof takes the profile for a difference. */
void pprof_write(const struct pprof *pprof, struct arena *arena, struct buf *out);
