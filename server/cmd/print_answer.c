/* SPDX-License-Identifier: Apache-2.0
 * print_answer.c: see print_answer.h. */
#include "server/cmd/print_answer.h"
#include "server/base/output.h"

#include "base/json.h"
#include "server/base/log.h"
#include "server/cmd/commands.h"

#include <string.h>

static void not_read_add(struct buf *out, const struct unread_files *unread)
{
    struct json json = JSON_INIT(out);
    json.needs_comma = true; /* behind the members that the core wrote */
    out->length -= strlen("}");
    unread_files_write(unread, &json);
    buf_text(out, "}\n");
}

int print_answer(const struct analysis_question *question, enum print_form form, const struct unread_files *unread)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    bool is_good = analysis_answer(question, &out, &err);
    if (is_good) {
        if (form == PRINT_JSON)
            not_read_add(&out, unread);
        output_answer(out.data, out.length, form != PRINT_TEXT);
    } else {
        log_line("%s", err.text);
    }
    buf_free(&out);
    return is_good ? COMMANDS_DONE : COMMANDS_UNUSABLE;
}
