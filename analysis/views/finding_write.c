/* SPDX-License-Identifier: Apache-2.0 */
#include "views/finding_write.h"

static void part_write(struct json *json, const struct finding_part *part)
{
    if (part->kind == FINDING_TEXT) {
        json_text(json, part->text);
        return;
    }
    json_object_begin(json);
    if (part->kind == FINDING_SIZE) {
        json_key_int(json, "bytes", part->bytes);
        json_key_text(json, "text", part->text);
        json_key_text(json, "figure", part->figure);
    } else {
        json_key_text(json, "name", part->text);
    }
    json_object_end(json);
}

static void words_write(struct json *json, const struct finding *finding)
{
    json_key_text(json, "sentence", finding->sentence);
    json_key_array(json, "parts");
    for (uint32_t i = 0; i < finding->part_count; i++)
        part_write(json, &finding->parts[i]);
    json_array_end(json);
}

void finding_write_sentences(struct json *json, const char *name, const struct finding *finding)
{
    if (!json_key_object_if(json, name, finding != NULL))
        return;
    words_write(json, finding);
    json_object_end(json);
}

void finding_write(struct json *json, const struct finding *finding)
{
    if (!json_key_object_if(json, "finding", finding != NULL))
        return;
    json_key_text(json, "kind", finding->kind);
    words_write(json, finding);
    if (json_key_object_if(json, "evidence", finding->view != NULL)) {
        json_key_text(json, "view", finding->view);
        json_key_object(json, "params");
        for (uint32_t i = 0; i < finding->param_count; i++)
            json_key_text(json, finding->params[i].name, finding->params[i].value);
        json_object_end(json);
        json_object_end(json);
    }
    json_object_end(json);
}
