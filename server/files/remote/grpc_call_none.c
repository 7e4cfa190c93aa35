/* SPDX-License-Identifier: Apache-2.0
 * grpc_call_none.c: stands in for grpc_call.c where memviewd is built without libcurl. */
#include "server/files/remote/grpc_call.h"

bool grpc_call_set_up(struct err *err)
{
    return err_set(err, ERR_unsupported, ERR_NO_OFFSET, "this build has no libcurl: it cannot ask a profiler server");
}

void grpc_call_run(struct grpc_call *const *calls, size_t count, bool (*tick)(void *context), void *context)
{
    (void)tick;
    (void)context;
    for (size_t at = 0; at < count; at++) {
        calls[at]->err = (struct err)ERR_INIT;
        calls[at]->is_ended = true;
        grpc_call_set_up(&calls[at]->err);
    }
}
