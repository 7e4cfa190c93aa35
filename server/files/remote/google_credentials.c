/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/google_credentials.h"

#include "base/buf.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/files/remote/google_jwt.h"
#include "server/files/remote/http_client.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_answer.h"
#include "server/files/remote/setting.h"
#include "server/files/remote/small_file.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RENEW_BEFORE_MS = 2 * 60 * 1000, LOOK_AGAIN_MS = 10000, METADATA_LIMIT_MS = 2000, USUAL_LIFE_S = 3600 };

static const char SCOPE[] = "https://www.googleapis.com/auth/devstorage.read_only";
static const char WIDE_SCOPE[] =
    "https://www.googleapis.com/auth/cloud-platform"; /* what federation and impersonation want */
static const char TOKEN_URL[] = "https://oauth2.googleapis.com/token";
static const char FORM_TYPE[] = "Content-Type: application/x-www-form-urlencoded";

struct token {
    char *text;            /* NULL: there are no credentials */
    int64_t expires_at_ms; /* Unix time; 0: never */
};

static struct {
    pthread_mutex_t lock; /* held while one is asked for: others wait for the same */
    bool is_known;
    int64_t looked_at_ms;
    struct token token;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *text_in(const cJSON *object, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(member) && member->valuestring[0] ? member->valuestring : NULL;
}

/* Only there may go what is secret; this machine for tests. */
static bool is_google(const char *url)
{
    static const char END[] = ".googleapis.com";
    if (remote_address_is_loopback(url))
        return true;
    size_t host = strcspn(url + (strncmp(url, "https://", 8) == 0 ? 8 : 0), "/:?#@"), end = sizeof(END) - 1;
    return strncmp(url, "https://", 8) == 0 && host > end && strncmp(url + 8 + host - end, END, end) == 0 &&
           (url[8 + host] == '/' || url[8 + host] == '\0');
}

/* ---- what servers answer ---------------------------------------------------------------------- */

/* {"access_token", "expires_in"}, or {"accessToken", "expireTime"} where one is impersonated. */
static bool token_read(const struct buf *body, struct token *token, struct err *err)
{
    cJSON *root = cJSON_ParseWithLength(body->data, body->length);
    const char *text = text_in(root, "access_token"), *impersonated = text_in(root, "accessToken"),
               *until = text_in(root, "expireTime");
    const cJSON *life = cJSON_GetObjectItemCaseSensitive(root, "expires_in");
    double life_s = cJSON_IsNumber(life) && life->valuedouble > 0 && life->valuedouble < 1e6 ? life->valuedouble
                                                                                             : (double)USUAL_LIFE_S;
    if (text || impersonated) {
        token->text = memory_text(text ? text : impersonated);
        token->expires_at_ms =
            until ? remote_answer_iso_ns(until) / 1000000 : clock_unix_ms() + (int64_t)(life_s * 1000);
    }
    cJSON_Delete(root);
    return token->text || err_set(err, ERR_io, ERR_NO_OFFSET, "Google's server gives no token");
}

static bool post(const char *url, const char *const *headers, size_t header_count, const struct buf *body,
                 struct token *token, struct err *err)
{
    struct http_client_answer answer;
    if (!is_google(url))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "the credentials name a server that is not Google's");
    const struct http_client_request request = {.method = HTTP_CLIENT_POST,
                                                .url = url,
                                                .headers = headers,
                                                .header_count = header_count,
                                                .body = body->data,
                                                .body_bytes = body->length};
    bool is_good = http_client_perform(&request, &answer, err) && remote_answer_is_good(&answer, err) &&
                   token_read(&answer.body, token, err);
    http_client_free(&answer);
    return is_good;
}

static void form_add(struct buf *form, const char *name, const char *value)
{
    buf_format(form, "%s%s=", form->length ? "&" : "", name);
    remote_address_encode(form, value, false);
}

static bool post_form(const char *url, struct buf *form, struct token *token, struct err *err)
{
    const char *const headers[] = {FORM_TYPE};
    bool is_good = post(url, headers, 1, form, token, err);
    buf_free(form);
    return is_good;
}

static bool lacks(const char *what, struct err *err)
{
    return err_set(err, ERR_malformed, ERR_NO_OFFSET, "the file of Google's credentials has no %s", what);
}

/* ---- kinds of files --------------------------------------------------------------------------- */

