/* SPDX-License-Identifier: Apache-2.0
 * export.c: see export.h. */
#include "server/cmd/export.h"

#include "server/base/log.h"
#include "server/cmd/each_module.h"
#include "server/store/body.h"

enum { PIECE_BYTES = 1 << 16 };

/* All bytes of a body, also of one that is made while it is read. */
static bool body_add(struct body *body, struct buf *out)
{
    char piece[PIECE_BYTES];
    int64_t got = 0;
    if (!body->is_in_pieces) {
        buf_add(out, body->data, body->size);
        return true;
    }
    struct body_reader *reader = body_reader_new(body, false);
    while (reader && (got = body_reader_read(reader, piece, sizeof(piece))) > 0)
        buf_add(out, piece, (size_t)got);
    body_reader_free(reader);
    return reader && got == 0;
}

bool export_ask(const struct export_module *module, const char *view, const struct analysis_param *params,
                size_t param_count, struct buf *out)
{
    struct err err = ERR_INIT;
    char why[ERR_DESCRIPTION_SIZE];
    const struct analysis_question question = {
        .tool = "memory_viewer", .view = view, .params = params, .param_count = param_count};
    struct body *body = each_module_ask(module->store, module->entry, &question, &err);
    bool is_good = body && body_add(body, out);
    if (!is_good)
        log_line("%s: %s: %s", module->entry->file->file->path, module->entry->program->key,
                 body ? "its answer broke off" : err_describe(&err, why));
    body_release(body);
    return is_good;
}
