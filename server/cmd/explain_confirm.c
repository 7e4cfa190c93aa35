/* SPDX-License-Identifier: Apache-2.0
 * explain_confirm.c: see explain_confirm.h. */
#include "server/cmd/explain_confirm.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/cmd/interrupts.h"
#include "server/cmd/whatif_confirm.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static void answer_take(struct explain_confirm *out, const char *change, const struct confirm_result *result)
{
    const struct confirmation *confirmation = &result->confirmation;
    const struct confirmation_compile *changed = &confirmation->changed;
    struct verdict_compiled *compiled = &out->compiled[out->count];
    struct buf sentence = BUF_INIT;
    confirmation_sentence(confirmation, &sentence);
    *compiled = (struct verdict_compiled){
        .change = out->texts[2 * out->count] = memory_text(change),
        .total_bytes = changed->has_figures        ? confirmed_total_bytes(&changed->figures)
                       : changed->needed_bytes > 0 ? changed->needed_bytes
                                                   : -1,
        .is_of_dump = confirmation_state(confirmation) == CONFIRMATION_CONFIRMED,
        .sentence = out->texts[2 * out->count + 1] =
            memory_format("%.*s", (int)sentence.length, sentence.length > 0 ? sentence.data : ""),
    };
    buf_free(&sentence);
    out->count++;
}

static void each_ask(const struct options *options, const struct verdict_parts *parts, const cJSON *advice,
                     struct explain_confirm *out)
{
    struct confirm_result first, other;
    bool has_first = false;
    const cJSON *item;
    cJSON_ArrayForEach(item, advice)
    {
        const cJSON *change = cJSON_GetObjectItemCaseSensitive(item, "change");
        if (out->count == EXPLAIN_CONFIRM_MAX || atomic_load(interrupts_flag()))
            break;
        if (!cJSON_IsString(change) || !cJSON_GetObjectItemCaseSensitive(item, "lands_at_bytes"))
            continue;
        const char *text = change->valuestring;
        struct confirm_result *result = has_first ? &other : &first;
        log_line("asking the compiler about %s", text);
        whatif_confirm_ask(options, parts->module_session, parts->entry, &text, 1, has_first ? &first.base : NULL,
                           result);
        answer_take(out, text, result);
        if (!has_first && result->base.has_figures)
            has_first = true;
        else
            confirm_free(result);
    }
    if (has_first)
        confirm_free(&first);
}

void explain_confirm_ask(const struct options *options, struct verdict_parts *parts, struct explain_confirm *out)
{
    struct buf verdict = BUF_INIT;
    struct err err = ERR_INIT;
    if (atomic_load(interrupts_flag()))
        return;
    if (!parts->module_session || !parts->entry || !parts->entry->program) {
        log_line("--confirm: there is no program here that could be compiled");
        return;
    }
    if (analysis_verdict(&parts->core, ANALYSIS_VERDICT_JSON, &verdict, &err)) {
        cJSON *tree = cJSON_ParseWithLength(verdict.data, verdict.length);
        each_ask(options, parts, cJSON_GetObjectItemCaseSensitive(tree, "advice"), out);
        cJSON_Delete(tree);
        if (out->count == 0 && !atomic_load(interrupts_flag()))
            log_line("--confirm: nothing is advised that a compiler could judge");
    }
    buf_free(&verdict);
    parts->core.around.compiled = out->compiled;
    parts->core.around.compiled_count = out->count;
}

void explain_confirm_free(struct explain_confirm *confirm)
{
    for (size_t at = 0; at < 2 * confirm->count; at++)
        free(confirm->texts[at]);
    *confirm = (struct explain_confirm){.count = 0};
}
