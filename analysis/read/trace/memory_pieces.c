/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/memory_pieces.h"

#include "wire/number.h"
#include "xplane.fields.h"

struct piece {
    const struct memory_reading *whole;
    const struct source *source;
    struct memory_place from, to;
    struct arena arena;
    struct err err;
    struct stream stream;
    struct memory_events out;
    struct memory_reading reading;
    bool is_read;
    /* where it goes: */
    size_t first, count;       /* its events among all */
    size_t at[MEMORY_COLUMNS]; /* where its part of each column lies, in bytes */
    uint32_t *whats, *figures; /* numbers of its own, among all */
    uint16_t *pools;
    struct trace_joint nodes;
};

struct pieces {
    struct piece *items;
    size_t count;
    const struct workers *workers;
    struct arena *arena; /* scratch memory until the pieces are joined; a child of the caller's arena */
};

/* ---- cutting ---- */

/* An XEvent begins with metadata_id and offset_ps. An XStat has the same tag and a metadata_id, but no offset_ps. */
static bool is_event(const uint8_t *at, const uint8_t *end)
{
    if (at == end || *at != (XEVENT_METADATA_ID << 3 | WIRE_VARINT))
        return false;
    struct number id = number_at(at + 1, end);
    return id.after != NULL && id.after < end && *id.after == (XEVENT_OFFSET_PS << 3 | WIRE_VARINT);
}

/* Do events follow each other from `at` on? */
static bool is_chain(const uint8_t *at, const uint8_t *end, bool is_end_of_line)
{
    enum { ENOUGH = 16, FEW = 4 };
    size_t found = 0;
    for (; found < ENOUGH && at < end; found++) {
        struct number length = number_at(at + 1, end);
        if (*at != (XLINE_EVENTS << 3 | WIRE_BYTES))
            return false;
        if (length.after == NULL || length.value > (uint64_t)(end - length.after))
            return found >= FEW && !is_end_of_line;
        if (!is_event(length.after, length.after + length.value))
            return false;
        at = length.after + length.value;
    }
    return found > 0;
}

/* The first byte from `at` on that looks like the start of an event; the end of the line if there is none. */
static uint64_t event_find(struct stream *stream, struct stream_scope line, uint64_t at)
{
    enum { LOOK = 32 * 1024 };
    struct str window = stream_peek(stream, (struct stream_scope){at, line.end}, LOOK);
    const uint8_t *begin = (const uint8_t *)window.data, *end = begin + window.length;
    bool is_end_of_line = at + window.length == line.end;
    for (const uint8_t *byte = begin; byte < end; byte++)
        if (is_chain(byte, end, is_end_of_line))
            return at + (uint64_t)(byte - begin);
    return line.end;
}

/* The place after `bytes` of all lines, or a little later. */
static struct memory_place place_of(const struct memory_reading *whole, size_t line_count, uint64_t bytes)
{
    const struct stream_scope *lines = whole->plane->lines;
    size_t line = 0;
    for (; line < line_count && bytes >= lines[line].end - lines[line].at; line++)
        bytes -= lines[line].end - lines[line].at;
    if (line == line_count)
        return (struct memory_place){line_count, 0};
    if (bytes == 0)
        return (struct memory_place){line, lines[line].at};
    uint64_t at = event_find(whole->stream, lines[line], lines[line].at + bytes);
    if (at < lines[line].end)
        return (struct memory_place){line, at};
    line++;
    return (struct memory_place){line, line < line_count ? lines[line].at : 0};
}

static bool is_later(struct memory_place place, struct memory_place other)
{
    return place.line != other.line ? place.line > other.line : place.at > other.at;
}

