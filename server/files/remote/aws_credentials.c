/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/aws_credentials.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/files/remote/aws_process.h"
#include "server/files/remote/aws_profile.h"
#include "server/files/remote/http_client.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_answer.h"
#include "server/files/remote/setting.h"
#include "server/files/remote/small_file.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RENEW_BEFORE_MS = 5 * 60 * 1000, LOOK_AGAIN_MS = 10000, METADATA_LIMIT_MS = 2000 };

static struct {
    pthread_mutex_t lock; /* held while they are asked for: others wait for the same */
    bool is_known;
    int64_t looked_at_ms;
    struct aws_credentials credentials;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

void aws_credentials_free(struct aws_credentials *credentials)
{
    free(credentials->key_id);
    free(credentials->secret);
    free(credentials->token);
    *credentials = (struct aws_credentials){.key_id = NULL};
}

static char *copy_of(const char *text) { return text ? memory_text(text) : NULL; }

/* ---- what services answer --------------------------------------------------------------- */

static char *member_text(const cJSON *object, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(member) && member->valuestring[0] ? memory_text(member->valuestring) : NULL;
}

bool aws_credentials_are_whole(struct aws_credentials *credentials, const char *of, struct err *err)
{
    if (credentials->key_id && credentials->secret)
        return true;
    aws_credentials_free(credentials);
    return err_set(err, ERR_io, ERR_NO_OFFSET, "%s gives no credentials", of);
}

/* {"AccessKeyId", "SecretAccessKey", `token`, "Expiration"} */
static bool read_object(const cJSON *object, const char *token, struct aws_credentials *credentials, const char *of,
                        struct err *err)
{
    char *expiration = member_text(object, "Expiration");
    credentials->key_id = member_text(object, "AccessKeyId");
    credentials->secret = member_text(object, "SecretAccessKey");
    credentials->token = member_text(object, token);
    credentials->expires_at_ms = expiration ? remote_answer_iso_ns(expiration) / 1000000 : 0;
    free(expiration);
    return aws_credentials_are_whole(credentials, of, err);
}

/* For containers and instances. */
static bool read_json(const struct buf *body, struct aws_credentials *credentials, const char *of, struct err *err)
{
    cJSON *root = cJSON_ParseWithLength(body->data, body->length);
    bool is_good = read_object(root, "Token", credentials, of, err);
    cJSON_Delete(root);
    return is_good;
}

/* For credential_process: the same with a version. */
static bool read_process_json(const struct buf *body, struct aws_credentials *credentials, const char *of,
                              struct err *err)
{
    cJSON *root = body->length > 0 ? cJSON_ParseWithLength(body->data, body->length) : NULL;
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(root, "Version");
    bool is_known = cJSON_IsNumber(version) && version->valuedouble == 1,
         has_end = cJSON_GetObjectItemCaseSensitive(root, "Expiration") != NULL, is_good = false;
    if (!cJSON_IsObject(root))
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "%s prints no JSON object", of);
    else if (!is_known)
        err_set(err, ERR_unsupported, ERR_NO_OFFSET, "%s prints another Version than 1", of);
    else if (read_object(root, "SessionToken", credentials, of, err) && has_end && credentials->expires_at_ms == 0)
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "%s prints an Expiration that is no time of ISO 8601", of);
    else if (has_end && credentials->expires_at_ms <= clock_unix_ms())
        err_set(err, ERR_io, ERR_NO_OFFSET, "%s gives credentials that have ended already", of);
    else
        is_good = !err_is_set(err);
    cJSON_Delete(root);
    return is_good;
}

/* ---- the places --------------------------------------------------------------------------- */

/* Each: true when this is the place, whether it has them (in `credentials`) or why not (in `err`). */
typedef bool place(struct aws_credentials *credentials, struct err *err);

static bool from_environment(struct aws_credentials *credentials, struct err *err)
{
    (void)err;
    const char *key_id = setting("AWS_ACCESS_KEY_ID"), *secret = setting("AWS_SECRET_ACCESS_KEY");
    if (!key_id || !secret)
        return false;
    *credentials = (struct aws_credentials){
        .key_id = memory_text(key_id), .secret = memory_text(secret), .token = copy_of(setting("AWS_SESSION_TOKEN"))};
    return true;
}

static bool by_web_identity(const char *role, const char *token_path, struct aws_credentials *credentials,
                            struct err *err)
{
    if (!role || !token_path)
        return false;
    char *token = small_file_word(token_path);
    if (token)
        aws_sts_by_token(role, token, credentials, err);
    else
        err_set(err, ERR_io, ERR_NO_OFFSET, "%s: the web identity token cannot be read", token_path);
    free(token);
    return true;
}

static bool from_web_identity(struct aws_credentials *credentials, struct err *err)
{
    return by_web_identity(setting("AWS_ROLE_ARN"), setting("AWS_WEB_IDENTITY_TOKEN_FILE"), credentials, err);
}

