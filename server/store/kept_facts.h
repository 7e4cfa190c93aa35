/* SPDX-License-Identifier: Apache-2.0
 * kept_facts.h: what files hold, and sums of their programs, in the disk cache (disk_cache.h). */
#pragma once

#include "server/store/store.h"

/* The kept contents of the file with that identity; NULL if none are kept, or if `cache` is NULL. */
struct analysis_contents *kept_facts_contents(struct disk_cache *cache, const struct files_identity *identity);
void kept_facts_keep_contents(struct disk_cache *cache, const struct files_identity *identity,
                              const struct analysis_contents *contents);

/* The same of sums: `programs` are those of the file. False: nothing is kept, and nothing was filled. Sums that could
 * not be made are not kept. */
bool kept_facts_totals(struct disk_cache *cache, const struct files_identity *identity, struct store_totals *totals);
void kept_facts_keep_totals(struct disk_cache *cache, const struct files_identity *identity,
                            const struct store_totals *totals);
