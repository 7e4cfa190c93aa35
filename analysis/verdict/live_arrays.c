/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/live_arrays.h"

#include "base/intern.h"
#include "base/sum.h"
#include "verdict/profiles.h"

#include <stdlib.h>

/* The samples of a profile while they are summed. */
struct summing {
    const struct pprof *pprof;
    uint32_t type; /* its column of bytes */
    struct arena *arena;
    struct intern devices;
    uint32_t *device_of; /* each set of labels: a place in `devices`, MAP_NONE: it names none */
    uint32_t device;     /* that is summed; MAP_NONE: all */
};

/* ---- one of several devices ---- */

static void devices_gather(struct summing *summing)
{
    const struct pprof *pprof = summing->pprof;
    intern_init(&summing->devices, summing->arena);
    summing->device_of = arena_array(summing->arena, uint32_t, (size_t)pprof->set_count + 1);
    for (uint32_t set = 0; set < pprof->set_count; set++) {
        summing->device_of[set] = MAP_NONE;
        for (uint32_t i = 0; i < pprof->sets[set].count; i++) {
            const struct pprof_label *label = &pprof->labels[pprof->sets[set].first + i];
            if (str_equal(label->key, STR("device")) && !label->is_number)
                summing->device_of[set] = intern_number(&summing->devices, label->text);
        }
    }
}

/* "0" is "cuda:0", and no other. */
static bool is_named(struct str label, struct str wanted)
{
    return wanted.length > 0 && label.length > wanted.length && label.data[label.length - wanted.length - 1] == ':' &&
           memcmp(label.data + label.length - wanted.length, wanted.data, wanted.length) == 0;
}

static void device_choose(struct summing *summing, struct str wanted)
{
    const struct pprof *pprof = summing->pprof;
    uint32_t count = summing->devices.map.count;
    summing->device = MAP_NONE;
    if (count < 2)
        return;
    int64_t *sums = arena_array(summing->arena, int64_t, count);
    for (uint32_t i = 0; i < pprof->sample_count; i++) {
        uint32_t device = summing->device_of[pprof->label_sets[i]];
        if (device != MAP_NONE && !profiles_is_program(pprof, i))
            sums[device] = sum_add(sums[device], profiles_bytes_of(pprof, summing->type, i));
    }
    summing->device = 0;
    for (uint32_t i = 1; i < count; i++)
        if (sums[i] > sums[summing->device])
            summing->device = i;
    for (uint32_t i = 0; i < count; i++)
        if (is_named(summing->devices.items[i], wanted))
            summing->device = i;
}

/* Programs name no device: they are on all. */
static bool is_counted(const struct summing *summing, uint32_t sample)
{
    uint32_t device = summing->device_of[summing->pprof->label_sets[sample]];
    return summing->device == MAP_NONE || device == summing->device ||
           (device == MAP_NONE && profiles_is_program(summing->pprof, sample));
}

/* ---- filters of the view "buffers" ---- */

static bool can_be_quoted(struct str text) { return memchr(text.data, '"', text.length) == NULL; }

/* ` fn:"init"`, or "" of an empty text. */
static const char *term(struct arena *arena, const char *field, struct str text)
{
    return text.length == 0 ? "" : arena_format(arena, " %s:\"%.*s\"", field, (int)text.length, text.data);
}

static const char *device_term(const struct summing *summing)
{
    struct str device = summing->device == MAP_NONE ? STR("") : summing->devices.items[summing->device];
    return can_be_quoted(device) ? term(summing->arena, "device", device) : "";
}

static const char *line_filter(const struct summing *summing, const struct frame *frame)
{
    if (!can_be_quoted(frame->function) || !can_be_quoted(frame->file))
        return NULL;
    const char *line = frame->line > 0 ? arena_format(summing->arena, " line:%lld", (long long)frame->line) : "";
    return arena_format(summing->arena, "-kind:executable%s%s%s%s", device_term(summing),
                        term(summing->arena, "fn", frame->function), term(summing->arena, "file", frame->file), line);
}

/* ---- lines ---- */

struct line_sum {
    uint32_t frame;
    int64_t bytes;
};

static int larger_first(const void *left, const void *right)
{
    const struct line_sum *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->frame, b->frame);
}

/* Sums of all lines into an array of the arena; how many. */
static uint32_t lines_sum(const struct summing *summing, struct frames *frames, struct live_arrays *out,
                          struct line_sum **sums)
{
    const struct pprof *pprof = summing->pprof;
    size_t capacity = 0;
    uint32_t count = 0;
    *sums = NULL;
    for (uint32_t i = 0; i < pprof->sample_count; i++) {
        int64_t bytes = profiles_bytes_of(pprof, summing->type, i);
        bool is_program = profiles_is_program(pprof, i);
        int64_t *all = is_program ? &out->program_bytes : &out->array_bytes;
        if (!is_counted(summing, i))
            continue;
        *all = sum_add(*all, bytes);
        if (is_program)
            continue;
        uint32_t frame = profiles_own_line(frames, pprof, i);
        *sums = arena_grown(summing->arena, *sums, (size_t)frame + 1, &capacity, sizeof(**sums));
        for (; count <= frame; count++)
            (*sums)[count] = (struct line_sum){count, 0};
        (*sums)[frame].bytes = sum_add((*sums)[frame].bytes, bytes);
    }
    return count;
}

static void lines_rank(const struct summing *summing, struct buf *scratch, struct live_arrays *out)
{
    struct frames frames;
    struct line_sum *sums;
    frames_init(&frames, FRAMES_BY_LINE, summing->arena);
    uint32_t count = lines_sum(summing, &frames, out, &sums);
    if (count > 1)
        qsort(sums, count, sizeof(*sums), larger_first);
    for (uint32_t i = 0; i < count && sums[i].bytes > 0; i++) {
        if (i >= LIVE_LINES_MAX) {
            out->other_count++;
            out->other_bytes = sum_add(out->other_bytes, sums[i].bytes);
            continue;
        }
        bool is_line = sums[i].frame >= FRAMES_SPECIAL_COUNT;
        out->lines[out->line_count++] = (struct live_line){
            .place = profiles_place(&frames, sums[i].frame, scratch, summing->arena),
            .filter = is_line ? line_filter(summing, &frames.items[sums[i].frame]) : NULL,
            .bytes = sums[i].bytes,
        };
    }
}

void live_arrays_find(const struct profile_set *set, struct str wanted_device, struct buf *scratch, struct arena *arena,
                      struct live_arrays *out)
{
    const struct profile_set_item *last = profiles_last(set);
    *out = (struct live_arrays){.is_known = false};
    if (last == NULL || profiles_bytes_type(last->pprof) == last->pprof->type_count)
        return;
    struct summing summing = {.pprof = last->pprof, .type = profiles_bytes_type(last->pprof), .arena = arena};
    out->is_known = true;
    out->name = arena_text(arena, str_of(last->name));
    out->id = last->id;
    devices_gather(&summing);
    device_choose(&summing, wanted_device);
    if (summing.device != MAP_NONE)
        out->device = arena_text(arena, summing.devices.items[summing.device]);
    out->array_filter = arena_format(arena, "-kind:executable%s", device_term(&summing));
    out->program_filter = "kind:executable";
    lines_rank(&summing, scratch, out);
}