static bool by_refresh_token(const cJSON *root, struct token *token, struct err *err)
{
    const char *id = text_in(root, "client_id"), *secret = text_in(root, "client_secret"),
               *refresh = text_in(root, "refresh_token"), *url = text_in(root, "token_uri");
    struct buf form = BUF_INIT;
    if (!id || !secret || !refresh)
        return lacks("client_id, client_secret and refresh_token", err);
    form_add(&form, "grant_type", "refresh_token");
    form_add(&form, "client_id", id);
    form_add(&form, "client_secret", secret);
    form_add(&form, "refresh_token", refresh);
    return post_form(url ? url : TOKEN_URL, &form, token, err);
}

static bool by_key(const cJSON *root, struct token *token, struct err *err)
{
    const char *email = text_in(root, "client_email"), *key = text_in(root, "private_key"),
               *url = text_in(root, "token_uri");
    struct buf form = BUF_INIT;
    if (!email || !key)
        return lacks("client_email and private_key", err);
    if (!url)
        url = TOKEN_URL;
    char *jwt = google_jwt_make(email, key, SCOPE, url, clock_unix_ms() / 1000, err);
    if (!jwt)
        return false;
    form_add(&form, "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
    form_add(&form, "assertion", jwt);
    free(jwt);
    return post_form(url, &form, token, err);
}

/* The token that another identity provider left in a file, as a text or as a member of JSON; free(). */
static char *subject_token(const cJSON *source, struct err *err)
{
    const char *path = text_in(source, "file");
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(source, "format");
    const char *type = text_in(format, "type"), *field = text_in(format, "subject_token_field_name");
    char *text = path ? small_file_word(path) : NULL;
    if (!path)
        err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                "of Google's external accounts only those with a token in a file are used here");
    else if (!text)
        err_set(err, ERR_io, ERR_NO_OFFSET, "%s: the token of the external account cannot be read", path);
    if (!text || !type || strcmp(type, "json") != 0)
        return text;
    cJSON *root = cJSON_Parse(text);
    const char *inner = field ? text_in(root, field) : NULL;
    free(text);
    text = inner ? memory_text(inner) : NULL;
    cJSON_Delete(root);
    if (!text)
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "%s: holds no token of the external account", path);
    return text;
}

static bool impersonate(const char *url, struct token *token, struct err *err)
{
    struct buf body = BUF_INIT;
    char *bearer = memory_format("Authorization: Bearer %s", token->text);
    const char *const headers[] = {bearer, "Content-Type: application/json"};
    free(token->text);
    token->text = NULL;
    buf_format(&body, "{\"scope\":[\"%s\"]}", SCOPE);
    bool is_good = post(url, headers, 2, &body, token, err);
    buf_free(&body);
    free(bearer);
    return is_good;
}

static bool by_federation(const cJSON *root, struct token *token, struct err *err)
{
    const char *audience = text_in(root, "audience"), *type = text_in(root, "subject_token_type"),
               *url = text_in(root, "token_url"), *impersonated = text_in(root, "service_account_impersonation_url");
    struct buf form = BUF_INIT;
    if (!audience || !type || !url)
        return lacks("audience, subject_token_type and token_url", err);
    char *subject = subject_token(cJSON_GetObjectItemCaseSensitive(root, "credential_source"), err);
    if (!subject)
        return false;
    form_add(&form, "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange");
    form_add(&form, "audience", audience);
    form_add(&form, "scope", impersonated ? WIDE_SCOPE : SCOPE);
    form_add(&form, "requested_token_type", "urn:ietf:params:oauth:token-type:access_token");
    form_add(&form, "subject_token_type", type);
    form_add(&form, "subject_token", subject);
    free(subject);
    return post_form(url, &form, token, err) && (!impersonated || impersonate(impersonated, token, err));
}

static bool from_file(const char *path, struct token *token, struct err *err)
{
    static const struct {
        const char *type;
        bool (*ask)(const cJSON *root, struct token *token, struct err *err);
    } TYPES[] = {
        {"authorized_user", by_refresh_token}, {"service_account", by_key}, {"external_account", by_federation}};
    char *text = small_file_read(path);
    cJSON *root = text ? cJSON_Parse(text) : NULL;
    const char *type = text_in(root, "type");
    size_t at = 0, count = sizeof(TYPES) / sizeof(TYPES[0]);
    while (at < count && !(type && strcmp(TYPES[at].type, type) == 0))
        at++;
    bool is_good;
    if (!root)
        is_good = err_set(err, ERR_io, ERR_NO_OFFSET, "%s: %s", path, text ? "is no JSON" : "cannot be read");
    else if (at == count)
        is_good = err_set(err, ERR_unsupported, ERR_NO_OFFSET, "%s: credentials of this type are not used here", path);
    else
        is_good = TYPES[at].ask(root, token, err);
    cJSON_Delete(root);
    free(text);
    return is_good;
}