/* One piece for each worker, if the pieces are large enough to be worth it. */
static struct pieces memory_pieces_cut(struct memory_reading *whole, const struct workers *workers, size_t line_count)
{
    const struct stream_scope *lines = whole->plane->lines;
    const struct source *source = whole->stream->source;
    struct pieces pieces = {.count = 0, .workers = workers};
    uint64_t total_bytes = 0;
    if (workers == NULL || workers->count < 2 || source->read_apart == NULL)
        return pieces;
    for (size_t i = 0; i < line_count; i++)
        total_bytes += lines[i].end - lines[i].at;
    size_t count = workers_slices(workers, total_bytes);
    if (count < 2)
        return pieces;
    pieces.arena = arena_child(whole->arena);
    struct source *apart = arena_array(pieces.arena, struct source, 1);
    *apart = (struct source){.context = source->context,
                             .read = source->read_apart,
                             .size_bytes = source->size_bytes,
                             .read_apart = source->read_apart};
    pieces.items = arena_array(pieces.arena, struct piece, count);
    struct memory_place from = {0, lines[0].at}, end = {line_count, 0};
    for (size_t i = 1; i <= count; i++) {
        struct memory_place to = i < count ? place_of(whole, line_count, total_bytes / count * i) : end;
        if (!is_later(to, from))
            continue;
        pieces.items[pieces.count++] = (struct piece){.whole = whole, .source = apart, .from = from, .to = to};
        from = to;
    }
    return pieces;
}

/* ---- reading ---- */

static void piece_fill(void *context)
{
    struct piece *piece = context;
    struct arena *scratch = arena_child(&piece->arena);
    stream_init(&piece->stream, piece->source, scratch, &piece->err);
    memory_reading_init(&piece->reading, &piece->stream, &piece->out, &piece->arena, scratch);
    piece->reading.plane = piece->whole->plane;
    if (piece->whole->encoded != NULL) {
        struct trace_encoded *encoded = arena_array(scratch, struct trace_encoded, 1);
        *encoded = *piece->whole->encoded;
        encoded->arena = scratch;
        piece->reading.encoded = encoded;
    }
    memory_reading_lines(&piece->reading, piece->from, piece->to);
}

static void piece_read(void *task, size_t at)
{
    const struct pieces *pieces = task;
    struct piece *piece = &pieces->items[at];
    piece->err = (struct err)ERR_INIT;
    arena_share(&piece->arena, piece->whole->arena, pieces->count, &piece->err);
    piece->is_read = arena_try(&piece->arena, piece_fill, piece) && !err_is_set(&piece->err) && !piece->reading.is_torn;
}

/* ---- joining ---- */

static uint64_t events_read(const struct memory_reading *reading)
{
    uint64_t count = 0;
    for (size_t i = 0; i < reading->lines.count; i++)
        count += CHUNKS_AT(&reading->lines, struct trace_line, i).event_count;
    return count;
}

/* Would a single reader have come to the same? The limits that each piece kept must hold for all pieces together. */
static bool is_joinable(const struct pieces *pieces)
{
    uint64_t event_count = 0, pool_count = 0;
    int64_t sum_bytes = 0;
    bool is = true;
    for (size_t i = 0; i < pieces->count && is; i++) {
        const struct piece *piece = &pieces->items[i];
        is = piece->is_read && piece->reading.sum_bytes <= MEMORY_MAX_BYTES - sum_bytes;
        sum_bytes += is ? piece->reading.sum_bytes : 0;
        event_count += is ? events_read(&piece->reading) : 0;
        pool_count += is ? table_count(&piece->reading.pools) : 0;
    }
    return is && event_count < TRACE_OUTER_NODE && pool_count < MEMORY_POOLS_MAX;
}

static uint64_t key_joined(struct memory_reading *whole, const struct piece *piece, uint64_t key)
{
    if (key >> 62 != KEY_TEXT >> 62)
        return key;
    return KEY_TEXT | intern_number(&whole->texts, piece->reading.texts.items[KEY_VALUE(key)]);
}

