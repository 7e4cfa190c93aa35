/* SPDX-License-Identifier: Apache-2.0
 * aws_sts.h: credentials of a role, of AWS's Security Token Service (AWS_ENDPOINT_URL_STS names another one). */
#pragma once

#include "server/files/remote/aws_credentials.h"

/* By the token of a web identity. False with `err` when there are none; free with aws_credentials_free either way. */
bool aws_sts_by_token(const char *role, const char *token, struct aws_credentials *credentials, struct err *err);

/* What a profile says of a role. */
struct aws_sts_role {
    const char *arn;
    const char *external_id;  /* NULL: none */
    const char *session_name; /* NULL: AWS_ROLE_SESSION_NAME, else "memviewd" */
};
/* By other credentials, which sign the request. As above. */
bool aws_sts_by_keys(const struct aws_sts_role *role, const struct aws_credentials *by,
                     struct aws_credentials *credentials, struct err *err);
