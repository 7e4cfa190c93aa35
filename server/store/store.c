/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/store.h"

#include "server/store/account.h"
#include "server/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t CONTENTS_BUDGET_BYTES = 32 << 20, TOTALS_BUDGET_BYTES = 32 << 20;
static const uint64_t MODULES_BUDGET_BYTES = 256 << 20, ANSWERS_BUDGET_BYTES = 64 << 20;
/* Programs of real compilers take two to three times their size. */
static const struct account_share module_share = {.least_factor = 8,
                                                  .least_base_bytes = 8 << 20,
                                                  .most_factor = 64,
                                                  .most_base_bytes = 64 << 20,
                                                  .limit_bytes = (uint64_t)4 << 30};
static const size_t ANSWER_LIMIT_BYTES = (size_t)1 << 30;

struct store {
    struct cache *contents, *totals, *modules, *answers;
    struct account *account; /* of the modules */
};

struct kept_module {
    struct analysis_module *module;
    struct account *account;
    uint64_t taken_bytes; /* from it */
};

/* What a maker needs; one struct for all four. */
struct making {
    struct store *store;
    const struct store_file *file;
    const struct store_question *question;
    struct file *opened;
};

static void free_contents(void *value)
{
    analysis_contents_free(value);
}

static void free_totals(void *value)
{
    struct store_totals *totals = value;
    for (size_t at = 0; at < totals->count; at++)
        analysis_totals_free(totals->programs[at].totals);
    free(totals);
}

static void free_module(void *value)
{
    struct kept_module *kept = value;
    analysis_module_free(kept->module);
    account_give(kept->account, kept->taken_bytes);
    free(kept);
}

static void free_answer(void *value)
{
    body_release(value);
}

struct store *store_new(uint64_t memory_bytes)
{
    struct store *store = memory_new(sizeof(*store));
    store->contents = cache_new(CONTENTS_BUDGET_BYTES, free_contents);
    store->totals = cache_new(TOTALS_BUDGET_BYTES, free_totals);
    store->modules = cache_new(MODULES_BUDGET_BYTES, free_module);
    store->answers = cache_new(ANSWERS_BUDGET_BYTES, free_answer);
    store->account = account_new(memory_bytes);
    account_add_cache(store->account, store->modules, false);
    return store;
}

struct account *store_account(const struct store *store)
{
    return store->account;
}

void store_on_wait(struct store *store, const struct cache_waiting *waiting)
{
    cache_on_wait(store->contents, waiting);
    cache_on_wait(store->totals, waiting);
    cache_on_wait(store->modules, waiting);
    cache_on_wait(store->answers, waiting);
}

void store_free(struct store *store)
{
    cache_free(store->answers);
    cache_free(store->modules);
    cache_free(store->totals);
    cache_free(store->contents);
    account_free(store->account);
    free(store);
}

static void add_identity(struct buf *key, const struct files_identity *identity)
{
    char *text = files_identity_text(identity);
    buf_text(key, text);
    free(text);
}

static char *key_text(struct buf *key)
{
    size_t length;
    buf_char(key, '\0');
    if (key->failed)
        memory_out();
    return buf_take(key, &length);
}

/* ---- contents -------------------------------------------------------------- */

static uint64_t contents_cost(const struct analysis_contents *contents)
{
    uint64_t cost = sizeof(*contents);
    for (size_t at = 0; at < contents->program_count; at++)
        cost += sizeof(*contents->programs) + strlen(contents->programs[at].name) + strlen(contents->programs[at].key);
    return cost + contents->note_count * 200 + contents->hostname_count * 64;
}

static void *make_contents(void *context, struct cache_made *made, struct err *err)
{
    struct making *making = context;
    struct analysis_contents *contents = analysis_contents_read(files_source(making->opened), err);
    struct err change = ERR_INIT;
    if (!files_unchanged(making->opened, &change)) {
        analysis_contents_free(contents);
        *err = change;
        return NULL;
    }
    if (contents)
        made->cost_bytes = contents_cost(contents);
    return contents;
}

