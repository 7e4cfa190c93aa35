/* SPDX-License-Identifier: Apache-2.0
 * write_text.c: the verdict for a terminal. Names come out of files: what would move a terminal's cursor is escaped. */
#include "base/size_text.h"
#include "model/oom/model.h"
#include "plan/program_arrays.h"
#include "views/verdict/write.h"

#include <string.h>

/* Advice that is printed; --json lists all. */
enum { ADVICE_MAX = 12 };

static void line(struct buf *out, const char *indent, const char *text)
{
    buf_text(out, indent);
    buf_printable(out, str_of(text));
    buf_char(out, '\n');
}

/* Code, a statement a line: "mesh = …; x = …"; a comment stays whole. */
static void code_write(struct buf *out, const char *indent, const char *code)
{
    static const char between[] = "; ";
    const char *comment = strchr(code, '#');
    for (const char *end; (end = strstr(code, between)) != NULL && (comment == NULL || end < comment);
         code = end + strlen(between)) {
        buf_text(out, indent);
        buf_printable(out, (struct str){code, (size_t)(end - code)});
        buf_char(out, '\n');
    }
    line(out, indent, code);
}

static void size_write(struct buf *out, int64_t bytes, const char *label)
{
    char size[SIZE_TEXT_BYTES];
    buf_format(out, "  %12s  ", size_text(size, (uint64_t)bytes));
    buf_printable(out, str_of(label));
    buf_char(out, '\n');
}

static void capacity_write(struct buf *out, const struct verdict_fit *fit)
{
    char size[SIZE_TEXT_BYTES];
    buf_format(out, "  Capacity: %s, ", size_text(size, (uint64_t)fit->capacity_bytes));
    buf_printable(out, str_of(fit->capacity_source));
    buf_text(out, ".\n");
}

/* What the first line has said is not said again. */
static void fit_write(struct buf *out, const struct verdict *verdict)
{
    const struct verdict_evidence *capacity = &verdict->fit.capacity;
    bool is_new = strcmp(verdict->fit.sentence, verdict->sentence) != 0;
    bool has_source = capacity->kind == VERDICT_EVIDENCE_CAPACITY || verdict->fit.capacity_source != NULL;
    if (!is_new && !has_source && verdict->fit.device == NULL)
        return;
    buf_text(out, "\nDid it fit?\n");
    if (is_new)
        line(out, "  ", verdict->fit.sentence);
    if (capacity->kind == VERDICT_EVIDENCE_CAPACITY)
        line(out, "  Capacity: ", capacity->sentence);
    else if (has_source)
        capacity_write(out, &verdict->fit);
    if (verdict->fit.device != NULL)
        line(out, "  Device: ", verdict->fit.device);
}

static void together_write(struct buf *out, const struct verdict_together *together)
{
    char size[SIZE_TEXT_BYTES];
    if (together == NULL)
        return;
    buf_text(out, "\nText and snapshot together, of ");
    buf_printable(out, str_of(together->memory));
    buf_char(out, '\n');
    for (uint32_t i = 0; i < together->row_count; i++) {
        const struct verdict_together_row *row = &together->rows[i];
        buf_format(out, "  %12s  %s", size_text(size, (uint64_t)row->bytes), row->label);
        if (!row->is_from_snapshot)
            buf_text(out, " (the text)");
        else if (row->text_bytes >= 0 && (row->why != NULL || !row->agrees))
            buf_format(out, " (the text: %s%s)", size_text(size, (uint64_t)row->text_bytes),
                       row->agrees ? "" : ", they disagree");
        else if (row->text_bytes >= 0)
            buf_text(out, " (the text agrees)");
        buf_char(out, '\n');
        if (row->why != NULL)
            line(out, "                ", row->why);
    }
}

