/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog_facts.h"

#include "base/csv.h"
#include "base/map.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/version.h"
#include "server/fleet/catalog/rows_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 8 << 20, BATCH_MS = 1000, FORGOTTEN_AT_ONCE = 10000 };

static const char *const KINDS[] = {[FACTS_TEXT] = "text", [FACTS_NAMED] = "named", [FACTS_LABELS] = "labels"};

struct catalog_fact {
    char id[ROWS_ID_SIZE], identity[ROWS_STATE_SIZE];
    char *value;
    bool is_met, is_of_labels;
    bool is_of_other; /* run, over a folder above all of this one's */
};

struct catalog_facts {
    struct catalog_connection *connection;
    struct facts face;
    pthread_mutex_t lock; /* of all that follows */
    struct catalog_fact *items;
    size_t count, capacity;
    struct map by_id; /* places in `items` */
    struct buf lines; /* of COPY: not written yet */
    bool is_alone;
    int64_t flushed_at_ms;
    struct err err; /* the first fault of writing */
};

struct same {
    const struct catalog_facts *facts;
    const char *id;
};

static bool is_same(const void *context, uint64_t value)
{
    const struct same *same = context;
    return strcmp(same->facts->items[value].id, same->id) == 0;
}

/* With the lock; NULL: there is none. */
static struct catalog_fact *fact_find(const struct catalog_facts *facts, const char *id)
{
    const struct same same = {facts, id};
    uint64_t at = map_find(&facts->by_id, hash_text(id, 0), is_same, &same);
    return at == MAP_FREE ? NULL : &facts->items[at];
}

static struct catalog_fact *fact_find_or_add(struct catalog_facts *facts, const char *id)
{
    struct catalog_fact *fact = fact_find(facts, id);
    if (fact)
        return fact;
    facts->items = memory_grow(facts->items, &facts->capacity, facts->count + 1, sizeof(*facts->items));
    fact = &facts->items[facts->count];
    *fact = (struct catalog_fact){.value = NULL};
    memcpy(fact->id, id, strnlen(id, sizeof(fact->id) - 1));
    map_add(&facts->by_id, hash_text(fact->id, 0), facts->count++);
    return fact;
}

static void fact_set(struct catalog_fact *fact, const char *identity, const char *value, size_t length)
{
    memset(fact->identity, 0, sizeof(fact->identity));
    memcpy(fact->identity, identity, strnlen(identity, sizeof(fact->identity) - 1));
    free(fact->value);
    fact->value = memory_format("%.*s", (int)length, value);
}

/* for code that reads files */

static void id_write(char id[ROWS_ID_SIZE], enum facts_kind kind, const struct files_place *place)
{
    char *address = rows_address(place, place->path);
    rows_id(id, (const char *const[]){address, KINDS[kind]}, 2);
    free(address);
}

static bool catalog_facts_find(void *context, enum facts_kind kind, const struct files_place *place,
                               const struct files_identity *identity, struct buf *value)
{
    struct catalog_facts *facts = context;
    char id[ROWS_ID_SIZE], wanted[ROWS_STATE_SIZE];
    id_write(id, kind, place);
    rows_state_of_identity(place, identity, wanted);
    pthread_mutex_lock(&facts->lock);
    struct catalog_fact *fact = fact_find(facts, id);
    bool is_known = fact && strcmp(fact->identity, wanted) == 0;
    if (fact)
        fact->is_met = true;
    if (is_known)
        buf_text(value, fact->value);
    pthread_mutex_unlock(&facts->lock);
    return is_known;
}

/* With the lock. */
static void line_add(struct catalog_facts *facts, const struct catalog_fact *fact, enum facts_kind kind,
                     const struct files_place *place)
{
    const char *const cells[] = {fact->id,       place->root, place->path,   KINDS[kind],
                                 fact->identity, fact->value, version_number};
    struct csv csv = CSV_INIT(&facts->lines);
    csv.is_copy = true;
    for (size_t at = 0; at < sizeof(cells) / sizeof(cells[0]); at++)
        csv_text(&csv, str_of(cells[at]));
    csv_row_end(&csv);
}