bool store_open(struct store *store, const struct files_place *place, struct store_file *file, struct err *err)
{
    struct making making = {.store = store, .opened = files_open(place, err)};
    *file = (struct store_file){.place = *place};
    if (!making.opened)
        return false;
    file->identity = *files_identity(making.opened);
    struct buf text = BUF_INIT;
    add_identity(&text, &file->identity);
    char *key = key_text(&text);
    struct cache_maker maker = {make_contents, &making};
    file->contents = cache_get(store->contents, key, &maker, &file->hold, err);
    free(key);
    files_close(making.opened);
    return file->contents != NULL;
}

bool store_open_known(struct store *store, const struct files_place *place, const struct files_identity *identity,
                      struct store_file *file)
{
    *file = (struct store_file){.place = *place, .identity = *identity};
    struct buf text = BUF_INIT;
    add_identity(&text, identity);
    char *key = key_text(&text);
    file->contents = cache_peek(store->contents, key, &file->hold);
    free(key);
    return file->contents != NULL;
}

void store_close(struct store_file *file)
{
    cache_release(&file->hold);
    file->contents = NULL;
}

/* Opens the file again, if it still is the one whose contents are known. */
static bool reopen(struct making *making, struct err *err)
{
    making->opened = files_open(&making->file->place, err);
    if (!making->opened)
        return false;
    if (files_identity_equal(files_identity(making->opened), &making->file->identity))
        return true;
    files_close(making->opened);
    making->opened = NULL;
    return err_set(err, ERR_changed, ERR_NO_OFFSET, "the file changed while it was read; ask again");
}

/* ---- totals ------------------------------------------------------------------ */

static void *make_totals(void *context, struct cache_made *made, struct err *err)
{
    struct making *making = context;
    const struct analysis_contents *contents = making->file->contents;
    if (!reopen(making, err))
        return NULL;
    size_t size = sizeof(struct store_totals);
    size += contents->program_count * sizeof(((struct store_totals *)NULL)->programs[0]);
    struct store_totals *totals = memory_new(size);
    totals->count = contents->program_count;
    made->cost_bytes = size;
    for (size_t at = 0; at < totals->count; at++) {
        totals->programs[at].err = (struct err)ERR_INIT;
        totals->programs[at].totals =
            analysis_totals_read(files_source(making->opened), &contents->programs[at], &totals->programs[at].err);
        if (totals->programs[at].totals)
            made->cost_bytes += sizeof(struct analysis_totals) + totals->programs[at].totals->space_count * 64;
    }
    bool is_good = files_unchanged(making->opened, err);
    files_close(making->opened);
    if (is_good)
        return totals;
    free_totals(totals);
    return NULL;
}

const struct store_totals *store_totals(struct store *store, const struct store_file *file, struct cache_hold *hold,
                                        struct err *err)
{
    struct making making = {.store = store, .file = file};
    struct cache_maker maker = {make_totals, &making};
    struct buf text = BUF_INIT;
    add_identity(&text, &file->identity);
    char *key = key_text(&text);
    const struct store_totals *totals = cache_get(store->totals, key, &maker, hold, err);
    free(key);
    return totals;
}

/* ---- modules and answers ------------------------------------------------------- */

/* Takes memory for a program that is to be read; what is kept but not in use goes
 * for it. 0 when there is no room now. `most`: what it would have got alone. */
static uint64_t take_room(struct store *store, const struct analysis_program *program, uint64_t *most)
{
    uint64_t least;
    account_range(store->account, &module_share, program->size_bytes, &least, most);
    return account_need(store->account, least, *most);
}

