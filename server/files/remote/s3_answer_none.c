/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/s3_answer.h"

bool s3_answer_read(const char *xml, size_t size, struct remote_service_page *page, struct err *err)
{
    (void)xml, (void)size, (void)page;
    return err_set(err, ERR_unsupported, ERR_NO_OFFSET, "this build has no Expat: it lists no s3:// addresses");
}
