/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog_connection.h"

#include "base/buf.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/wanted.h"
#include "server/fleet/catalog/catalog.h"

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* A writer may have to wait for others that change the same points. */
enum {
    CONNECT_MS = 10000,
    LATE_MS = 2000, /* beyond its own limit of time: the server does not answer at all */
    WRITE_MS = 600000,
    LOOK_MS = 100, /* how often it is asked whether anybody still waits */
    COLUMNS_MAX = 256,
    COPY_PIECE_BYTES = 1 << 20,
};

struct catalog_connection {
    PGconn *libpq;
    int64_t limit_ms; /* of one statement, on this side */
};

/* messages */

static void replace(char *text, const char *secret)
{
    size_t length = secret ? strlen(secret) : 0;
    for (char *at = text; length > 0 && (at = strstr(at, secret)) != NULL;) {
        memmove(at + 1, at + length, strlen(at + length) + 1);
        *at++ = '*';
    }
}

/* The first line of a text of libpq or of the server, which may repeat what it was given. */
static bool catalog_connection_fail(const struct catalog_connection *connection, enum err_code code, const char *text,
                                    struct err *err)
{
    char *line = memory_text(text);
    line[strcspn(line, "\r\n")] = '\0';
    replace(line, connection->libpq ? PQpass(connection->libpq) : NULL);
    err_set(err, code, ERR_NO_OFFSET, "%s", line[0] ? line : "the connection was lost");
    free(line);
    return false;
}

static const char *value_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val;
    return NULL;
}

static bool is_empty(const char *text) { return text == NULL || text[0] == '\0'; }

bool catalog_connection_check(const char *url, char **name, struct err *err)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    const char *host = value_of(options, "host"), *port = value_of(options, "port"),
               *database = value_of(options, "dbname"), *address = value_of(options, "hostaddr");
    host = is_empty(host) ? address : host;
    *name =
        memory_format("database %s at %s%s%s", is_empty(database) ? "(by user)" : database,
                      is_empty(host) ? "this machine" : host, is_empty(port) ? "" : ":", is_empty(port) ? "" : port);
    bool is_good = options != NULL;
    PQconninfoFree(options);
    return is_good || err_set(err, ERR_argument, ERR_NO_OFFSET,
                              "is no address of a database: postgresql://USER@HOST:PORT/DATABASE is one");
}

/* ---- waiting ---- */

/* Waits until the socket is ready for `events`; false when the time is over or no one waits any more. */
static bool wait_for(const struct catalog_connection *connection, short events, int64_t until_ms, struct err *err)
{
    struct pollfd wanted = {.fd = PQsocket(connection->libpq), .events = events};
    for (int64_t left; (left = until_ms - clock_ms()) > 0;) {
        int ready = poll(&wanted, 1, (int)(left < LOOK_MS ? left : LOOK_MS));
        if (wanted_is_over())
            return wanted_stopped(err);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return err_set(err, ERR_io, ERR_NO_OFFSET, "%s", strerror(errno));
    }
    return err_set(err, ERR_io, ERR_NO_OFFSET, "the database does not answer");
}

static bool connect_to_end(struct catalog_connection *connection, struct err *err)
{
    int64_t until_ms = clock_ms() + CONNECT_MS;
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (PQstatus(connection->libpq) == CONNECTION_BAD || next == PGRES_POLLING_FAILED)
            return catalog_connection_fail(connection, ERR_io, PQerrorMessage(connection->libpq), err);
        if (!wait_for(connection, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_ms, err))
            return false;
        next = PQconnectPoll(connection->libpq);
    }
    return PQsetnonblocking(connection->libpq, 1) == 0 ||
           catalog_connection_fail(connection, ERR_io, PQerrorMessage(connection->libpq), err);
}

/* What was sent leaves this side. What the server says meanwhile is taken, for it may wait for that. */
static bool flush(const struct catalog_connection *connection, int64_t until_ms, struct err *err)
{
    for (int left; (left = PQflush(connection->libpq)) != 0;) {
        if (left < 0)
            return catalog_connection_fail(connection, ERR_io, PQerrorMessage(connection->libpq), err);
        if (!wait_for(connection, POLLIN | POLLOUT, until_ms, err))
            return false;
        if (PQconsumeInput(connection->libpq) == 0)
            return catalog_connection_fail(connection, ERR_io, PQerrorMessage(connection->libpq), err);
    }
    return true;
}

