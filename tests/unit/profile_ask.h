/* SPDX-License-Identifier: Apache-2.0
 * profile_ask.h: asks a view of one device profile. */
#pragma once

#include "analysis.h"

#include <check.h>
#include <cjson/cJSON.h>

/* `data` of a view; cJSON_Delete the whole at `tree`. */
static inline cJSON *profile_ask(const struct analysis_subject *profile, const char *view,
                                 const struct analysis_param *params, size_t count, cJSON **tree)
{
    struct analysis_use use = {.subject = profile, .id = "a", .name = "a.prof"};
    const struct analysis_question asked = {
        .tool = "device_memory", .view = view, .uses = &use, .use_count = 1, .params = params, .param_count = count};
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    ck_assert_msg(analysis_answer(&asked, &out, &err), "%s", err.text);
    *tree = cJSON_ParseWithLength(out.data, out.length);
    buf_free(&out);
    return cJSON_GetObjectItem(*tree, "data");
}
