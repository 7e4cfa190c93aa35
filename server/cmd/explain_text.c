/* SPDX-License-Identifier: Apache-2.0
 * explain_text.c: see explain.h. Names come from a log: what would move a terminal's
 * cursor is escaped. */
#include "server/cmd/explain.h"

#include "base/buf.h"
#include "base/size_text.h"
#include "server/base/output.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 10 };

/* Up to its NUL; cut where a character ends. */
static void print_safe(struct str text, size_t max)
{
    struct buf shown = BUF_INIT;
    size_t length = text.length > 0 ? strnlen(text.data, str_cut(text, max)) : 0;
    buf_printable(&shown, (struct str){text.data, length});
    output_text(shown.data, shown.length);
    buf_free(&shown);
    if (text.length > max)
        output_word("…");
}

static void print_word(const char *what, const struct oom_words *words)
{
    if (!words->text.data)
        return;
    output_format("  %-26s ", what);
    print_safe(words->text, 120);
    output_word("\n");
}

static void print_title(const struct oom_meaning *meaning)
{
    const struct oom_failure *failure = meaning->failure;
    output_format("%s", meaning->heading);
    if (failure->error_code.text.data) {
        output_word(" (");
        print_safe(failure->error_code.text, 8);
        output_word(")");
    }
    if (failure->replica_count > 1)
        output_format(", %llu times", (unsigned long long)failure->replica_count);
    output_word("\n");
    print_word("program", &failure->module);
    print_word("memory", &failure->memory_space);
    if (failure->devices)
        output_format("  %-26s %s\n", "devices", failure->devices);
    else
        print_word("device", &failure->device);
    if (meaning->whose)
        output_format("%s\n", meaning->whose);
}

/* What followed from it: no failures of their own. */
static void print_consequences(const struct oom_failure *failure)
{
    for (size_t at = 0; at < failure->consequence_count; at++)
        output_format("Then: %s\n", analysis_oom_family_title(failure->consequences[at]));
}

static void print_figures(const struct oom_meaning *meaning)
{
    char size[SIZE_TEXT_BYTES];
    for (size_t at = 0; at < meaning->line_count; at++) {
        const struct oom_row *row = &meaning->lines[at];
        if (row->line)
            output_format("  %-26s %12s\n", row->line,
                          row->text ? row->text : size_text_column(size, (int64_t)row->bytes));
    }
    if (meaning->cause_line)
        output_format("  %s\n", meaning->cause_line);
}

/* Does the text state a figure that is printed? */
static bool has_figures(const struct oom_meaning *meaning)
{
    bool has_line = false;
    for (size_t at = 0; at < meaning->line_count; at++)
        has_line |= meaning->lines[at].line != NULL;
    return has_line;
}

static void print_group(const struct oom_group *group)
{
    char size[SIZE_TEXT_BYTES];
    const struct oom_buffer *buffer = group->buffer;
    const struct str name = buffer->op_name.text.data ? buffer->op_name.text : buffer->label.text;
    output_format("  %12s", buffer->size.is_known ? size_text_column(size, (int64_t)buffer->size.value) : "?");
    if (group->count > 1)
        output_format(" ×%-3zu ", group->count);
    else
        output_word("      ");
    if (buffer->is_shape_of_result)
        output_word("stack of the kernel that returns ");
    print_safe(buffer->shape.text, 80);
    output_word("  ");
    print_safe(name, 100);
    if (buffer->source_file.text.data) {
        output_word("  ");
        print_safe(buffer->source_file.text, 100);
        if (buffer->source_line.is_known)
            output_format(":%llu", (unsigned long long)buffer->source_line.value);
    }
    output_word("\n");
}

static void print_buffers(const char *title, const struct oom_meaning *meaning, enum oom_list list)
{
    size_t count = meaning->group_counts[list];
    if (count == 0)
        return;
    output_format("%s\n", title);
    for (size_t at = 0; at < count && at < MAX_ROWS; at++)
        print_group(&meaning->groups[list][at]);
    if (count > MAX_ROWS)
        output_format("  … and %zu more\n", count - MAX_ROWS);
}

static void print_meaning(const struct oom_meaning *meaning, const struct buf *answer)
{
    print_title(meaning);
    output_text(answer->data, answer->length);
    output_word("\n");
    if (has_figures(meaning)) {
        output_word("As the text states it\n");
        print_figures(meaning);
    }
    print_buffers("Largest buffers", meaning, OOM_ALLOCATIONS);
    print_buffers("Largest arguments and outputs", meaning, OOM_ARGUMENTS_AND_OUTPUTS);
    print_consequences(meaning->failure);
    if (answer->length > 0) /* it has the notes, and says what to run next */
        return;
    for (size_t at = 0; at < meaning->failure->note_count; at++) {
        output_word("Note: ");
        print_safe(str_of(meaning->failure->notes[at].text), 800);
        output_word("\n");
    }
    output_word("Next\n");
    for (size_t at = 0; at < meaning->step_count; at++)
        output_format("  %s%s\n", meaning->steps[at].is_command ? "  " : "", meaning->steps[at].text);
}

void explain_text(const char *name, const struct oom_report *report, const struct buf *answers)
{
    size_t count = report->found.failure_count;
    print_safe(str_of(strcmp(name, "-") == 0 ? "standard input" : name), 400);
    if (count == 0 && report->found.report_line_count > 0)
        output_word(": no failure here: reports of memory, and nothing that did not fit\n");
    else if (count == 0 && report->found.given_up_count > 0)
        output_word(": no failure here: what was tried and given up, and the program went on\n");
    else if (count == 0)
        output_word(": not recognised\n");
    else
        output_format(": %zu out-of-memory failure%s\n", count, count == 1 ? "" : "s");
    for (size_t at = 0; at < count; at++) {
        output_word("\n");
        print_meaning(&report->meanings[at], &answers[at]);
    }
    if (report->found.left_out_count > 0)
        output_format("\n%llu further failures are not shown.\n", (unsigned long long)report->found.left_out_count);
}

void explain_looked_for(void)
{
    fprintf(stderr, "memviewd: no out-of-memory text that is known here; looked for:\n");
    for (size_t at = 0; analysis_oom_looked_for(at) != NULL; at++)
        fprintf(stderr, "  %s\n", analysis_oom_looked_for(at));
}
