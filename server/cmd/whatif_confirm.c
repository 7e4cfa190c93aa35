/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/whatif_confirm.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/cmd/interrupts.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TELL_EVERY_MS = 5000 };

struct whatif_confirm_asking {
    const struct options *options;
    const struct snapshot_session *session;
    const struct modules_entry *entry;
    struct buf *out;
    struct json json;
    enum confirm_stage stage; /* the stage that was printed last */
    enum compile_stage step;
    int64_t told_ms;
    struct confirm_result first; /* of the requested sets, the first whose unchanged program compiled */
    bool has_first;
    size_t set_count; /* those that were asked */
};

/* ---- asking ---- */

static const char *step_words(enum compile_stage stage)
{
    switch (stage) {
    case COMPILE_STAGE_STARTING: return "starting the compiler";
    case COMPILE_STAGE_LOADING: return "loading the compiler";
    case COMPILE_STAGE_COMPILING: return "compiling";
    case COMPILE_STAGE_CODE: return "buffers are assigned";
    }
    return "";
}

static void whatif_confirm_tell(void *context, enum confirm_stage stage, const struct compile_progress *progress)
{
    static const char *const words[] = {"reading", "unchanged program", "changed program"};
    struct whatif_confirm_asking *asking = context;
    bool is_new = stage != asking->stage || progress->stage != asking->step;
    if (stage == CONFIRM_READING || (!is_new && progress->took_ms - asking->told_ms < TELL_EVERY_MS))
        return;
    asking->stage = stage;
    asking->step = progress->stage;
    asking->told_ms = progress->took_ms;
    log_line("%s: %s, %lld s, %llu MiB", words[stage], step_words(progress->stage),
             (long long)(progress->took_ms / 1000), (unsigned long long)(progress->resident_bytes >> 20));
}

/* `folder`: where the changed program is dumped; NULL: nowhere that stays. `base`: as in confirm.h. */
static void whatif_confirm_run(struct whatif_confirm_asking *asking, const char *const *changes, size_t count,
                               const char *folder, const struct compile_result *base, struct confirm_result *result)
{
    const struct options *options = asking->options;
    const struct confirm_request request = {
        .session = asking->session,
        .module = asking->entry->file->file,
        .key = asking->entry->program->key,
        .changes = changes,
        .change_count = count,
        .base = base,
        .libtpu = options->libtpu,
        .cuda_plugin = options->cuda_plugin,
        .topology = options->topology,
        .limit_ms = options->limit_seconds * 1000,
        .folder = folder,
        .progress = whatif_confirm_tell,
        .context = asking,
        .is_cancelled = interrupts_flag(),
    };
    asking->stage = CONFIRM_READING; /* of another set all is new */
    confirm_run(&request, result);
}

static bool changes_confirm(struct whatif_confirm_asking *asking)
{
    struct confirm_result result;
    whatif_confirm_run(asking, asking->options->changes.items, asking->options->changes.count,
                       asking->options->plan_folder, NULL, &result);
    bool is_confirmed = analysis_confirmation_state(&result.confirmation) == CONFIRMATION_CONFIRMED;
    if (asking->options->is_json) {
        buf_text(asking->out, "\"confirmed\":");
        analysis_confirmation_write(&result.confirmation, &asking->json);
    } else {
        analysis_confirmation_text(&result.confirmation, asking->out);
    }
    confirm_free(&result);
    return is_confirmed;
}

/* ---- sets that make it fit ---- */

static void set_print(struct whatif_confirm_asking *asking, const char *const *changes, size_t count,
                      const struct confirmation *confirmation, bool is_fitting)
{
    if (asking->options->is_json) {
        json_object_begin(&asking->json);
        json_key_array(&asking->json, "changes");
        for (size_t at = 0; at < count; at++)
            json_text(&asking->json, changes[at]);
        json_array_end(&asking->json);
        json_key_bool(&asking->json, "is_confirmed_to_fit", is_fitting);
        json_key(&asking->json, "confirmed");
        analysis_confirmation_write(confirmation, &asking->json);
        json_object_end(&asking->json);
        return;
    }
    buf_text(asking->out, "  ");
    for (size_t at = 0; at < count; at++)
        buf_format(asking->out, "%s%s", at > 0 ? " + " : "", changes[at]);
    buf_text(asking->out, is_fitting ? ": fits.\n  " : ":\n  ");
    analysis_confirmation_text(confirmation, asking->out);
}

