/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/profiles.h"

#include "server/base/memory.h"
#include "server/store/sha256.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t GIVEN_BUDGET_BYTES = 256 << 20, READ_BUDGET_BYTES = 256 << 20, ANSWERS_BUDGET_BYTES = 64 << 20;
static const size_t ANSWER_LIMIT_BYTES = (size_t)256 << 20;
enum { MOST_IDLE_MS = 6 * 60 * 60 * 1000 };
/* Mostly they are packed. */
static const struct account_share share = {.least_factor = 16,
                                           .least_base_bytes = 4 << 20,
                                           .most_factor = 256,
                                           .most_base_bytes = 32 << 20,
                                           .limit_bytes = (uint64_t)2 << 30};

struct profiles {
    struct cache *given, *read, *answers;
    struct account *account;
};

struct kept_profile {
    struct analysis_profile *profile;
    struct account *account;
    uint64_t taken_bytes; /* from it */
    uint64_t size_bytes;
    int64_t modified_at_ms;
    char *key, *name;
};

static void free_kept(void *value)
{
    struct kept_profile *kept = value;
    analysis_profile_free(kept->profile);
    account_give(kept->account, kept->taken_bytes);
    free(kept->key);
    free(kept->name);
    free(kept);
}

static void free_answer(void *value)
{
    body_release(value);
}

struct profiles *profiles_new(struct account *account)
{
    struct profiles *profiles = memory_new(sizeof(*profiles));
    profiles->given = cache_new(GIVEN_BUDGET_BYTES, free_kept);
    profiles->read = cache_new(READ_BUDGET_BYTES, free_kept);
    profiles->answers = cache_new(ANSWERS_BUDGET_BYTES, free_answer);
    profiles->account = account;
    account_add_cache(account, profiles->read, false);
    account_add_cache(account, profiles->given, true);
    return profiles;
}

void profiles_on_wait(struct profiles *profiles, const struct cache_waiting *waiting)
{
    cache_on_wait(profiles->given, waiting);
    cache_on_wait(profiles->read, waiting);
    cache_on_wait(profiles->answers, waiting);
}

void profiles_expire(struct profiles *profiles)
{
    cache_drop_idle(profiles->given, MOST_IDLE_MS);
    cache_drop_idle(profiles->read, MOST_IDLE_MS);
    cache_drop_idle(profiles->answers, MOST_IDLE_MS);
}

void profiles_free(struct profiles *profiles)
{
    cache_free(profiles->answers);
    cache_free(profiles->given);
    cache_free(profiles->read);
    free(profiles);
}

/* Takes memory for a profile of so many bytes. 0 when there is no room now. `most`: what it would have got alone. */
static uint64_t take_room(const struct profiles *profiles, uint64_t size_bytes, uint64_t *most)
{
    uint64_t least;
    account_range(profiles->account, &share, size_bytes, &least, most);
    uint64_t taken_bytes = account_take(profiles->account, least, *most);
    return taken_bytes > 0 ? taken_bytes : account_need(profiles->account, least, least);
}

static struct kept_profile *keep(struct profiles *profiles, const struct source *source, struct cache_made *made,
                                 struct err *err)
{
    uint64_t most;
    uint64_t taken_bytes = take_room(profiles, source->size_bytes, &most);
    if (taken_bytes == 0) {
        err_set(err, ERR_limit, ERR_NO_OFFSET, "others take up the memory now; ask again");
        made->is_passing = true;
        return NULL;
    }
    struct analysis_profile *profile = analysis_profile_read(source, taken_bytes, err);
    if (!profile) {
        account_give(profiles->account, taken_bytes);
        made->is_passing = account_is_passing(profiles->account, taken_bytes, most, err);
        return NULL;
    }
    struct kept_profile *kept = memory_new(sizeof(*kept));
    kept->profile = profile;
    kept->account = profiles->account;
    kept->taken_bytes = account_keep(profiles->account, taken_bytes, analysis_profile_memory_bytes(profile));
    kept->size_bytes = source->size_bytes;
    made->cost_bytes = kept->taken_bytes;
    return kept;
}

static bool fill(const struct kept_profile *kept, struct profiles_one *one)
{
    if (!kept)
        return false;
    one->profile = kept->profile;
    one->key = kept->key;
    one->name = kept->name;
    one->size_bytes = kept->size_bytes;
    one->modified_at_ms = kept->modified_at_ms;
    return true;
}

