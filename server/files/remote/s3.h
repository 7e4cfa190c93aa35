/* SPDX-License-Identifier: Apache-2.0
 * s3.h: Amazon S3 and what speaks like it. */
#pragma once

#include "server/files/remote/remote_service.h"

/* The server to ask instead of Amazon's, "http://127.0.0.1:9000", with the bucket in the path. NULL:
 * AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else Amazon's. Before any request; borrowed. */
void s3_set_endpoint(const char *url);
/* That server, or NULL: Amazon's. */
const char *s3_endpoint(void);