/* ---- the places --------------------------------------------------------------------------------- */

/* free(); "" where there is no home. */
static char *gcloud_path(void)
{
    static const char NAME[] = "application_default_credentials.json";
    const char *folder = setting("CLOUDSDK_CONFIG"), *home = setting("HOME");
    return folder ? memory_format("%s/%s", folder, NAME)
           : home ? memory_format("%s/.config/gcloud/%s", home, NAME)
                  : memory_text("");
}

/* No machine of Google's, or one without an account: no credentials. */
static void from_metadata(struct token *token)
{
    static const char *const FLAVOR[] = {"Metadata-Flavor: Google"};
    const char *host = setting("GCE_METADATA_HOST");
    struct http_client_answer answer;
    struct err unsaid = ERR_INIT;
    char flavor[16];
    if (setting("NO_GCE_CHECK"))
        return;
    char *url = memory_format("http://%s/computeMetadata/v1/instance/service-accounts/default/token",
                              host ? host : "169.254.169.254");
    const struct http_client_request request = {.url = url,
                                                .headers = FLAVOR,
                                                .header_count = 1,
                                                .is_direct = true,
                                                .time_limit_ms = METADATA_LIMIT_MS,
                                                .tries_max = 1};
    if (http_client_perform(&request, &answer, &unsaid) && answer.status == 200 &&
        http_client_header(&answer, "metadata-flavor", flavor, sizeof(flavor)))
        token_read(&answer.body, token, &unsaid);
    http_client_free(&answer);
    free(url);
}

static bool google_credentials_find(struct token *token, struct err *err)
{
    const char *named = setting("GOOGLE_APPLICATION_CREDENTIALS");
    char *path = gcloud_path(), *text = named ? NULL : small_file_read(path);
    bool is_good = true;
    *token = (struct token){.text = NULL};
    if (named || text)
        is_good = from_file(named ? named : path, token, err);
    else
        from_metadata(token);
    free(text);
    free(path);
    return is_good;
}

static bool is_usable(const struct token *token)
{
    return token->expires_at_ms == 0 || token->expires_at_ms - clock_unix_ms() > RENEW_BEFORE_MS;
}

/* With the lock. One that goes on for a while is better than none. */
static bool bring_up(struct err *err)
{
    struct token found;
    bool is_just_looked = kept.looked_at_ms && clock_ms() - kept.looked_at_ms < LOOK_AGAIN_MS;
    if (kept.is_known && (is_usable(&kept.token) || is_just_looked))
        return true;
    kept.looked_at_ms = clock_ms();
    if (google_credentials_find(&found, err)) {
        free(kept.token.text);
        kept.token = found;
        kept.is_known = true;
        return true;
    }
    free(found.text);
    if (!kept.is_known || kept.token.expires_at_ms <= clock_unix_ms())
        return false;
    *err = (struct err)ERR_INIT;
    return true;
}

bool google_credentials_token(char **token, struct err *err)
{
    pthread_mutex_lock(&kept.lock);
    bool is_there = bring_up(err);
    *token = is_there && kept.token.text ? memory_text(kept.token.text) : NULL;
    pthread_mutex_unlock(&kept.lock);
    return is_there;
}

void google_credentials_forget(void)
{
    pthread_mutex_lock(&kept.lock);
    if (clock_ms() - kept.looked_at_ms >= LOOK_AGAIN_MS)
        kept.is_known = false;
    pthread_mutex_unlock(&kept.lock);
}

void google_credentials_each_file(void (*file)(void *context, const char *path), void *context)
{
    const char *named = setting("GOOGLE_APPLICATION_CREDENTIALS");
    char *path = named ? memory_text(named) : gcloud_path(), *text = path[0] ? small_file_read(path) : NULL;
    cJSON *root = text ? cJSON_Parse(text) : NULL;
    const char *subject = text_in(cJSON_GetObjectItemCaseSensitive(root, "credential_source"), "file");
    if (path[0])
        file(context, path);
    if (subject)
        file(context, subject);
    cJSON_Delete(root);
    free(text);
    free(path);
}
