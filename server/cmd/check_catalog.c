/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/check_catalog.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/fleet/catalog/content_hash.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "catalog:"
#define NEWEST "newest"

enum column { MODULE, SPACE, NEEDED, LOGDIR, FILE_PATH, SHA256, CONFIGURATION };

bool check_catalog_is(const char *baseline) { return strncmp(baseline, PREFIX, strlen(PREFIX)) == 0; }

/* The file may have been written again since, by another commit in the same place. */
static char *path_of(const struct catalog_answer *answer, size_t row)
{
    char now[SHA256_TEXT_SIZE];
    struct err unsaid = ERR_INIT;
    const char *logdir = catalog_cell(answer, row, LOGDIR), *file = catalog_cell(answer, row, FILE_PATH);
    const char *then = catalog_cell(answer, row, SHA256);
    const struct files_place place = {.root = logdir, .path = file};
    if (!logdir || !file || !then || !content_hash(&place, now, &unsaid) || strcmp(now, then) != 0)
        return NULL;
    return memory_format("%s%s%s", logdir, file[0] ? "/" : "", file);
}

static void modules_take(struct check_catalog *modules)
{
    const struct catalog_answer *answer = &modules->answer;
    modules->modules = memory_new((answer->row_count + 1) * sizeof(*modules->modules));
    for (size_t row = 0; row < answer->row_count; row++) {
        struct check_catalog_module *module = &modules->modules[modules->count];
        const char *space = catalog_cell(answer, row, SPACE), *needed = catalog_cell(answer, row, NEEDED);
        *module = (struct check_catalog_module){catalog_cell(answer, row, MODULE), space ? space : "",
                                                catalog_cell(answer, row, CONFIGURATION),
                                                needed ? strtoll(needed, NULL, 10) : -1, NULL};
        if (!module->name || module->needed_bytes < 0)
            continue;
        module->path = path_of(answer, row);
        modules->count++;
    }
}

static bool catalog_ask(struct catalog *catalog, const char *sql, const char *const *parameters, size_t count,
                        struct catalog_answer *answer)
{
    struct err err = ERR_INIT;
    bool is_good = catalog_query(catalog, sql, parameters, count, answer, &err);
    if (!is_good)
        log_line("--catalog: %s: %s", catalog_name(catalog), err.text);
    return is_good;
}

/* "newest" or "newest:KEY=VALUE". */
static bool is_newest(const char *commit)
{
    size_t length = strlen(NEWEST);
    return strncmp(commit, NEWEST, length) == 0 && (commit[length] == '\0' || commit[length] == ':');
}

/* Which commit that is: the one that was seen first last; NULL: there is none. */
static char *newest_find(struct catalog *catalog, const char *job, const char *commit)
{
    static const char of_all[] =
        "SELECT commit FROM points WHERE job = $1 AND kind = 'module' AND commit IS NOT NULL AND "
        "needed_bytes IS NOT NULL ORDER BY first_at DESC NULLS LAST, commit LIMIT 1";
    static const char of_label[] =
        "SELECT p.commit FROM points AS p WHERE p.job = $1 AND p.kind = 'module' AND p.commit IS NOT NULL AND "
        "p.needed_bytes IS NOT NULL AND EXISTS (SELECT FROM rows AS r WHERE r.point_id = p.point_id AND r.labels @> "
        "jsonb_build_object($2::text, $3::text)) ORDER BY p.first_at DESC NULLS LAST, p.commit LIMIT 1";
    struct catalog_answer answer = {.texts = BUF_INIT, .places = BUF_INIT};
    char *key = commit[strlen(NEWEST)] ? memory_text(commit + strlen(NEWEST) + 1) : NULL;
    char *value = key ? strchr(key, '=') : NULL;
    char *found = NULL;
    if (value)
        *value++ = '\0';
    const char *const parameters[] = {job, key, value};
    if (catalog_ask(catalog, key ? of_label : of_all, parameters, key ? 3 : 1, &answer) && answer.row_count == 1)
        found = memory_text(catalog_cell(&answer, 0, 0));
    catalog_answer_free(&answer);
    free(key);
    return found;
}

/* `commit`: behind the last '@'. */
static bool check_catalog_ask(struct check_catalog *modules, const char *job, const char *commit, const char *url)
{
    static const char sql[] =
        "SELECT p.module, p.memory_space, p.needed_bytes, r.logdir, r.file, r.content_sha256, "
        "CASE WHEN NOT r.labels ? 'configuration' THEN p.configuration END FROM points AS p JOIN "
        "rows AS r ON r.id = p.row_id WHERE p.job = $1 AND p.commit = $2 AND p.kind = 'module' AND p.module IS NOT "
        "NULL AND p.needed_bytes IS NOT NULL ORDER BY p.needed_bytes DESC, p.point_id";
    struct err err = ERR_INIT;
    struct catalog *catalog = catalog_open(url, &err);
    if (!catalog) {
        log_line("--catalog: %s", err.text);
        return false;
    }
    char *newest = is_newest(commit) ? newest_find(catalog, job, commit) : NULL;
    if (newest)
        log_line("the newest commit of %s in the catalog is %s", job, newest);
    bool is_good = catalog_ask(catalog, sql, (const char *const[]){job, newest ? newest : commit}, 2, &modules->answer);
    free(newest);
    catalog_close(catalog);
    return is_good;
}

bool check_catalog_read(struct check_catalog *modules, const char *baseline, const char *url)
{
    char *job = memory_text(baseline + strlen(PREFIX)), *at = strrchr(job, '@');
    bool is_good = false;
    *modules = (struct check_catalog){.answer = {.texts = BUF_INIT, .places = BUF_INIT}};
    if (!at || at == job || !at[1])
        log_line("--baseline=%s: it is catalog:JOB@COMMIT", baseline);
    else if (is_newest(at + 1) && strchr(at, ':') && !strchr(at, '='))
        log_line("--baseline=%s: behind newest: it is KEY=VALUE, a label", baseline);
    else if (!url)
        log_line("--baseline=%s needs --catalog=URL", baseline);
    else {
        *at = '\0';
        is_good = check_catalog_ask(modules, job, at + 1, url);
    }
    if (is_good)
        modules_take(modules);
    if (is_good && modules->count == 0)
        log_line("%s: the catalog has no module for that job and commit", baseline);
    free(job);
    return is_good && modules->count > 0;
}

const struct check_catalog_module *check_catalog_find(const struct check_catalog *modules, const char *name,
                                                      const char *configuration)
{
    const struct check_catalog_module *largest = NULL;
    for (size_t at = 0; at < modules->count; at++) {
        const struct check_catalog_module *module = &modules->modules[at];
        if (strcmp(module->name, name) != 0)
            continue;
        if (configuration && module->configuration && strcmp(module->configuration, configuration) == 0)
            return module;
        if (!largest)
            largest = module;
    }
    return largest;
}

void check_catalog_free(struct check_catalog *modules)
{
    for (size_t at = 0; at < modules->count; at++)
        free(modules->modules[at].path);
    free(modules->modules);
    catalog_answer_free(&modules->answer);
}
