/* SPDX-License-Identifier: Apache-2.0
 * thrift.h: Thrift's compact protocol, as far as the metadata of Parquet needs it: writing only.
 *
 * In:     fields of a struct in rising order of their ids; each struct ends with thrift_end.
 * Source: thrift/doc/specs/thrift-compact-protocol.md of Apache Thrift.
 * Errors: those of the buf. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

enum { THRIFT_DEPTH_MAX = 8 };

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12,
};

struct thrift {
    struct buf *out;
    int depth;
    int last_ids[THRIFT_DEPTH_MAX]; /* of the open structs, the innermost at `depth` */
};

#define THRIFT_INIT(buf) {(buf), 0, {0}}

void thrift_int(struct thrift *thrift, int id, enum thrift_type type, int64_t value); /* THRIFT_I32, THRIFT_I64 */
void thrift_bool(struct thrift *thrift, int id, bool value);
void thrift_text(struct thrift *thrift, int id, struct str text);
/* A struct as a field, and its end. */
void thrift_struct(struct thrift *thrift, int id);
void thrift_end(struct thrift *thrift);
/* A list as a field: `count` items follow, each by one of the functions below. */
void thrift_list(struct thrift *thrift, int id, enum thrift_type item_type, size_t count);
void thrift_item_int(struct thrift *thrift, int64_t value);
void thrift_item_text(struct thrift *thrift, struct str text);
void thrift_item_struct(struct thrift *thrift);