static void catalog_facts_keep(void *context, enum facts_kind kind, const struct files_place *place,
                               const struct files_identity *identity, const struct buf *value)
{
    struct catalog_facts *facts = context;
    char id[ROWS_ID_SIZE], state[ROWS_STATE_SIZE];
    id_write(id, kind, place);
    rows_state_of_identity(place, identity, state);
    pthread_mutex_lock(&facts->lock);
    struct catalog_fact *fact = fact_find_or_add(facts, id);
    bool is_new = !fact->value || strcmp(fact->identity, state) != 0; /* else another thread was faster */
    fact->is_met = true;
    fact->is_of_labels = kind == FACTS_LABELS;
    if (is_new) {
        fact_set(fact, state, value->length > 0 ? value->data : "", value->length);
        line_add(facts, fact, kind, place);
    }
    bool is_due =
        facts->is_alone && (facts->lines.length >= BATCH_BYTES || clock_ms() - facts->flushed_at_ms >= BATCH_MS);
    pthread_mutex_unlock(&facts->lock);
    struct err ignored = ERR_INIT; /* told when all is written */
    if (is_due)
        catalog_facts_flush(facts, &ignored);
}

/* ---- the database ---- */

static bool facts_write(struct catalog_connection *connection, const struct buf *lines, struct err *err)
{
    static const char copy[] =
        "COPY pg_temp.incoming_facts (fact_id, logdir, file, kind, identity, value, rules_version) "
        "FROM STDIN";
    static const char upsert[] =
        "INSERT INTO memviewd.facts SELECT DISTINCT ON (fact_id) * FROM pg_temp.incoming_facts ORDER BY fact_id ON "
        "CONFLICT (fact_id) DO UPDATE SET (identity, value, rules_version, noted_at) = (EXCLUDED.identity, "
        "EXCLUDED.value, EXCLUDED.rules_version, EXCLUDED.noted_at)";
    return catalog_connection_query(connection, "BEGIN ISOLATION LEVEL READ COMMITTED", NULL, 0, NULL, NULL, err) &&
           catalog_connection_copy(connection, copy, lines->data, lines->length, err) &&
           catalog_connection_query(connection, upsert, NULL, 0, NULL, NULL, err) &&
           catalog_connection_query(connection, "COMMIT", NULL, 0, NULL, NULL, err);
}

bool catalog_facts_flush(struct catalog_facts *facts, struct err *err)
{
    pthread_mutex_lock(&facts->lock);
    struct buf lines = facts->lines;
    facts->lines = (struct buf)BUF_INIT;
    facts->flushed_at_ms = clock_ms();
    pthread_mutex_unlock(&facts->lock);
    if (lines.failed)
        err_exhausted(&facts->err);
    else if (lines.length > 0 && !err_is_set(&facts->err))
        facts_write(facts->connection, &lines, &facts->err);
    buf_free(&lines);
    if (err_is_set(&facts->err))
        *err = facts->err;
    return !err_is_set(&facts->err);
}

/* A row of fact_id, identity, value, kind, is_of_other. */
static bool fact_take(void *context, const struct catalog_row *row, struct err *err)
{
    struct catalog_facts *facts = context;
    (void)err;
    if (!row->cells || !row->cells[0] || !row->cells[1] || !row->cells[2] || !row->cells[3] || !row->cells[4])
        return true;
    bool is_of_other = row->cells[4][0] == 't', is_known = fact_find(facts, row->cells[0]) != NULL;
    struct catalog_fact *fact = fact_find_or_add(facts, row->cells[0]);
    fact->is_of_other = is_of_other && (!is_known || fact->is_of_other);
    fact->is_of_labels = strcmp(row->cells[3], KINDS[FACTS_LABELS]) == 0;
    fact_set(fact, row->cells[1], row->cells[2], strlen(row->cells[2]));
    return true;
}

