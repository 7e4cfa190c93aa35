/* SPDX-License-Identifier: Apache-2.0
 * export.c: see export.h. */
#include "server/cmd/export.h"

#include "server/cmd/each_module.h"
#include "server/store/body.h"
#include "server/store/capacity.h"

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
    struct analysis_question question = {
        .tool = "memory_viewer", .view = view, .params = params, .param_count = param_count};
    struct capacity_stated capacities[CAPACITY_SPACES];
    struct capacity_spaces texts, spaces;
    if (strcmp(view, "summary") == 0) {
        const struct modules_file *file = module->entry->file;
        capacity_spaces_of_texts(module->session, &texts);
        capacity_spaces_find(&texts, NULL, module->session, file->group, file->opened.contents, &spaces);
        capacity_spaces_core(&spaces, capacities);
        question.capacities = capacities;
        question.capacity_count = spaces.count;
    }
    struct body *body = each_module_ask(module->store, module->entry, &question, &err);
    bool is_good = body && body_add(body, out);
    if (!is_good) {
        err_set(&err, ERR_io, ERR_NO_OFFSET, "its answer broke off");
        unread_files_add_module(module->unread, module->entry, &err);
    }
    body_release(body);
    return is_good;
}