/* The folder of one set, "DIR/set-2"; NULL without --keep. free() */
static char *set_folder(const struct whatif_confirm_asking *asking)
{
    const char *all = asking->options->plan_folder;
    if (!all)
        return NULL;
    mkdir(all, 0700); /* where that fails, making the one in it says why */
    return memory_format("%s/set-%zu", all, asking->set_count);
}

/* True: by the compiler's word it fits. */
static bool set_confirm(struct whatif_confirm_asking *asking, const cJSON *set, int64_t room_bytes)
{
    const struct options_list *given = &asking->options->changes;
    const cJSON *changes = cJSON_GetObjectItemCaseSensitive(set, "changes"), *item;
    struct confirm_result result;
    size_t count = given->count;
    const char **texts = memory_new((count + (size_t)cJSON_GetArraySize(changes) + 1) * sizeof(*texts));
    for (size_t at = 0; at < count; at++)
        texts[at] = given->items[at];
    cJSON_ArrayForEach(item, changes)
    {
        const cJSON *change = cJSON_GetObjectItemCaseSensitive(item, "change");
        if (cJSON_IsString(change))
            texts[count++] = change->valuestring;
    }
    asking->set_count++;
    char *folder = set_folder(asking);
    whatif_confirm_run(asking, texts, count, folder, asking->has_first ? &asking->first.base : NULL, &result);
    free(folder);
    const struct confirmation *confirmation = &result.confirmation;
    bool is_fitting = analysis_confirmation_is_of_dump(confirmation) && confirmation->changed.has_figures &&
                      confirmation->changed.does_fit &&
                      analysis_confirmed_total_bytes(&confirmation->changed.figures) <= room_bytes;
    set_print(asking, texts, count, confirmation, is_fitting);
    if (!asking->has_first && result.base.has_figures) {
        asking->first = result;
        asking->has_first = true;
    } else {
        confirm_free(&result);
    }
    free(texts);
    return is_fitting;
}

static bool sets_confirm(struct whatif_confirm_asking *asking, const struct body *prediction)
{
    cJSON *tree = cJSON_ParseWithLength(prediction->data, prediction->size);
    const cJSON *fit = cJSON_GetObjectItemCaseSensitive(tree, "fit"), *set;
    const cJSON *room = cJSON_GetObjectItemCaseSensitive(tree, "room_bytes");
    bool is_fitting = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(tree, "fits_after"));
    if (asking->options->is_json) {
        buf_text(asking->out, "\"confirmed_sets\":");
        json_array_begin(&asking->json);
    }
    cJSON_ArrayForEach(set, cJSON_GetObjectItemCaseSensitive(fit, "sets"))
    {
        if (is_fitting || atomic_load(interrupts_flag()))
            break;
        is_fitting = set_confirm(asking, set, (int64_t)cJSON_GetNumberValue(room));
    }
    if (asking->options->is_json)
        json_array_end(&asking->json);
    cJSON_Delete(tree);
    confirm_free(&asking->first);
    return is_fitting;
}

bool whatif_confirm(const struct options *options, const struct snapshot_session *session,
                    const struct modules_entry *entry, const struct body *prediction, struct buf *out)
{
    struct whatif_confirm_asking asking = {
        .options = options, .session = session, .entry = entry, .out = out, .json = JSON_INIT(out)};
    interrupts_take();
    return options->is_fit ? sets_confirm(&asking, prediction) : changes_confirm(&asking);
}

void whatif_confirm_ask(const struct options *options, const struct snapshot_session *session,
                        const struct modules_entry *entry, const char *const *changes, size_t count,
                        const struct compile_result *base, struct confirm_result *result)
{
    struct whatif_confirm_asking asking = {.options = options, .session = session, .entry = entry};
    interrupts_take();
    whatif_confirm_run(&asking, changes, count, NULL, base, result);
}
