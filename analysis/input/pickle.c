/* SPDX-License-Identifier: Apache-2.0 */
#include "input/pickle.h"

#include "input/pickle_store.h"

#include <assert.h>

enum {
    WINDOW_BYTES = 1 << 16,
    MAX_STACK = 1 << 20,
    MAX_TEXT_BYTES = 1 << 24,
};

/* ---- bytes ---- */

/* At least `size` bytes in the window from `at` on, where the source has them. */
static void fill(struct pickle *pickle, size_t size)
{
    size_t rest = pickle->filled - pickle->at;
    if (rest >= size)
        return;
    memmove(pickle->window, pickle->window + pickle->at, rest);
    pickle->window_at += pickle->at;
    pickle->at = 0;
    pickle->filled = rest;
    while (pickle->filled < size) {
        int64_t got = pickle->source->read(pickle->source->context, pickle->window_at + pickle->filled,
                                           pickle->window + pickle->filled, WINDOW_BYTES - pickle->filled);
        if (got < 0) {
            err_set(pickle->err, ERR_io, pickle->window_at + pickle->filled, "the file cannot be read");
            arena_give_up(pickle->arena);
        }
        if (got == 0)
            return;
        pickle->filled += (size_t)got;
    }
}

/* `size` bytes, at most WINDOW_BYTES. */
static const unsigned char *bytes(struct pickle *pickle, size_t size)
{
    fill(pickle, size);
    if (pickle->filled - pickle->at < size) {
        err_set(pickle->err, ERR_truncated, pickle->window_at + pickle->filled,
                "the pickle ends inside the opcode that begins at byte %llu", (unsigned long long)pickle->opcode_at);
        arena_give_up(pickle->arena);
    }
    const unsigned char *found = pickle->window + pickle->at;
    pickle->at += size;
    return found;
}

