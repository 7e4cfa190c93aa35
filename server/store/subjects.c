/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/subjects.h"

#include "server/base/memory.h"
#include "server/base/wanted.h"
#include "server/files/reading.h"
#include "server/store/beside.h"
#include "server/store/capacity.h"
#include "server/store/completion.h"
#include "server/store/sha256.h"
#include "server/store/subjects_rest.h"
#include "server/store/unpacked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
static const size_t ANSWER_LIMIT_BYTES = (size_t)1 << 30;
enum { SHORT_TEXT_BYTES = 64 << 10 };

/* What each kind may take while it is read, where it is kept, and what tells it from the others. */
static const struct kind {
    struct account_share share;
    uint64_t packed_max_factor; /* of a gzip or zip */
    bool takes_what_is_left;    /* unused values are dropped only for the minimum that it needs */
    size_t shelf, uploaded_shelf;
    size_t id_length; /* of an uploaded one; 0: none is uploaded */
    const char *name;
} KINDS[] = {
    /* Programs of real compilers take two to three times their size. */
    [ANALYSIS_MODULE] = {{8, 8 * MIB, 64, 64 * MIB, 4096 * MIB}, 64, false, STORE_MODULES, 0, 0, "program"},
    /* Real ones take less than their size; a packed one may be many times larger. */
    [ANALYSIS_TRACE] = {{1, 64 * MIB, 4, 64 * MIB, UINT64_MAX}, 32, false, STORE_TRACES, 0, 0, "trace"},
    /* Mostly they are packed. */
    [ANALYSIS_PROFILE] =
        {{16, 4 * MIB, 256, 32 * MIB, 2048 * MIB}, 256, true, STORE_PROFILES, STORE_UPLOADED_PROFILES, 64, "profile"},
    /* What is found in one takes little, however long it is. */
    [ANALYSIS_TEXT] =
        {{1, 4 * MIB, 1, 48 * MIB, ANALYSIS_TEXT_MAX_BYTES}, 1, true, STORE_TEXTS, STORE_UPLOADED_TEXTS, 32, "text"},
    /* As much as a module while it is read; what stays is small. */
    [ANALYSIS_FIGURES] = {{8, 8 * MIB, 64, 64 * MIB, 4096 * MIB}, 64, false, STORE_FIGURES, 0, 0, "program"},
    /* Launches of programs are a small part of a trace. */
    [ANALYSIS_RUNS] = {{1, 16 * MIB, 2, 64 * MIB, 512 * MIB}, 32, false, STORE_RUNS, 0, 0, "trace"},
};

struct kept {
    struct analysis_subject *core;
    struct account *account;
    uint64_t taken_bytes;          /* from it */
    struct completion *completion; /* of a module; else NULL */
    struct upload *upload;         /* of an uploaded text */
    char *key, *name;
    struct subject subject; /* as everyone gets it, but for the hold */
};

struct subjects_making {
    struct store *store;
    struct analysis_reading reading;
    const struct source *source;
    struct file *file;           /* NULL for an upload */
    struct upload *upload;       /* NULL for a file */
    const struct beside *beside; /* of a trace; else NULL */
    uint64_t size_bytes;
    const char *key, *name;
};

static void free_kept(void *value)
{
    struct kept *kept = value;
    groundwork_slot_free(kept->subject.groundwork);
    completion_free(kept->completion);
    analysis_subject_free(kept->core);
    account_give(kept->account, kept->taken_bytes);
    upload_release(kept->upload);
    free(kept->key);
    free(kept->name);
    free(kept);
}

/* Memory for what is to be read. 0 when there is no room now. `max`: what it would have got alone. */
static uint64_t take_room(const struct subjects_making *making, uint64_t *max)
{
    const struct kind *kind = &KINDS[making->reading.kind];
    struct account *account = store_account(making->store);
    /* Most error texts are short: with the share of a long log, five at once would take all of 256 MiB. */
    bool is_packed = making->file && files_is_packed(making->file);
    bool is_short = making->reading.kind == ANALYSIS_TEXT && making->size_bytes <= SHORT_TEXT_BYTES && !is_packed;
    struct account_share share = is_short ? (struct account_share){16, 2 * MIB, 64, 4 * MIB, UINT64_MAX} : kind->share;
    if (is_packed)
        share.max_factor = kind->packed_max_factor;
    uint64_t min;
    account_range(account, &share, making->size_bytes, &min, max);
    uint64_t taken_bytes = kind->takes_what_is_left ? account_take(account, min, *max) : 0;
    return taken_bytes > 0 ? taken_bytes : account_need(account, min, kind->takes_what_is_left ? min : *max);
}