/* Maps the piece's own indices (of texts, figures, …) to indices of the joined tables. */
static void numbers_join(struct memory_reading *whole, struct piece *piece)
{
    const struct memory_reading *part = &piece->reading;
    size_t what_count = table_count(&part->whats), figures_count = table_count(&part->figures),
           pool_count = table_count(&part->pools);
    piece->whats = arena_array(part->scratch, uint32_t, what_count + 1);
    piece->figures = arena_array(part->scratch, uint32_t, figures_count + 1);
    piece->pools = arena_array(part->scratch, uint16_t, pool_count + 1);
    for (size_t i = 0; i < pool_count; i++) {
        uint64_t key = key_joined(whole, piece, *table_key(&part->pools, i));
        piece->pools[i] = (uint16_t)table_number(&whole->pools, &key);
    }
    for (size_t i = 0; i < what_count; i++) {
        const uint64_t *key = table_key(&part->whats, i);
        uint64_t joined[4] = {key_joined(whole, piece, key[0]), key_joined(whole, piece, key[1]),
                              key_joined(whole, piece, key[2]), key[3]};
        piece->whats[i] = table_number(&whole->whats, joined);
    }
    for (size_t i = 0; i < figures_count; i++)
        piece->figures[i] = table_number(&whole->figures, table_key(&part->figures, i));
}

/* The first line of a piece may continue the last line of the piece before it. */
static void lines_join(struct memory_reading *whole, const struct memory_reading *part, struct memory_place from)
{
    bool is_resumed = from.line < whole->lines.count;
    if (is_resumed) {
        struct trace_line *line = chunks_at(&whole->lines, from.line);
        const struct trace_line *rest = chunks_at(&part->lines, 0);
        line->timestamp_ns = rest->timestamp_ns;
        line->event_count += rest->event_count;
        line->damaged_count += rest->damaged_count;
    }
    for (size_t i = is_resumed; i < part->lines.count; i++)
        CHUNKS_ADD(&whole->lines, struct trace_line, CHUNKS_AT(&part->lines, struct trace_line, i));
    for (size_t i = 0; i < part->given_steps.count; i++)
        CHUNKS_ADD(&whole->given_steps, int32_t, CHUNKS_AT(&part->given_steps, int32_t, i));
}

static void counts_join(struct memory_events *out, const struct memory_events *part)
{
    out->count += part->count;
    out->damaged_count += part->damaged_count;
    out->aggregated_count += part->aggregated_count;
    out->missing_count += part->missing_count;
    out->absurd_count += part->absurd_count;
    out->pool_overflow_count += part->pool_overflow_count;
    out->encoded_count += part->encoded_count;
    out->unparsed_count += part->unparsed_count;
    out->unnamed_count += part->unnamed_count;
    out->untold_count += part->untold_count;
}

/* ---- columns ---- */

/* Joins columns by remapping pages; values are copied only to close the gap up to the next page boundary. */
static void columns_take(const struct pieces *pieces)
{
    struct column *columns[MEMORY_COLUMNS], *intos[MEMORY_COLUMNS];
    memory_reading_columns(&pieces->items[0].out, intos);
    for (size_t c = 0; c < MEMORY_COLUMNS; c++) {
        size_t end = 0;
        for (size_t p = 0; p < pieces->count; p++) {
            struct piece *piece = &pieces->items[p];
            memory_reading_columns(&piece->out, columns);
            column_resize(columns[c], piece->count);
            piece->at[c] = end;
            end += column_whole_bytes(columns[c]);
        }
        column_resize(intos[c], end / intos[c]->width);
        for (size_t p = 1; p < pieces->count; p++) {
            memory_reading_columns(&pieces->items[p].out, columns);
            column_take(intos[c], pieces->items[p].at[c], columns[c]);
        }
    }
}

#define CLOSE(type, value)                                                                                             \
    for (size_t i = 0; i < piece->count; i++) {                                                                        \
        type item = ((const type *)from)[i];                                                                           \
        ((type *)into)[i] = (value);                                                                                   \
    }

/* Moves every piece's part of a column behind that of the piece before, and translates indices to the joined tables. */
static void column_close(void *task, size_t at)
{
    const struct pieces *pieces = task;
    struct memory_events *out = &pieces->items[0].out;
    struct column *columns[MEMORY_COLUMNS];
    memory_reading_columns(out, columns);
    const struct column *column = columns[at];
    for (size_t p = 1; p < pieces->count; p++) {
        const struct piece *piece = &pieces->items[p];
        void *from = column->items + piece->at[at], *into = column->items + piece->first * column->width;
        if (column == &out->what) {
            CLOSE(uint32_t, piece->whats[item])
        } else if (column == &out->figures) {
            CLOSE(uint32_t, piece->figures[item])
        } else if (column == &out->pool) {
            CLOSE(uint16_t, piece->pools[item])
        } else if (column == &out->step) { /* a node's so far */
            CLOSE(uint32_t, trace_joint_node(&piece->nodes, item))
        } else {
            memmove(into, from, piece->count * column->width);
        }
    }
}

