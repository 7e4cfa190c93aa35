/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/pickle.h"

#include "read/torch/pickle_stack.h"

#include <assert.h>

/* ---- bytes ---- */

/* `size` bytes, at most PICKLE_WINDOW_BYTES. */
static const unsigned char *bytes(struct pickle *pickle, size_t size)
{
    if (pickle->filled - pickle->at < size)
        pickle_stack_fill(pickle, size);
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
static uint64_t pickle_number(struct pickle *pickle, size_t size)
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
        size_t part = size < PICKLE_WINDOW_BYTES ? (size_t)size : PICKLE_WINDOW_BYTES;
        bytes(pickle, part);
        arena_work(pickle->arena, part / 16 + 1);
        size -= part;
    }
}

/* The `count` things on top become a tuple. */
static void pickle_collect(struct pickle *pickle, size_t count)
{
    pickle_stack_need(pickle, count);
    struct pickle_value made = pickle_store_new(pickle, TAG_TUPLE);
    pickle_store_add(pickle, pickle_store_list(pickle, made), pickle->stack + pickle->depth - count, count);
    pickle->depth -= count;
    pickle_stack_push(pickle, made);
}

/* ---- the memo ---- */

static void name_again(struct pickle *pickle, struct pickle_value value)
{
    if (pickle_store_tag(value) == TAG_LIST || pickle_store_tag(value) == TAG_DICT)
        pickle_store_list(pickle, value)->is_named_again = true;
}

/* Python numbers what it keeps from 0, without a gap. */
static void pickle_keep(struct pickle *pickle, uint64_t at)
{
    struct pickle_value value = pickle_stack_top(pickle);
    if (at < pickle->memo.count)
        name_again(pickle, pickle_store_of_cell(pickle, CHUNKS_AT(&pickle->memo, uint32_t, at)));
    if (pickle_store_tag(value) == TAG_LIST || pickle_store_tag(value) == TAG_DICT) {
        struct pickle_list *list = pickle_store_list(pickle, value);
        list->is_named_again |= list->memo_at > 0 || at >= UINT32_MAX;
        list->memo_at = (uint32_t)at + 1;
    }
    if (at < pickle->memo.count)
        CHUNKS_AT(&pickle->memo, uint32_t, at) = pickle_store_cell(pickle, value);
    else if (at == pickle->memo.count)
        CHUNKS_ADD(&pickle->memo, uint32_t, pickle_store_cell(pickle, value));
    else
        pickle_store_refuse(pickle, ERR_malformed, "a place of the memo is filled before those that come first");
}

static inline void recall(struct pickle *pickle, uint64_t at)
{
    if (at >= pickle->memo.count)
        pickle_store_refuse(pickle, ERR_malformed, "a place of the memo is read that nothing was put into");
    struct pickle_value value = pickle_store_of_cell(pickle, CHUNKS_AT(&pickle->memo, uint32_t, at));
    name_again(pickle, value);
    pickle_stack_push(pickle, value);
}

/* Stacks are long rows of frames that were named before: without a look at what else an opcode may be. */
static void recall_row(struct pickle *pickle)
{
    enum { ROW_BYTES = 5 };
    recall(pickle, pickle_number(pickle, ROW_BYTES - 1));
    while (pickle->filled - pickle->at >= ROW_BYTES && pickle->window[pickle->at] == 'j') {
        const unsigned char *from = pickle->window + pickle->at;
        pickle->opcode_at = pickle->window_at + pickle->at;
        pickle->at += ROW_BYTES;
        arena_work(pickle->arena, 1);
        recall(pickle, from[1] | (uint32_t)from[2] << 8 | (uint32_t)from[3] << 16 | (uint32_t)from[4] << 24);
    }
}

/* ---- numbers and texts ---- */

