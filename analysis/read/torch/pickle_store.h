/* SPDX-License-Identifier: Apache-2.0
 * pickle_store.h: what a pickle is made of while it is read: values in 8 bytes, lists and dicts whose places are used
 * again. Between what reads (pickle_stack.h) and pickle_value.c. */
#pragma once

#include "base/chunks.h"
#include "base/intern.h"
#include "read/torch/pickle.h"

/* Python puts a thousand items at a time on the stack, and as many keys and values. */
enum { PICKLE_MAX_MARKS = 1000, PICKLE_SMALL_ITEMS = 256 }; /* of blocks of no more items each size is used again */

/* Bits of a value: kind in the lowest four, 60 above. */
enum pickle_tag {
    TAG_ATOM, /* None, False, True */
    TAG_INT,
    TAG_WIDE, /* place among the wide numbers: does not fit in 60 bits */
    TAG_REAL,
    TAG_TEXT,
    TAG_BYTES,
    TAG_LIST,
    TAG_TUPLE,
    TAG_DICT,
    TAG_TAKEN,
    TAG_MEMO = 15, /* in the memo alone: place in wide_memo */
};
enum { ATOM_NONE, ATOM_FALSE, ATOM_TRUE };
#define PICKLE_IS_TAKEN UINT32_MAX /* as a capacity: `count` is the taker's number */

struct pickle_list { /* or tuple, or dict: there an item is a key or a value */
    struct pickle_value *items;
    uint32_t count, capacity;
    uint32_t memo_at;    /* its place in the memo + 1; 0: in none */
    bool is_named_again; /* the memo gave it out, or has it twice: others may still name it */
};

/* Blocks of equal capacity that are used again. */
struct pickle_free_block {
    struct pickle_free_block *next;
};

struct pickle {
    const struct source *source;
    struct arena *arena;
    struct err *err;
    pickle_take *take;
    void *context;
    const char *word; /* what is read: "pickle", "JSON" */
    unsigned char *window;
    uint64_t window_at; /* offset of its first byte */
    size_t at, filled;
    uint64_t opcode_at;
    struct pickle_value *stack;
    size_t depth, capacity;
    size_t marks[PICKLE_MAX_MARKS];
    size_t mark_count;
    struct chunks memo;      /* uint32_t: the bits of a value, where they are so few */
    struct chunks wide_memo; /* struct pickle_value: the others */
    struct chunks lists;     /* struct pickle_list, of dicts and tuples too */
    struct chunks numbers;   /* 8 bytes: int64_t or double */
    struct intern texts;
    struct pickle_free_block *free_blocks[PICKLE_SMALL_ITEMS + 1]; /* by items */
    struct chunks free_lists;                                      /* uint32_t: places in lists that are used again */
    bool has_stopped;
    bool is_tree; /* nothing is named twice: what is in a dict that was taken is released with it */
};

static inline struct pickle_value pickle_store_value(enum pickle_tag tag, uint64_t payload)
{
    return (struct pickle_value){payload << 4 | (uint64_t)tag};
}
static inline enum pickle_tag pickle_store_tag(struct pickle_value value) { return (enum pickle_tag)(value.bits & 15); }
static inline uint64_t pickle_store_payload(struct pickle_value value) { return value.bits >> 4; }
static inline struct pickle_list *pickle_store_list(const struct pickle *pickle, struct pickle_value value)
{
    return chunks_at(&pickle->lists, pickle_store_payload(value));
}

/* A cell of the memo: most values are a kind and a small number. */
uint32_t pickle_store_cell(struct pickle *pickle, struct pickle_value value);
static inline struct pickle_value pickle_store_of_cell(const struct pickle *pickle, uint32_t cell)
{
    return (cell & 15) == TAG_MEMO ? CHUNKS_AT(&pickle->wide_memo, struct pickle_value, cell >> 4)
                                   : (struct pickle_value){cell};
}

/* Ends the reading with a report at the opcode at hand. */
_Noreturn void pickle_store_refuse(struct pickle *pickle, enum err_code code, const char *what);
/* An empty list, tuple or dict. */
struct pickle_value pickle_store_new(struct pickle *pickle, enum pickle_tag tag);
void pickle_store_add(struct pickle *pickle, struct pickle_list *list, const struct pickle_value *items, size_t count);
/* No other value refers to its content: the content is released, at any depth. */
void pickle_store_empty(struct pickle *pickle, struct pickle_value value);
/* A dict or list that was taken: the number is in the memo in its place, and is returned. Where nothing else can
 * name it, its place is used again, as there are millions. */
struct pickle_value pickle_store_take(struct pickle *pickle, struct pickle_value value, uint32_t taken);
