/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/read.h"

#include "read/oom/cursor.h"
#include "read/oom/handlers.h"
#include "read/oom/patterns.h"
#include "read/oom/vague.h"

static const struct oom_handler *const tables[] = {
    oom_compile_handlers, oom_report_handlers, oom_runtime_handlers, oom_gpu_handlers,
    oom_bfc_handlers,     oom_host_handlers,   oom_serving_handlers, oom_other_handlers,
    oom_shells_handlers,  oom_jvm_handlers,    oom_python_handlers,
};
enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]) };

/* By first letter, so that most bytes are passed with one look. */
struct firsts {
    uint16_t tables[256]; /* a bit for each table with an anchor that begins so */
    bool has_any[256];    /* an anchor or a pattern begins so */
};
_Static_assert(TABLE_COUNT <= 16, "a table has a bit");

static void firsts_fill(struct firsts *firsts, bool only_heads)
{
    memset(firsts, 0, sizeof(*firsts));
    for (size_t i = 0; i < TABLE_COUNT; i++)
        for (const struct oom_handler *handler = tables[i]; handler->anchor != NULL; handler++)
            if (handler->is_head || !only_heads) {
                unsigned char first = (unsigned char)handler->anchor[0];
                firsts->tables[first] = (uint16_t)(firsts->tables[first] | 1u << i);
                firsts->has_any[first] = true;
            }
    oom_pattern_firsts(firsts->has_any);
}

/* What stands at clean byte `at`: where to go on, or 0 when nothing does. */
static size_t read_at(struct oom_reader *reader, const struct firsts *firsts, size_t at)
{
    unsigned of_tables = firsts->tables[(unsigned char)reader->text.bytes[at]];
    for (size_t i = 0; of_tables >> i != 0; i++)
        for (const struct oom_handler *handler = tables[i]; of_tables >> i & 1 && handler->anchor != NULL; handler++) {
            size_t end = at;
            if (handler->anchor[0] != reader->text.bytes[at] || !oom_cursor_take(&reader->text, &end, handler->anchor))
                continue;
            size_t next = handler->read(reader, at, end);
            if (next > at)
                return next;
        }
    return oom_pattern_read(reader, at);
}

uint64_t oom_read_text(struct oom_reader *reader, uint64_t from_at, uint64_t to_at)
{
    const struct oom_text *text = &reader->text;
    struct firsts firsts;
    bool vague_firsts[256] = {false};
    firsts_fill(&firsts, false);
    oom_vague_firsts(vague_firsts);
    size_t at = oom_text_at(text, from_at > text->raw_at ? (size_t)(from_at - text->raw_at) : 0);
    while (at < text->length && text->raw_at + text->raw_of[at] < to_at) {
        const unsigned char first = (unsigned char)text->bytes[at];
        size_t next = firsts.has_any[first] ? read_at(reader, &firsts, at) : 0;
        if (next <= at && vague_firsts[first])
            next = oom_vague_read(reader, at);
        at = next > at ? next : at + 1;
    }
    uint64_t reached = at < text->length ? text->raw_at + text->raw_of[at] : text->raw_at + text->raw_length;
    return reached > to_at ? reached : to_at;
}

bool oom_read_head_within(const struct oom_reader *reader, size_t at, size_t within)
{
    const struct oom_text *text = &reader->text;
    struct firsts firsts;
    firsts_fill(&firsts, true);
    for (size_t end = at + within; at < end && at < text->length; at++) {
        unsigned char first = (unsigned char)text->bytes[at];
        if (firsts.has_any[first] && oom_pattern_is_at(reader, at))
            return true;
        unsigned of_tables = firsts.tables[first];
        for (size_t i = 0; of_tables >> i != 0; i++)
            for (const struct oom_handler *handler = tables[i]; of_tables >> i & 1 && handler->anchor != NULL;
                 handler++) {
                size_t next = at;
                if (handler->is_head && strlen(handler->anchor) > 4 && oom_cursor_take(text, &next, handler->anchor))
                    return true;
            }
    }
    return false;
}