/* A text may be so long that the end of the daemon cannot wait for it, and a log grows while it is read. */
static struct analysis_subject *read_text(const struct subjects_making *making, struct err *err)
{
    const struct source *unpacked = making->source->unpacked;
    struct files_tail whole = {unpacked ? unpacked : making->source, 0, store_is_stopping(making->store)};
    const struct source until_stopped = files_tail_source(&whole);
    struct analysis_subject *core = analysis_subject_read(&until_stopped, &making->reading, err);
    if (!core)
        files_tail_fail(&whole, err);
    return core;
}

static void *make_once(void *context, struct cache_made *made, struct err *err)
{
    struct subjects_making *making = context;
    bool is_text = making->reading.kind == ANALYSIS_TEXT;
    struct account *account = store_account(making->store);
    struct err change = ERR_INIT;
    uint64_t max, taken_bytes = take_room(making, &max);
    if (taken_bytes == 0) {
        err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no memory to read the %s now; ask again",
                KINDS[making->reading.kind].name);
        made->is_transient = account_is_transient(account, taken_bytes, max, err);
        return NULL;
    }
    making->reading.limit_bytes = taken_bytes;
    making->reading.wanted = wanted_holders();
    struct cache_hold unpacked = {0};
    struct reading_of_file reading;
    if (making->file) {
        reading_begin(&reading, making->file);
        unpacked_attach(making->store, making->file, &unpacked);
    }
    struct analysis_subject *core =
        is_text ? read_text(making, err) : analysis_subject_read(making->source, &making->reading, err);
    if (making->file) {
        unpacked_let_go(making->file, &unpacked);
        reading_end(&reading);
    }
    if (making->file && (core || !is_text) && !(is_text ? files_only_grew : files_unchanged)(making->file, &change)) {
        analysis_subject_free(core);
        core = NULL;
        *err = change;
    }
    if (!core) {
        account_give(account, taken_bytes);
        made->is_transient = account_is_transient(account, taken_bytes, max, err);
        return NULL;
    }
    struct kept *kept = memory_new(sizeof(*kept));
    *kept = (struct kept){.core = core, .account = account};
    kept->taken_bytes = account_keep(account, taken_bytes, analysis_subject_memory_bytes(core));
    if (making->reading.kind == ANALYSIS_MODULE)
        kept->completion = completion_new(core, !making->reading.without_owners, account);
    kept->key = memory_text(making->key);
    kept->name = making->name ? memory_text(making->name) : NULL;
    kept->upload = is_text && making->upload ? upload_hold(making->upload) : NULL;
    made->cost_bytes = kept->taken_bytes + (kept->upload ? kept->upload->size : 0);
    bool lacks_room = analysis_subject_lacks_room(core), lacks_file = making->beside && making->beside->has_failed;
    kept->subject = (struct subject){
        .core = core,
        .groundwork = kept->completion ? groundwork_slot_new(core, account) : NULL,
        .key = kept->key,
        .name = kept->name,
        .upload = kept->upload,
        .size_bytes = making->source->size_bytes,
        .modified_at_ms = making->file ? files_identity(making->file)->modified_at_ns / 1000000 : 0,
        .is_partial = lacks_room || lacks_file,
        .lacks_file = lacks_file,
    };
    if (lacks_file || (lacks_room && taken_bytes < max)) /* not for all the time of this process */
        made->kept_ms = CACHE_TRY_AGAIN_MS;
    return kept;
}

/* The system may give less than the accounts say: then drops all unused values, for one more try. */
static bool is_worth_another(struct store *store, struct err *err)
{
    if (err->code != ERR_exhausted || !store_drop_all(store))
        return false;
    *err = (struct err)ERR_INIT;
    return true;
}

