/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/access.h"

#include "server/base/clock.h"
#include "server/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IDS = 256, IDLE_MS = 12 * 3600 * 1000, MAX_WRONG = 10, MAX_PEERS = 256, PEER_SIZE = 48 };

struct sign_in {
    struct token id; /* its text empty: none */
    int64_t used_at_ms;
};

/* An address that showed wrong tokens. Each is forgotten after a while. */
struct stranger {
    char peer[PEER_SIZE];
    int wrong_count;
    int64_t counted_at_ms; /* when `wrong_count` was last made less or more */
};

struct access {
    pthread_mutex_t lock;
    struct token token;
    struct sign_in sign_ins[MAX_IDS];
    struct stranger strangers[MAX_PEERS];
};

struct access *access_new(void)
{
    struct access *access = memory_new(sizeof(*access));
    pthread_mutex_init(&access->lock, NULL);
    return access;
}

void access_free(struct access *access)
{
    pthread_mutex_destroy(&access->lock);
    free(access);
}

void access_set_token(struct access *access, const struct token *token)
{
    pthread_mutex_lock(&access->lock);
    if (strcmp(access->token.text, token->text) != 0)
        memset(access->sign_ins, 0, sizeof(access->sign_ins));
    access->token = *token;
    pthread_mutex_unlock(&access->lock);
}

bool access_needs_token(struct access *access)
{
    pthread_mutex_lock(&access->lock);
    bool needs = access->token.text[0] != '\0';
    pthread_mutex_unlock(&access->lock);
    return needs;
}

static void forget_some(struct stranger *stranger, int64_t now_ms)
{
    int64_t passed = (now_ms - stranger->counted_at_ms) / (ACCESS_WAIT_SECONDS * 1000);
    if (passed >= stranger->wrong_count)
        *stranger = (struct stranger){.wrong_count = 0};
    else
        stranger->wrong_count -= (int)passed;
    stranger->counted_at_ms += passed * ACCESS_WAIT_SECONDS * 1000;
}

/* The row of an address; NULL when it has shown no wrong token lately. */
static struct stranger *access_find(struct access *access, const char *peer)
{
    int64_t now_ms = clock_ms();
    for (size_t at = 0; at < MAX_PEERS; at++) {
        struct stranger *stranger = &access->strangers[at];
        if (strncmp(stranger->peer, peer, PEER_SIZE - 1) != 0)
            continue;
        forget_some(stranger, now_ms);
        return stranger->wrong_count > 0 ? stranger : NULL;
    }
    return NULL;
}

static void count_wrong(struct access *access, struct stranger *stranger, const char *peer)
{
    int64_t now_ms = clock_ms();
    for (size_t at = 0; !stranger && at < MAX_PEERS; at++)
        if (access->strangers[at].wrong_count == 0)
            stranger = &access->strangers[at];
    if (!stranger) {
        stranger = &access->strangers[0];
        for (size_t at = 1; at < MAX_PEERS; at++)
            if (access->strangers[at].counted_at_ms < stranger->counted_at_ms)
                stranger = &access->strangers[at];
        stranger->wrong_count = 0;
    }
    if (stranger->wrong_count == 0) {
        *stranger = (struct stranger){.counted_at_ms = now_ms};
        memcpy(stranger->peer, peer, strnlen(peer, PEER_SIZE - 1));
    }
    stranger->wrong_count++;
}

enum access_answer access_try(struct access *access, const char *peer, const char *text, size_t length)
{
    enum access_answer answer = ACCESS_GOOD;
    pthread_mutex_lock(&access->lock);
    struct stranger *stranger = access_find(access, peer);
    if (stranger && stranger->wrong_count >= MAX_WRONG)
        answer = ACCESS_NOT_YET;
    else if (!token_matches(&access->token, text, length))
        answer = ACCESS_WRONG;
    if (answer == ACCESS_WRONG)
        count_wrong(access, stranger, peer);
    pthread_mutex_unlock(&access->lock);
    return answer;
}

bool access_begin(struct access *access, char id[ACCESS_ID_SIZE])
{
    struct sign_in made = {.used_at_ms = clock_ms()};
    if (!token_make(&made.id))
        return false;
    memcpy(id, made.id.text, ACCESS_ID_SIZE);
    pthread_mutex_lock(&access->lock);
    struct sign_in *place = &access->sign_ins[0];
    for (size_t at = 1; at < MAX_IDS && place->id.text[0]; at++)
        if (!access->sign_ins[at].id.text[0] || access->sign_ins[at].used_at_ms < place->used_at_ms)
            place = &access->sign_ins[at];
    *place = made;
    pthread_mutex_unlock(&access->lock);
    return true;
}

bool access_has(struct access *access, const char *id, size_t length)
{
    int64_t now_ms = clock_ms();
    bool is_found = false;
    pthread_mutex_lock(&access->lock);
    for (size_t at = 0; at < MAX_IDS; at++) {
        struct sign_in *sign_in = &access->sign_ins[at];
        if (now_ms - sign_in->used_at_ms > IDLE_MS)
            sign_in->id.text[0] = '\0';
        if (sign_in->id.text[0] && token_matches(&sign_in->id, id, length)) {
            sign_in->used_at_ms = now_ms;
            is_found = true;
        }
    }
    pthread_mutex_unlock(&access->lock);
    return is_found;
}
