/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/text_report.h"

const struct oom_report *text_report_open(struct store *store, const struct snapshot_text *text,
                                          struct subject *subject, struct err *err)
{
    const struct subjects_place place = {.kind = ANALYSIS_TEXT, .file = &text->file->place};
    *subject = (struct subject){0};
    if (text->failure.text)
        return analysis_text_report(text->failure.text);
    return subjects_open(store, &place, subject, err) ? analysis_text_report(subject->core) : NULL;
}
