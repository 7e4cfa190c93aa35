/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/draft.h"
#include "read/oom/constants.h"

#include "base/size_text.h"
#include "read/oom/chain.h"
#include "read/oom/cursor.h"
#include "read/oom/equal.h"
#include "read/oom/framework.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

/* How far before its sentence a status word and a code may stand. */
enum { STATUS_BYTES = 300, CODE_BYTES = 160 };

struct oom_reader *oom_draft_reader_new(struct arena *arena)
{
    struct oom_reader *reader = arena_array(arena, struct oom_reader, 1);
    reader->arena = arena;
    reader->failures = arena_array(arena, struct oom_failure, OOM_DRAFT_FAILURES);
    return reader;
}

static uint64_t input_at(const struct oom_text *text, size_t at)
{
    return text->raw_at + oom_text_range(text, at, at).at;
}

bool oom_draft_find_before(const struct oom_reader *reader, size_t at, const char *literal, size_t within,
                           size_t *found)
{
    return oom_cursor_find_before(&reader->text, at, literal, within, found) &&
           input_at(&reader->text, *found) >= reader->tail_at;
}

/* Clean byte `from`, or where the status word before it begins when no other sentence stands between. */
static size_t status_at(const struct oom_reader *reader, size_t from)
{
    static const char *const words[] = {"RESOURCE_EXHAUSTED", "Resourceexhausted", "ResourceExhausted",
                                        "INTERNAL:", "INVALID_ARGUMENT:"};
    size_t found;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (oom_draft_find_before(reader, from, words[i], STATUS_BYTES, &found))
            return found;
    return from;
}

/* "E1000:" at `at`, with a name behind it? */
static bool is_code(const struct oom_text *text, size_t at)
{
    const char *bytes = text->bytes + at;
    if (at + 7 > text->length || (bytes[0] != 'E' && bytes[0] != 'C') || bytes[5] != ':' ||
        !isalpha((unsigned char)bytes[6]))
        return false;
    for (int i = 1; i < 5; i++)
        if (!isdigit((unsigned char)bytes[i]))
            return false;
    size_t raw = text->raw_of[at];
    return raw == 0 || !isalnum((unsigned char)text->raw[raw - 1]);
}

static void code_read(struct oom_reader *reader, size_t from, struct oom_words *code)
{
    for (size_t i = 0; i <= CODE_BYTES && i <= from; i++)
        if (is_code(&reader->text, from - i) && input_at(&reader->text, from - i) >= reader->tail_at) {
            oom_draft_words(reader, code, from - i, from - i + 5);
            return;
        }
}

/* Did the compiler say shortly before `at` that the program takes more than the device has, of which its limit is three
 * quarters at least? */
static bool is_past_limit(const struct oom_compiled *planned, uint64_t at)
{
    enum { COMPILED = 12 << 10 };
    return planned->is_known && at >= planned->at && at - planned->at <= COMPILED &&
           planned->bytes / 4 > planned->limit_bytes / 3;
}

struct oom_failure *oom_draft_begin(struct oom_reader *reader, enum oom_family family, const char *form, size_t from,
                                    size_t to)
{
    static const char *const phases[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) phase,
#include "read/oom/families.def"
    };
    struct oom_draft *draft = &reader->draft;
    oom_draft_end(reader);
    draft->failure = (struct oom_failure){.family = family, .form = form, .phase = phases[family], .replica_count = 1};
    draft->failure.framework = oom_framework_of(&reader->frameworks, &reader->text, from, to, family);
    draft->text_length = 0;
    draft->left_out_count = draft->rounded_bytes = 0;
    draft->chunks = (struct oom_chunks){.used_count = 0};
    draft->is_weak = draft->has_dump = draft->is_dump_over = false;
    draft->is_open = true;
    for (size_t i = 0; i < OOM_LIST_COUNT; i++)
        draft->failure.lists[i].items = draft->buffers[i];
    draft->failure.notes = draft->notes;
    draft->failure.begin_at = input_at(&reader->text, status_at(reader, from));
    draft->failure.is_past_limit = is_past_limit(&reader->planned, draft->failure.begin_at);
    draft->is_constant = oom_constants_is(&reader->text, from, to);
    code_read(reader, from, &draft->failure.error_code);
    oom_draft_reach(reader, to);
    return &draft->failure;
}

bool oom_draft_takes(const struct oom_reader *reader, enum oom_family family, size_t at, size_t within)
{
    const struct oom_draft *draft = &reader->draft;
    uint64_t place = input_at(&reader->text, at);
    return draft->is_open && draft->failure.family == family && place >= draft->failure.begin_at &&
           place < draft->failure.end_at + within;
}

