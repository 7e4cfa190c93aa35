/* SPDX-License-Identifier: Apache-2.0
 * bytes.h: what several suites need: sources over memory, files of the build, a main for check. */
#pragma once

#include "base/source.h"
#include "base/str.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    struct source source;
    char *data;
    size_t length;
};

static int64_t bytes_read_at(void *context, uint64_t offset, void *into, size_t size)
{
    const struct bytes *bytes = context;
    if (offset >= bytes->length)
        return 0;
    size_t left = bytes->length - (size_t)offset;
    if (size > left)
        size = left;
    memcpy(into, bytes->data + offset, size);
    return (int64_t)size;
}

/* A source over `length` bytes of `data`; `bytes` must stay where it is. */
static inline void bytes_open(struct bytes *bytes, const void *data, size_t length)
{
    bytes->data = malloc(length + 1);
    if (length > 0)
        memcpy(bytes->data, data, length);
    bytes->length = length;
    bytes->source =
        (struct source){.context = bytes, .read = bytes_read_at, .size_bytes = length, .read_apart = bytes_read_at};
}

/* A file of the build, such as build/fixtures/hlo-two-buffers.pb. */
static inline void bytes_load(struct bytes *bytes, const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is missing: run `make fixtures`", path);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *data = malloc((size_t)length + 1);
    ck_assert_uint_eq(fread(data, 1, (size_t)length, file), (size_t)length);
    fclose(file);
    bytes_open(bytes, data, (size_t)length);
    free(data);
}

static inline void bytes_close(struct bytes *bytes) { free(bytes->data); }

static inline int bytes_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
