/* SPDX-License-Identifier: Apache-2.0
 * fleet_diff.c: see fleet_diff.h. */
#include "server/fleet/catalog/fleet_diff.h"

#include "server/base/memory.h"
#include "server/base/wanted.h"
#include "server/store/modules.h"
#include "server/store/subjects.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* One of the two. */
struct side {
    struct modules modules;
    struct subject subject;
    bool has_modules;
};

static bool side_open(struct side *side, struct store *store, const struct snapshot *snapshot, const char *reference,
                      struct err *err)
{
    const char *file = NULL;
    char *parts = memory_text(reference), *rest = parts;
    const char *session_id = strsep(&rest, "/"), *host_id = rest ? strsep(&rest, "/") : "",
               *module_id = rest ? rest : "";
    const struct snapshot_session *session = snapshot_session(snapshot, session_id);
    const struct snapshot_host *host = session && host_id[0] ? snapshot_host(session, host_id) : NULL;
    if (!session || !module_id[0])
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "its program is not below the folders that are looked at");
    else
        side->has_modules = modules_find(store, session, host, module_id, &side->modules, err, &file);
    free(parts);
    if (!side->has_modules)
        return false;
    const struct modules_entry *entry = &side->modules.entries[0];
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    return subjects_open(store, &place, &side->subject, err);
}

static void side_close(struct side *side)
{
    subjects_close(&side->subject);
    if (side->has_modules)
        modules_close(&side->modules);
}

static char *sentence_of(const struct side sides[2], struct err *err)
{
    struct buf out = BUF_INIT;
    char *sentence = NULL;
    const struct analysis_use uses[2] = {{.subject = sides[0].subject.core}, {.subject = sides[1].subject.core}};
    const struct analysis_question question = {.tool = "compare",
                                               .view = "summary",
                                               .uses = uses,
                                               .use_count = 2,
                                               .is_bare = true,
                                               .wanted = wanted_holders()};
    if (analysis_answer(&question, &out, err)) {
        cJSON *answer = cJSON_ParseWithLength(out.data, out.length);
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "sentence"));
        sentence = text ? memory_text(text) : NULL;
        cJSON_Delete(answer);
        if (!sentence)
            err_set(err, ERR_limit, ERR_NO_OFFSET, "there was no memory for the sentence");
    }
    buf_free(&out);
    return sentence;
}

/* Allocators, failures and profiles have none. */
static bool has_program(const struct fleet_record *record)
{
    return record->kind && strcmp(record->kind, "module") == 0;
}

/* free(); NULL: see err. */
static char *diff_sentence(struct store *store, const struct snapshot *snapshot, const struct fleet_record *before,
                           const struct fleet_record *after, struct err *err)
{
    struct side sides[2] = {{.has_modules = false}, {.has_modules = false}};
    char *sentence = NULL;
    if (!has_program(before) || !has_program(after))
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "there is no program to compare");
    else if (!before->reference || !after->reference)
        err_set(err, ERR_notfound, ERR_NO_OFFSET,
                "the files of both commits are not below the folders that are looked at");
    else if (side_open(&sides[0], store, snapshot, before->reference, err) &&
             side_open(&sides[1], store, snapshot, after->reference, err))
        sentence = sentence_of(sides, err);
    side_close(&sides[0]);
    side_close(&sides[1]);
    return sentence;
}

bool fleet_diff_explain(struct store *store, const struct snapshot *snapshot, struct analysis_fleet *fleet, size_t step,
                        struct err *err)
{
    const struct fleet_record *before, *after;
    struct err unknown = ERR_INIT;
    analysis_fleet_step(fleet, step, &before, &after);
    char *sentence = diff_sentence(store, snapshot, before, after, &unknown);
    bool is_good = analysis_fleet_step_explain(fleet, step, sentence, sentence ? NULL : unknown.text, err);
    free(sentence);
    return is_good;
}