static void where_write(struct buf *out, const struct verdict *verdict)
{
    char size[SIZE_TEXT_BYTES];
    const char *only = verdict->where_count == 1 ? verdict->where[0].key : NULL;
    if (verdict->where_count == 0 || (only != NULL && strcmp(only, "needed_bytes") == 0))
        return; /* the request alone: the first line has it */
    buf_format(out, "\nWhere did it all go? %s\n", size_text(size, (uint64_t)verdict->where_bytes));
    for (uint32_t i = 0; i < verdict->where_count; i++)
        size_write(out, verdict->where[i].bytes, verdict->where[i].label);
    for (uint32_t i = 0; i < verdict->category_count; i++) {
        if (i == 0)
            buf_text(out, "  By whose memory it is\n");
        size_write(out, verdict->categories[i].bytes, verdict->categories[i].label);
    }
}

static void peak_write(struct buf *out, const struct verdict *verdict)
{
    char size[SIZE_TEXT_BYTES];
    if (verdict->peak_bytes <= 0)
        return;
    buf_format(out, "\nWhat made the peak? %s live\n", size_text(size, (uint64_t)verdict->peak_bytes));
    for (uint32_t i = 0; i < verdict->pattern_count; i++)
        line(out, "  ", verdict->patterns[i].sentence);
    for (uint32_t i = 0; i < verdict->group_count; i++) {
        const struct verdict_group *group = &verdict->groups[i];
        buf_format(out, "  %12s  %u × ", size_text(size, (uint64_t)group->bytes), group->count);
        buf_printable(out, str_of(group->shape));
        buf_text(out, group->shape[0] != '\0' ? "  " : "");
        buf_printable(out, str_of(group->label));
        buf_text(out, group->source[0] != '\0' ? "  " : "");
        buf_printable(out, str_of(group->source));
        if (group->inner != NULL) {
            buf_format(out, "; %s at ", size_text(size, (uint64_t)group->inner_bytes));
            buf_printable(out, str_of(group->inner));
        }
        buf_char(out, '\n');
    }
    if (verdict->group_total_count > verdict->group_count)
        buf_format(out, "  and %u more groups\n", verdict->group_total_count - verdict->group_count);
}

/* Writes the arrays of a program without a buffer assignment. */
static void arrays_write(struct buf *out, const struct verdict *verdict)
{
    const struct program_arrays *arrays = verdict->arrays;
    char size[SIZE_TEXT_BYTES];
    if (arrays == NULL || arrays->count == 0)
        return;
    buf_text(out, "\nWhat are its largest arrays?\n");
    for (uint32_t i = 0; i < arrays->count; i++) {
        const struct program_array *array = &arrays->items[i];
        buf_format(out, "  %12s  %u × ", size_text(size, (uint64_t)array->bytes), array->count);
        buf_printable(out, str_of(array->shape));
        buf_format(out, "  %s", program_arrays_role_words(array->role));
        buf_text(out, array->name[0] != '\0' ? "  " : "");
        buf_printable(out, str_of(array->name));
        buf_text(out, array->source[0] != '\0' ? "  " : "");
        buf_printable(out, str_of(array->source));
        buf_char(out, '\n');
    }
    if (arrays->total_count > arrays->count)
        buf_format(out, "  and %u smaller ones\n", arrays->total_count - arrays->count);
    line(out, "  ", verdict->arrays_sentence);
}

