/* SPDX-License-Identifier: Apache-2.0
 * subjects_rest.h: a long table, written while it is sent. */
#pragma once

#include "server/store/body.h"
#include "server/store/subjects.h"

/* Takes over `rest` and the hold of the subject that its rows are of. NULL without memory. */
struct body *subjects_rest_body(struct analysis_pieces *rest, struct subject *subject);
