/* SPDX-License-Identifier: Apache-2.0
 * ask_modules.c: a program as one of all modules of a session, on two hosts, beside one that could not be read. */
#include "tests/fuzz/ask.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BYTES = 256 << 20 };

static void broken(const char *promise, const char *where, const struct err *err)
{
    fprintf(stderr, "broken promise: %s (%s; %s: %s)\n", promise, where, err_name(err->code), err->text);
    abort();
}

/* Categories of a peak that is known add up to it. */
static void check_rows(const cJSON *tree, const struct err *err)
{
    const cJSON *row, *part;

    cJSON_ArrayForEach(row, cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "data"), "rows"))
    {
        const cJSON *peak = cJSON_GetObjectItem(row, "peak_bytes"), *parts = cJSON_GetObjectItem(row, "categories");
        double sum = 0;
        cJSON_ArrayForEach(part, parts) sum += cJSON_GetNumberValue(cJSON_GetObjectItem(part, "bytes"));
        if (cJSON_IsNumber(peak) && peak->valuedouble < 9e15 && sum > peak->valuedouble)
            broken("categories are part of the peak", "modules", err);
    }
}

static void ask(const struct analysis_module_use *uses, size_t count, const char *view, struct analysis_param param)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    const struct analysis_question question = {.tool = "modules",
                                               .view = view,
                                               .modules = uses,
                                               .module_count = count,
                                               .modules_read = {.host_count = 2},
                                               .params = &param,
                                               .param_count = param.name != NULL};

    if (!analysis_answer(&question, &out, &err)) {
        if (err.code == ERR_none || err.code == ERR_internal || err.text[0] == '\0')
            broken("an error has a code and a text", view, &err);
    } else if (param.name == NULL || strcmp(param.value, "csv") != 0) {
        cJSON *tree = cJSON_ParseWithLength(out.data, out.length);
        if (out.failed || !tree)
            broken("an answer is JSON", view, &err);
        check_rows(tree, &err);
        cJSON_Delete(tree);
    }
    buf_free(&out);
}

static struct analysis_subject *read(const struct source *source, enum analysis_subject_kind kind,
                                     const struct analysis_program *program)
{
    const struct analysis_reading reading = {.kind = kind, .program = program, .limit_bytes = LIMIT_BYTES};
    struct err err = ERR_INIT;
    struct analysis_subject *subject = analysis_subject_read(source, &reading, &err);

    if (!subject && (err.code == ERR_none || err.code == ERR_internal || err.text[0] == '\0'))
        broken("an error has a code and a text", "figures", &err);
    return subject;
}

void ask_modules(const struct source *source, const struct analysis_program *program)
{
    static const struct analysis_param params[] = {{NULL, NULL}, {"rows", "host"}, {"format", "csv"}};
    struct analysis_subject *figures = program ? read(source, ANALYSIS_FIGURES, program) : NULL;
    struct analysis_subject *runs = program ? NULL : read(source, ANALYSIS_RUNS, NULL);
    const struct analysis_module_use uses[] = {
        {.id = "a",
         .name = "m",
         .key = "m(1)",
         .host_id = "0",
         .host = "h",
         .file = "f",
         .figures = figures,
         .runs = runs},
        {.id = "a", .name = "m", .key = "m(1)", .host_id = "1", .host = "i", .file = "g", .figures = figures},
        {.name = "g", .key = "g", .host_id = "1", .host = "i", .file = "g", .code = ERR_io, .reason = "gone"},
    };

    for (size_t at = 0; at < sizeof(params) / sizeof(params[0]); at++)
        ask(uses, 3, "table", params[at]);
    ask(uses, 3, "summary", params[0]);
    analysis_subject_free(figures);
    analysis_subject_free(runs);
}