static void *subjects_make_one(void *context, struct cache_made *made, struct err *err)
{
    const struct subjects_making *making = context;
    void *kept = make_once(context, made, err);
    if (!kept && is_worth_another(making->store, err)) {
        *made = (struct cache_made){0};
        kept = make_once(context, made, err);
    }
    return kept;
}

static const struct kept *look_up(struct store *store, size_t shelf, const char *key, const struct cache_maker *maker,
                                  struct subject *subject, struct err *err)
{
    struct cache_hold hold = {0};
    const struct kept *kept = cache_get(store_cache(store), shelf, key, maker, &hold, err);
    *subject = kept ? kept->subject : (struct subject){0};
    subject->hold = hold;
    return kept;
}

static const struct kept *subjects_get(struct store *store, size_t shelf, const char *key,
                                       struct subjects_making *making, struct subject *subject, struct err *err)
{
    struct cache_maker maker = {subjects_make_one, free_kept, making};
    return look_up(store, shelf, key, making ? &maker : NULL, subject, err);
}

/* One that was read for a question that does not need its owners may be asked one that does. */
static bool has_owners(const struct kept *kept, struct subject *subject, struct err *err)
{
    bool is_transient = false;
    if (!kept->completion || completion_ask(kept->completion, &is_transient, err))
        return true;
    subjects_close(subject);
    subject->hold.is_transient = is_transient;
    return false;
}

struct subjects_place subjects_trace(const struct snapshot_session *session, const struct snapshot_host *host)
{
    return (struct subjects_place){.kind = ANALYSIS_TRACE, .file = &host->file->place, .session = session};
}

/* The key of what lies in a file of that identity, and of what is read beside it. */
static char *key_of(const struct subjects_place *place, const struct files_identity *identity)
{
    char *text = files_identity_text(identity);
    uint64_t beside = place->session ? beside_hash(place->session, place->file) : 0;
    if (!place->program && beside == 0)
        return text;
    char *key = place->program ? memory_format("%s+%" PRIx64, text, place->program->offset_bytes)
                               : memory_format("%s|%" PRIx64, text, beside);
    free(text);
    return key;
}

/* That of an open file. */
static bool open_file(struct store *store, const struct subjects_place *place, struct file *file,
                      struct subject *subject, struct err *err)
{
    char *key = key_of(place, files_identity(file));
    struct subjects_making making = {.store = store, .source = files_source(file), .file = file, .key = key};
    struct beside beside;
    beside_open(&beside, place->session, place->file);
    making.beside = &beside;
    making.reading = (struct analysis_reading){.kind = place->kind,
                                               .program = place->program,
                                               .beside = beside.core.count > 0 ? &beside.core : NULL,
                                               .workers = store_workers(store),
                                               .with_mentions = true,
                                               .libraries = store_libraries(store),
                                               .without_owners = place->without_owners};
    making.size_bytes = place->program ? place->program->size_bytes : files_identity(file)->size_bytes;
    const struct kept *kept = subjects_get(store, KINDS[place->kind].shelf, key, &making, subject, err);
    beside_close(&beside);
    free(key);
    return kept && (place->without_owners || has_owners(kept, subject, err));
}

void subjects_make(struct store *store, const struct subjects_place *place, struct file *file,
                   const struct source *source, const char *key, struct subjects_made *made)
{
    struct subjects_making making = {.store = store, .source = source, .file = file, .key = key};
    struct cache_made facts = {0};
    making.reading = (struct analysis_reading){.kind = place->kind,
                                               .program = place->program,
                                               .libraries = store_libraries(store),
                                               .category_rules = place->category_rules ? place->category_rules
                                                                                       : store_category_rules(store)};
    making.size_bytes = place->program ? place->program->size_bytes : files_identity(file)->size_bytes;
    *made = (struct subjects_made){.kind = place->kind, .err = ERR_INIT};
    made->kept = subjects_make_one(&making, &facts, &made->err);
    made->cost_bytes = facts.cost_bytes;
    made->kept_ms = facts.kept_ms;
    made->is_transient = facts.is_transient;
}

