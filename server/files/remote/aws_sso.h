/* SPDX-License-Identifier: Apache-2.0
 * aws_sso.h: credentials of a profile with a single sign-on (IAM Identity Center), by the token that `aws sso login`
 * left in ~/.aws/sso/cache. AWS_ENDPOINT_URL_SSO names another service. */
#pragma once

#include "server/files/remote/aws_credentials.h"

/* False with `err` when there are none: no token, one that has ended, or a refusal. */
bool aws_sso_ask(const char *profile, struct aws_credentials *credentials, struct err *err);

/* The file of its token, for the sandbox; NULL: the profile has no single sign-on. free() */
char *aws_sso_token_path(const char *profile);