/* ---- given ones ------------------------------------------------------------------ */

struct giving {
    struct profiles *profiles;
    const struct upload *upload;
    const char *id, *name;
};

static void *make_given(void *context, struct cache_made *made, struct err *err)
{
    const struct giving *giving = context;
    const struct source source = upload_source(giving->upload);
    struct kept_profile *kept = keep(giving->profiles, &source, made, err);
    if (kept) {
        kept->key = memory_text(giving->id);
        kept->name = memory_text(giving->name);
    }
    return kept;
}

bool profiles_give(struct profiles *profiles, const struct upload *upload, const char *name, struct profiles_one *one,
                   struct err *err)
{
    char id[PROFILES_ID_SIZE];
    sha256_text(upload->data ? upload->data : "", upload->size, id);
    struct giving giving = {profiles, upload, id, name};
    struct cache_maker maker = {make_given, &giving};
    *one = (struct profiles_one){0};
    return fill(cache_get(profiles->given, id, &maker, &one->hold, err), one);
}

bool profiles_find(struct profiles *profiles, const char *id, struct profiles_one *one, struct err *err)
{
    *one = (struct profiles_one){0};
    if (fill(cache_get(profiles->given, id, NULL, &one->hold, err), one))
        return true;
    return !err_is_set(err) &&
           err_set(err, ERR_notfound, ERR_NO_OFFSET, "this profile is not kept here, or not any more: give it again");
}

/* ---- files ------------------------------------------------------------------------ */

struct reading {
    struct profiles *profiles;
    struct file *file;
    const char *key;
};

static void *make_read(void *context, struct cache_made *made, struct err *err)
{
    const struct reading *reading = context;
    struct kept_profile *kept = keep(reading->profiles, files_source(reading->file), made, err);
    struct err change = ERR_INIT;
    if (!files_unchanged(reading->file, &change)) {
        if (kept)
            free_kept(kept);
        *err = change;
        return NULL;
    }
    if (kept) {
        kept->key = memory_text(reading->key);
        kept->modified_at_ms = files_identity(reading->file)->modified_at_ns / 1000000;
    }
    return kept;
}

bool profiles_of_file(struct profiles *profiles, const struct files_place *place, struct profiles_one *one,
                      struct err *err)
{
    struct file *file = files_open(place, err);
    *one = (struct profiles_one){0};
    if (!file)
        return false;
    char *key = files_identity_text(files_identity(file));
    struct reading reading = {profiles, file, key};
    struct cache_maker maker = {make_read, &reading};
    bool is_good = fill(cache_get(profiles->read, key, &maker, &one->hold, err), one);
    free(key);
    files_close(file);
    return is_good;
}

void profiles_close(struct profiles_one *one)
{
    cache_release(&one->hold);
    *one = (struct profiles_one){0};
}

/* ---- answers ---------------------------------------------------------------------- */

static void *make_answer(void *context, struct cache_made *made, struct err *err)
{
    const struct profiles_question *question = context;
    struct buf out = {.limit_bytes = ANSWER_LIMIT_BYTES};
    struct body *body = NULL;
    if (analysis_profile_answer(question->asked, question->view, question->params, question->param_count, &out, err)) {
        body = body_new(&out);
        if (!body)
            err_set(err, ERR_limit, ERR_NO_OFFSET, "the answer is larger than 256 MiB, or memory ran out");
    }
    buf_free(&out);
    if (body)
        made->cost_bytes = body_cost_bytes(body);
    return body;
}

struct body *profiles_answer(struct profiles *profiles, const struct profiles_question *question, struct err *err)
{
    struct cache_maker maker = {make_answer, (void *)(uintptr_t)question};
    struct cache_hold hold = {0};
    struct buf key = BUF_INIT;
    buf_format(&key, "%s/%s", question->keys, question->view);
    for (size_t at = 0; at < question->param_count; at++) {
        const struct analysis_param *param = &question->params[at];
        buf_format(&key, "&%zu:%s=%zu:%s", strlen(param->name), param->name, strlen(param->value), param->value);
    }
    buf_char(&key, '\0');
    if (key.failed)
        memory_out();
    struct body *body = cache_get(profiles->answers, key.data, &maker, &hold, err);
    buf_free(&key);
    if (body)
        body_hold(body);
    cache_release(&hold);
    return body;
}
