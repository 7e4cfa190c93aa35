/* SPDX-License-Identifier: Apache-2.0
 * describe.c: see describe.h. */
#include "plan/describe.h"

#include <ctype.h>
#include <string.h>

void describe_stack(const struct hlo *hlo, uint32_t frame_at,
                    void (*visit)(void *context, const struct hlo_frame *frame), void *context)
{
    for (int i = 0; i < DESCRIBE_FRAMES && frame_at < hlo->frame_count; i++) {
        visit(context, &hlo->frames[frame_at]);
        frame_at = hlo->frames[frame_at].parent_at;
    }
}

static void frame_text(void *context, const struct hlo_frame *frame)
{
    struct buf *out = context;
    if (out->length > 0)
        buf_char(out, '\n');
    buf_add(out, frame->file.data, frame->file.length);
    buf_format(out, ":%d:%d", frame->line, frame->column);
}

void describe_stack_text(const struct hlo *hlo, uint32_t frame_at, struct buf *out)
{
    describe_stack(hlo, frame_at, frame_text, out);
}

static bool tells_source(const struct hlo *hlo, const struct hlo_detail *detail)
{
    return detail->source_file.length > 0 || detail->frame_at < hlo->frame_count;
}

struct hlo_detail describe_origin(const struct plan *plan, const struct plan_row *row)
{
    const struct hlo *hlo = &plan->hlo;
    uint32_t at = row->buffer_at == PLAN_NONE ? HLO_NONE : hlo->buffers[row->buffer_at].instruction_at;
    struct hlo_detail detail = {.frame_at = HLO_NONE};
    if (at != HLO_NONE)
        detail = hlo_detail(hlo, at);
    bool is_one_of_many = at != HLO_NONE && hlo->buffers[row->buffer_at].index_count > 0;
    if (row->named_by == HLO_NONE || row->named_by == at || (tells_source(hlo, &detail) && !is_one_of_many))
        return detail;
    struct hlo_detail naming = hlo_detail(hlo, row->named_by);
    return tells_source(hlo, &naming) ? naming : detail;
}

struct describe_source describe_innermost_source(const struct hlo *hlo, const struct hlo_detail *detail)
{
    if (detail->source_file.length > 0)
        return (struct describe_source){detail->source_file, detail->source_line};
    if (detail->frame_at >= hlo->frame_count)
        return (struct describe_source){{"", 0}, 0};
    const struct hlo_frame *frame = &hlo->frames[detail->frame_at];
    return (struct describe_source){frame->file, frame->line};
}

struct describe_source describe_source(const struct hlo *hlo, const struct hlo_detail *detail)
{
    struct describe_source innermost = describe_innermost_source(hlo, detail);
    uint32_t user_at = detail->frame_at < hlo->frame_count ? hlo->frames[detail->frame_at].user_at : HLO_NONE;
    if (user_at == HLO_NONE ||
        (innermost.file.length > 0 && library_of(innermost.file, hlo->libraries) <= hlo->frames[user_at].library))
        return innermost;
    return (struct describe_source){hlo->frames[user_at].file, hlo->frames[user_at].line};
}

void describe_name(const struct hlo *hlo, uint32_t buffer_at, struct str instruction_name, struct buf *out)
{
    const struct hlo_buffer *buffer = &hlo->buffers[buffer_at];
    buf_add(out, instruction_name.data, instruction_name.length);
    if (buffer->index_count == 0)
        return;
    for (uint32_t i = 0; i < buffer->index_count; i++)
        buf_format(out, i == 0 ? "{%lld" : ",%lld", (long long)hlo->shape_indices[buffer->index_first + i]);
    buf_char(out, '}');
}

/* Is this byte the second or a later one of a character? */
static bool is_inside(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

/* A character is not parted: of one that is none, any byte may go. */
struct str describe_shortened(struct str text, char room[DESCRIBE_SHORT])
{
    static const char ellipsis[] = "\xE2\x80\xA6";
    const size_t mark = sizeof(ellipsis) - 1, tail_max = DESCRIBE_SHORT / 3;
    if (text.length <= DESCRIBE_SHORT)
        return text;
    size_t head = DESCRIBE_SHORT - tail_max - mark, tail = tail_max;
    for (int i = 0; i < 3 && is_inside(text.data[head]); i++)
        head--;
    for (int i = 0; i < 3 && is_inside(text.data[text.length - tail]); i++)
        tail--;
    memcpy(room, text.data, head);
    memcpy(room + head, ellipsis, mark);
    memcpy(room + head + mark, text.data + text.length - tail, tail);
    return (struct str){room, head + mark + tail};
}

bool describe_short(struct json *json, const char *key, struct str text)
{
    char room[DESCRIBE_SHORT];
    json_key_string(json, key, describe_shortened(text, room));
    return text.length > DESCRIBE_SHORT;
}

void describe_short_element(struct json *json, struct str text)
{
    char room[DESCRIBE_SHORT];
    json_string(json, describe_shortened(text, room));
}

const char *describe_capital(const char *text, struct arena *arena)
{
    char *copy = arena_text(arena, str_of(text));
    copy[0] = (char)toupper((unsigned char)copy[0]);
    return copy;
}
