/* SPDX-License-Identifier: Apache-2.0 */
#include "views/oom/text.h"

#include "base/size_text.h"

#include <string.h>

enum { MAX_ROWS = 10, MAX_WHOSE = 400 };

/* Up to its NUL; cut where a character ends. */
static void text_safe(struct buf *out, struct str text, size_t max)
{
    size_t length = str_cut(text, max);
    const char *end = length > 0 ? memchr(text.data, '\0', length) : NULL;
    buf_printable(out, (struct str){text.data, end ? (size_t)(end - text.data) : length});
    if (text.length > max)
        buf_text(out, "…");
}

static void text_word(struct buf *out, const char *what, const struct oom_words *words)
{
    if (!words->text.data)
        return;
    buf_format(out, "  %-26s ", what);
    text_safe(out, words->text, 120);
    buf_text(out, "\n");
}

static void text_title(struct buf *out, const struct oom_meaning *meaning)
{
    const struct oom_failure *failure = meaning->failure;
    buf_format(out, "%s", meaning->heading);
    if (failure->error_code.text.data) {
        buf_text(out, " (");
        text_safe(out, failure->error_code.text, 8);
        buf_text(out, ")");
    }
    if (failure->replica_count > 1)
        buf_format(out, ", %llu times", (unsigned long long)failure->replica_count);
    buf_text(out, "\n");
    text_word(out, "program", &failure->module);
    text_word(out, "memory", &failure->memory_space);
    if (failure->devices)
        buf_format(out, "  %-26s %s\n", "devices", failure->devices);
    else
        text_word(out, "device", &failure->device);
    if (meaning->whose) {
        text_safe(out, str_of(meaning->whose), MAX_WHOSE);
        buf_text(out, "\n");
    }
}

/* What followed from it: no failures of their own. */
static void text_consequences(struct buf *out, const struct oom_failure *failure)
{
    for (size_t at = 0; at < failure->consequence_count; at++)
        buf_format(out, "Then: %s\n", oom_family_title(failure->consequences[at]->family));
}

static void text_figures(struct buf *out, const struct oom_meaning *meaning)
{
    char size[SIZE_TEXT_BYTES];
    for (size_t at = 0; at < meaning->line_count; at++) {
        const struct oom_row *row = &meaning->lines[at];
        if (row->line)
            buf_format(out, "  %-26s %12s\n", row->line,
                       row->text ? row->text : size_text_column(size, (int64_t)row->bytes));
    }
}

/* Does the text state a figure that is printed? */
static bool text_has_figures(const struct oom_meaning *meaning)
{
    bool has_line = false;
    for (size_t at = 0; at < meaning->line_count; at++)
        has_line |= meaning->lines[at].line != NULL;
    return has_line;
}

static void text_group(struct buf *out, const struct oom_group *group)
{
    char size[SIZE_TEXT_BYTES];
    const struct oom_buffer *buffer = group->buffer;
    const struct str name = buffer->op_name.text.data ? buffer->op_name.text : buffer->label.text;
    buf_format(out, "  %12s", buffer->size.is_known ? size_text_column(size, (int64_t)buffer->size.value) : "?");
    if (group->count > 1)
        buf_format(out, " ×%-3zu ", group->count);
    else
        buf_text(out, "      ");
    if (buffer->is_shape_of_result)
        buf_text(out, "stack of the kernel that returns ");
    text_safe(out, buffer->shape.text, 80);
    buf_text(out, "  ");
    text_safe(out, name, 100);
    if (buffer->source_file.text.data) {
        buf_text(out, "  ");
        text_safe(out, buffer->source_file.text, 100);
        if (buffer->source_line.is_known)
            buf_format(out, ":%llu", (unsigned long long)buffer->source_line.value);
    }
    buf_text(out, "\n");
}

static void text_buffers(struct buf *out, const char *title, const struct oom_meaning *meaning, enum oom_list list)
{
    size_t count = meaning->group_counts[list];
    if (count == 0)
        return;
    buf_format(out, "%s\n", title);
    for (size_t at = 0; at < count && at < MAX_ROWS; at++)
        text_group(out, &meaning->groups[list][at]);
    if (count > MAX_ROWS)
        buf_format(out, "  … and %zu more\n", count - MAX_ROWS);
}

static void text_meaning(struct buf *out, const struct oom_meaning *meaning, const struct buf *answer)
{
    text_title(out, meaning);
    buf_add(out, answer->data, answer->length);
    buf_text(out, "\n");
    if (text_has_figures(meaning)) {
        buf_text(out, "As the text states it\n");
        text_figures(out, meaning);
    }
    if (meaning->cause_line && answer->length == 0) /* the answer has it in its own words */
        buf_format(out, "  %s\n", meaning->cause_line);
    text_buffers(out, "Largest buffers", meaning, OOM_ALLOCATIONS);
    text_buffers(out, "Largest arguments and outputs", meaning, OOM_ARGUMENTS_AND_OUTPUTS);
    text_consequences(out, meaning->failure);
    if (answer->length > 0) /* it has the notes, and says what to run next */
        return;
    for (size_t at = 0; at < meaning->failure->note_count; at++) {
        buf_text(out, "Note: ");
        text_safe(out, str_of(meaning->failure->notes[at].text), 800);
        buf_text(out, "\n");
    }
    buf_text(out, "Next\n");
    for (size_t at = 0; at < meaning->step_count; at++)
        buf_format(out, "  %s%s\n", meaning->steps[at].is_command ? "  " : "", meaning->steps[at].text);
}

void oom_text(const struct oom_report *report, const char *name, const struct buf *answers, struct buf *out)
{
    size_t count = report->found.failure_count;
    text_safe(out, str_of(name), 400);
    if (count == 0 && report->found.report_line_count > 0)
        buf_text(out, ": no failure here: reports of memory, and nothing that did not fit\n");
    else if (count == 0 && report->found.given_up_count > 0)
        buf_text(out, ": no failure here: what was tried and given up, and the program went on\n");
    else if (count == 0)
        buf_text(out, ": not recognised\n");
    else
        buf_format(out, ": %zu out-of-memory failure%s\n", count, count == 1 ? "" : "s");
    for (size_t at = 0; at < count; at++) {
        buf_text(out, "\n");
        text_meaning(out, &report->meanings[at], &answers[at]);
    }
    if (report->found.left_out_count > 0)
        buf_format(out, "\n%llu further failures are not shown.\n", (unsigned long long)report->found.left_out_count);
}
