/* SPDX-License-Identifier: Apache-2.0
 * fit_write.c: see fit_write.h. */
#include "views/fit_write.h"

#include "base/printable.h"
#include "base/size_text.h"

void fit_write_extra_flops(struct json *json, bool is_known, double percent)
{
    if (is_known)
        json_key_double(json, "extra_flops_percent", change_extra_flops_shown(percent));
    else
        json_key_null(json, "extra_flops_percent");
}

static void set_write(struct json *json, const struct fit_set *set, int64_t before_bytes)
{
    json_object_begin(json);
    json_key_array(json, "changes");
    for (uint32_t i = 0; i < set->count; i++) {
        json_object_begin(json);
        json_key_text(json, "change", set->changes[i]);
        json_key_text(json, "call", set->calls[i]);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_int(json, "total_bytes", set->total_bytes);
    json_key_int(json, "peak_bytes", set->peak_bytes);
    json_key_int(json, "saving_bytes", before_bytes - set->total_bytes);
    json_key_text(json, "confidence", change_confidence_name(set->confidence));
    fit_write_extra_flops(json, set->extra_flops_percent >= 0, set->extra_flops_percent);
    json_object_end(json);
}

static bool has_nearest(const struct fit *fit) { return fit->set_count == 0 && fit->nearest.count > 0; }

void fit_write_json(struct json *json, const struct fit *fit, const char *sentence, int64_t before_bytes)
{
    if (!json_key_object_if(json, "fit", fit != NULL))
        return;
    json_key_text(json, "sentence", sentence);
    json_key_bool(json, "is_complete", !fit->is_cut);
    json_key_array(json, "sets");
    for (uint32_t i = 0; i < fit->set_count; i++)
        set_write(json, &fit->sets[i], before_bytes);
    json_array_end(json);
    json_key_array(json, "nearest");
    if (has_nearest(fit))
        set_write(json, &fit->nearest, before_bytes);
    json_array_end(json);
    json_object_end(json);
}

/* ---- text ---- */

void fit_write_compute(struct buf *out, double percent)
{
    if (percent > 0)
        buf_format(out, ", +%.1f %% compute", percent);
}

void fit_write_line(struct buf *out, const char *text)
{
    buf_text(out, "      ");
    buf_printable(out, str_of(text));
    buf_char(out, '\n');
}

static void set_text(struct buf *out, const struct fit_set *set)
{
    char total[SIZE_TEXT_BYTES];
    buf_text(out, "  ");
    for (uint32_t i = 0; i < set->count; i++)
        buf_format(out, "%s%s", i > 0 ? " + " : "", set->changes[i]);
    buf_format(out, ": %s (%s", size_text(total, (uint64_t)set->total_bytes), change_confidence_name(set->confidence));
    fit_write_compute(out, set->extra_flops_percent);
    buf_text(out, ")\n");
    for (uint32_t i = 0; i < set->count; i++)
        fit_write_line(out, set->calls[i]);
}

void fit_write_text(struct buf *out, const struct fit *fit, const char *sentence)
{
    buf_format(out, "%s\n", sentence);
    for (uint32_t i = 0; i < fit->set_count; i++)
        set_text(out, &fit->sets[i]);
    if (has_nearest(fit))
        set_text(out, &fit->nearest);
    if (fit->is_cut)
        buf_text(out, "  Not all sets were tried.\n");
}