/* Only to where such servers are: this machine, the addresses that ECS and EKS give them, or by https. */
static bool is_container_server(const char *url)
{
    return strncmp(url, "https://", 8) == 0 || remote_address_is_loopback(url) ||
           strncmp(url, "http://169.254.170.2/", 21) == 0 || strncmp(url, "http://169.254.170.23/", 22) == 0 ||
           strncmp(url, "http://[fd00:ec2::23]/", 22) == 0;
}

static void ask_container(const char *url, struct aws_credentials *credentials, struct err *err)
{
    struct http_client_answer answer;
    const char *path = setting("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    char *token = path ? small_file_word(path) : copy_of(setting("AWS_CONTAINER_AUTHORIZATION_TOKEN"));
    char *header = memory_format("Authorization: %s", token ? token : "");
    const char *const headers[] = {header};
    const struct http_client_request request = {
        .url = url, .headers = headers, .header_count = token != NULL, .is_direct = true, .time_limit_ms = 10000};
    if (http_client_perform(&request, &answer, err) && remote_answer_is_good(&answer, err))
        read_json(&answer.body, credentials, "the container's server", err);
    http_client_free(&answer);
    free(header);
    free(token);
}

static bool from_container(struct aws_credentials *credentials, struct err *err)
{
    const char *relative = setting("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
               *full = setting("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if (!relative && !full)
        return false;
    char *url = relative ? memory_format("http://169.254.170.2%s%s", relative[0] == '/' ? "" : "/", relative)
                         : memory_text(full);
    if (is_container_server(url))
        ask_container(url, credentials, err);
    else
        err_set(err, ERR_argument, ERR_NO_OFFSET,
                "AWS_CONTAINER_CREDENTIALS_FULL_URI leads to a server that credentials are not asked from");
    free(url);
    return true;
}

/* One answer of the instance's server as a text; NULL when there is none. free() */
static char *ask_instance(enum http_client_method method, const char *path, const char *header)
{
    const char *endpoint = setting("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    char *url = memory_format("%s%s", endpoint ? endpoint : "http://169.254.169.254", path);
    struct http_client_answer answer;
    struct err unsaid = ERR_INIT;
    const struct http_client_request request = {.method = method,
                                                .url = url,
                                                .headers = &header,
                                                .header_count = 1,
                                                .is_direct = true,
                                                .time_limit_ms = METADATA_LIMIT_MS,
                                                .tries_max = 1,
                                                .body_max_bytes = 64 * 1024};
    bool is_good = http_client_perform(&request, &answer, &unsaid) && answer.status == 200 && answer.body.length > 0;
    char *text = is_good ? memory_format("%.*s", (int)answer.body.length, answer.body.data) : NULL;
    http_client_free(&answer);
    free(url);
    return text;
}

/* No EC2 instance, or one without a role: not the place. */
static bool from_instance(struct aws_credentials *credentials, struct err *err)
{
    static const char ROLES[] = "/latest/meta-data/iam/security-credentials/";
    const char *disabled = setting("AWS_EC2_METADATA_DISABLED");
    if (disabled && strcasecmp(disabled, "true") == 0)
        return false;
    char *token = ask_instance(HTTP_CLIENT_PUT, "/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 21600");
    char *header = memory_format("X-aws-ec2-metadata-token: %s", token ? token : "");
    char *role = token ? ask_instance(HTTP_CLIENT_GET, ROLES, header) : NULL;
    char *told = NULL;
    if (role) {
        role[strcspn(role, "\r\n")] = '\0';
        char *path = memory_format("%s%s", ROLES, role);
        told = ask_instance(HTTP_CLIENT_GET, path, header);
        free(path);
    }
    if (told)
        read_json(&(struct buf){.data = told, .length = strlen(told)}, credentials, "the instance's server", err);
    free(token);
    free(header);
    free(role);
    free(told);
    return told != NULL;
}

/* ---- profiles ----------------------------------------------------------------------------- */

static void by_process(const char *profile, const char *command, struct aws_credentials *credentials, struct err *err)
{
    struct buf output = BUF_INIT;
    struct err why = ERR_INIT;
    char *of = memory_format("credential_process of AWS profile %s", profile);
    if (aws_process_ask(command, &output, &why))
        read_process_json(&output, credentials, of, err);
    else
        err_set(err, why.code, ERR_NO_OFFSET, "%s: %s", of, why.text);
    buf_free(&output);
    free(of);
}

/* The role and sign-on of a profile are left to AWS's own program. */
static bool from_profile(struct aws_credentials *credentials, struct err *err)
{
    enum {
        KEY_ID,
        SECRET,
        TOKEN,
        ROLE,
        TOKEN_PATH,
        SOURCE,
        SOURCE_KIND,
        SSO_SESSION,
        SSO_ACCOUNT,
        PROCESS,
        VALUE_COUNT
    };
    static const char *const NAMES[VALUE_COUNT] = {
        "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "role_arn",       "web_identity_token_file",
        "source_profile",    "credential_source",     "sso_session",       "sso_account_id", "credential_process"};
    const char *name = aws_profile_chosen();
    char *values[VALUE_COUNT];
    for (size_t at = 0; at < VALUE_COUNT; at++)
        values[at] = aws_profile_value_of(name, NAMES[at]);
    bool has_role = values[ROLE] && (values[SOURCE] || values[SOURCE_KIND]), is_place = true;
    if (values[KEY_ID] && values[SECRET] && !has_role)
        *credentials = (struct aws_credentials){.key_id = memory_text(values[KEY_ID]),
                                                .secret = memory_text(values[SECRET]),
                                                .token = copy_of(values[TOKEN])};
    else if (values[TOKEN_PATH] && values[ROLE] && !has_role)
        by_web_identity(values[ROLE], values[TOKEN_PATH], credentials, err);
    else if (values[PROCESS])
        by_process(name, values[PROCESS], credentials, err);
    else if (has_role || values[SSO_SESSION] || values[SSO_ACCOUNT])
        err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                "the AWS profile has a role or single sign-on; add to it in ~/.aws/config: "
                "credential_process = aws configure export-credentials --profile %s --format process",
                name);
    else
        is_place = false;
    for (size_t at = 0; at < VALUE_COUNT; at++)
        free(values[at]);
    return is_place;
}

/* ---- keeping ------------------------------------------------------------------------------ */

static bool aws_credentials_find(struct aws_credentials *credentials, struct err *err)
{
    static place *const PLACES[] = {from_environment, from_web_identity, from_profile, from_container, from_instance};
    *credentials = (struct aws_credentials){.key_id = NULL};
    for (size_t at = 0; at < sizeof(PLACES) / sizeof(PLACES[0]); at++) {
        if (PLACES[at](credentials, err))
            return !err_is_set(err);
    }
    credentials->is_anonymous = true;
    return true;
}

static bool is_usable(const struct aws_credentials *credentials)
{
    return credentials->expires_at_ms == 0 || credentials->expires_at_ms - clock_unix_ms() > RENEW_BEFORE_MS;
}

/* With the lock. Those that go on for a while are better than none. */
static bool bring_up(struct err *err)
{
    struct aws_credentials found;
    bool is_just_looked = kept.looked_at_ms && clock_ms() - kept.looked_at_ms < LOOK_AGAIN_MS;
    if (kept.is_known && (is_usable(&kept.credentials) || is_just_looked))
        return true;
    kept.looked_at_ms = clock_ms();
    if (aws_credentials_find(&found, err)) {
        aws_credentials_free(&kept.credentials);
        kept.credentials = found;
        kept.is_known = true;
        return true;
    }
    aws_credentials_free(&found); /* some may have come without the others */
    if (!kept.is_known || kept.credentials.expires_at_ms <= clock_unix_ms())
        return false;
    *err = (struct err)ERR_INIT;
    return true;
}

bool aws_credentials_get(struct aws_credentials *credentials, struct err *err)
{
    pthread_mutex_lock(&kept.lock);
    bool is_there = bring_up(err);
    *credentials = (struct aws_credentials){.key_id = NULL};
    if (is_there)
        *credentials = (struct aws_credentials){.key_id = copy_of(kept.credentials.key_id),
                                                .secret = copy_of(kept.credentials.secret),
                                                .token = copy_of(kept.credentials.token),
                                                .expires_at_ms = kept.credentials.expires_at_ms,
                                                .is_anonymous = kept.credentials.is_anonymous};
    pthread_mutex_unlock(&kept.lock);
    return is_there;
}

void aws_credentials_forget(void)
{
    pthread_mutex_lock(&kept.lock);
    if (clock_ms() - kept.looked_at_ms >= LOOK_AGAIN_MS)
        kept.is_known = false;
    pthread_mutex_unlock(&kept.lock);
}

bool aws_credentials_look_again(void)
{
    pthread_mutex_lock(&kept.lock);
    bool is_due = kept.is_known && kept.credentials.is_anonymous && clock_ms() - kept.looked_at_ms >= LOOK_AGAIN_MS;
    if (is_due)
        kept.is_known = false;
    pthread_mutex_unlock(&kept.lock);
    return is_due;
}

/* A name of letters, digits and dashes: it becomes a part of a host's name. */
bool aws_credentials_is_region(const char *text)
{
    return text && text[0] && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text) &&
           strlen(text) < 40;
}

char *aws_credentials_region(void)
{
    const char *named = setting("AWS_REGION") ? setting("AWS_REGION") : setting("AWS_DEFAULT_REGION");
    char *region = named ? memory_text(named) : aws_profile_value("region");
    if (aws_credentials_is_region(region))
        return region;
    free(region);
    return memory_text("us-east-1");
}

void aws_credentials_each_file(void (*file)(void *context, const char *path), void *context)
{
    char *of_credentials = aws_profile_credentials_path(), *of_config = aws_profile_config_path(),
         *of_token = aws_profile_value("web_identity_token_file");
    const char *const paths[] = {of_credentials, of_config, of_token, setting("AWS_WEB_IDENTITY_TOKEN_FILE"),
                                 setting("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")};
    for (size_t at = 0; at < sizeof(paths) / sizeof(paths[0]); at++) {
        if (paths[at] && paths[at][0])
            file(context, paths[at]);
    }
    free(of_credentials);
    free(of_config);
    free(of_token);
}