/* Hands over what was made before. */
static void *hand_over(void *context, struct cache_made *facts, struct err *err)
{
    struct subjects_made *made = context;
    void *kept = made->kept;
    made->kept = NULL;
    *facts = (struct cache_made){made->cost_bytes, made->kept_ms, made->is_transient};
    if (!kept)
        *err = made->err;
    return kept;
}

bool subjects_keep(struct store *store, const char *key, struct subjects_made *made, struct subject *subject,
                   struct err *err)
{
    struct cache_maker maker = {hand_over, free_kept, made};
    bool is_good = look_up(store, KINDS[made->kind].shelf, key, &maker, subject, err) != NULL;
    if (made->kept)
        free_kept(made->kept); /* another made it meanwhile */
    made->kept = NULL;
    return is_good;
}

bool subjects_find_kept(struct store *store, enum analysis_subject_kind kind, const char *key, struct subject *subject,
                        struct err *err)
{
    return look_up(store, KINDS[kind].shelf, key, NULL, subject, err);
}

char *subjects_key(const struct subjects_place *place, const struct files_identity *identity)
{
    return key_of(place, identity);
}

char *subjects_key_now(const struct subjects_place *place)
{
    struct err err = ERR_INIT;
    struct file *file = files_open(place->opened ? &place->opened->place : place->file, &err);
    char *key = file ? key_of(place, files_identity(file)) : NULL;
    files_close(file);
    return key;
}

bool subjects_open(struct store *store, const struct subjects_place *place, struct subject *subject, struct err *err)
{
    struct file *file = place->opened ? store_reopen(place->opened, err) : files_open(place->file, err);
    *subject = (struct subject){0};
    bool is_good = file && open_file(store, place, file, subject, err);
    files_close(file);
    return is_good;
}

bool subjects_add(struct store *store, enum analysis_subject_kind kind, struct upload *upload, const char *name,
                  struct subject *subject, struct err *err)
{
    char id[SHA256_TEXT_SIZE];
    const struct source source = upload_source(upload);
    sha256_text(upload->data ? upload->data : "", upload->size, id);
    id[KINDS[kind].id_length] = '\0';
    struct subjects_making making = {
        .store = store, .source = &source, .upload = upload, .size_bytes = upload->size, .key = id, .name = name};
    making.reading = (struct analysis_reading){.kind = kind, .with_mentions = true};
    return subjects_get(store, KINDS[kind].uploaded_shelf, id, &making, subject, err);
}

bool subjects_find(struct store *store, enum analysis_subject_kind kind, const char *id, struct subject *subject,
                   struct err *err)
{
    return subjects_get(store, KINDS[kind].uploaded_shelf, id, NULL, subject, err) ||
           (!err_is_set(err) && err_set(err, ERR_notfound, ERR_NO_OFFSET,
                                        "this %s is not kept here, or not any more: give it again", KINDS[kind].name));
}

