/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/groundwork.h"

#include "server/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

/* What it may take while it is made; of that real programs need a third of what the module takes. */
enum { MAX_FACTOR = 4, MAX_BASE_BYTES = 8 << 20 };

struct groundwork_slot {
    const struct analysis_subject *module;
    struct account *account;
    pthread_mutex_t lock;
    struct analysis_groundwork *made; /* NULL: not yet, or see cannot_be_made */
    bool cannot_be_made;
    uint64_t taken_bytes;
};

struct groundwork_slot *groundwork_slot_new(const struct analysis_subject *module, struct account *account)
{
    struct groundwork_slot *slot = memory_new(sizeof(*slot));
    slot->module = module;
    slot->account = account;
    pthread_mutex_init(&slot->lock, NULL);
    return slot;
}

void groundwork_slot_free(struct groundwork_slot *slot)
{
    if (!slot)
        return;
    analysis_groundwork_free(slot->made);
    account_give(slot->account, slot->taken_bytes);
    pthread_mutex_destroy(&slot->lock);
    free(slot);
}

static void groundwork_make(struct groundwork_slot *slot)
{
    struct err err = ERR_INIT;
    uint64_t max = MAX_FACTOR * analysis_subject_memory_bytes(slot->module) + MAX_BASE_BYTES;
    uint64_t taken_bytes = account_take(slot->account, max, max);
    if (taken_bytes == 0)
        return;
    slot->made = analysis_groundwork_make(slot->module, taken_bytes, &err);
    slot->cannot_be_made = !slot->made;
    slot->taken_bytes =
        account_keep(slot->account, taken_bytes, slot->made ? analysis_groundwork_memory_bytes(slot->made) : 0);
}

const struct analysis_groundwork *groundwork_slot_get(struct groundwork_slot *slot)
{
    if (!slot)
        return NULL;
    pthread_mutex_lock(&slot->lock);
    if (!slot->made && !slot->cannot_be_made)
        groundwork_make(slot);
    const struct analysis_groundwork *made = slot->made;
    pthread_mutex_unlock(&slot->lock);
    return made;
}
