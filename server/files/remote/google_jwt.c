/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/google_jwt.h"

#include "base/buf.h"
#include "base/json.h"
#include "server/base/memory.h"

#include <nettle/asn1.h>
#include <nettle/base64.h>
#include <nettle/rsa.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

enum { VALID_S = 3600, KEY_MAX_BYTES = 16384, SIGNATURE_MAX_BYTES = 2048 };

static void base64url_add(struct buf *out, const uint8_t *bytes, size_t size)
{
    size_t length = BASE64_ENCODE_RAW_LENGTH(size);
    char *room = buf_reserve(out, length);
    if (!room)
        return;
    base64_encode_raw(room, size, bytes);
    for (size_t at = 0; at < length; at++)
        room[at] = room[at] == '+' ? '-' : room[at] == '/' ? '_' : room[at];
    while (length > 0 && room[length - 1] == '=')
        length--;
    out->length += length;
}

/* ---- the key ------------------------------------------------------------------------------ */

/* The text between the first two lines of dashes, decoded; free(). */
static uint8_t *pem_decode(const char *pem, size_t *size)
{
    const char *begin = strstr(pem, "-----BEGIN "), *body = begin ? strchr(begin, '\n') : NULL;
    const char *end = body ? strstr(body, "-----END ") : NULL;
    if (!end || (size_t)(end - body) > KEY_MAX_BYTES)
        return NULL;
    struct base64_decode_ctx context;
    uint8_t *bytes = memory_new(BASE64_DECODE_LENGTH((size_t)(end - body)) + 1);
    base64_decode_init(&context);
    *size = BASE64_DECODE_LENGTH((size_t)(end - body));
    if (base64_decode_update(&context, size, bytes, (size_t)(end - body), body) && base64_decode_final(&context))
        return bytes;
    free(bytes);
    return NULL;
}

/* PKCS #8: SEQUENCE { version, algorithm, OCTET STRING with the key of PKCS #1 }. Leaves the inner key, if it is
 * that. */
static void unwrap_pkcs8(const uint8_t **der, size_t *size)
{
    struct asn1_der_iterator outer, inner;
    if (asn1_der_iterator_first(&outer, *size, *der) != ASN1_ITERATOR_CONSTRUCTED || outer.type != ASN1_SEQUENCE ||
        asn1_der_decode_constructed(&outer, &inner) != ASN1_ITERATOR_PRIMITIVE || inner.type != ASN1_INTEGER ||
        asn1_der_iterator_next(&inner) != ASN1_ITERATOR_CONSTRUCTED || inner.type != ASN1_SEQUENCE ||
        asn1_der_iterator_next(&inner) != ASN1_ITERATOR_PRIMITIVE || inner.type != ASN1_OCTETSTRING)
        return;
    *der = inner.data;
    *size = inner.length;
}

static bool key_read(const char *pem, struct rsa_public_key *public_key, struct rsa_private_key *private_key)
{
    size_t size = 0;
    uint8_t *bytes = pem_decode(pem, &size);
    const uint8_t *der = bytes;
    if (bytes)
        unwrap_pkcs8(&der, &size);
    bool is_read = bytes && rsa_keypair_from_der(public_key, private_key, 0, size, der);
    if (bytes)
        memset(bytes, 0, size);
    free(bytes);
    return is_read && private_key->size <= SIGNATURE_MAX_BYTES;
}

/* ---- the token ------------------------------------------------------------------------------ */

static void claims_add(struct buf *out, const char *email, const char *scope, const char *audience, int64_t now_unix_s)
{
    struct buf text = BUF_INIT;
    struct json json = JSON_INIT(&text);
    json_object_begin(&json);
    json_key_text(&json, "iss", email);
    json_key_text(&json, "scope", scope);
    json_key_text(&json, "aud", audience);
    json_key_int(&json, "iat", now_unix_s);
    json_key_int(&json, "exp", now_unix_s + VALID_S);
    json_object_end(&json);
    base64url_add(out, (const uint8_t *)text.data, text.length);
    buf_free(&text);
}

static bool google_jwt_sign(struct buf *token, const struct rsa_private_key *key)
{
    uint8_t signature[SIGNATURE_MAX_BYTES];
    struct sha256_ctx hash;
    mpz_t number;
    sha256_init(&hash);
    sha256_update(&hash, token->length, (const uint8_t *)token->data);
    mpz_init(number);
    bool is_signed = rsa_sha256_sign(key, &hash, number);
    if (is_signed) {
        nettle_mpz_get_str_256(key->size, signature, number);
        buf_char(token, '.');
        base64url_add(token, signature, key->size);
    }
    mpz_clear(number);
    return is_signed;
}

char *google_jwt_make(const char *email, const char *key_pem, const char *scope, const char *audience,
                      int64_t now_unix_s, struct err *err)
{
    static const char HEADER[] = "{\"alg\":\"RS256\",\"typ\":\"JWT\"}";
    struct buf token = BUF_INIT;
    struct rsa_public_key public_key;
    struct rsa_private_key private_key;
    rsa_public_key_init(&public_key);
    rsa_private_key_init(&private_key);
    base64url_add(&token, (const uint8_t *)HEADER, sizeof(HEADER) - 1);
    buf_char(&token, '.');
    claims_add(&token, email, scope, audience, now_unix_s);
    bool is_made =
        key_read(key_pem, &public_key, &private_key) && google_jwt_sign(&token, &private_key) && !token.failed;
    rsa_public_key_clear(&public_key);
    rsa_private_key_clear(&private_key);
    char *text = is_made ? memory_format("%.*s", (int)token.length, token.data) : NULL;
    if (!is_made)
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "the service account's private_key is no RSA key");
    buf_free(&token);
    return text;
}
