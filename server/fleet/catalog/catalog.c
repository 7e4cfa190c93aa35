/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/fleet/catalog/catalog_connection.h"
#include "server/fleet/catalog/catalog_schema.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct catalog {
    char *url, *name;
    pthread_mutex_t lock;
    pthread_cond_t is_less; /* fewer are in use */
    struct catalog_connection *idle[CATALOG_CONNECTIONS];
    size_t idle_count, used_count;
};

struct catalog *catalog_open(const char *url, struct err *err)
{
    char *name = NULL;
    if (!catalog_connection_check(url, &name, err)) {
        free(name);
        return NULL;
    }
    struct catalog *catalog = memory_new(sizeof(*catalog));
    catalog->url = memory_text(url);
    catalog->name = name;
    pthread_mutex_init(&catalog->lock, NULL);
    clock_cond_init(&catalog->is_less);
    return catalog;
}

void catalog_close(struct catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t at = 0; at < catalog->idle_count; at++)
        catalog_connection_close(catalog->idle[at]);
    pthread_cond_destroy(&catalog->is_less);
    pthread_mutex_destroy(&catalog->lock);
    free(catalog->name);
    free(catalog->url);
    free(catalog);
}

const char *catalog_name(const struct catalog *catalog) { return catalog->name; }

/* ---- connections ---- */

/* The right to one connection; *idle is one that is there, or NULL: it has to be made. */
static bool hold(struct catalog *catalog, struct catalog_connection **idle, struct err *err)
{
    struct timespec until = clock_after(CATALOG_QUERY_MS);
    int status = 0;
    pthread_mutex_lock(&catalog->lock);
    while (catalog->used_count == CATALOG_CONNECTIONS && status == 0)
        status = pthread_cond_timedwait(&catalog->is_less, &catalog->lock, &until);
    bool has = catalog->used_count < CATALOG_CONNECTIONS;
    catalog->used_count += has;
    *idle = has && catalog->idle_count > 0 ? catalog->idle[--catalog->idle_count] : NULL;
    pthread_mutex_unlock(&catalog->lock);
    return has || err_set(err, ERR_limit, ERR_NO_OFFSET, "is asked too much at once");
}

/* `connection` NULL: there is none to be kept. */
static void let_go(struct catalog *catalog, struct catalog_connection *connection)
{
    bool is_good = connection && !catalog_connection_is_lost(connection);
    pthread_mutex_lock(&catalog->lock);
    catalog->used_count--;
    if (is_good)
        catalog->idle[catalog->idle_count++] = connection;
    pthread_cond_signal(&catalog->is_less);
    pthread_mutex_unlock(&catalog->lock);
    if (!is_good)
        catalog_connection_close(connection);
}

static struct catalog_connection *connect_to(const struct catalog *catalog, struct err *err)
{
    struct catalog_connection *connection = catalog_connection_open(catalog->url, true, err);
    if (!connection || catalog_schema_check(connection, err))
        return connection;
    catalog_connection_close(connection);
    return NULL;
}

/* ---- a query ---- */

static void place_add(struct catalog_answer *answer, const char *text)
{
    size_t place = text ? answer->texts.length + 1 : 0;
    buf_add(&answer->places, &place, sizeof(place));
    if (text)
        buf_add(&answer->texts, text, strlen(text) + 1);
}

static bool row_take(void *context, const struct catalog_row *row, struct err *err)
{
    struct catalog_answer *answer = context;
    const char *const *texts = row->cells ? row->cells : row->heads;
    for (size_t at = 0; at < row->count; at++)
        place_add(answer, texts[at]);
    answer->column_count = row->count;
    answer->row_count += row->cells != NULL;
    return buf_is_whole(&answer->texts, "the catalog's answer", err) &&
           buf_is_whole(&answer->places, "the catalog's answer", err);
}

static void answer_begin(struct catalog_answer *answer)
{
    *answer = (struct catalog_answer){.texts = BUF_INIT, .places = BUF_INIT};
    answer->texts.limit_bytes = answer->places.limit_bytes = CATALOG_ANSWER_BYTES;
}

bool catalog_query(struct catalog *catalog, const char *sql, const char *const *parameters, size_t parameter_count,
                   struct catalog_answer *answer, struct err *err)
{
    struct catalog_connection *connection;
    answer_begin(answer);
    if (!hold(catalog, &connection, err))
        return false;
    struct err lost = ERR_INIT;
    bool is_good =
        connection && catalog_connection_query(connection, sql, parameters, parameter_count, row_take, answer, &lost);
    /* One that was idle may have been lost long ago: the database was restarted. */
    if (!connection ||
        (!is_good && lost.code == ERR_io && answer->row_count == 0 && catalog_connection_is_lost(connection))) {
        catalog_connection_close(connection);
        catalog_answer_free(answer);
        answer_begin(answer);
        connection = connect_to(catalog, err);
        is_good =
            connection && catalog_connection_query(connection, sql, parameters, parameter_count, row_take, answer, err);
    } else if (!is_good)
        *err = lost;
    let_go(catalog, connection);
    if (!is_good)
        catalog_answer_free(answer);
    return is_good;
}
