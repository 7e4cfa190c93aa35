/* SPDX-License-Identifier: Apache-2.0
 * live.c: any bytes as what a process of a running job writes of its memory: samples are in the order of time, no size
 * is out of its bounds, the peak is none below a sample, and the JSON is whole. */
#include "model/live/live.h"
#include "analysis/analysis.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void ask_line(const struct live_line *line)
{
    static const int64_t most = INT64_C(1) << 48;
    check(line->count > 0 && line->process != NULL && line->device[0] != '\0' && line->sentence != NULL);
    for (size_t at = 0; at < line->count; at++) {
        const struct live_sample *sample = &line->samples[at];
        check(at == 0 || sample->at_ms >= line->samples[at - 1].at_ms);
        check(sample->low_bytes >= 0 && sample->low_bytes <= sample->high_bytes && sample->high_bytes <= most);
        check(sample->reserved_bytes >= -1 && sample->free_bytes >= -1 && line->peak_bytes >= sample->high_bytes);
    }
    check(line->peak_bytes <= most && line->peak_ms >= 0 && line->room_bytes >= -1);
    check(line->finding != NULL || line->grown_per_minute_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    struct json json = JSON_INIT(&out);
    const struct str text = {(const char *)data, size};
    const struct live_text texts[] = {{STR("rank0.1"), text}, {{text.data, size < 9 ? size : 9}, text}};
    struct analysis_live *live = analysis_live_read(texts, 2, &err);
    if (live == NULL) {
        check(err_is_set(&err));
        return 0;
    }
    const struct live *model = analysis_live_model(live);
    check((model->highest != NULL) == (model->count > 0) && model->count <= LIVE_LINES_MAX && model->count % 2 == 0);
    for (size_t at = 0; at < model->count; at++)
        ask_line(&model->lines[at]);
    json_object_begin(&json);
    analysis_live_write(live, true, &json);
    json_object_end(&json);
    check(out.failed || (out.data[0] == '{' && out.data[out.length - 1] == '}'));
    buf_free(&out);
    analysis_live_free(live);
    return 0;
}
