/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/aws_credentials.h"

#include "server/base/memory.h"
#include "server/files/remote/http_client.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_answer.h"
#include "server/files/remote/setting.h"

#include <stdlib.h>
#include <string.h>

/* The text of the first element of this name in STS's XML, whose values are plain; NULL; free(). */
static char *element_text(const struct buf *xml, const char *name)
{
    char *begin_mark = memory_format("<%s>", name), *text = NULL;
    const char *begin = xml->length ? memmem(xml->data, xml->length, begin_mark, strlen(begin_mark)) : NULL;
    if (begin) {
        begin += strlen(begin_mark);
        const char *end = memchr(begin, '<', (size_t)(xml->data + xml->length - begin));
        text = end && end > begin ? memory_format("%.*s", (int)(end - begin), begin) : NULL;
    }
    free(begin_mark);
    return text;
}

static bool read_answer(const struct buf *body, struct aws_credentials *credentials, struct err *err)
{
    char *expiration = element_text(body, "Expiration");
    credentials->key_id = element_text(body, "AccessKeyId");
    credentials->secret = element_text(body, "SecretAccessKey");
    credentials->token = element_text(body, "SessionToken");
    credentials->expires_at_ms = expiration ? remote_answer_iso_ns(expiration) / 1000000 : 0;
    free(expiration);
    return aws_credentials_are_whole(credentials, "STS", err);
}

/* "name=value&…", encoded. */
static void form_add(struct buf *form, const char *name, const char *value)
{
    if (!value)
        return;
    buf_format(form, "%s%s=", form->length ? "&" : "", name);
    remote_address_encode(form, value, false);
}

bool aws_sts_by_token(const char *role, const char *token, struct aws_credentials *credentials, struct err *err)
{
    struct buf form = BUF_INIT;
    struct http_client_answer answer;
    const char *endpoint = setting("AWS_ENDPOINT_URL_STS"), *session = setting("AWS_ROLE_SESSION_NAME");
    char *region = aws_credentials_region();
    char *url = endpoint ? memory_format("%s/", endpoint) : memory_format("https://sts.%s.amazonaws.com/", region);
    const char *type = "Content-Type: application/x-www-form-urlencoded";
    form_add(&form, "Action", "AssumeRoleWithWebIdentity");
    form_add(&form, "Version", "2011-06-15");
    form_add(&form, "RoleArn", role);
    form_add(&form, "RoleSessionName", session ? session : "memviewd");
    form_add(&form, "WebIdentityToken", token);
    const struct http_client_request request = {.method = HTTP_CLIENT_POST,
                                                .url = url,
                                                .headers = &type,
                                                .header_count = 1,
                                                .body = form.data,
                                                .body_bytes = form.length,
                                                .ca_file = setting("AWS_CA_BUNDLE")};
    *credentials = (struct aws_credentials){.key_id = NULL};
    bool is_good = http_client_perform(&request, &answer, err) && remote_answer_is_good(&answer, err) &&
                   read_answer(&answer.body, credentials, err);
    http_client_free(&answer);
    buf_free(&form);
    free(url);
    free(region);
    return is_good;
}