/* The next result, NULL at the end; false where it did not come. */
static bool next_result(const struct catalog_connection *connection, int64_t until_ms, PGresult **result,
                        struct err *err)
{
    while (PQisBusy(connection->libpq)) {
        if (!wait_for(connection, POLLIN, until_ms, err))
            return false;
        if (PQconsumeInput(connection->libpq) == 0)
            return catalog_connection_fail(connection, ERR_io, PQerrorMessage(connection->libpq), err);
    }
    *result = PQgetResult(connection->libpq);
    return true;
}

/* ---- one statement ---- */

/* A statement that took too long, or that was cancelled, is no fault of the server. */
static enum err_code code_of(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (is_empty(state))
        return ERR_io;
    if (strcmp(state, "57014") == 0)
        return ERR_limit;
    return strncmp(state, "42", 2) == 0 || strncmp(state, "22", 2) == 0 ? ERR_internal : ERR_io;
}

static bool rows_take(const PGresult *result, catalog_take *take, void *context, bool *has_heads, struct err *err)
{
    const char *heads[COLUMNS_MAX], *cells[COLUMNS_MAX];
    size_t count = (size_t)PQnfields(result);
    if (count > COLUMNS_MAX)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "answers with %zu columns, more than %d", count, COLUMNS_MAX);
    for (size_t at = 0; at < count; at++)
        heads[at] = PQfname(result, (int)at);
    if (!*has_heads && !take(context, &(struct catalog_row){count, heads, NULL}, err))
        return false;
    *has_heads = true;
    for (int row = 0; row < PQntuples(result); row++) {
        for (size_t at = 0; at < count; at++)
            cells[at] = PQgetisnull(result, row, (int)at) ? NULL : PQgetvalue(result, row, (int)at);
        if (!take(context, &(struct catalog_row){count, heads, cells}, err))
            return false;
    }
    return true;
}

/* Takes all results of a request. False: one was not as expected; `is_over` says whether the connection has ended. */
static bool results_take(const struct catalog_connection *connection, catalog_take *take, void *context, bool *is_over,
                         struct err *err)
{
    int64_t until_ms = clock_ms() + connection->limit_ms;
    bool has_heads = false, is_good = true;
    PGresult *result = NULL;
    *is_over = !flush(connection, until_ms, err);
    while (!*is_over && next_result(connection, until_ms, &result, err) && result) {
        ExecStatusType status = PQresultStatus(result);
        bool is_of_rows = status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK;
        if (is_of_rows && take && is_good)
            *is_over = !rows_take(result, take, context, &has_heads, err);
        if (!is_of_rows && status != PGRES_COMMAND_OK && status != PGRES_COPY_IN)
            is_good = catalog_connection_fail(connection, code_of(result), PQresultErrorMessage(result), err);
        PQclear(result);
        if (status == PGRES_COPY_IN)
            break; /* the next result comes after the data */
    }
    *is_over |= err_is_set(err) && is_good;
    return is_good && !*is_over;
}

/* Where the end of its results was not reached, nothing more can be sent. */
static void lose(struct catalog_connection *connection)
{
    PQfinish(connection->libpq);
    connection->libpq = NULL;
}

static bool results(struct catalog_connection *connection, bool is_sent, catalog_take *take, void *context,
                    struct err *err)
{
    bool is_over = !is_sent;
    bool is_good = is_sent ? results_take(connection, take, context, &is_over, err)
                           : catalog_connection_fail(connection, ERR_io, PQerrorMessage(connection->libpq), err);
    if (is_over || PQstatus(connection->libpq) == CONNECTION_BAD)
        lose(connection);
    return is_good;
}

static bool is_there(const struct catalog_connection *connection, struct err *err)
{
    return connection->libpq != NULL || err_set(err, ERR_io, ERR_NO_OFFSET, "the connection was lost");
}

bool catalog_connection_query(struct catalog_connection *connection, const char *sql, const char *const *parameters,
                              size_t parameter_count, catalog_take *take, void *context, struct err *err)
{
    if (!is_there(connection, err))
        return false;
    bool is_sent =
        PQsendQueryParams(connection->libpq, sql, (int)parameter_count, NULL, parameters, NULL, NULL, 0) == 1 &&
        PQsetSingleRowMode(connection->libpq) == 1; /* so that an answer without end is not kept whole */
    return results(connection, is_sent, take, context, err);
}