/* Two's complement, the least byte first. */
static void push_long(struct pickle *pickle, uint64_t size)
{
    enum { ROUGH_BYTES = 128 }; /* more than a double holds: it is infinite then */
    uint64_t value = 0;
    double rough = 0, unit = 1;
    unsigned char last = 0;
    for (uint64_t i = 0; i < size;) {
        size_t part = size - i < PICKLE_WINDOW_BYTES ? (size_t)(size - i) : PICKLE_WINDOW_BYTES;
        const unsigned char *from = bytes(pickle, part);
        arena_work(pickle->arena, part / 16 + 1);
        last = from[part - 1];
        for (size_t k = 0; k < part && i + k <= ROUGH_BYTES; k++, unit *= 256) {
            value |= i + k < 8 ? (uint64_t)from[k] << (8 * (i + k)) : 0;
            rough += (double)from[k] * unit;
        }
        i += part;
    }
    const bool is_negative = (last & 0x80) != 0;
    if (is_negative && size < 8)
        value |= UINT64_MAX << (8 * size);
    if (size <= 8 || (size == 9 && last == 0 && value <= INT64_MAX)) /* a ninth byte for the sign alone */
        pickle_stack_push_int(pickle, (int64_t)value);
    else
        pickle_stack_push_real(pickle, is_negative ? rough - unit : rough);
}

static void push_real(struct pickle *pickle)
{
    const unsigned char *from = bytes(pickle, 8);
    uint64_t bits = 0;
    double value;
    for (size_t i = 0; i < 8; i++)
        bits = bits << 8 | from[i];
    memcpy(&value, &bits, sizeof(value));
    pickle_stack_push_real(pickle, value);
}

static void push_bytes(struct pickle *pickle, uint64_t size)
{
    skip(pickle, size);
    pickle_stack_push(pickle, pickle_store_value(TAG_BYTES, size & (UINT64_MAX >> 4)));
}

static void push_text(struct pickle *pickle, uint64_t size)
{
    struct str text = {"", 0};
    if (size > PICKLE_MAX_TEXT_BYTES) {
        push_bytes(pickle, size);
        return;
    }
    if (size <= PICKLE_WINDOW_BYTES) {
        text = (struct str){(const char *)bytes(pickle, (size_t)size), (size_t)size};
    } else {
        char *copy = arena_raw(pickle->arena, (size_t)size);
        for (size_t done = 0, part; done < size; done += part) {
            part = size - done < PICKLE_WINDOW_BYTES ? (size_t)(size - done) : PICKLE_WINDOW_BYTES;
            memcpy(copy + done, bytes(pickle, part), part);
        }
        text = (struct str){copy, (size_t)size};
    }
    pickle_stack_push_text(pickle, text);
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
#include "read/torch/pickle_opcodes.def"
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
    uint64_t protocol = pickle_number(pickle, 1);
    if (protocol < 2 || protocol > 5)
        pickle_store_refuse(pickle, ERR_unsupported, "a pickle of a protocol other than 2 to 5");
}

/* Opcodes that read bytes of their own, or end. */
static bool step_value(struct pickle *pickle, unsigned char opcode)
{
    switch (opcode) {
    case 'K': pickle_stack_push_int(pickle, (int64_t)pickle_number(pickle, 1)); return true;
    case 'M': pickle_stack_push_int(pickle, (int64_t)pickle_number(pickle, 2)); return true;
    case 'J': pickle_stack_push_int(pickle, (int32_t)(uint32_t)pickle_number(pickle, 4)); return true;
    case 0x8a: push_long(pickle, pickle_number(pickle, 1)); return true;
    case 0x8b: push_long(pickle, pickle_number(pickle, 4)); return true;
    case 'G': push_real(pickle); return true;
    case 0x8c:
    case 'U': push_text(pickle, pickle_number(pickle, 1)); return true;
    case 'X':
    case 'T': push_text(pickle, pickle_number(pickle, 4)); return true;
    case 0x8d: push_text(pickle, pickle_number(pickle, 8)); return true;
    case 'C': push_bytes(pickle, pickle_number(pickle, 1)); return true;
    case 'B': push_bytes(pickle, pickle_number(pickle, 4)); return true;
    case 0x8e: push_bytes(pickle, pickle_number(pickle, 8)); return true;
    case 'N': pickle_stack_push(pickle, pickle_store_value(TAG_ATOM, ATOM_NONE)); return true;
    case 0x88: pickle_stack_push(pickle, pickle_store_value(TAG_ATOM, ATOM_TRUE)); return true;
    case 0x89: pickle_stack_push(pickle, pickle_store_value(TAG_ATOM, ATOM_FALSE)); return true;
    case 0x80: check_protocol(pickle); return true;
    case 0x95: bytes(pickle, 8); return true; /* how many bytes follow in one piece */
    default: return false;
    }
}