/* Appends the other pieces to the first. */
static void pieces_join(void *context)
{
    struct pieces *pieces = context;
    struct piece *first = &pieces->items[0];
    first->count = first->out.count;
    for (size_t i = 1; i < pieces->count; i++) {
        struct piece *piece = &pieces->items[i];
        piece->first = first->out.count;
        piece->count = piece->out.count;
        numbers_join(&first->reading, piece);
        lines_join(&first->reading, &piece->reading, piece->from);
        trace_groups_join(first->reading.groups, piece->reading.groups, &piece->nodes);
        counts_join(&first->out, &piece->out);
    }
    assert(first->out.count == pieces->items[pieces->count - 1].first + pieces->items[pieces->count - 1].count);
    columns_take(pieces);
    workers_run(pieces->workers, MEMORY_COLUMNS, column_close, pieces);
    for (size_t i = 1; i < pieces->count; i++)
        arena_free(pieces->items[i].reading.scratch);
}

/* Hands the result, which the first piece holds, to the caller's reading. */
static void take_over(struct memory_reading *whole, struct piece *first)
{
    struct column *columns[MEMORY_COLUMNS], *intos[MEMORY_COLUMNS];
    struct memory_reading *part = &first->reading;
    arena_allot_work(whole->arena, arena_work_left(&first->arena));
    arena_adopt(whole->arena, &first->arena);
    trace_groups_move(part->groups, whole->arena);
    counts_join(whole->out, &first->out);
    memory_reading_columns(whole->out, intos);
    memory_reading_columns(&first->out, columns);
    for (size_t c = 0; c < MEMORY_COLUMNS; c++)
        *intos[c] = *columns[c];
    part->out = whole->out;
    part->arena = whole->arena;
    part->stream = whole->stream;
    part->encoded = whole->encoded;
    *whole = *part;
}

/* False when too little of the memory limit or of the work budget is left. */
static bool memory_pieces_join(struct memory_reading *whole, struct pieces *pieces)
{
    struct piece *first = &pieces->items[0];
    uint64_t work_left = 0;
    for (size_t i = 0; i < pieces->count; i++)
        work_left += arena_work_left(&pieces->items[i].arena);
    for (size_t i = 1; i < pieces->count; i++)
        arena_adopt(&first->arena, &pieces->items[i].arena);
    first->arena.limit_bytes = arena_left_bytes(whole->arena);
    arena_allot_work(&first->arena, work_left);
    if (!arena_try(&first->arena, pieces_join, pieces))
        return false;
    take_over(whole, first);
    return true;
}

/* False when the pieces cannot be joined: a cut was no event start, or a limit is passed. `whole` is unchanged then. */
static bool read_apart(struct memory_reading *whole, struct pieces *pieces)
{
    /* Reading in pieces and then again in one go costs a hostile file at most twice its work budget. */
    workers_run(pieces->workers, pieces->count, piece_read, pieces);
    bool is_joined = is_joinable(pieces) && memory_pieces_join(whole, pieces);
    for (size_t i = 0; i < pieces->count; i++)
        arena_free(&pieces->items[i].arena);
    return is_joined;
}

void memory_pieces_read(struct memory_reading *reading, const struct workers *workers)
{
    struct memory_events *out = reading->out;
    size_t all_count = reading->plane->line_count,
           line_count = all_count < MEMORY_LINES_MAX ? all_count : MEMORY_LINES_MAX;
    struct pieces pieces = memory_pieces_cut(reading, workers, line_count);
    bool is_joined = pieces.count > 1 && read_apart(reading, &pieces);
    if (pieces.arena != NULL)
        arena_free(pieces.arena);
    if (!is_joined)
        memory_reading_lines(reading, (struct memory_place){0, 0}, (struct memory_place){line_count, 0});
    out->line_overflow_count = all_count - line_count;
    out->piece_count = is_joined ? pieces.count : 1;
}
