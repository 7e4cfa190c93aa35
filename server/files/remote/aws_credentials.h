/* SPDX-License-Identifier: Apache-2.0
 * aws_credentials.h: by what requests to S3 are signed, from the places where AWS's own programs look, in their order:
 *
 *   1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
 *   2. AWS_ROLE_ARN with AWS_WEB_IDENTITY_TOKEN_FILE (Kubernetes), by STS
 *   3. the profile (AWS_PROFILE, else "default") of AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and
 *      AWS_CONFIG_FILE (~/.aws/config): keys; role_arn with web_identity_token_file;
 *      credential_process (aws_process.h), which carries all else: single sign-on, roles by other profiles
 *   4. AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI (ECS, EKS Pod Identity)
 *   5. the metadata server of an EC2 instance (IMDSv2), unless AWS_EC2_METADATA_DISABLED
 *
 * Where there are none, requests are not signed: for public buckets. They are asked for when first needed, kept, and
 * renewed before they end; never logged. Threads: any number. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct aws_credentials {
    char *key_id, *secret, *token; /* token: NULL when there is none */
    int64_t expires_at_ms;         /* Unix time; 0: never */
    bool is_anonymous;             /* there are none */
};

/* A copy, to be freed with aws_credentials_free. False with `err` when those that there should be cannot be had. */
bool aws_credentials_get(struct aws_credentials *credentials, struct err *err);
void aws_credentials_free(struct aws_credentials *credentials);
/* Has a service given key and secret? Else `err` says that `of` gives none, and what there is is freed. */
bool aws_credentials_are_whole(struct aws_credentials *credentials, const char *of, struct err *err);
/* They were refused as too old: the next call looks for others, but not within some seconds of the last look. */
void aws_credentials_forget(void);
/* A request that was not signed was refused. True when there were no credentials, and the last look for some is some
 * seconds old: then the next call looks again, as a metadata server may have been late. */
bool aws_credentials_look_again(void);

/* AWS_REGION, AWS_DEFAULT_REGION, `region` of the profile; "us-east-1". free() */
char *aws_credentials_region(void);
/* Can it be a part of a host's name? */
bool aws_credentials_is_region(const char *text);

/* The files that are read, for the sandbox: calls `path` for each name that the environment tells of. */
void aws_credentials_each_file(void (*file)(void *context, const char *path), void *context);

/* aws_sts.c: credentials of a role, of AWS's Security Token Service (AWS_ENDPOINT_URL_STS names another one). */
/* By the token of a web identity. False with `err` when there are none; free with aws_credentials_free either way. */
bool aws_sts_by_token(const char *role, const char *token, struct aws_credentials *credentials, struct err *err);