static bool step_collection(struct pickle *pickle, unsigned char opcode)
{
    switch (opcode) {
    case '}': pickle_stack_push(pickle, pickle_store_new(pickle, TAG_DICT)); return true;
    case ']': pickle_stack_push(pickle, pickle_store_new(pickle, TAG_LIST)); return true;
    case ')': pickle_stack_push(pickle, pickle_store_new(pickle, TAG_TUPLE)); return true;
    case '(': pickle_stack_mark(pickle); return true;
    case 'u': pickle_stack_set_items(pickle, pickle_stack_unmark(pickle)); return true;
    case 's':
        pickle_stack_need(pickle, 3);
        pickle_stack_set_items(pickle, pickle->depth - 2);
        return true;
    case 'e': pickle_stack_append(pickle, pickle_stack_unmark(pickle)); return true;
    case 'a':
        pickle_stack_need(pickle, 2);
        pickle_stack_append(pickle, pickle->depth - 1);
        return true;
    case 0x85: pickle_collect(pickle, 1); return true;
    case 0x86: pickle_collect(pickle, 2); return true;
    case 0x87: pickle_collect(pickle, 3); return true;
    case 't': {
        size_t from = pickle_stack_unmark(pickle);
        pickle_collect(pickle, pickle->depth - from);
        return true;
    }
    default: return false;
    }
}

/* By how often they come. */
static void pickle_step(struct pickle *pickle, unsigned char opcode)
{
    switch (opcode) {
    case 'h': recall(pickle, pickle_number(pickle, 1)); return;
    case 'j': recall_row(pickle); return;
    case 0x94: pickle_keep(pickle, pickle->memo.count); return;
    case 'q': pickle_keep(pickle, pickle_number(pickle, 1)); return;
    case 'r': pickle_keep(pickle, pickle_number(pickle, 4)); return;
    case '0':
        pickle_stack_need(pickle, 1);
        pickle->depth--;
        return;
    case '1': pickle->depth = pickle_stack_unmark(pickle); return;
    case '.': pickle->has_stopped = true; return;
    default: break;
    }
    if (!step_value(pickle, opcode) && !step_collection(pickle, opcode))
        refuse_opcode(pickle, opcode);
}

static void pickle_run(void *context)
{
    struct pickle *pickle = context;
    while (!pickle->has_stopped) {
        pickle->opcode_at = pickle->window_at + pickle->at;
        unsigned char opcode = *bytes(pickle, 1);
        arena_work(pickle->arena, 1);
        pickle_step(pickle, opcode);
    }
    if (pickle->mark_count > 0 || pickle->depth != 1)
        pickle_store_refuse(pickle, ERR_malformed, "the pickle stops with something unfinished on its stack");
}

bool pickle_read(const struct source *source, pickle_take *take, void *context, struct arena *arena,
                 struct pickle **out, struct pickle_value *root, struct err *err)
{
    const struct pickle begin = {
        .source = source, .arena = arena, .err = err, .take = take, .context = context, .word = "pickle"};
    struct pickle *pickle = pickle_stack_new(&begin);
    *out = pickle;
    pickle_run(pickle);
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
