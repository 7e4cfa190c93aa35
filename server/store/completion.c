/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/completion.h"

#include "server/base/memory.h"
#include "server/base/wanted.h"

#include <pthread.h>
#include <stdlib.h>

/* In parts of what the module takes; real programs need a sixth. */
static const struct account_share SHARE = {1, 8 << 20, 8, 64 << 20, UINT64_MAX};

struct completion {
    struct analysis_subject *module;
    struct account *account;
    pthread_mutex_t lock;
    bool is_complete;
    uint64_t taken_bytes;
};

struct completion *completion_new(struct analysis_subject *module, bool is_complete, struct account *account)
{
    struct completion *completion = memory_new(sizeof(*completion));
    completion->module = module;
    completion->account = account;
    completion->is_complete = is_complete;
    pthread_mutex_init(&completion->lock, NULL);
    return completion;
}

void completion_free(struct completion *completion)
{
    if (!completion)
        return;
    account_give(completion->account, completion->taken_bytes);
    pthread_mutex_destroy(&completion->lock);
    free(completion);
}

static bool completion_complete(struct completion *completion, bool *is_transient, struct err *err)
{
    struct account *account = completion->account;
    uint64_t min, max, before_bytes = analysis_subject_memory_bytes(completion->module);
    account_range(account, &SHARE, before_bytes, &min, &max);
    uint64_t taken_bytes = account_need(account, min, max);
    if (taken_bytes == 0)
        err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no memory now to tell whose memory it is; ask again");
    else
        completion->is_complete = analysis_module_complete(completion->module, taken_bytes, wanted_holders(), err);
    if (!completion->is_complete) {
        account_give(account, taken_bytes);
        *is_transient = account_is_transient(account, taken_bytes, max, err);
        return false;
    }
    uint64_t used_bytes = analysis_subject_memory_bytes(completion->module) - before_bytes;
    completion->taken_bytes = account_keep(account, taken_bytes, used_bytes);
    return true;
}

bool completion_ask(struct completion *completion, bool *is_transient, struct err *err)
{
    pthread_mutex_lock(&completion->lock);
    bool is_complete = completion->is_complete || completion_complete(completion, is_transient, err);
    pthread_mutex_unlock(&completion->lock);
    return is_complete;
}