/* A little-endian number of 1 to 8 bytes. */
static uint64_t number(struct pickle *pickle, size_t size)
{
    const unsigned char *from = bytes(pickle, size);
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

static void skip(struct pickle *pickle, uint64_t size)
{
    while (size > 0) {
        size_t part = size < WINDOW_BYTES ? (size_t)size : WINDOW_BYTES;
        bytes(pickle, part);
        arena_work(pickle->arena, part / 16 + 1);
        size -= part;
    }
}

/* ---- the stack ---- */

static void push(struct pickle *pickle, struct pickle_value value)
{
    if (pickle->depth == pickle->capacity) {
        if (pickle->depth >= MAX_STACK)
            pickle_store_refuse(pickle, ERR_limit, "more than 1,048,576 things are on the stack of the pickle");
        pickle->stack =
            arena_grown(pickle->arena, pickle->stack, pickle->depth + 1, &pickle->capacity, sizeof(*pickle->stack));
    }
    pickle->stack[pickle->depth++] = value;
}

/* The innermost mark bounds what can be taken off. */
static size_t bottom(const struct pickle *pickle)
{
    return pickle->mark_count > 0 ? pickle->marks[pickle->mark_count - 1] : 0;
}

/* So many things are above the innermost mark. */
static void need(struct pickle *pickle, size_t count)
{
    if (pickle->depth - bottom(pickle) < count)
        pickle_store_refuse(pickle, ERR_malformed, "an opcode takes more from the stack than is there");
}

static struct pickle_value top(struct pickle *pickle)
{
    need(pickle, 1);
    return pickle->stack[pickle->depth - 1];
}

static void mark(struct pickle *pickle)
{
    if (pickle->mark_count == PICKLE_MAX_MARKS)
        pickle_store_refuse(pickle, ERR_limit, "things are in each other more than 1,000 deep");
    pickle->marks[pickle->mark_count++] = pickle->depth;
}

/* Where the things above the last mark begin; the mark is gone. */
static size_t unmark(struct pickle *pickle)
{
    if (pickle->mark_count == 0)
        pickle_store_refuse(pickle, ERR_malformed, "an opcode needs a mark on the stack, and there is none");
    return pickle->marks[--pickle->mark_count];
}

/* ---- lists and dicts ---- */

static void append(struct pickle *pickle, size_t from)
{
    if (from == 0)
        pickle_store_refuse(pickle, ERR_malformed, "items come without a list to put them into");
    struct pickle_value parent = pickle->stack[from - 1];
    if (pickle_store_tag(parent) != TAG_LIST || from - 1 < bottom(pickle))
        pickle_store_refuse(pickle, ERR_malformed, "items are put into what is no list");
    for (size_t i = from; i < pickle->depth && pickle->take != NULL; i++) {
        uint32_t taken;
        struct pickle_value item = pickle->stack[i];
        if (pickle_store_tag(item) == TAG_DICT && pickle_store_list(pickle, item)->capacity != PICKLE_IS_TAKEN &&
            pickle->take(pickle->context, pickle, item, (uint32_t)pickle_store_payload(parent), &taken))
            pickle->stack[i] = pickle_store_take(pickle, item, taken);
        if (err_is_set(pickle->err))
            arena_give_up(pickle->arena);
    }
    pickle_store_add(pickle, pickle_store_list(pickle, parent), pickle->stack + from, pickle->depth - from);
    pickle->depth = from;
}

static void set_items(struct pickle *pickle, size_t from)
{
    if (from == 0 || from - 1 < bottom(pickle) || pickle_store_tag(pickle->stack[from - 1]) != TAG_DICT)
        pickle_store_refuse(pickle, ERR_malformed, "keys and values are put into what is no dict");
    if ((pickle->depth - from) % 2 != 0)
        pickle_store_refuse(pickle, ERR_malformed, "a key comes without its value");
    pickle_store_add(pickle, pickle_store_list(pickle, pickle->stack[from - 1]), pickle->stack + from,
                     pickle->depth - from);
    pickle->depth = from;
}

/* The `count` things on top become a tuple. */
static void collect(struct pickle *pickle, size_t count)
{
    need(pickle, count);
    struct pickle_value made = pickle_store_new(pickle, TAG_TUPLE);
    pickle_store_add(pickle, pickle_store_list(pickle, made), pickle->stack + pickle->depth - count, count);
    pickle->depth -= count;
    push(pickle, made);
}

/* ---- the memo ---- */

static void name_again(struct pickle *pickle, struct pickle_value value)
{
    if (pickle_store_tag(value) == TAG_LIST || pickle_store_tag(value) == TAG_DICT)
        pickle_store_list(pickle, value)->is_named_again = true;
}

/* Python numbers what it keeps from 0, without a gap. */
static void keep(struct pickle *pickle, uint64_t at)
{
    struct pickle_value value = top(pickle);
    if (at < pickle->memo.count)
        name_again(pickle, CHUNKS_AT(&pickle->memo, struct pickle_value, at));
    if (pickle_store_tag(value) == TAG_LIST || pickle_store_tag(value) == TAG_DICT) {
        struct pickle_list *list = pickle_store_list(pickle, value);
        list->is_named_again |= list->memo_at > 0 || at >= UINT32_MAX;
        list->memo_at = (uint32_t)at + 1;
    }
    if (at < pickle->memo.count)
        CHUNKS_AT(&pickle->memo, struct pickle_value, at) = value;
    else if (at == pickle->memo.count)
        CHUNKS_ADD(&pickle->memo, struct pickle_value, value);
    else
        pickle_store_refuse(pickle, ERR_malformed, "a place of the memo is filled before those that come first");
}

static void recall(struct pickle *pickle, uint64_t at)
{
    if (at >= pickle->memo.count)
        pickle_store_refuse(pickle, ERR_malformed, "a place of the memo is read that nothing was put into");
    struct pickle_value value = CHUNKS_AT(&pickle->memo, struct pickle_value, at);
    name_again(pickle, value);
    push(pickle, value);
}

/* ---- numbers and texts ---- */

static void push_int(struct pickle *pickle, int64_t value)
{
    if (value >= -((int64_t)1 << 59) && value < (int64_t)1 << 59) {
        push(pickle, pickle_store_value(TAG_INT, (uint64_t)value & (UINT64_MAX >> 4)));
        return;
    }
    CHUNKS_ADD(&pickle->numbers, int64_t, value);
    push(pickle, pickle_store_value(TAG_WIDE, pickle->numbers.count - 1));
}

/* Two's complement, the least byte first; addresses may need a ninth byte for the sign. */
static void push_long(struct pickle *pickle, uint64_t size)
{
    if (size > 9)
        pickle_store_refuse(pickle, ERR_unsupported, "a whole number does not fit in 64 bits");
    const unsigned char *from = bytes(pickle, (size_t)size);
    uint64_t value = 0;
    for (size_t i = 0; i < size && i < 8; i++)
        value |= (uint64_t)from[i] << (8 * i);
    if (size == 9 && from[8] != 0)
        pickle_store_refuse(pickle, ERR_unsupported, "a whole number does not fit in 64 bits");
    bool is_negative = size > 0 && size <= 8 && (from[size - 1] & 0x80) != 0;
    if (is_negative && size < 8)
        value |= UINT64_MAX << (8 * size);
    if (size == 9 && value > INT64_MAX)
        pickle_store_refuse(pickle, ERR_unsupported, "a whole number does not fit in 63 bits");
    push_int(pickle, (int64_t)value);
}

static void push_real(struct pickle *pickle)
{
    const unsigned char *from = bytes(pickle, 8);
    uint64_t bits = 0;
    double value;
    for (size_t i = 0; i < 8; i++)
        bits = bits << 8 | from[i];
    memcpy(&value, &bits, sizeof(value));
    CHUNKS_ADD(&pickle->numbers, double, value);
    push(pickle, pickle_store_value(TAG_REAL, pickle->numbers.count - 1));
}

static void push_text(struct pickle *pickle, uint64_t size)
{
    struct str text = {"", 0};
    if (size > MAX_TEXT_BYTES)
        pickle_store_refuse(pickle, ERR_limit, "a text is longer than 16 MiB");
    if (size <= WINDOW_BYTES) {
        text = (struct str){(const char *)bytes(pickle, (size_t)size), (size_t)size};
    } else {
        char *copy = arena_raw(pickle->arena, (size_t)size);
        for (size_t done = 0, part; done < size; done += part) {
            part = size - done < WINDOW_BYTES ? (size_t)(size - done) : WINDOW_BYTES;
            memcpy(copy + done, bytes(pickle, part), part);
        }
        text = (struct str){copy, (size_t)size};
    }
    push(pickle, pickle_store_value(TAG_TEXT, intern_number(&pickle->texts, text)));
}

static void push_bytes(struct pickle *pickle, uint64_t size)
{
    skip(pickle, size);
    push(pickle, pickle_store_value(TAG_BYTES, size & (UINT64_MAX >> 4)));
}

/* ---- opcodes ---- */

static _Noreturn void refuse_opcode(struct pickle *pickle, unsigned char opcode)
{
    const char *name = NULL;
    bool is_call = false;
    switch (opcode) {
#define OPCODE_READ(byte, word)
#define OPCODE_CALL(byte, word)                                                                                        \
    case byte:                                                                                                         \
        name = #word;                                                                                                  \
        is_call = true;                                                                                                \
        break;
#define OPCODE_OTHER(byte, word)                                                                                       \
    case byte: name = #word; break;
#define OPCODE(byte, word, what) OPCODE_##what(byte, word)
#include "input/pickle_opcodes.def"
#undef OPCODE
    default: break;
    }
    const unsigned long long at = pickle->opcode_at;
    if (name == NULL)
        err_set(pickle->err, ERR_malformed, pickle->opcode_at, "byte %llu of the pickle: 0x%02x is no opcode", at,
                opcode);
    else if (is_call)
        err_set(pickle->err, ERR_unsupported, pickle->opcode_at,
                "byte %llu of the pickle: opcode %s would run Python code, and an allocator snapshot holds data alone",
                at, name);
    else
        err_set(pickle->err, ERR_unsupported, pickle->opcode_at,
                "byte %llu of the pickle: opcode %s, and an allocator snapshot (protocols 2 to 5) has none of these",
                at, name);
    arena_give_up(pickle->arena);
}

static void check_protocol(struct pickle *pickle)
{
    uint64_t protocol = number(pickle, 1);
    if (protocol < 2 || protocol > 5)
        pickle_store_refuse(pickle, ERR_unsupported, "a pickle of a protocol other than 2 to 5");
}

/* Opcodes that read bytes of their own, or end. */
static bool step_value(struct pickle *pickle, unsigned char opcode)
{
    switch (opcode) {
    case 'K': push_int(pickle, (int64_t)number(pickle, 1)); return true;
    case 'M': push_int(pickle, (int64_t)number(pickle, 2)); return true;
    case 'J': push_int(pickle, (int32_t)(uint32_t)number(pickle, 4)); return true;
    case 0x8a: push_long(pickle, number(pickle, 1)); return true;
    case 0x8b: push_long(pickle, number(pickle, 4)); return true;
    case 'G': push_real(pickle); return true;
    case 0x8c:
    case 'U': push_text(pickle, number(pickle, 1)); return true;
    case 'X':
    case 'T': push_text(pickle, number(pickle, 4)); return true;
    case 0x8d: push_text(pickle, number(pickle, 8)); return true;
    case 'C': push_bytes(pickle, number(pickle, 1)); return true;
    case 'B': push_bytes(pickle, number(pickle, 4)); return true;
    case 0x8e: push_bytes(pickle, number(pickle, 8)); return true;
    case 'N': push(pickle, pickle_store_value(TAG_ATOM, ATOM_NONE)); return true;
    case 0x88: push(pickle, pickle_store_value(TAG_ATOM, ATOM_TRUE)); return true;
    case 0x89: push(pickle, pickle_store_value(TAG_ATOM, ATOM_FALSE)); return true;
    case 0x80: check_protocol(pickle); return true;
    case 0x95: bytes(pickle, 8); return true; /* how many bytes follow in one piece */
    default: return false;
    }
}

static bool step_collection(struct pickle *pickle, unsigned char opcode)
{
    switch (opcode) {
    case '}': push(pickle, pickle_store_new(pickle, TAG_DICT)); return true;
    case ']': push(pickle, pickle_store_new(pickle, TAG_LIST)); return true;
    case ')': push(pickle, pickle_store_new(pickle, TAG_TUPLE)); return true;
    case '(': mark(pickle); return true;
    case 'u': set_items(pickle, unmark(pickle)); return true;
    case 's':
        need(pickle, 3);
        set_items(pickle, pickle->depth - 2);
        return true;
    case 'e': append(pickle, unmark(pickle)); return true;
    case 'a':
        need(pickle, 2);
        append(pickle, pickle->depth - 1);
        return true;
    case 0x85: collect(pickle, 1); return true;
    case 0x86: collect(pickle, 2); return true;
    case 0x87: collect(pickle, 3); return true;
    case 't': {
        size_t from = unmark(pickle);
        collect(pickle, pickle->depth - from);
        return true;
    }
    default: return false;
    }
}

/* By how often they come. */
static void step(struct pickle *pickle, unsigned char opcode)
{
    switch (opcode) {
    case 'h': recall(pickle, number(pickle, 1)); return;
    case 'j': recall(pickle, number(pickle, 4)); return;
    case 0x94: keep(pickle, pickle->memo.count); return;
    case 'q': keep(pickle, number(pickle, 1)); return;
    case 'r': keep(pickle, number(pickle, 4)); return;
    case '0':
        need(pickle, 1);
        pickle->depth--;
        return;
    case '1': pickle->depth = unmark(pickle); return;
    case '.': pickle->has_stopped = true; return;
    default: break;
    }
    if (!step_value(pickle, opcode) && !step_collection(pickle, opcode))
        refuse_opcode(pickle, opcode);
}

static void run(void *context)
{
    struct pickle *pickle = context;
    while (!pickle->has_stopped) {
        pickle->opcode_at = pickle->window_at + pickle->at;
        unsigned char opcode = *bytes(pickle, 1);
        arena_work(pickle->arena, 1);
        step(pickle, opcode);
    }
    if (pickle->mark_count > 0 || pickle->depth != 1)
        pickle_store_refuse(pickle, ERR_malformed, "the pickle stops with something unfinished on its stack");
}

bool pickle_read(const struct source *source, pickle_take *take, void *context, struct arena *arena,
                 struct pickle **out, struct pickle_value *root, struct err *err)
{
    struct pickle *pickle = arena_array(arena, struct pickle, 1);
    *pickle = (struct pickle){.source = source, .arena = arena, .err = err, .take = take, .context = context};
    pickle->window = arena_raw(arena, WINDOW_BYTES);
    chunks_init(&pickle->memo, arena, sizeof(struct pickle_value));
    chunks_init(&pickle->lists, arena, sizeof(struct pickle_list));
    chunks_init(&pickle->free_lists, arena, sizeof(uint32_t));
    chunks_init(&pickle->numbers, arena, 8);
    intern_init(&pickle->texts, arena);
    *out = pickle;
    run(pickle);
    *root = pickle->stack[0];
    return true;
}

/* ---- for takers ---- */

struct pickle_value pickle_take_list(struct pickle *pickle, struct pickle_value list, uint32_t taken)
{
    assert(pickle_store_tag(list) == TAG_LIST && pickle_store_list(pickle, list)->capacity != PICKLE_IS_TAKEN);
    return pickle_store_take(pickle, list, taken);
}

uint64_t pickle_at(const struct pickle *pickle) { return pickle->opcode_at; }
struct err *pickle_err(struct pickle *pickle) { return pickle->err; }
