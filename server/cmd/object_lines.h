/* SPDX-License-Identifier: Apache-2.0
 * object_lines.h: which objects a line of `memviewd index --objects` names: an address or a path, or in JSON an event
 * of S3 or GCS, as it is or as SNS, SQS, EventBridge or Pub/Sub deliver it. Pure; any bytes. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Called with each address, in order: "s3://BUCKET/KEY", or what was there. */
typedef void object_lines_take(void *context, const char *address);

/* Adds how many objects were taken away, and so are none, to `removed_count`. False with `err` (malformed) when it is
 * nothing of that; what was taken before stays. An empty line is no object. */
bool object_lines_read(const char *line, size_t length, object_lines_take *take, void *context, size_t *removed_count,
                       struct err *err);
