/* SPDX-License-Identifier: Apache-2.0
 * sites.c: see sites.h. */
#include "tool/device_memory/sites.h"

struct same_key {
    const struct sites *sites;
    struct sites_key key;
};

static bool is_key(const void *context, uint64_t at)
{
    const struct same_key *same = context;
    const struct sites_key *known = &same->sites->keys[at];
    return known->frame == same->key.frame && str_equal(known->callee, same->key.callee);
}

void sites_init(struct sites *sites, struct arena *arena)
{
    *sites = (struct sites){.arena = arena};
    map_init(&sites->table, arena, 0);
}

uint32_t sites_of(struct sites *sites, const struct study *study, const struct study_walk *walk)
{
    struct same_key same = {sites, {walk->frames[walk->count - 1], {"", 0}}};
    if (walk->callee != PPROF_NONE)
        same.key.callee = study->pprof->functions[study->pprof->lines[walk->callee].function].name;
    uint64_t hash = map_hash_text(sites->arena, same.key.callee, same.key.frame);
    bool is_new;
    uint32_t at = map_number(&sites->table, hash, is_key, &same, &is_new);
    if (!is_new)
        return at;
    sites->keys = arena_grown(sites->arena, sites->keys, (size_t)at + 1, &sites->capacity, sizeof(*sites->keys));
    sites->keys[at] = same.key;
    return at;
}

void sites_write(const struct sites *sites, uint32_t at, const struct study *study, struct json *json)
{
    const struct sites_key *key = &sites->keys[at];
    json_key(json, "frame");
    frames_write(study->frames, key->frame, study->request->scratch, json);
    if (key->callee.length > 0)
        json_key_string(json, "callee", key->callee);
    else
        json_key_null(json, "callee");
}
