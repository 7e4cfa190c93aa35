/* SPDX-License-Identifier: Apache-2.0
 * gcs_answer.h: the JSON of Google Cloud Storage: lists and objects. Pure; any bytes. */
#pragma once

#include "base/err.h"
#include "server/files/remote/remote_service.h"

#include <stdbool.h>
#include <stddef.h>

/* Gives what is in it to `page`, generations as ETags. False with `err` (malformed); what was given before
 * stays. */
bool gcs_answer_page(const char *json, size_t size, struct remote_service_page *page, struct err *err);
bool gcs_answer_object(const char *json, size_t size, struct remote_answer_object *object, struct err *err);
