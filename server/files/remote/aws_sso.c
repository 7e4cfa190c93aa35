/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/aws_sso.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/files/remote/aws_profile.h"
#include "server/files/remote/http_client.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_answer.h"
#include "server/files/remote/setting.h"
#include "server/files/remote/small_file.h"

#include <cjson/cJSON.h>
#include <nettle/sha1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a profile, or of the session that it names. */
struct sign_on {
    char *session;   /* NULL: all stands in the profile itself */
    char *start_url; /* NULL: unknown */
    char *region, *account, *role;
};

static char *value_of(const char *profile, const char *session, const char *name)
{
    return session ? aws_profile_sso_value(session, name) : aws_profile_value_of(profile, name);
}

static struct sign_on sign_on_read(const char *profile)
{
    char *session = aws_profile_value_of(profile, "sso_session");
    return (struct sign_on){.session = session,
                            .start_url = value_of(profile, session, "sso_start_url"),
                            .region = value_of(profile, session, "sso_region"),
                            .account = aws_profile_value_of(profile, "sso_account_id"),
                            .role = aws_profile_value_of(profile, "sso_role_name")};
}

static void sign_on_free(struct sign_on *sign_on)
{
    free(sign_on->session);
    free(sign_on->start_url);
    free(sign_on->region);
    free(sign_on->account);
    free(sign_on->role);
}

/* AWS's programs name it by the SHA-1 of the session's name, or of the address where the sign-on began. */
static char *token_path(const struct sign_on *sign_on)
{
    const char *home = setting("HOME"), *named = sign_on->session ? sign_on->session : sign_on->start_url;
    uint8_t digest[SHA1_DIGEST_SIZE];
    char hex[2 * SHA1_DIGEST_SIZE + 1];
    struct sha1_ctx sha1;
    if (!home || !named)
        return NULL;
    sha1_init(&sha1);
    sha1_update(&sha1, strlen(named), (const uint8_t *)named);
    sha1_digest(&sha1, sizeof(digest), digest);
    for (size_t at = 0; at < sizeof(digest); at++)
        snprintf(hex + 2 * at, 3, "%02x", digest[at]);
    return memory_format("%s/.aws/sso/cache/%s.json", home, hex);
}

char *aws_sso_token_path(const char *profile)
{
    struct sign_on sign_on = sign_on_read(profile);
    char *path = sign_on.account ? token_path(&sign_on) : NULL;
    sign_on_free(&sign_on);
    return path;
}

static const char *text_in(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text && text[0] ? text : NULL;
}

/* free(); NULL: it is not there. */
static char *copy_in(const cJSON *object, const char *name)
{
    const char *text = text_in(object, name);
    return text ? memory_text(text) : NULL;
}

/* The token, if it goes on; NULL. free() */
static char *token_read(const char *path)
{
    char *text = path ? small_file_read(path) : NULL;
    cJSON *root = text ? cJSON_Parse(text) : NULL;
    const char *token = text_in(root, "accessToken"), *end = text_in(root, "expiresAt");
    bool goes_on = token && end && remote_answer_iso_ns(end) / 1000000 > clock_unix_ms();
    char *copy = goes_on ? memory_text(token) : NULL;
    cJSON_Delete(root);
    free(text);
    return copy;
}

/* {"roleCredentials": {"accessKeyId", "secretAccessKey", "sessionToken", "expiration": Unix time in ms}} */
static bool read_answer(const struct buf *body, struct aws_credentials *credentials, struct err *err)
{
    cJSON *root = cJSON_ParseWithLength(body->data, body->length);
    const cJSON *told = cJSON_GetObjectItemCaseSensitive(root, "roleCredentials");
    double expiration = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(told, "expiration"));
    *credentials =
        (struct aws_credentials){.key_id = copy_in(told, "accessKeyId"),
                                 .secret = copy_in(told, "secretAccessKey"),
                                 .token = copy_in(told, "sessionToken"),
                                 .expires_at_ms = expiration > 0 && expiration < 0x1p53 ? (int64_t)expiration : 0};
    cJSON_Delete(root);
    return aws_credentials_are_whole(credentials, "the single sign-on", err);
}

static char *service_url(const struct sign_on *sign_on)
{
    struct buf url = BUF_INIT;
    const char *endpoint = setting("AWS_ENDPOINT_URL_SSO");
    if (endpoint)
        buf_text(&url, endpoint);
    else
        buf_format(&url, "https://portal.sso.%s.amazonaws.com", sign_on->region);
    buf_text(&url, "/federation/credentials?account_id=");
    remote_address_encode(&url, sign_on->account, false);
    buf_text(&url, "&role_name=");
    remote_address_encode(&url, sign_on->role, false);
    buf_char(&url, '\0');
    char *text = memory_text(url.failed ? "" : url.data);
    buf_free(&url);
    return text;
}

static bool aws_sso_ask_one(const struct sign_on *sign_on, const char *token, struct aws_credentials *credentials,
                            struct err *err)
{
    struct http_client_answer answer;
    char *url = service_url(sign_on), *header = memory_format("x-amz-sso_bearer_token: %s", token);
    const char *const headers[] = {header};
    const struct http_client_request request = {
        .url = url, .headers = headers, .header_count = 1, .ca_file = setting("AWS_CA_BUNDLE")};
    bool is_good = http_client_perform(&request, &answer, err) && remote_answer_is_good(&answer, err) &&
                   read_answer(&answer.body, credentials, err);
    http_client_free(&answer);
    free(url);
    free(header);
    return is_good;
}

bool aws_sso_ask(const char *profile, struct aws_credentials *credentials, struct err *err)
{
    struct sign_on sign_on = sign_on_read(profile);
    char *path = token_path(&sign_on), *token = token_read(path);
    bool is_good = false;
    if (!sign_on.account || !sign_on.role || !aws_credentials_is_region(sign_on.region))
        err_set(err, ERR_argument, ERR_NO_OFFSET,
                "AWS profile %s says too little of its single sign-on: sso_account_id, sso_role_name, sso_region",
                profile);
    else if (!token)
        err_set(err, ERR_io, ERR_NO_OFFSET,
                "the single sign-on of AWS profile %s has not begun or has ended: aws sso login --profile %s", profile,
                profile);
    else
        is_good = aws_sso_ask_one(&sign_on, token, credentials, err);
    sign_on_free(&sign_on);
    free(path);
    free(token);
    return is_good;
}
