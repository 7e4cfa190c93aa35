/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/facts.h"

#include "base/size_text.h"
#include "plan/describe.h"
#include "read/hlo/shape.h"

int64_t facts_figure(const struct verdict_facts *facts, enum oom_figure_at at)
{
    const struct oom_figure *figure = facts->failure == NULL ? NULL : oom_figure(facts->failure, at);
    return figure == NULL || figure->value > INT64_MAX ? -1 : (int64_t)figure->value;
}

const char *facts_size(const struct verdict_facts *facts, int64_t bytes)
{
    return size_text_in(facts->arena, (uint64_t)facts_positive(bytes));
}

const char *facts_size_beside(const struct verdict_facts *facts, int64_t bytes, int64_t other)
{
    char text[SIZE_TEXT_BYTES];
    return arena_text(facts->arena,
                      str_of(size_text_beside(text, (uint64_t)facts_positive(bytes), (uint64_t)facts_positive(other))));
}

const char *facts_sentence(const struct verdict_facts *facts, const struct oom_sentence *sentence)
{
    const char *text = "";
    for (size_t i = 0; i < sentence->count; i++) {
        const struct oom_part *part = &sentence->parts[i];
        bool is_size = part->kind == OOM_PART_SIZE && part->text.data == NULL;
        struct str piece = is_size ? str_of(facts_size(facts, (int64_t)part->bytes)) : part->text;
        text = arena_format(facts->arena, "%s%.*s", text, (int)piece.length, piece.data);
    }
    return text;
}

void facts_note(const struct verdict_facts *facts, enum verdict_note_kind kind, const char *text)
{
    if (facts->out->note_count < VERDICT_NOTES_MAX)
        facts->out->notes[facts->out->note_count++] = (struct verdict_note){kind, text};
}

static const char *facts_place(const struct verdict_facts *facts, const struct hlo_detail *detail)
{
    struct describe_source source = describe_source(&facts->parts->plan->hlo, detail);
    struct str file = str_last_part(source.file);
    if (source.line <= 0)
        return "";
    return arena_format(facts->arena, "%.*s:%lld", (int)file.length, file.data, (long long)source.line);
}

const char *facts_why_no_plan(const struct verdict_facts *facts)
{
    size_t count = facts->parts->around.unnamed_count;
    const struct str name = facts->failure != NULL ? facts->failure->module.text : (struct str){0};
    if (count > 0 && name.data != NULL)
        return arena_format(facts->arena, "no program here of the name %.*s needs as much as the text asks for",
                            (int)name.length, name.data);
    return count == 0 ? "there is no plan of the program here"
           : count == 1
               ? "the text does not say that it is of the program here"
               : arena_format(facts->arena, "the text does not say which of the %zu programs here it is of", count);
}

const char *facts_source(const struct verdict_facts *facts, const struct plan_row *row)
{
    struct hlo_detail detail = describe_origin(facts->parts->plan, row);
    return facts_place(facts, &detail);
}

const char *facts_source_of(const struct verdict_facts *facts, uint32_t at)
{
    if (at == HLO_NONE)
        return "";
    struct hlo_detail detail = hlo_detail(&facts->parts->plan->hlo, at);
    return facts_place(facts, &detail);
}

const char *facts_shape(const struct verdict_facts *facts, const struct plan_row *row)
{
    facts->scratch->length = 0;
    if (row->buffer_at != PLAN_NONE)
        shape_text(facts->parts->plan->shapes[row->buffer_at], false, facts->scratch);
    return arena_text(facts->arena, describe_str(facts->scratch));
}

int64_t facts_arguments_bytes(const struct verdict_facts *facts)
{
    return facts->space == NULL || facts->total_bytes <= 0 ? -1 : facts->space->parameter_bytes;
}

int64_t facts_live_besides_bytes(const struct verdict_facts *facts)
{
    return facts_positive(facts->live.array_bytes - facts_positive(facts_arguments_bytes(facts)));
}
