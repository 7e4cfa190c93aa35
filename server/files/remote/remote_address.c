/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_address.h"

#include "server/base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static bool path_has_dots(const char *path)
{
    bool has = false;
    for (const char *part = path; part && !has; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        size_t length = strcspn(part, "/");
        has = (length == 1 || length == 2) && strncmp(part, "..", length) == 0;
    }
    return has;
}

bool remote_address_has_dots(const char *text)
{
    size_t scheme = scheme_of(text);
    bool is_http = scheme < SCHEME_COUNT && SCHEMES[scheme].kind == REMOTE_ADDRESS_HTTP;
    char *decoded = memory_text(text);
    bool has = path_has_dots(text) || (is_http && remote_address_decode(decoded) && path_has_dots(decoded));
    free(decoded);
    return has;
}

/* ---- other spellings, other kinds ---- */

/* Length of "scheme:" at the begin of a text; 0: there is none. (RFC 3986, 3.1; one letter is a drive of Windows.) */
static size_t scheme_length_of(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return length > 1 && isalpha((unsigned char)text[0]) && text[length] == ':' ? length + 1 : 0;
}

static bool has_scheme(const char *text, size_t length, const char *scheme)
{
    return length == strlen(scheme) + 1 && strncasecmp(text, scheme, length - 1) == 0;
}

/* file:/PATH, file:///PATH or file://localhost/PATH; another host's files are not here. */
static char *respell_file(const char *rest)
{
    if (strncmp(rest, "//localhost/", 12) == 0)
        rest += 11;
    else if (strncmp(rest, "///", 3) == 0)
        rest += 2;
    char *path = rest[0] == '/' && rest[1] != '/' ? memory_text(rest) : NULL;
    if (path && !remote_address_decode(path)) {
        free(path);
        return NULL;
    }
    return path;
}

char *remote_address_respell(const char *text)
{
    static const struct {
        const char *scheme, *usual;
    } SPELLINGS[] = {{"gs", "gs"},  {"gcs", "gs"},      {"s3", "s3"},    {"s3a", "s3"},
                     {"s3n", "s3"}, {"https", "https"}, {"http", "http"}};
    size_t length = scheme_length_of(text);
    if (has_scheme(text, length, "file"))
        return respell_file(text + length);
    for (size_t at = 0; length > 0 && at < sizeof(SPELLINGS) / sizeof(SPELLINGS[0]); at++) {
        if (has_scheme(text, length, SPELLINGS[at].scheme) && strncmp(text + length, "//", 2) == 0 &&
            !remote_address_is(text))
            return memory_format("%s:%s", SPELLINGS[at].usual, text + length);
    }
    return NULL;
}

/* "s3:/bucket/x". `length`: of its scheme and the colon. */
static bool lacks_slash(const char *text, size_t length)
{
    if (text[length + 1] == '/')
        return false;
    char *usual = memory_format("%.*s/%s", (int)length, text, text + length);
    char *respelled = remote_address_respell(usual);
    bool lacks = respelled || remote_address_is(usual);
    free(usual);
    free(respelled);
    return lacks;
}

const char *remote_address_why_not(const char *text)
{
    static const struct {
        const char *schemes[8], *why; /* NULL ends the schemes */
    } OTHERS[] = {
        {{"az", "azure", "abfs", "abfss", "wasb", "wasbs", "adl"},
         "Azure storage is not read: mount the container (blobfuse2), or copy what is needed (azcopy copy)"},
        {{"hf"}, "the Hugging Face Hub is not read: download what is needed (hf download) and name that folder"},
        {{"hdfs", "viewfs"}, "HDFS is not read: copy what is needed (hdfs dfs -get), or mount it"},
        {{"dbfs"}, "name the path where Databricks mounts it: /dbfs/…"},
        {{"oss", "cos", "obs", "tos", "r2", "b2", "minio"},
         "a service that speaks S3 is read as s3://BUCKET/PATH with --endpoint-url=https://HOST"},
        {{"ssh", "scp", "sftp", "rsync", "ftp", "ftps", "smb"},
         "files on other machines are not read: copy them here, or mount them (sshfs)"},
        {{"mlflow-artifacts", "mlflow", "runs", "models"},
         "MLflow servers are not read: download what is needed (mlflow artifacts download --artifact-uri=…)"},
        {{"file"}, "it names a file of another machine, or is not spelled file:///PATH"},
    };
    size_t length = scheme_length_of(text);
    for (size_t at = 0; length > 0 && at < sizeof(OTHERS) / sizeof(OTHERS[0]); at++) {
        for (const char *const *scheme = OTHERS[at].schemes; *scheme; scheme++)
            if (has_scheme(text, length, *scheme) && text[length] == '/')
                return OTHERS[at].why;
    }
    if (length == 0 || text[length] != '/')
        return NULL;
    return lacks_slash(text, length)
               ? "two slashes follow the colon of such an address"
               : "addresses of this kind are not read; gs://, s3:// and https:// are: copy what is needed, or mount it";
}

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
