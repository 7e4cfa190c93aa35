/* SPDX-License-Identifier: Apache-2.0 */
#include "views/device_fit_write.h"

void device_fit_write_needs(const struct device_fit_job *job, struct arena *arena, struct json *json)
{
    json_key_text(json, "kind", job->is_program ? "module" : "snapshot");
    json_key_int(json, "needed_bytes", device_fit_needed_bytes(job));
    json_key_bool(json, "is_least", device_fit_is_least(job));
    json_key_int(json, "devices", job->part_count);
    json_key_text(json, "sentence", device_fit_sentence(job, arena));
    json_key_text(json, "note", device_fit_note(job));
}

void device_fit_write_row(const struct device_fit *row, struct json *json)
{
    json_key_text(json, "device", row->device->name);
    json_key_text(json, "title", row->device->title);
    json_key_int(json, "needed_bytes", row->fit.needed_bytes);
    json_key_known(json, "capacity_bytes", row->fit.capacity.bytes);
    json_key_known(json, "share_bytes", row->fit.share_bytes);
    json_key_int(json, "headroom_bytes", row->headroom_bytes);
    json_key_text(json, "word", row->word);
    json_key_bool(json, "fits", row->is_fitting);
    json_key_text(json, "sentence", row->fit.sentence);
    json_key_text(json, "source", row->source);
}
