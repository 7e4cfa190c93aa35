/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/sessions_folder.h"

#include "server/gather/sessions_place.h"

#include "analysis/analysis.h"

#include <errno.h>
#include <string.h>

static struct err why(enum err_code code, const char *reason)
{
    struct err err = ERR_INIT;
    err_set(&err, code, ERR_NO_OFFSET, "%s", reason);
    return err;
}

struct err sessions_reason(const struct sessions_builder *builder, const struct tree_file *file)
{
    bool is_marker = strncmp(file->name, "NO_MODULE.", 10) == 0; /* XProf's, always empty */
    bool is_input = file->kind == NAMES_TRACE || file->kind == NAMES_HLO || file->kind == NAMES_DUMP_MODULE ||
                    file->kind == NAMES_XPROF_CACHE || names_claims_kind(file->name) || sessions_place_is_lone(builder);
    bool is_looked_into = files_identity_equal(&file->looked_into, &file->identity);
    if (file->reason == EXDEV)
        return why(ERR_unsupported, "the symbolic link leads out of the folder that is served and is not followed");
    if (file->reason == EINVAL)
        return why(ERR_unsupported,
                   "is not a plain file; folders, pipes, sockets and devices of such a name are left out");
    if (builder->tree->is_remote && file->reason == TREE_ARCHIVED)
        return why(ERR_unsupported, "is archived (S3 Glacier) and cannot be read before it is restored");
    if (file->reason)
        return why(ERR_io, strerror(file->reason));
    if (file->is_unread)
        return why(ERR_io, "its bytes cannot be read now");
    if (is_input && !is_marker && file->identity.size_bytes == 0)
        return why(ERR_truncated, "is empty: nothing was written to it");
    if (names_claims_profile(file->name) && is_looked_into && !file->is_as_named)
        return why(ERR_unsupported, "is not a profile: neither gzip nor profile.proto");
    size_t stem_length;
    const char *foreign = file->kind == NAMES_FOREIGN ? analysis_foreign_name(file->name, &stem_length) : NULL;
    return foreign ? why(ERR_unsupported, foreign) : (struct err)ERR_INIT;
}
