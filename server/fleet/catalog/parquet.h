/* SPDX-License-Identifier: Apache-2.0
 * parquet.h: flat tables as Apache Parquet.
 *
 * Of the format what every reader knows: plain encoding, pages as gzip, one page a column and row group; columns of
 * texts, 64-bit integers and times. Libraries that write Parquet are C++, and of a size that a static program of ours
 * has not (libparquet with libarrow: 30 MB).
 * Source: parquet-format, src/main/thrift/parquet.thrift and Encodings.md.
 * Memory: one row group, of at most PARQUET_GROUP_BYTES and one row more. Not for several threads. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PARQUET_GROUP_BYTES = 64 << 20, PARQUET_GROUP_ROWS = 1 << 17 };

enum parquet_type {
    PARQUET_TEXT, /* UTF-8 */
    PARQUET_INTEGER,
    PARQUET_TIME, /* microseconds since 1970, UTC */
};

struct parquet_column {
    const char *name; /* borrowed */
    enum parquet_type type;
    bool is_always; /* no cell is null */
};

/* Takes bytes of the file. False: they could not be written; nothing is tried after that. */
typedef bool parquet_put(void *context, const char *bytes, size_t size);

struct parquet;
/* Writes the head of the file. parquet_close. */
struct parquet *parquet_open(const struct parquet_column *columns, size_t column_count, parquet_put *put,
                             void *context);
/* The next cell of the row. A text has no more than 1 GiB, else it is null. */
void parquet_text(struct parquet *parquet, struct str text);
void parquet_number(struct parquet *parquet, int64_t number); /* an integer or a time */
void parquet_null(struct parquet *parquet);
/* False: something could not be written, or there is no memory (errno ENOMEM). */
bool parquet_row_end(struct parquet *parquet);
/* Writes what is left, and the metadata, with `key` and `value`; frees. False: the file is not whole; why is in errno.
 * */
bool parquet_close(struct parquet *parquet, const char *key, const char *value, const char *created_by);
/* Frees; the file stays without its end, and readers refuse it. */
void parquet_drop(struct parquet *parquet);
