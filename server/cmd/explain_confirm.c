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

struct explain_confirm_answer {
    char *module, *change, *sentence;
    bool is_confirmed;                /* also where less is saved than was predicted, if it fits */
    struct verdict_compiled compiled; /* borrows the last two */
};

/* Where it lies, and its key: names and ids of sessions are only of one snapshot. free() */
static char *module_name(const struct modules_entry *entry)
{
    char *path = files_place_path(&entry->file->file->place);
    char *name = memory_format("%s\n%s", path, entry->program->key);
    free(path);
    return name;
}

/* NULL: it was not compiled yet. */
static const struct explain_confirm_answer *answer_find(const struct explain_confirm *confirm, const char *module,
                                                        const char *change)
{
    for (size_t at = 0; at < confirm->count; at++)
        if (strcmp(confirm->answers[at].module, module) == 0 && strcmp(confirm->answers[at].change, change) == 0)
            return &confirm->answers[at];
    return NULL;
}

static const struct explain_confirm_answer *answer_add(struct explain_confirm *confirm, const char *module,
                                                       const char *change, const struct confirmation *confirmation)
{
    struct buf sentence = BUF_INIT;
    analysis_confirmation_sentence(confirmation, &sentence);
    confirm->answers = memory_grow(confirm->answers, &confirm->capacity, confirm->count + 1, sizeof(*confirm->answers));
    struct explain_confirm_answer *answer = &confirm->answers[confirm->count++];
    *answer = (struct explain_confirm_answer){
        .module = memory_text(module),
        .change = memory_text(change),
        .sentence = memory_format("%.*s", (int)sentence.length, sentence.length > 0 ? sentence.data : ""),
    };
    answer->compiled = (struct verdict_compiled){
        .change = answer->change,
        .total_bytes = analysis_confirmation_needed_bytes(&confirmation->changed),
        .is_of_dump = analysis_confirmation_is_of_dump(confirmation),
        .is_partial = analysis_confirmation_state(confirmation) == CONFIRMATION_PARTIAL,
        .sentence = answer->sentence,
    };
    answer->is_confirmed = analysis_confirmation_state(confirmation) == CONFIRMATION_CONFIRMED ||
                           (analysis_confirmation_is_of_dump(confirmation) && confirmation->changed.does_fit &&
                            !confirmation->base.does_fit);
    buf_free(&sentence);
    return answer;
}

static void first_forget(struct explain_confirm *confirm)
{
    if (confirm->module)
        confirm_free(&confirm->first);
    free(confirm->module);
    confirm->module = NULL;
}

static const struct explain_confirm_answer *answer_ask(const struct options *options, const struct verdict_parts *parts,
                                                       const char *module, const char *change,
                                                       struct explain_confirm *confirm)
{
    struct confirm_result result;
    if (confirm->module && strcmp(confirm->module, module) != 0)
        first_forget(confirm);
    log_line("asking the compiler about %s", change);
    whatif_confirm_ask(options, parts->module_session, parts->entry, &change, 1,
                       confirm->module ? &confirm->first.base : NULL, &result);
    const struct explain_confirm_answer *answer = answer_add(confirm, module, change, &result.confirmation);
    if (!confirm->module && result.base.has_figures) {
        confirm->first = result;
        confirm->module = memory_text(module);
    } else {
        confirm_free(&result);
    }
    return answer;
}

/* How many answers there are for this verdict. */
static size_t each_ask(const struct options *options, const struct verdict_parts *parts, const cJSON *advice,
                       struct explain_confirm *confirm)
{
    size_t count = 0, judged_count = 0, confirmed_count = 0;
    char *module = module_name(parts->entry);
    const cJSON *item;
    cJSON_ArrayForEach(item, advice)
    {
        const char *change = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "change"));
        if (judged_count == EXPLAIN_CONFIRM_MAX || count == EXPLAIN_CONFIRM_ALL_MAX || atomic_load(interrupts_flag()))
            break;
        if (!change)
            continue;
        const struct explain_confirm_answer *answer = answer_find(confirm, module, change);
        if (!answer && confirm->count < EXPLAIN_CONFIRM_ALL_MAX)
            answer = answer_ask(options, parts, module, change, confirm);
        if (answer) {
            confirm->compiled[count++] = answer->compiled;
            confirmed_count += answer->is_confirmed;
            /* a change that no edit makes takes no place from those that the compiler can judge */
            judged_count += answer->compiled.total_bytes >= 0 || !confirm->module;
        } else if (!confirm->is_full_told) {
            log_line("--confirm: %d changes were compiled; no further ones are", EXPLAIN_CONFIRM_ALL_MAX);
            confirm->is_full_told = true;
        }
    }
    free(module);
    confirm->has_unconfirmed |= count > 0 && confirmed_count == 0;
    return count;
}

void explain_confirm_ask(const struct options *options, struct verdict_parts *parts, struct explain_confirm *confirm)
{
    struct buf verdict = BUF_INIT;
    struct err err = ERR_INIT;
    size_t count = 0;
    if (atomic_load(interrupts_flag()))
        return;
    if (!parts->module_session || !parts->entry || !parts->entry->program) {
        log_line("--confirm: there is no program here that could be compiled");
        return;
    }
    if (analysis_verdict(&parts->core, ANALYSIS_VERDICT_JSON, &verdict, &err)) {
        cJSON *tree = cJSON_ParseWithLength(verdict.data, verdict.length);
        count = each_ask(options, parts, cJSON_GetObjectItemCaseSensitive(tree, "advice"), confirm);
        cJSON_Delete(tree);
        if (count == 0 && !confirm->is_full_told && !atomic_load(interrupts_flag()))
            log_line("--confirm: nothing is advised that a compiler could judge");
    }
    buf_free(&verdict);
    parts->core.around.compiled = confirm->compiled;
    parts->core.around.compiled_count = count;
}

void explain_confirm_free(struct explain_confirm *confirm)
{
    first_forget(confirm);
    for (size_t at = 0; at < confirm->count; at++) {
        free(confirm->answers[at].module);
        free(confirm->answers[at].change);
        free(confirm->answers[at].sentence);
    }
    free(confirm->answers);
    *confirm = (struct explain_confirm){.count = 0};
}