size_t oom_draft_reach(struct oom_reader *reader, size_t to)
{
    struct oom_failure *failure = &reader->draft.failure;
    struct oom_text_range range = oom_text_range(&reader->text, to > 0 ? to - 1 : 0, to);
    uint64_t end_at = reader->text.raw_at + range.at + range.length;
    if (end_at > failure->end_at)
        failure->end_at = end_at;
    if (end_at > reader->tail_at)
        reader->tail_at = end_at;
    return to;
}

/* ---- texts ---- */

typedef size_t text_writer(const struct oom_text *text, size_t from, size_t to, char *out, size_t room);

static void words_set(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to, text_writer *write)
{
    struct oom_draft *draft = &reader->draft;
    char *out = draft->text + draft->text_length;
    if (to <= from)
        return;
    size_t length = write(&reader->text, from, to, out, sizeof(draft->text) - draft->text_length);
    struct oom_text_range range = oom_text_range(&reader->text, from, to);
    *words = (struct oom_words){{out, length}, reader->text.raw_at + range.at, (uint32_t)range.length};
    draft->text_length += length;
}

void oom_draft_words(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to)
{
    words_set(reader, words, from, to, oom_text_words);
}

void oom_draft_name(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to)
{
    words_set(reader, words, from, to, oom_text_name);
}

void oom_draft_shape(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to)
{
    words_set(reader, words, from, to, oom_text_shape);
}

static size_t lower_write(const struct oom_text *text, size_t from, size_t to, char *out, size_t room)
{
    size_t length = to - from < room ? to - from : room;
    for (size_t i = 0; i < length; i++)
        out[i] = (char)tolower((unsigned char)text->bytes[from + i]);
    return length;
}

void oom_draft_lower(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to)
{
    words_set(reader, words, from, to, lower_write);
}

struct oom_buffer *oom_draft_buffer(struct oom_reader *reader, enum oom_list list)
{
    struct oom_buffers *buffers = &reader->draft.failure.lists[list];
    buffers->is_stated = true;
    if (buffers->count == OOM_DRAFT_BUFFERS)
        reader->draft.left_out_count++;
    else
        buffers->count++;
    struct oom_buffer *buffer = &buffers->items[buffers->count - 1];
    *buffer = (struct oom_buffer){.size = {.is_known = false}};
    return buffer;
}

void oom_draft_note(struct oom_reader *reader, const char *code, const char *text)
{
    struct oom_failure *failure = &reader->draft.failure;
    for (size_t i = 0; i < failure->note_count; i++)
        if (strcmp(failure->notes[i].code, code) == 0)
            return;
    if (failure->note_count < OOM_DRAFT_NOTES)
        reader->draft.notes[failure->note_count++] = (struct oom_note){code, text};
}

void oom_draft_note_owned(struct oom_reader *reader, const char *code, const char *format, ...)
{
    struct oom_draft *draft = &reader->draft;
    size_t room = sizeof(draft->text) - draft->text_length;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(draft->text + draft->text_length, room, format, arguments);
    va_end(arguments);
    if (length <= 0 || (size_t)length >= room)
        return;
    oom_draft_note(reader, code, draft->text + draft->text_length);
    draft->text_length += (size_t)length + 1;
}

/* ---- ending ---- */

static void words_keep(struct arena *arena, struct oom_words *words)
{
    if (words->text.data != NULL)
        words->text.data = arena_text(arena, words->text);
}

static void buffers_keep(struct arena *arena, struct oom_buffers *buffers)
{
    struct oom_buffer *items = arena_array(arena, struct oom_buffer, buffers->count + 1);
    for (size_t i = 0; i < buffers->count; i++) {
        items[i] = buffers->items[i];
        words_keep(arena, &items[i].shape);
        words_keep(arena, &items[i].op_name);
        words_keep(arena, &items[i].source_file);
        words_keep(arena, &items[i].label);
        words_keep(arena, &items[i].allocation_type);
    }
    buffers->items = items;
}

static void failure_keep(struct arena *arena, struct oom_failure *to, const struct oom_failure *from)
{
    *to = *from;
    words_keep(arena, &to->error_code);
    words_keep(arena, &to->memory_space);
    words_keep(arena, &to->module);
    words_keep(arena, &to->device);
    for (size_t i = 0; i < OOM_LIST_COUNT; i++)
        buffers_keep(arena, &to->lists[i]);
    struct oom_note *notes = arena_array(arena, struct oom_note, from->note_count + 1);
    for (size_t i = 0; i < from->note_count; i++)
        notes[i] = (struct oom_note){from->notes[i].code, arena_text(arena, str_of(from->notes[i].text))};
    to->notes = notes;
}

