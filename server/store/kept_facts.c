/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/kept_facts.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

static char *key_of(const char *what, const struct files_identity *identity)
{
    char *text = files_identity_text(identity), *key = memory_format("%s of %s", what, text);
    free(text);
    return key;
}

static bool kept_facts_get(struct disk_cache *cache, const char *what, const struct files_identity *identity,
                           struct buf *bytes)
{
    if (!cache)
        return false;
    char *key = key_of(what, identity);
    bool is_there = disk_cache_read(cache, key, bytes);
    free(key);
    return is_there;
}

static void kept_facts_keep(struct disk_cache *cache, const char *what, const struct files_identity *identity,
                            const struct buf *bytes)
{
    if (!cache || bytes->failed)
        return;
    char *key = key_of(what, identity);
    disk_cache_write(cache, key, bytes->data, bytes->length);
    free(key);
}

struct analysis_contents *kept_facts_contents(struct disk_cache *cache, const struct files_identity *identity)
{
    struct buf bytes = BUF_INIT;
    struct err err = ERR_INIT;
    struct analysis_contents *contents = NULL;
    if (kept_facts_get(cache, "contents", identity, &bytes))
        contents = analysis_contents_of_bytes((struct str){bytes.data, bytes.length}, &err);
    buf_free(&bytes);
    return contents;
}

void kept_facts_keep_contents(struct disk_cache *cache, const struct files_identity *identity,
                              const struct analysis_contents *contents)
{
    struct buf bytes = BUF_INIT;
    if (cache)
        analysis_contents_write(contents, &bytes);
    kept_facts_keep(cache, "contents", identity, &bytes);
    buf_free(&bytes);
}

/* For each program how many bytes its sums take, then these. */
bool kept_facts_totals(struct disk_cache *cache, const struct files_identity *identity, struct store_totals *totals)
{
    struct buf bytes = BUF_INIT;
    struct err err = ERR_INIT;
    uint64_t size;
    size_t at = 0, done = 0;
    bool is_good = kept_facts_get(cache, "totals", identity, &bytes);
    for (; is_good && done < totals->count; done++) {
        is_good = bytes.length - at >= sizeof(size);
        if (!is_good)
            break;
        memcpy(&size, bytes.data + at, sizeof(size));
        at += sizeof(size);
        is_good = size <= bytes.length - at;
        if (!is_good)
            break;
        totals->programs[done].err = (struct err)ERR_INIT;
        totals->programs[done].totals = analysis_totals_of_bytes((struct str){bytes.data + at, (size_t)size}, &err);
        is_good = totals->programs[done].totals != NULL;
        at += (size_t)size;
    }
    is_good = is_good && at == bytes.length;
    for (size_t i = 0; i < done && !is_good; i++) {
        analysis_totals_free(totals->programs[i].totals);
        totals->programs[i].totals = NULL;
    }
    buf_free(&bytes);
    return is_good;
}

void kept_facts_keep_totals(struct disk_cache *cache, const struct files_identity *identity,
                            const struct store_totals *totals)
{
    struct buf bytes = BUF_INIT;
    bool is_whole = cache != NULL;
    for (size_t at = 0; at < totals->count && is_whole; at++) {
        struct buf one = BUF_INIT;
        is_whole = totals->programs[at].totals != NULL;
        if (is_whole)
            analysis_totals_write(totals->programs[at].totals, &one);
        const uint64_t size = one.length;
        buf_add(&bytes, &size, sizeof(size));
        buf_add(&bytes, one.data, one.length);
        is_whole = is_whole && !one.failed;
        buf_free(&one);
    }
    if (is_whole)
        kept_facts_keep(cache, "totals", identity, &bytes);
    buf_free(&bytes);
}
