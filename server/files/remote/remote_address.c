/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_address.h"

#include "server/base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *scheme;
    enum remote_address_kind kind;
} SCHEMES[] = {
    {"s3://", REMOTE_ADDRESS_S3},
    {"gs://", REMOTE_ADDRESS_GCS},
    {"https://", REMOTE_ADDRESS_HTTP},
    {"http://", REMOTE_ADDRESS_HTTP},
};
enum { SCHEME_COUNT = sizeof(SCHEMES) / sizeof(SCHEMES[0]), BUCKET_MAX_BYTES = 222 };

static size_t scheme_of(const char *text)
{
    size_t at = 0;
    while (at < SCHEME_COUNT && strncmp(text, SCHEMES[at].scheme, strlen(SCHEMES[at].scheme)) != 0)
        at++;
    return at;
}

bool remote_address_is(const char *text) { return scheme_of(text) < SCHEME_COUNT; }

static bool has_control(const char *text)
{
    for (; *text; text++) {
        if (str_is_control(*text))
            return true;
    }
    return false;
}

/* Names of buckets of all services: letters, digits and a few marks, which need no encoding in a URL. */
static bool is_bucket_name(const char *name, size_t length)
{
    bool is = length >= 3 && length <= BUCKET_MAX_BYTES && isalnum((unsigned char)name[0]);
    for (size_t at = 0; at < length && is; at++)
        is = isalnum((unsigned char)name[at]) || strchr("-._", name[at]);
    return is;
}

static bool is_host(const char *name, size_t length)
{
    bool is = length > 0 && name[0] != ':';
    for (size_t at = 0; at < length && is; at++)
        is = isalnum((unsigned char)name[at]) || strchr("-._:[]", name[at]);
    return is;
}

bool remote_address_has_user(const char *url)
{
    const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url;
    return memchr(host, '@', strcspn(host, "/?#")) != NULL;
}

bool remote_address_is_loopback(const char *url)
{
    static const char *const HOSTS[] = {"127.0.0.1", "localhost", "[::1]"};
    const char *host = strncmp(url, "http://", 7) == 0 ? url + 7 : strncmp(url, "https://", 8) == 0 ? url + 8 : NULL;
    bool is = false;
    if (!host || remote_address_has_user(url))
        return false;
    for (size_t at = 0; at < sizeof(HOSTS) / sizeof(HOSTS[0]) && !is; at++) {
        size_t length = strlen(HOSTS[at]);
        is = strncmp(host, HOSTS[at], length) == 0 && strchr(":/", host[length]); /* or the end: NUL */
    }
    return is;
}

static bool check_http(const struct remote_address *address, const char *host, size_t host_length, struct err *err)
{
    if (memchr(host, '@', host_length))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "a user name or password does not belong in an address");
    if (!is_host(host, host_length))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "has no host");
    if (strpbrk(address->key, "?#"))
        return err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "a query (? or #) is not taken: an address is shown and logged, and a signed one is a secret");
    if (strncmp(address->bucket, "http://", 7) == 0 && !remote_address_is_loopback(address->bucket))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "plain http:// is for this machine alone: use https://");
    return true;
}

bool remote_address_read(const char *text, struct remote_address *address, struct err *err)
{
    *address = (struct remote_address){.text = NULL};
    size_t scheme = scheme_of(text);
    if (scheme == SCHEME_COUNT)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "is no gs://, s3:// or https:// address");
    size_t length = strlen(text), scheme_length = strlen(SCHEMES[scheme].scheme);
    const char *bucket = text + scheme_length;
    size_t bucket_length = strcspn(bucket, "/");
    while (length > scheme_length + bucket_length && text[length - 1] == '/')
        length--;
    const char *key = bucket + bucket_length;
    while (*key == '/' && key < text + length)
        key++;
    size_t before = SCHEMES[scheme].kind == REMOTE_ADDRESS_HTTP ? scheme_length : 0; /* belongs to it */
    address->kind = SCHEMES[scheme].kind;
    address->text = memory_format("%.*s", (int)length, text);
    address->bucket = memory_format("%.*s", (int)(before + bucket_length), bucket - before);
    address->key = memory_format("%.*s", (int)(text + length - key), key);
    address->is_folder = !address->key[0] || text[length] == '/';
    if (has_control(text))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "has a control character in it");
    if (address->kind == REMOTE_ADDRESS_HTTP)
        return check_http(address, bucket, bucket_length, err);
    return is_bucket_name(bucket, bucket_length) ||
           err_set(err, ERR_argument, ERR_NO_OFFSET, "\"%.*s\" is no name of a bucket",
                   (int)(bucket_length < 80 ? bucket_length : 80), bucket);
}

void remote_address_free(struct remote_address *address)
{
    free(address->text);
    free(address->bucket);
    free(address->key);
}

void remote_address_encode(struct buf *out, const char *text, bool keeps_slashes)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        bool is_plain = byte < 0x80 && (isalnum(byte) || strchr("-._~", byte));
        if (is_plain || (keeps_slashes && byte == '/'))
            buf_char(out, *text);
        else
            buf_format(out, "%%%02X", byte);
    }
}

static int hex_value(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

bool remote_address_decode(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        int high = hex_value(text[1]), low = high < 0 ? -1 : hex_value(text[2]);
        if (low < 0 || (high == 0 && low == 0))
            return false;
        *to++ = (char)(high * 16 + low);
        text += 2;
    }
    *to = '\0';
    return true;
}