bool catalog_facts_load(struct catalog_facts *facts, const char *const *logdirs, size_t count, const char *older_than,
                        struct err *err)
{
    static const char incoming[] =
        "CREATE TEMPORARY TABLE incoming_facts (LIKE memviewd.facts INCLUDING DEFAULTS) ON COMMIT DELETE ROWS";
    static const char known[] =
        "SELECT fact_id, identity, value, kind, rtrim(logdir, '/') <> rtrim($1, '/') AND "
        "starts_with($1, rtrim(logdir, '/') || '/') FROM memviewd.facts WHERE (" CATALOG_CONNECTION_NEAR(
            "logdir", "$1") ") AND ($2::text IS NULL OR "
                            "string_to_array(rules_version, '.')::integer[] >= string_to_array($2, '.')::integer[])";
    bool is_good = catalog_connection_command(facts->connection, incoming, err);
    pthread_mutex_lock(&facts->lock);
    for (size_t at = 0; at < count && is_good; at++) {
        const char *const parameters[] = {logdirs[at], older_than};
        is_good = catalog_connection_query(facts->connection, known, parameters, 2, fact_take, facts, err);
    }
    pthread_mutex_unlock(&facts->lock);
    return is_good;
}

/* Collects facts from *at on that no one requested: "{ID,ID}"; returns how many. A run does not see all facts that a
 * run over a folder above its own wrote. */
static size_t unmet_collect(const struct catalog_facts *facts, bool is_all, size_t *at, struct buf *ids)
{
    size_t count = 0;
    ids->length = 0;
    for (; *at < facts->count && count < FORGOTTEN_AT_ONCE; (*at)++) {
        const struct catalog_fact *fact = &facts->items[*at];
        if (!fact->is_met && !fact->is_of_other && (is_all || !fact->is_of_labels))
            buf_format(ids, "%s%s", count++ == 0 ? "{" : ",", fact->id);
    }
    buf_text(ids, "}");
    buf_char(ids, '\0');
    return count;
}

bool catalog_facts_forget(struct catalog_facts *facts, const char *began_at, bool is_all, struct err *err)
{
    static const char sql[] =
        "DELETE FROM memviewd.facts WHERE fact_id IN (SELECT fact_id FROM memviewd.facts WHERE fact_id = ANY "
        "($1::text[]) AND noted_at < $2::timestamptz ORDER BY fact_id FOR UPDATE)";
    struct buf ids = BUF_INIT;
    size_t at = 0;
    bool is_good = true;
    while (is_good && unmet_collect(facts, is_all, &at, &ids) > 0) {
        const char *const parameters[] = {ids.data, began_at};
        is_good = ids.failed ? err_exhausted(err)
                             : catalog_connection_query(facts->connection, sql, parameters, 2, NULL, NULL, err);
    }
    buf_free(&ids);
    return is_good;
}

/* ---- the whole ---- */

void catalog_facts_set_alone(struct catalog_facts *facts, bool is_alone)
{
    pthread_mutex_lock(&facts->lock);
    facts->is_alone = is_alone;
    pthread_mutex_unlock(&facts->lock);
}

const struct facts *catalog_facts_of(const struct catalog_facts *facts) { return &facts->face; }

struct catalog_facts *catalog_facts_new(struct catalog_connection *connection)
{
    struct catalog_facts *facts = memory_new(sizeof(*facts));
    *facts = (struct catalog_facts){.connection = connection, .lines = BUF_INIT, .err = ERR_INIT};
    facts->face = (struct facts){catalog_facts_find, catalog_facts_keep, facts};
    facts->flushed_at_ms = clock_ms();
    pthread_mutex_init(&facts->lock, NULL);
    map_init_of(&facts->by_id, memory_new, 0);
    return facts;
}

void catalog_facts_free(struct catalog_facts *facts)
{
    if (!facts)
        return;
    for (size_t at = 0; at < facts->count; at++)
        free(facts->items[at].value);
    free(facts->items);
    map_free(&facts->by_id);
    buf_free(&facts->lines);
    pthread_mutex_destroy(&facts->lock);
    free(facts);
}