bool subjects_is_id(enum analysis_subject_kind kind, const char *text)
{
    size_t length = KINDS[kind].id_length;
    return length > 0 && strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

void subjects_close(struct subject *subject)
{
    cache_release(&subject->hold);
    *subject = (struct subject){0};
}

/* ---- answers ---------------------------------------------------------------------- */

struct answering {
    struct store *store;
    const struct subjects_place *place; /* NULL: the question has its uses */
    const char *key;                    /* of the answer */
    struct file *file;                  /* of a place; NULL for a module: it is opened again only if it must be read */
    const struct analysis_question *question;
};

/* Would some of them have more figures with more memory? */
static bool lacks_room(const struct analysis_question *question)
{
    size_t at = 0;
    while (at < question->use_count &&
           !(question->uses[at].subject && analysis_subject_lacks_room(question->uses[at].subject)))
        at++;
    return at < question->use_count;
}

static void *make_answer_once(void *context, struct cache_made *made, struct err *err)
{
    const struct answering *answering = context;
    struct analysis_question question = *answering->question;
    struct analysis_use use = {0};
    struct subject subject = {0};
    struct buf out = {.limit_bytes = ANSWER_LIMIT_BYTES};
    struct analysis_pieces *rest = NULL;
    struct body *body = NULL;
    bool is_open = true, is_partial = false;
    question.category_rules = store_category_rules(answering->store);
    question.wanted = wanted_holders();
    if (answering->place) {
        struct subjects_place place = *answering->place;
        place.without_owners = !analysis_question_needs_owners(&question);
        is_open = answering->file ? open_file(answering->store, &place, answering->file, &subject, err)
                                  : subjects_open(answering->store, &place, &subject, err);
        use.subject = subject.core;
        question.uses = &use;
        question.use_count = 1;
        if (is_open && analysis_question_predicts(&question))
            question.groundwork = groundwork_slot_get(subject.groundwork);
        made->is_transient = subject.hold.is_transient;
        is_partial = subject.is_partial;
    }
    if (is_open && analysis_answer_begin(&question, &out, answering->place ? &rest : NULL, err)) {
        made->is_transient |= rest != NULL; /* what is made while it is sent cannot be kept */
        made->kept_ms = is_partial || lacks_room(&question) ? CACHE_TRY_AGAIN_MS : 0;
        body = rest ? subjects_rest_body(rest, &subject) : body_new(&out);
        if (!body)
            err_set(err, ERR_limit, ERR_NO_OFFSET, "the answer is larger than 1 GiB, or memory ran out");
    }
    buf_free(&out);
    subjects_close(&subject);
    if (body)
        made->cost_bytes = body_cost_bytes(body);
    return body;
}

static struct disk_cache *disk_cache_of(const struct answering *answering)
{
    const struct subjects_place *place = answering->place;
    return place ? store_disk_cache(answering->store, place->opened ? &place->opened->place : place->file) : NULL;
}

/* One that was made before this process was started. */
static struct body *kept_answer(const struct answering *answering, struct cache_made *made)
{
    struct disk_cache *disk_cache = disk_cache_of(answering);
    struct buf bytes = BUF_INIT;
    struct body *body = disk_cache_read(disk_cache, answering->key, &bytes) ? body_new(&bytes) : NULL;
    buf_free(&bytes);
    if (body)
        made->cost_bytes = body_cost_bytes(body);
    return body;
}

static void *make_answer(void *context, struct cache_made *made, struct err *err)
{
    const struct answering *answering = context;
    struct body *kept = kept_answer(answering, made);
    if (kept)
        return kept;
    struct body *body = make_answer_once(context, made, err);
    if (!body && is_worth_another(answering->store, err)) {
        *made = (struct cache_made){0};
        body = make_answer_once(context, made, err);
    }
    if (body && !made->is_transient && made->kept_ms == 0 && !wanted_is_over())
        disk_cache_write(disk_cache_of(answering), answering->key, body->data, body->size);
    return body;
}

static void free_answer(void *value) { body_release(value); }
static char *question_key(const char *about, const struct analysis_question *question)
{
    char *key = memory_format("%s/%s/%s%s", about, question->tool, question->view, question->is_bare ? "/data" : "");
    for (size_t at = 0; at < question->param_count; at++) {
        const struct analysis_param *param = &question->params[at];
        char *before = key;
        key = memory_format("%s&%zu:%s=%zu:%s", before, strlen(param->name), param->name, strlen(param->value),
                            param->value);
        free(before);
    }
    return capacity_spaces_key(key, question->capacities, question->capacity_count);
}

struct body *subjects_answer(struct store *store, const struct subjects_place *place, const char *key,
                             const struct analysis_question *question, struct err *err, bool *is_transient)
{
    struct answering answering = {.store = store, .place = place, .question = question};
    struct cache_maker maker = {make_answer, free_answer, &answering};
    struct cache_hold hold = {0};
    struct body *body = NULL;
    char *own_key = NULL;
    if (place && !place->opened)
        answering.file = files_open(place->file, err);
    if (place && (place->opened || answering.file))
        own_key = key_of(place, place->opened ? &place->opened->identity : files_identity(answering.file));
    if (own_key || key) {
        char *text = question_key(own_key ? own_key : key, question);
        answering.key = text;
        body = cache_get(store_cache(store), STORE_ANSWERS, text, &maker, &hold, err);
        free(text);
    }
    free(own_key);
    files_close(answering.file);
    if (is_transient)
        *is_transient = hold.is_transient;
    if (body)
        body_hold(body);
    cache_release(&hold);
    return body;
}
