/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/texts.h"

#include "analysis/analysis.h"
#include "base/json.h"
#include "server/base/memory.h"
#include "server/store/sha256.h"

#include <stdlib.h>
#include <string.h>

struct kept_text {
    char id[TEXTS_ID_SIZE];
    struct upload *upload; /* NULL for a file's */
    struct buf answer;
};

static void free_kept(void *value)
{
    struct kept_text *kept = value;
    upload_release(kept->upload);
    buf_free(&kept->answer);
    free(kept);
}

/* The value, or NULL and `err`. Takes no reference to `upload` when it fails. */
static struct kept_text *make(const struct store *store, const struct source *source, struct cache_made *made,
                              struct err *err)
{
    struct kept_text *kept = memory_new(sizeof(*kept));
    struct files_tail whole = {source, 0, store_is_stopping(store)};
    const struct source until_stopped = files_tail_source(&whole);
    struct oom_report *report = analysis_oom_read(&until_stopped, true, err);
    struct json json = JSON_INIT(&kept->answer);
    if (report) {
        analysis_oom_write_answer(report, &json);
        buf_char(&kept->answer, '\0');
    }
    analysis_oom_free(report);
    if (kept->answer.failed)
        err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no memory for the answer");
    if (!report || kept->answer.failed) {
        files_tail_fail(&whole, err);
        free_kept(kept);
        return NULL;
    }
    made->cost_bytes = sizeof(*kept) + kept->answer.capacity;
    return kept;
}

static bool fill(struct kept_text *kept, struct text *text)
{
    if (kept) {
        text->id = kept->id[0] ? kept->id : NULL;
        text->upload = kept->upload;
        text->answer = kept->answer.data;
    }
    return kept != NULL;
}

/* ---- given ones ------------------------------------------------------------------ */

struct giving {
    const struct store *store;
    struct upload *upload;
    const char *id;
};

static void *make_given(void *context, struct cache_made *made, struct err *err)
{
    const struct giving *giving = context;
    const struct source source = upload_source(giving->upload);
    struct kept_text *kept = make(giving->store, &source, made, err);
    if (!kept)
        return NULL;
    memcpy(kept->id, giving->id, TEXTS_ID_SIZE);
    kept->upload = upload_hold(giving->upload);
    made->cost_bytes += giving->upload->size;
    return kept;
}

bool texts_give(struct store *store, struct upload *upload, struct text *text, struct err *err)
{
    char hash[SHA256_TEXT_SIZE];
    sha256_text(upload->data ? upload->data : "", upload->size, hash);
    hash[TEXTS_ID_SIZE - 1] = '\0';
    struct giving giving = {store, upload, hash};
    struct cache_maker maker = {make_given, free_kept, &giving};
    *text = (struct text){0};
    return fill(cache_get(store_cache(store), STORE_UPLOADED_TEXTS, hash, &maker, &text->hold, err), text);
}

bool texts_find(struct store *store, const char *id, struct text *text, struct err *err)
{
    *text = (struct text){0};
    if (fill(cache_get(store_cache(store), STORE_UPLOADED_TEXTS, id, NULL, &text->hold, err), text))
        return true;
    return !err_is_set(err) &&
           err_set(err, ERR_notfound, ERR_NO_OFFSET, "this text is not kept here, or not any more: give it again");
}

/* ---- files ------------------------------------------------------------------------ */

struct reading {
    const struct store *store;
    struct file *file;
};

static void *make_read(void *context, struct cache_made *made, struct err *err)
{
    const struct reading *reading = context;
    struct kept_text *kept = make(reading->store, files_source(reading->file), made, err);
    struct err change = ERR_INIT;
    if (kept && !files_only_grew(reading->file, &change)) {
        free_kept(kept);
        *err = change;
        return NULL;
    }
    return kept;
}

bool texts_of_file(struct store *store, const struct files_place *place, struct text *text, struct err *err)
{
    struct file *file = files_open(place, err);
    *text = (struct text){0};
    if (!file)
        return false;
    char *key = files_identity_text(files_identity(file));
    struct reading reading = {store, file};
    struct cache_maker maker = {make_read, free_kept, &reading};
    bool is_good = fill(cache_get(store_cache(store), STORE_TEXTS, key, &maker, &text->hold, err), text);
    free(key);
    files_close(file);
    return is_good;
}

void texts_close(struct text *text)
{
    cache_release(&text->hold);
    *text = (struct text){0};
}