/* Reads the program of an open file into `taken_bytes`, which are the module's from then on. */
static struct kept_module *read_module(const struct making *making, uint64_t taken_bytes, struct err *err)
{
    struct account *account = making->store->account;
    struct err change = ERR_INIT;
    struct analysis_module *module =
        analysis_module_read(files_source(making->opened), making->question->program, taken_bytes, err);
    if (!files_unchanged(making->opened, &change)) {
        analysis_module_free(module);
        module = NULL;
        *err = change;
    }
    if (!module) {
        account_give(account, taken_bytes);
        return NULL;
    }
    struct kept_module *kept = memory_new(sizeof(*kept));
    *kept =
        (struct kept_module){module, account, account_keep(account, taken_bytes, analysis_module_memory_bytes(module))};
    return kept;
}

static void *make_module(void *context, struct cache_made *made, struct err *err)
{
    struct making *making = context;
    struct kept_module *kept = NULL;
    uint64_t most;
    if (!reopen(making, err))
        return NULL;
    uint64_t taken_bytes = take_room(making->store, making->question->program, &most);
    if (taken_bytes > 0)
        kept = read_module(making, taken_bytes, err);
    else
        err_set(err, ERR_limit, ERR_NO_OFFSET, "other programs take up the memory now; ask again");
    files_close(making->opened);
    made->cost_bytes = kept ? kept->taken_bytes : 0;
    made->is_passing = !kept && account_is_passing(making->store->account, taken_bytes, most, err);
    return kept;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct analysis_param *)a)->name, ((const struct analysis_param *)b)->name);
}

/* Which program of which file; with a question also what is asked of it. */
static char *question_key(const struct making *making, bool with_view)
{
    const struct store_question *question = making->question;
    struct buf key = BUF_INIT;
    add_identity(&key, &making->file->identity);
    buf_format(&key, "+%" PRIx64, question->program->offset_bytes);
    if (with_view) {
        size_t count = question->param_count, size = (count + 1) * sizeof(struct analysis_param);
        struct analysis_param *sorted = memory_new(size);
        if (count) {
            memcpy(sorted, question->params, count * sizeof(*sorted));
            qsort(sorted, count, sizeof(*sorted), by_name);
        }
        buf_format(&key, "/%s/%s", question->tool, question->view);
        for (size_t at = 0; at < count; at++)
            buf_format(&key, "&%zu:%s=%zu:%s", strlen(sorted[at].name), sorted[at].name, strlen(sorted[at].value),
                       sorted[at].value);
        free(sorted);
    }
    return key_text(&key);
}

static void *make_answer(void *context, struct cache_made *made, struct err *err)
{
    struct making *making = context;
    const struct store_question *question = making->question;
    struct cache_maker maker = {make_module, making};
    struct cache_hold hold = {0};
    char *key = question_key(making, false);
    const struct kept_module *kept = cache_get(making->store->modules, key, &maker, &hold, err);
    free(key);
    if (!kept) {
        made->is_passing = hold.is_passing;
        return NULL;
    }
    struct buf out = {.limit_bytes = ANSWER_LIMIT_BYTES};
    struct body *body = NULL;
    if (analysis_answer(kept->module, question->tool, question->view, question->params, question->param_count, &out,
                        err)) {
        body = body_new(&out);
        if (!body)
            err_set(err, ERR_limit, ERR_NO_OFFSET, "the answer is larger than 1 GiB, or memory ran out");
    }
    buf_free(&out);
    cache_release(&hold);
    if (body)
        made->cost_bytes = body_cost_bytes(body);
    return body;
}

struct body *store_answer(struct store *store, const struct store_file *file, const struct store_question *question,
                          struct err *err, bool *is_passing)
{
    struct making making = {.store = store, .file = file, .question = question};
    struct cache_maker maker = {make_answer, &making};
    struct cache_hold hold = {0};
    char *key = question_key(&making, true);
    struct body *body = cache_get(store->answers, key, &maker, &hold, err);
    free(key);
    if (is_passing)
        *is_passing = hold.is_passing;
    if (body)
        body_hold(body);
    cache_release(&hold);
    return body;
}
