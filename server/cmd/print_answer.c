/* SPDX-License-Identifier: Apache-2.0
 * print_answer.c: see print_answer.h. */
#include "server/cmd/print_answer.h"
#include "server/base/output.h"

#include "server/base/log.h"
#include "server/cmd/commands.h"

int print_answer(const struct analysis_question *question, enum print_form form)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    bool is_good = analysis_answer(question, &out, &err);
    if (is_good) {
        output_answer(out.data, out.length, form != PRINT_TEXT);
        if (form == PRINT_JSON)
            output_word("\n");
    } else {
        log_line("%s", err.text);
    }
    buf_free(&out);
    return is_good ? COMMANDS_DONE : COMMANDS_UNUSABLE;
}