bool catalog_connection_command(struct catalog_connection *connection, const char *sql, struct err *err)
{
    return is_there(connection, err) && results(connection, PQsendQuery(connection->libpq, sql) == 1, NULL, NULL, err);
}

/* Bytes go as fast as the server takes them. */
static bool copy_send(const struct catalog_connection *connection, const char *data, size_t size, struct err *err)
{
    int64_t until_ms = clock_ms() + connection->limit_ms;
    for (size_t at = 0; at < size;) {
        size_t piece = size - at < COPY_PIECE_BYTES ? size - at : COPY_PIECE_BYTES;
        int sent = PQputCopyData(connection->libpq, data + at, (int)piece);
        if (sent < 0)
            return catalog_connection_fail(connection, ERR_io, PQerrorMessage(connection->libpq), err);
        at += sent > 0 ? piece : 0;
        if (!flush(connection, until_ms, err))
            return false;
    }
    return true;
}

bool catalog_connection_copy(struct catalog_connection *connection, const char *sql, const char *data, size_t size,
                             struct err *err)
{
    if (!catalog_connection_command(connection, sql, err))
        return false;
    bool is_sent = copy_send(connection, data, size, err) && PQputCopyEnd(connection->libpq, NULL) == 1;
    return results(connection, is_sent, NULL, NULL, err);
}

/* ---- the connection ---- */

/* The address cannot change the settings after it. Kerberos, which libpq would try first, loads code and reads files
 * that this program may not have any more (server/sandbox); gssencmode= in the address asks for it. */
static PGconn *catalog_connection_begin(const char *url)
{
    static const char *const words[] = {"fallback_application_name", "gssencmode", "dbname", "client_encoding", NULL};
    const char *const values[] = {"memviewd", "disable", url, "UTF8", NULL};
    return PQconnectStartParams(words, values, 1);
}

/* libpq would print what the server remarks. */
static void remark(void *context, const char *text)
{
    (void)context;
    (void)text;
}

/* Statements are short, and have many columns: compiling one takes longer than it saves. Disks have no heads to
 * move. What a reader has sorted, tens of thousands of rows, is sorted in memory. */
static bool set_up(struct catalog_connection *connection, bool is_reader, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_text(&sql, "SET search_path = memviewd, pg_catalog, pg_temp; SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; "
                   "SET standard_conforming_strings = on; SET client_min_messages = error; "
                   "SET default_transaction_isolation = 'read committed'; SET jit = off; ");
    if (!is_reader) /* a table that was just filled has no statistics yet: each batch would read the whole table */
        buf_text(&sql, "SET enable_seqscan = off; ");
    else
        buf_format(&sql,
                   "SET default_transaction_read_only = on; SET random_page_cost = 1.1; SET work_mem = '32MB'; "
                   "SET statement_timeout = %d; ",
                   CATALOG_QUERY_MS);
    buf_char(&sql, '\0');
    bool is_good = !sql.failed ? catalog_connection_command(connection, sql.data, err) : err_exhausted(err);
    buf_free(&sql);
    return is_good;
}

struct catalog_connection *catalog_connection_open(const char *url, bool is_reader, struct err *err)
{
    struct catalog_connection *connection = memory_new(sizeof(*connection));
    connection->limit_ms = is_reader ? CATALOG_QUERY_MS + LATE_MS : WRITE_MS;
    connection->libpq = catalog_connection_begin(url);
    if (connection->libpq)
        PQsetNoticeProcessor(connection->libpq, remark, NULL);
    bool is_good =
        connection->libpq ? connect_to_end(connection, err) && set_up(connection, is_reader, err) : err_exhausted(err);
    if (is_good)
        return connection;
    catalog_connection_close(connection);
    return NULL;
}

void catalog_connection_close(struct catalog_connection *connection)
{
    if (!connection)
        return;
    PQfinish(connection->libpq);
    free(connection);
}

bool catalog_connection_is_lost(const struct catalog_connection *connection) { return connection->libpq == NULL; }
