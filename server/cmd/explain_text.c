/* SPDX-License-Identifier: Apache-2.0
 * explain_text.c: what is printed of a log; see explain.h. */
#include "server/base/log.h"
#include "server/base/output.h"
#include "server/cmd/explain.h"

#include <stdio.h>
#include <string.h>

void explain_text(const char *name, const struct oom_report *report, const struct buf *answers)
{
    struct buf out = BUF_INIT;
    analysis_oom_write_text(report, strcmp(name, "-") == 0 ? "standard input" : name, answers, &out);
    output_text(out.data, out.length);
    if (out.failed)
        log_line("there is no memory for the answer");
    buf_free(&out);
}

bool explain_print_json(struct buf *all)
{
    bool is_whole = !all->failed;
    if (is_whole) {
        (void)!output_data(stdout, all->data, all->length);
        putchar('\n');
    } else {
        log_line("there is no memory for the answer");
    }
    buf_free(all);
    return is_whole;
}

void explain_looked_for(void)
{
    log_line("no out-of-memory text that is known here; looked for:");
    for (size_t at = 0; analysis_oom_looked_for(at) != NULL; at++)
        fprintf(stderr, "  %s\n", analysis_oom_looked_for(at));
}
