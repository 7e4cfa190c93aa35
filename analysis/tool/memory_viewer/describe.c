/* SPDX-License-Identifier: Apache-2.0
 * describe.c: see describe.h. */
#include "tool/memory_viewer/describe.h"

void describe_stack(const struct hlo *hlo, uint32_t frame_at, void (*visit)(void *context, const struct hlo_frame *frame),
                    void *context)
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

struct describe_source describe_source(const struct hlo *hlo, const struct hlo_detail *detail)
{
    if (detail->source_file.length > 0)
        return (struct describe_source){detail->source_file, detail->source_line};
    if (detail->frame_at >= hlo->frame_count)
        return (struct describe_source){{"", 0}, 0};
    const struct hlo_frame *frame = &hlo->frames[detail->frame_at];
    return (struct describe_source){frame->file, frame->line};
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
