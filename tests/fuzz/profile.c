/* SPDX-License-Identifier: Apache-2.0
 * profile.c: any bytes as a device profile: by itself, twice, and as the base of itself, in every view. */
#include "tests/fuzz/ask.h"
#include "tests/unit/subject.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND_COUNT = 5, PARAMS_MAX = 10, LIMIT_BYTES = 256 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *name, *values[ROUND_COUNT];
} asked_values[] = {
    {"by", {NULL, "function", "line", "file", "filefunction"}},
    {"machinery", {NULL, "1", NULL, "1", NULL}},
    {"focus", {NULL, NULL, ".", "(", NULL}},
    {"hide", {NULL, NULL, "x|_[a-c]+", NULL, NULL}},
    {"show_from", {NULL, NULL, NULL, "a", NULL}},
    {"tag", {NULL, NULL, NULL, "-kind=executable", NULL}},
    {"tagfocus", {NULL, NULL, NULL, NULL, "1kb:5mb"}},
    {"normalize", {NULL, NULL, "1", NULL, NULL}},
    {"match", {".", ".", ".", "a", "."}},
    {"file", {"a", "a", "a", "a", "a"}},
    {"pivot", {NULL, "~.", NULL, NULL, NULL}},
    {"search", {NULL, "a", NULL, "(", NULL}},
    {"invert", {NULL, NULL, "1", NULL, NULL}},
    {"nodes", {NULL, NULL, "3", NULL, NULL}},
    {"sort", {NULL, NULL, NULL, "name", NULL}},
    {"filter", {NULL, NULL, NULL, "name:a each:>0", NULL}},
    {"format", {NULL, NULL, NULL, NULL, "csv"}},
};
enum { VALUE_COUNT = sizeof(asked_values) / sizeof(asked_values[0]) };

static bool takes(const struct analysis_view *view, const char *name)
{
    const char *const *at = view->param_names;
    while (*at && strcmp(*at, name) != 0)
        at++;
    return *at != NULL;
}

static void check_json(const struct buf *out, const char *view)
{
    cJSON *tree = cJSON_ParseWithLength(out->data, out->length);
    if (!tree) {
        fprintf(stderr, "%s: an answer is no JSON\n", view);
        abort();
    }
    cJSON_Delete(tree);
}

/* A profile that is given back can be read again, unless it would take too much. */
static void check_profile(const struct buf *out)
{
    struct source source = ask_source((const uint8_t *)out->data, out->length);
    struct err err = ERR_INIT;
    struct analysis_subject *profile = subject_profile(&source, LIMIT_BYTES, &err);
    if (!profile && err.code != ERR_limit && err.code != ERR_memory) {
        fprintf(stderr, "profile: what is given back cannot be read: %s\n", err.text);
        abort();
    }
    analysis_subject_free(profile);
}

static void ask(struct analysis_question *asked, const struct analysis_view *view, int round)
{
    struct analysis_param params[VALUE_COUNT];
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    size_t count = 0;
    bool is_csv = false;
    for (size_t at = 0; at < VALUE_COUNT; at++) {
        if (asked_values[at].values[round] == NULL || !takes(view, asked_values[at].name))
            continue;
        is_csv |= strcmp(asked_values[at].name, "format") == 0;
        params[count++] = (struct analysis_param){asked_values[at].name, asked_values[at].values[round]};
    }
    asked->params = params;
    asked->param_count = count;
    if (analysis_answer(asked, &out, &err)) {
        if (strcmp(view->view, "profile") == 0)
            check_profile(&out);
        else if (!is_csv)
            check_json(&out, view->view);
    } else if (err.code == ERR_none || err.code == ERR_internal || err.text[0] == '\0') {
        fprintf(stderr, "%s: a refusal without a reason\n", view->view);
        abort();
    }
    buf_free(&out);
}

/* Of one profile, of a series of it (some of which could not be read), and beside a failure. */
static void ask_verdicts(const struct analysis_use *uses, size_t size)
{
    const struct analysis_use series[] = {uses[0], uses[2], uses[3], uses[0]};
    struct analysis_verdict_parts parts = {.profiles = series, .profile_count = 1};
    ask_verdict(&parts);
    parts.profile_count = 4;
    parts.around.capacity.bytes = size % 2 == 1 ? 1 << 20 : 0;
    parts.around.capacity.source = size % 2 == 1 ? "as chosen" : NULL;
    ask_verdict(&parts);
    parts.profile_count = 1 + size % 4;
    ask_verdict_of_failure(parts, ASK_FAILURE_OF_ARRAYS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);
    struct err err = ERR_INIT;
    struct analysis_view view;
    struct str name, unit;
    struct analysis_subject *profile = subject_profile(&source, LIMIT_BYTES, &err);
    if (!profile) {
        if (err.code == ERR_none || err.text[0] == '\0')
            abort();
        return 0;
    }
    if (!analysis_profile_type_at(profile, 0, &name, &unit) || analysis_subject_memory_bytes(profile) == 0)
        abort();
    struct analysis_use uses[] = {
        {.subject = profile, .id = "a", .name = "a"},
        {.subject = profile, .id = "b", .name = "b", .is_base = true},
        {.id = "c", .name = "c", .code = ERR_io, .reason = "gone"},
        {.subject = profile, .id = "d", .name = "d"},
    };
    for (size_t at = 0; analysis_view_at(at, &view); at++) {
        for (int round = 0; view.kind == ANALYSIS_PROFILE && round < ROUND_COUNT; round++) {
            struct analysis_question asked = {.tool = view.tool,
                                              .view = view.view,
                                              .uses = uses,
                                              .use_count = view.is_of_two ? 2
                                                           : round == 0   ? 1
                                                           : round == 1   ? 4
                                                                          : 2,
                                              .has_source = round == 1};
            ask(&asked, &view, round);
        }
    }
    ask_verdicts(uses, size);
    analysis_subject_free(profile);
    return 0;
}