/* What the allocator's dump adds up to. */
static void chunks_sum_up(struct oom_reader *reader)
{
    struct oom_draft *draft = &reader->draft;
    struct oom_figure *figures = draft->failure.figures;
    if (draft->chunks.free_count > 0 && !figures[OOM_largest_free_bytes].is_known)
        figures[OOM_largest_free_bytes] = draft->chunks.largest_free;
    if (draft->chunks.used_count + draft->chunks.free_count > 0)
        oom_draft_note_owned(reader, "chunks", "The allocator lists %llu chunk%s in use (%s) and %llu free (%s).",
                             (unsigned long long)draft->chunks.used_count, draft->chunks.used_count == 1 ? "" : "s",
                             size_text((char[SIZE_TEXT_BYTES]){0}, draft->chunks.used_bytes),
                             (unsigned long long)draft->chunks.free_count,
                             size_text((char[SIZE_TEXT_BYTES]){0}, draft->chunks.free_bytes));
}

/* The failure before that the draft repeats, or -1. A weak one is an echo of a strong one with the same request. */
static ptrdiff_t equal_before(const struct oom_reader *reader)
{
    const struct oom_draft *draft = &reader->draft;
    for (size_t i = reader->failure_count; i-- > 0;) {
        const struct oom_failure *kept = &reader->failures[i];
        if (oom_equal_failures(kept, &draft->failure))
            return (ptrdiff_t)i;
        if (draft->is_weak != reader->is_weak[i] &&
            oom_equal_requests(kept, reader->rounded_bytes[i], &draft->failure, draft->rounded_bytes))
            return (ptrdiff_t)i;
    }
    return -1;
}

static void draft_join(struct oom_reader *reader, size_t at)
{
    struct oom_draft *draft = &reader->draft;
    struct oom_failure *kept = &reader->failures[at];
    uint64_t count = kept->replica_count;
    const enum oom_framework framework =
        draft->failure.framework < kept->framework ? kept->framework : draft->failure.framework;
    uint64_t last_end_at = draft->failure.end_at > kept->last_end_at ? draft->failure.end_at : kept->last_end_at;
    const char *devices;
    bool is_echo = draft->is_weak && !reader->is_weak[at], was_echo = !draft->is_weak && reader->is_weak[at];
    for (size_t i = 0; was_echo && i < OOM_FIGURE_COUNT; i++) /* the lower layer may know more */
        if (!draft->failure.figures[i].is_known)
            draft->failure.figures[i] = kept->figures[i];
    oom_chain_device_add(kept, &draft->failure.device, reader->arena);
    devices = kept->devices;
    if (was_echo || (!is_echo && oom_equal_richness(&draft->failure) > oom_equal_richness(kept)))
        failure_keep(reader->arena, kept, &draft->failure);
    kept->devices = devices;
    kept->last_end_at = last_end_at;
    reader->is_weak[at] = reader->is_weak[at] && draft->is_weak;
    kept->framework = framework; /* that not every copy tells */
    kept->replica_count = was_echo ? 1 : count + !is_echo;
}

static bool has_figure(const struct oom_failure *failure)
{
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        if (failure->figures[i].is_known)
            return true;
    return failure->lists[OOM_ALLOCATIONS].count > 0;
}

void oom_draft_end(struct oom_reader *reader)
{
    struct oom_draft *draft = &reader->draft;
    if (!draft->is_open)
        return;
    chunks_sum_up(reader);
    draft->failure.memory_class = oom_framework_memory(&draft->failure);
    if (draft->left_out_count > 0)
        oom_draft_note(reader, "buffers_left_out", "The list of buffers is longer than what is kept here.");
    draft->is_open = false;
    draft->failure.last_end_at = draft->failure.end_at;
    if (draft->is_constant && !has_figure(&draft->failure))
        return;
    ptrdiff_t before = equal_before(reader);
    if (before >= 0) {
        draft_join(reader, (size_t)before);
    } else if (reader->failure_count == OOM_DRAFT_FAILURES) {
        reader->left_out_count++;
    } else {
        reader->is_weak[reader->failure_count] = draft->is_weak;
        reader->rounded_bytes[reader->failure_count] = draft->rounded_bytes;
        failure_keep(reader->arena, &reader->failures[reader->failure_count++], &draft->failure);
    }
}
