/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/parquet.h"

#include "server/base/memory.h"
#include "server/fleet/catalog/thrift.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char MAGIC[] = "PAR1";
enum { TEXT_MAX = 1 << 30, GZIP_LEVEL = 6, GZIP_WINDOW = 15 + 16 };

/* Numbers of parquet.thrift. */
enum { TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { CONVERTED_UTF8 = 0, CONVERTED_TIMESTAMP_MICROS = 10 };
enum { LOGICAL_STRING = 1, LOGICAL_TIMESTAMP = 8, UNIT_MICROS = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3 };
enum { CODEC_GZIP = 2, PAGE_OF_DATA = 0, FORMAT_VERSION = 1 };

/* One column of the row group that is being made. */
struct chunk {
    struct buf values, levels; /* levels: runs of null and not null */
    uint64_t run_length;       /* of the last run, which is not in `levels` yet */
    bool run_is_null;
    int64_t null_count, smallest, largest; /* of numbers, where there are any */
    bool has_number;
};

/* What the end of the file says of a chunk that was written. */
struct written {
    int64_t page_at, plain_bytes, packed_bytes; /* with the head of the page */
    int64_t null_count, smallest, largest;
    bool has_number;
};

struct group {
    int64_t row_count;
    struct written *chunks;
};

struct parquet {
    const struct parquet_column *columns;
    size_t column_count, at; /* of the next cell */
    parquet_put *put;
    void *context;
    struct chunk *chunks;
    int64_t row_count, group_row_count, length; /* length: of the file so far */
    struct group *groups;
    size_t group_count, group_capacity;
    bool has_failed;
};

static struct str whole(const struct buf *buf) { return (struct str){buf->data, buf->length}; }

static void bytes_put(struct parquet *parquet, const struct buf *bytes)
{
    if (bytes->failed)
        errno = ENOMEM;
    parquet->has_failed = parquet->has_failed || bytes->failed ||
                          !parquet->put(parquet->context, bytes->length > 0 ? bytes->data : "", bytes->length);
    parquet->length += (int64_t)bytes->length;
}

static void number_add(struct buf *out, uint64_t number, int byte_count)
{
    char bytes[8];
    for (int at = 0; at < byte_count; at++)
        bytes[at] = (char)(number >> (8 * at));
    buf_add(out, bytes, (size_t)byte_count);
}

struct parquet *parquet_open(const struct parquet_column *columns, size_t column_count, parquet_put *put, void *context)
{
    struct parquet *parquet = memory_new(sizeof(*parquet));
    struct buf magic = BUF_INIT;
    *parquet = (struct parquet){.columns = columns, .column_count = column_count, .put = put, .context = context};
    parquet->chunks = memory_new(column_count * sizeof(*parquet->chunks));
    for (size_t at = 0; at < column_count; at++)
        parquet->chunks[at] = (struct chunk){.values = BUF_INIT, .levels = BUF_INIT};
    buf_text(&magic, MAGIC);
    bytes_put(parquet, &magic);
    buf_free(&magic);
    return parquet;
}

/* ---- cells ---- */

/* A run of the hybrid encoding of levels: how often, shifted by the bit that says that it is no bit-packed one; which.
 * */
static void run_end(struct chunk *chunk)
{
    uint64_t head = chunk->run_length << 1;
    if (chunk->run_length == 0)
        return;
    for (; head >= 0x80; head >>= 7)
        buf_char(&chunk->levels, (char)(head | 0x80));
    buf_char(&chunk->levels, (char)head);
    buf_char(&chunk->levels, chunk->run_is_null ? 0 : 1);
    chunk->run_length = 0;
}

static struct chunk *cell_begin(struct parquet *parquet, bool is_null)
{
    struct chunk *chunk = &parquet->chunks[parquet->at++];
    if (chunk->run_is_null != is_null)
        run_end(chunk);
    chunk->run_is_null = is_null;
    chunk->run_length++;
    chunk->null_count += is_null;
    return chunk;
}

/* A cell beyond the last column, or of another type than its column's, is a mistake of the caller; so is null where
 * there is always a value. */
static bool is_next(struct parquet *parquet, bool is_text)
{
    bool is = parquet->at < parquet->column_count && (parquet->columns[parquet->at].type == PARQUET_TEXT) == is_text;
    if (!is)
        errno = EINVAL;
    parquet->has_failed |= !is;
    return is;
}

void parquet_text(struct parquet *parquet, struct str text)
{
    if (!is_next(parquet, true))
        return;
    bool is_null = text.length > TEXT_MAX && !parquet->columns[parquet->at].is_always;
    struct chunk *chunk = cell_begin(parquet, is_null);
    if (is_null)
        return;
    text.length = text.length > TEXT_MAX ? 0 : text.length;
    number_add(&chunk->values, text.length, 4);
    buf_add(&chunk->values, text.data, text.length);
}

void parquet_number(struct parquet *parquet, int64_t number)
{
    if (!is_next(parquet, false))
        return;
    struct chunk *chunk = cell_begin(parquet, false);
    number_add(&chunk->values, (uint64_t)number, 8);
    chunk->smallest = !chunk->has_number || number < chunk->smallest ? number : chunk->smallest;
    chunk->largest = !chunk->has_number || number > chunk->largest ? number : chunk->largest;
    chunk->has_number = true;
}

void parquet_null(struct parquet *parquet)
{
    if (!is_next(parquet, parquet->at < parquet->column_count && parquet->columns[parquet->at].type == PARQUET_TEXT))
        return;
    if (!parquet->columns[parquet->at].is_always)
        cell_begin(parquet, true);
    else if (parquet->columns[parquet->at].type == PARQUET_TEXT)
        parquet_text(parquet, STR(""));
    else
        parquet_number(parquet, 0);
}

/* ---- a row group ---- */

/* Its levels, where it may be null, and its values. */
static void page_make(const struct parquet_column *column, struct chunk *chunk, struct buf *page)
{
    run_end(chunk);
    if (!column->is_always) {
        number_add(page, chunk->levels.length, 4);
        buf_add(page, chunk->levels.data, chunk->levels.length);
    }
    buf_add(page, chunk->values.data, chunk->values.length);
    if (chunk->levels.failed)
        buf_fail_with(page, &chunk->levels);
    if (chunk->values.failed)
        buf_fail_with(page, &chunk->values);
}

static void page_pack(const struct buf *page, struct buf *packed)
{
    z_stream stream = {.next_in = (unsigned char *)page->data, .avail_in = (uInt)page->length};
    if (page->failed || deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        packed->failed = true;
        return;
    }
    size_t room = deflateBound(&stream, page->length);
    stream.next_out = (unsigned char *)buf_reserve(packed, room);
    stream.avail_out = (uInt)room;
    if (stream.next_out && deflate(&stream, Z_FINISH) == Z_STREAM_END)
        packed->length += stream.total_out;
    else
        packed->failed = true;
    deflateEnd(&stream);
}

static void page_head_write(int64_t cell_count, size_t plain_size, size_t packed_size, struct buf *out)
{
    struct thrift thrift = THRIFT_INIT(out);
    thrift_int(&thrift, 1, THRIFT_I32, PAGE_OF_DATA);
    thrift_int(&thrift, 2, THRIFT_I32, (int64_t)plain_size);
    thrift_int(&thrift, 3, THRIFT_I32, (int64_t)packed_size);
    thrift_struct(&thrift, 5); /* DataPageHeader */
    thrift_int(&thrift, 1, THRIFT_I32, cell_count);
    thrift_int(&thrift, 2, THRIFT_I32, ENCODING_PLAIN);
    thrift_int(&thrift, 3, THRIFT_I32, ENCODING_RLE); /* of definition levels */
    thrift_int(&thrift, 4, THRIFT_I32, ENCODING_RLE); /* repetition levels: there are none */
    thrift_end(&thrift);
    thrift_end(&thrift);
}

static struct written chunk_write(struct parquet *parquet, const struct parquet_column *column, struct chunk *chunk)
{
    struct buf page = BUF_INIT, packed = BUF_INIT, head = BUF_INIT;
    page_make(column, chunk, &page);
    page_pack(&page, &packed);
    page_head_write(parquet->group_row_count, page.length, packed.length, &head);
    const struct written written = {.page_at = parquet->length,
                                    .plain_bytes = (int64_t)(head.length + page.length),
                                    .packed_bytes = (int64_t)(head.length + packed.length),
                                    .null_count = chunk->null_count,
                                    .smallest = chunk->smallest,
                                    .largest = chunk->largest,
                                    .has_number = chunk->has_number};
    bytes_put(parquet, &head);
    bytes_put(parquet, &packed);
    buf_free(&page);
    buf_free(&packed);
    buf_free(&head);
    buf_free(&chunk->values);
    buf_free(&chunk->levels);
    *chunk = (struct chunk){.values = BUF_INIT, .levels = BUF_INIT};
    return written;
}

static void group_end(struct parquet *parquet)
{
    if (parquet->group_row_count == 0 || parquet->has_failed)
        return;
    parquet->groups =
        memory_grow(parquet->groups, &parquet->group_capacity, parquet->group_count + 1, sizeof(*parquet->groups));
    struct group *group = &parquet->groups[parquet->group_count++];
    group->row_count = parquet->group_row_count;
    group->chunks = memory_new(parquet->column_count * sizeof(*group->chunks));
    for (size_t at = 0; at < parquet->column_count; at++)
        group->chunks[at] = chunk_write(parquet, &parquet->columns[at], &parquet->chunks[at]);
    parquet->group_row_count = 0;
}

bool parquet_row_end(struct parquet *parquet)
{
    size_t size = 0;
    while (parquet->at < parquet->column_count && !parquet->has_failed)
        parquet_null(parquet);
    parquet->at = 0;
    parquet->row_count++;
    parquet->group_row_count++;
    for (size_t at = 0; at < parquet->column_count; at++)
        size += parquet->chunks[at].values.length;
    if (size >= PARQUET_GROUP_BYTES || parquet->group_row_count >= PARQUET_GROUP_ROWS)
        group_end(parquet);
    return !parquet->has_failed;
}

/* ---- the end of the file ---- */

static void schema_write(const struct parquet *parquet, struct thrift *thrift)
{
    thrift_list(thrift, 2, THRIFT_STRUCT, parquet->column_count + 1);
    thrift_item_struct(thrift); /* the root */
    thrift_text(thrift, 4, STR("schema"));
    thrift_int(thrift, 5, THRIFT_I32, (int64_t)parquet->column_count);
    thrift_end(thrift);
    for (size_t at = 0; at < parquet->column_count; at++) {
        const struct parquet_column *column = &parquet->columns[at];
        bool is_text = column->type == PARQUET_TEXT;
        thrift_item_struct(thrift);
        thrift_int(thrift, 1, THRIFT_I32, is_text ? TYPE_BYTE_ARRAY : TYPE_INT64);
        thrift_int(thrift, 3, THRIFT_I32, column->is_always ? 0 : 1);
        thrift_text(thrift, 4, str_of(column->name));
        if (column->type != PARQUET_INTEGER) {
            thrift_int(thrift, 6, THRIFT_I32, is_text ? CONVERTED_UTF8 : CONVERTED_TIMESTAMP_MICROS);
            thrift_struct(thrift, 10);
            thrift_struct(thrift, is_text ? LOGICAL_STRING : LOGICAL_TIMESTAMP);
            if (!is_text) {
                thrift_bool(thrift, 1, true); /* UTC */
                thrift_struct(thrift, 2);
                thrift_struct(thrift, UNIT_MICROS);
                thrift_end(thrift);
                thrift_end(thrift);
            }
            thrift_end(thrift);
            thrift_end(thrift);
        }
        thrift_end(thrift);
    }
}

static void statistics_write(const struct written *written, struct thrift *thrift)
{
    struct buf largest = BUF_INIT, smallest = BUF_INIT;
    thrift_struct(thrift, 12);
    thrift_int(thrift, 3, THRIFT_I64, written->null_count);
    if (written->has_number) {
        number_add(&largest, (uint64_t)written->largest, 8);
        number_add(&smallest, (uint64_t)written->smallest, 8);
        thrift_text(thrift, 5, whole(&largest));
        thrift_text(thrift, 6, whole(&smallest));
    }
    thrift_end(thrift);
    buf_free(&largest);
    buf_free(&smallest);
}

static void chunk_describe(const struct parquet_column *column, const struct written *written, int64_t row_count,
                           struct thrift *thrift)
{
    thrift_item_struct(thrift);
    thrift_int(thrift, 2, THRIFT_I64, written->page_at);
    thrift_struct(thrift, 3); /* ColumnMetaData */
    thrift_int(thrift, 1, THRIFT_I32, column->type == PARQUET_TEXT ? TYPE_BYTE_ARRAY : TYPE_INT64);
    thrift_list(thrift, 2, THRIFT_I32, 2);
    thrift_item_int(thrift, ENCODING_PLAIN);
    thrift_item_int(thrift, ENCODING_RLE);
    thrift_list(thrift, 3, THRIFT_BINARY, 1);
    thrift_item_text(thrift, str_of(column->name));
    thrift_int(thrift, 4, THRIFT_I32, CODEC_GZIP);
    thrift_int(thrift, 5, THRIFT_I64, row_count);
    thrift_int(thrift, 6, THRIFT_I64, written->plain_bytes);
    thrift_int(thrift, 7, THRIFT_I64, written->packed_bytes);
    thrift_int(thrift, 9, THRIFT_I64, written->page_at);
    statistics_write(written, thrift);
    thrift_end(thrift);
    thrift_end(thrift);
}

static void groups_write(const struct parquet *parquet, struct thrift *thrift)
{
    thrift_list(thrift, 4, THRIFT_STRUCT, parquet->group_count);
    for (size_t at = 0; at < parquet->group_count; at++) {
        const struct group *group = &parquet->groups[at];
        int64_t plain_bytes = 0;
        thrift_item_struct(thrift);
        thrift_list(thrift, 1, THRIFT_STRUCT, parquet->column_count);
        for (size_t i = 0; i < parquet->column_count; i++) {
            chunk_describe(&parquet->columns[i], &group->chunks[i], group->row_count, thrift);
            plain_bytes += group->chunks[i].plain_bytes;
        }
        thrift_int(thrift, 2, THRIFT_I64, plain_bytes);
        thrift_int(thrift, 3, THRIFT_I64, group->row_count);
        thrift_end(thrift);
    }
}

/* Readers trust the smallest and the largest value only if the file names their order. */
static void orders_write(const struct parquet *parquet, struct thrift *thrift)
{
    thrift_list(thrift, 7, THRIFT_STRUCT, parquet->column_count);
    for (size_t at = 0; at < parquet->column_count; at++) {
        thrift_item_struct(thrift);
        thrift_struct(thrift, 1); /* that of the type */
        thrift_end(thrift);
        thrift_end(thrift);
    }
}

bool parquet_close(struct parquet *parquet, const char *key, const char *value, const char *created_by)
{
    struct buf end = BUF_INIT;
    struct thrift thrift = THRIFT_INIT(&end);
    group_end(parquet);
    thrift_int(&thrift, 1, THRIFT_I32, FORMAT_VERSION);
    schema_write(parquet, &thrift);
    thrift_int(&thrift, 3, THRIFT_I64, parquet->row_count);
    groups_write(parquet, &thrift);
    thrift_list(&thrift, 5, THRIFT_STRUCT, 1);
    thrift_item_struct(&thrift);
    thrift_text(&thrift, 1, str_of(key));
    thrift_text(&thrift, 2, str_of(value));
    thrift_end(&thrift);
    thrift_text(&thrift, 6, str_of(created_by));
    orders_write(parquet, &thrift);
    thrift_end(&thrift);
    number_add(&end, end.length, 4);
    buf_text(&end, MAGIC);
    bytes_put(parquet, &end);
    buf_free(&end);
    bool is_whole = !parquet->has_failed;
    parquet_drop(parquet);
    return is_whole;
}

void parquet_drop(struct parquet *parquet)
{
    int why = errno;
    for (size_t at = 0; at < parquet->column_count; at++) {
        buf_free(&parquet->chunks[at].values);
        buf_free(&parquet->chunks[at].levels);
    }
    for (size_t at = 0; at < parquet->group_count; at++)
        free(parquet->groups[at].chunks);
    free(parquet->groups);
    free(parquet->chunks);
    free(parquet);
    errno = why;
}
