/* SPDX-License-Identifier: Apache-2.0
 * aws_sts.h: credentials of a role, of AWS's Security Token Service (AWS_ENDPOINT_URL_STS names another one). */
#pragma once

#include "server/files/remote/aws_credentials.h"

/* By the token of a web identity. False with `err` when there are none; free with aws_credentials_free either way. */
bool aws_sts_by_token(const char *role, const char *token, struct aws_credentials *credentials, struct err *err);
