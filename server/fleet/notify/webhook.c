/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/webhook.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/files/remote/http_client.h"
#include "server/files/remote/remote_needs.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HTTPS_PORT = 443,
    SECRET_MIN = 16,
    SECRET_MAX = 1024,
    TRIES = 3,
    TRY_LIMIT_MS = 10000,
    SIGNATURE_SIZE = 2 * SHA256_DIGEST_SIZE + 1
};

struct webhook {
    char *url, *name, *secret; /* secret NULL: nothing is signed */
    bool is_loopback;
    enum notice_form form;
};

/* ---- where it is ---- */

/* "host", "host:port" or "[::1]:port". */
static bool is_loopback(const char *host, size_t length)
{
    size_t name = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (name > length)
        name = length;
    bool is_four = strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= name;
    return is_four || (name == 9 && strncmp(host, "localhost", 9) == 0) ||
           (name == 5 && strncmp(host, "[::1]", 5) == 0);
}

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* What may be said of the address. NULL with `err` when it is none. */
static char *name_of(const char *url, bool *is_local, struct err *err)
{
    bool is_secure = strncmp(url, "https://", 8) == 0;
    const char *host = is_secure ? url + 8 : strncmp(url, "http://", 7) == 0 ? url + 7 : NULL;
    size_t length = host ? strcspn(host, "/?#") : 0;
    *is_local = host && is_loopback(host, length);
    if (!host || length == 0 || !is_printable(url))
        err_set(err, ERR_argument, ERR_NO_OFFSET, "must be an https:// address");
    else if (memchr(host, '@', length))
        err_set(err, ERR_argument, ERR_NO_OFFSET, "must have no user in it: receivers tell us by the signature");
    else if (!is_secure && !*is_local)
        err_set(err, ERR_argument, ERR_NO_OFFSET, "must be an https:// address: http:// goes to this machine alone");
    return err_is_set(err) ? NULL : memory_format("%.*s", (int)(host + length - url), url);
}

void webhook_ports(const char *url, void (*port)(void *context, uint16_t number), void *context)
{
    port(context, remote_needs_port(url, HTTPS_PORT));
    if (strncmp(url, "http://", 7) != 0) /* that is this machine, without a proxy */
        remote_needs_proxy_ports(port, context);
}

/* ---- the secret ---- */

static char *secret_take(FILE *file, const char *path, struct err *err)
{
    char line[SECRET_MAX + 2] = "";
    struct stat status;
    bool is_open = fstat(fileno(file), &status) != 0 || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    size_t count = fread(line, 1, sizeof(line) - 1, file);
    line[count] = '\0';
    size_t length = strcspn(line, "\r\n");
    line[length] = '\0';
    if (is_open)
        err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: other users may open the file of the secret: chmod 600 it",
                path);
    else if (length < SECRET_MIN || length > SECRET_MAX)
        err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: a secret is %d to %d bytes in the first line", path, SECRET_MIN,
                SECRET_MAX);
    return err_is_set(err) ? NULL : memory_text(line);
}

static char *secret_read(const char *path, struct err *err)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    char *secret = NULL;
    if (!file)
        err_set(err, ERR_io, ERR_NO_OFFSET, "%s: %s", path, strerror(errno));
    else
        secret = secret_take(file, path, err);
    if (file)
        fclose(file);
    return secret;
}

struct webhook *webhook_open(const char *url, const char *secret_path, enum notice_form form, struct err *err)
{
    bool is_local;
    char *name = name_of(url, &is_local, err), *secret = NULL;
    if (name && http_client_set_up(err) && secret_path)
        secret = secret_read(secret_path, err);
    if (err_is_set(err)) {
        free(name);
        return NULL;
    }
    struct webhook *webhook = memory_new(sizeof(*webhook));
    *webhook = (struct webhook){
        .url = memory_text(url), .name = name, .secret = secret, .is_loopback = is_local, .form = form};
    return webhook;
}

void webhook_free(struct webhook *webhook)
{
    if (!webhook)
        return;
    free(webhook->url);
    free(webhook->name);
    free(webhook->secret);
    free(webhook);
}

const char *webhook_name(const struct webhook *webhook) { return webhook->name; }

/* ---- sending ---- */

static void webhook_sign(const char *secret, const struct buf *body, char signature[SIGNATURE_SIZE])
{
    struct hmac_sha256_ctx context;
    unsigned char digest[SHA256_DIGEST_SIZE];
    hmac_sha256_set_key(&context, strlen(secret), (const uint8_t *)secret);
    hmac_sha256_update(&context, body->length, (const uint8_t *)body->data);
    hmac_sha256_digest(&context, sizeof(digest), digest);
    for (size_t at = 0; at < sizeof(digest); at++)
        snprintf(signature + 2 * at, 3, "%02x", digest[at]);
}

/* By which the receiver says that it never takes this message. */
static bool is_final(int status)
{
    return status == 400 || status == 410 || status == 413 || status == 415 || status == 422;
}

static bool body_post(const struct webhook *webhook, const char *id, const struct buf *body, struct err *err)
{
    char signature[SIGNATURE_SIZE] = "", delivery_line[128], signature_line[SIGNATURE_SIZE + 40], type_line[80];
    struct http_client_answer answer;
    if (webhook->secret)
        webhook_sign(webhook->secret, body, signature);
    snprintf(delivery_line, sizeof(delivery_line), "X-Memviewd-Delivery: %s", id);
    snprintf(signature_line, sizeof(signature_line), "X-Memviewd-Signature: sha256=%s", signature);
    snprintf(type_line, sizeof(type_line), "Content-Type: %s", notice_form_type(webhook->form));
    const char *const headers[] = {type_line, delivery_line, signature_line};
    const struct http_client_request request = {.method = HTTP_CLIENT_POST,
                                                .url = webhook->url,
                                                .headers = headers,
                                                .header_count = webhook->secret ? 3 : 2,
                                                .body = body->data,
                                                .body_bytes = body->length,
                                                .is_direct = webhook->is_loopback,
                                                .time_limit_ms = TRY_LIMIT_MS,
                                                .tries_max = TRIES};
    bool is_good = http_client_perform(&request, &answer, err);
    if (is_good && (answer.status < 200 || answer.status > 299))
        is_good = err_set(err, is_final(answer.status) ? ERR_argument : ERR_io, ERR_NO_OFFSET,
                          "%s answered with status %d", webhook->name, answer.status);
    http_client_free(&answer);
    return is_good;
}

bool webhook_post(const struct webhook *webhook, const char *id, const struct buf *notice, struct err *err)
{
    struct buf body = BUF_INIT;
    bool is_good =
        notice_form_write(webhook->form, notice, clock_unix_ns(), &body, err) && body_post(webhook, id, &body, err);
    buf_free(&body);
    return is_good;
}
