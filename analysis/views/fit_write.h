/* SPDX-License-Identifier: Apache-2.0
 * fit_write.h: the sets of changes that would make something fit (whatif/fit.h), as JSON and for a terminal. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "whatif/fit.h"

/* The member "fit"; null where `fit` is NULL. `before_bytes`: what is needed without any change. */
void fit_write_json(struct json *json, const struct fit *fit, const char *sentence, int64_t before_bytes);
void fit_write_text(struct buf *out, const struct fit *fit, const char *sentence);
/* ", +23.2 % compute" where `percent` is above 0. */
void fit_write_compute(struct buf *out, double percent);
/* Names in it are the file's: they move no terminal's cursor. */
void fit_write_line(struct buf *out, const char *text);
/* "extra_flops_percent"; null where it is not known. */
void fit_write_extra_flops(struct json *json, bool is_known, double percent);
