/* SPDX-License-Identifier: Apache-2.0
 * rows_parquet.h: rows of CSV_CELLS as a Parquet file, with the columns of rows_columns.h. */
#pragma once

#include "server/fleet/catalog/parquet.h"

struct rows_parquet;

/* rows_parquet_close or rows_parquet_drop. */
struct rows_parquet *rows_parquet_open(parquet_put *put, void *context);
/* Whole rows. False: they could not be written; why is in errno. */
bool rows_parquet_take(struct rows_parquet *file, struct str rows);
/* False: the file is not whole; why is in errno. */
bool rows_parquet_close(struct rows_parquet *file);
/* Without its end: readers refuse it. */
void rows_parquet_drop(struct rows_parquet *file);
