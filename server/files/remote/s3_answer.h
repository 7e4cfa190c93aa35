/* SPDX-License-Identifier: Apache-2.0
 * s3_answer.h: the XML of ListObjectsV2. Pure; any bytes. s3_answer_none.c replaces it in a build without
 * Expat. */
#pragma once

#include "base/err.h"
#include "server/files/remote/remote_service.h"

#include <stdbool.h>
#include <stddef.h>

/* Gives what is in it to `page`; keys are decoded where they were encoded. False with `err` (malformed) when it is
 * no such XML; what was given before stays. */
bool s3_answer_read(const char *xml, size_t size, struct remote_service_page *page, struct err *err);