static void one_advice(struct buf *out, const struct verdict_advice *advice)
{
    char saves[SIZE_TEXT_BYTES], lands[SIZE_TEXT_BYTES];
    buf_text(out, advice->is_refuted ? "  - refuted by the compiler: " : "  - ");
    buf_printable(out, str_of(advice->title));
    if (advice->saves_bytes > 0)
        buf_format(out, ": saves %s", size_text(saves, (uint64_t)advice->saves_bytes));
    if (advice->lands_at_bytes >= 0)
        buf_format(out, "%s lands at %s", advice->saves_bytes > 0 ? "," : ":",
                   size_text(lands, (uint64_t)advice->lands_at_bytes));
    bool has_fits = advice->fits_text != NULL && !(advice->is_refuted && advice->fits == VERDICT_FITS_YES);
    buf_format(out, " (%s%s%s)\n", advice->is_refuted ? "as compiled" : verdict_confidence_name(advice->confidence),
               has_fits ? ", " : "", has_fits ? advice->fits_text : "");
    if (advice->predicted_bytes >= 0)
        buf_format(out, "      predicted: lands at %s\n", size_text(lands, (uint64_t)advice->predicted_bytes));
    if (advice->is_partial)
        line(out, "      ", advice->compiled);
    else if (advice->predicted_bytes < 0 && advice->compiled != NULL)
        line(out, "      not compiled: ", advice->compiled);
    if (advice->call[0] != '\0' && !advice->is_refuted)
        code_write(out, "      ", advice->call);
    if (advice->change != NULL)
        buf_format(out, "      memviewd whatif PATH --change='%s'\n", advice->change);
}

static void advice_write(struct buf *out, const struct verdict *verdict)
{
    if (verdict->advice_count == 0 && verdict->advice_sentence == NULL)
        return;
    buf_text(out, verdict->fits == VERDICT_FITS_YES ? "\nWhat would save more?\n" : "\nWhat will make it fit?\n");
    if (verdict->advice_sentence != NULL)
        line(out, "  ", verdict->advice_sentence);
    if (verdict->is_advice_idle) {
        buf_format(out, "  %u possible saving%s; --json lists %s\n", verdict->advice_count,
                   verdict->advice_count == 1 ? "" : "s", verdict->advice_count == 1 ? "it" : "them");
        for (uint32_t i = 0; i < verdict->advice_count; i++) /* what the compiler was asked about */
            if (verdict->advice[i].compiled != NULL)
                one_advice(out, &verdict->advice[i]);
        return;
    }
    for (uint32_t i = 0; i < verdict->advice_count && i < ADVICE_MAX; i++)
        one_advice(out, &verdict->advice[i]);
    if (verdict->advice_count > ADVICE_MAX)
        buf_format(out, "  and %u more; --json lists all\n", verdict->advice_count - ADVICE_MAX);
}

void write_verdict_text(const struct verdict *verdict, struct buf *out)
{
    const struct verdict_ledger *ledger = &verdict->ledger;
    line(out, "", verdict->sentence);
    if (strcmp(verdict->cause.text, verdict->sentence) != 0)
        line(out,
             verdict->fits == VERDICT_FITS_NO               ? "Cause: "
             : verdict->cause.kind == VERDICT_CAUSE_UNKNOWN ? ""
                                                            : "Largest: ",
             verdict->cause.text);
    fit_write(out, verdict);
    together_write(out, verdict->together);
    where_write(out, verdict);
    peak_write(out, verdict);
    arrays_write(out, verdict);
    advice_write(out, verdict);
    if (ledger->bar_count > 0) {
        buf_text(out, "\nLedger\n");
        for (uint32_t i = 0; i < ledger->bar_count; i++)
            size_write(out, ledger->bars[i].bytes, ledger->bars[i].label);
        line(out, "  ", ledger->sentence);
    }
    bool is_first = true;
    for (size_t i = 0; i < verdict->not_read_count; i++) {
        if (verdict->not_read[i].sentence == verdict->sentence)
            continue; /* said at the beginning */
        line(out, is_first ? "\nNote: " : "Note: ", verdict->not_read[i].sentence);
        is_first = false;
    }
    for (uint32_t i = 0; i < verdict->note_count; i++)
        line(out, is_first && i == 0 ? "\nNote: " : "Note: ", verdict->notes[i].text);
    for (uint32_t i = 0; i < verdict->step_count; i++)
        line(out,
             i == 0 ? (verdict->steps[i].is_command ? "\nNext\n    " : "\nNext\n  ")
                    : (verdict->steps[i].is_command ? "    " : "  "),
             verdict->steps[i].text);
}
