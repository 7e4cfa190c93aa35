/* SPDX-License-Identifier: Apache-2.0
 * asked.h: a program of a file that is asked views of the memory viewer; figures of the answers. */
#pragma once

#include "analysis/analysis.h"

#include "bytes.h"
#include "subject.h"

#include <cjson/cJSON.h>

#define ASKED_DUMP "tests/fixtures/dumps/"
static struct err err;

struct asked {
    struct bytes bytes;
    struct analysis_contents *contents;
    struct analysis_subject *module;
};

static inline void asked_open(struct asked *asked, const char *path)
{
    bytes_load(&asked->bytes, path);
    asked->contents = analysis_contents_read(&asked->bytes.source, &err);
    ck_assert_msg(asked->contents != NULL, "%s: %s", path, err.text);
    asked->module = subject_module(&asked->bytes.source, &asked->contents->programs[0], 0, &err);
    ck_assert_msg(asked->module != NULL, "%s: %s", path, err.text);
}

static inline void asked_close(struct asked *asked)
{
    analysis_subject_free(asked->module);
    analysis_contents_free(asked->contents);
    bytes_close(&asked->bytes);
}

/* The answer's `data` (to be freed with its `root`), or NULL with err set. */
static inline cJSON *ask(struct asked *asked, const char *view, const char *name, const char *value, cJSON **root)
{
    struct buf out = BUF_INIT;
    struct analysis_param param = {name, value};
    err = (struct err)ERR_INIT;
    bool is_good = subject_answer(asked->module, "memory_viewer", view, &param, name != NULL, &out, &err);
    *root = is_good ? cJSON_ParseWithLength(out.data, out.length) : NULL;
    ck_assert(!is_good || *root != NULL);
    buf_free(&out);
    return cJSON_GetObjectItem(*root, "data");
}

static inline double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    ck_assert_msg(cJSON_IsNumber(item), "%s is no number", name);
    return item->valuedouble;
}

/* ask with up to four parameters; the caller deletes the root */
static inline cJSON *ask_many(struct asked *asked, const char *view, const struct analysis_param *params, size_t count,
                              cJSON **root)
{
    struct buf out = BUF_INIT;
    ck_assert_msg(subject_answer(asked->module, "memory_viewer", view, params, count, &out, &err), "%s: %s", view,
                  err.text);
    *root = cJSON_ParseWithLength(out.data, out.length);
    buf_free(&out);
    return cJSON_GetObjectItem(*root, "data");
}

/* Real and made programs, of every platform and with every odd trace. */
static const char *const asked_modules[] = {
    ASKED_DUMP "seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb",
    ASKED_DUMP "d-tile-padding/module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb",
    ASKED_DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz",
    "tests/fixtures/modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz",
    "build/fixtures/hlo-share-with.pb",
    "build/fixtures/hlo-no-trace.pb",
    "build/fixtures/hlo-two-buffers.pb",
};
