/* SPDX-License-Identifier: Apache-2.0 */
#include "server/disk/sessions_reason.h"

#include <errno.h>
#include <string.h>

const char *sessions_reason(struct sessions_builder *builder, const struct tree_file *file, enum err_code *code)
{
    *code = ERR_unsupported;
    if (file->reason == EXDEV)
        return "the symbolic link leads out of the folder that is served and is not followed";
    if (file->reason == EINVAL)
        return "is not a plain file; folders, pipes, sockets and devices of such a name are left out";
    *code = ERR_io;
    if (file->reason)
        return memory_pool_format(&builder->snapshot->pool, "%s", strerror(file->reason));
    if (file->is_unread)
        return "its bytes cannot be read now";
    *code = ERR_truncated;
    bool is_marker = strncmp(file->name, "NO_MODULE.", 10) == 0; /* XProf's, always empty */
    bool is_input = file->kind == NAMES_TRACE || file->kind == NAMES_HLO || file->kind == NAMES_DUMP_MODULE ||
                    file->kind == NAMES_XPROF_CACHE || names_claims_kind(file->name) || builder->tree->is_file;
    if (is_input && !is_marker && file->identity.size_bytes == 0)
        return "is empty: nothing was written to it";
    *code = ERR_unsupported;
    bool is_known = files_identity_equal(&file->looked_into, &file->identity);
    return names_claims_profile(file->name) && is_known && !file->is_as_named
               ? "is not a profile: neither gzip nor profile.proto"
               : NULL;
}
