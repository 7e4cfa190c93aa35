/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/google_jwt.h"

#include <stddef.h>

char *google_jwt_make(const char *email, const char *key_pem, const char *scope, const char *audience,
                      int64_t now_unix_s, struct err *err)
{
    (void)email, (void)key_pem, (void)scope, (void)audience, (void)now_unix_s;
    err_set(err, ERR_unsupported, ERR_NO_OFFSET, "this build has no libhogweed: it uses no keys of service accounts");
    return NULL;
}
