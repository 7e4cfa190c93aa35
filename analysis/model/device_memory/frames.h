/* SPDX-License-Identifier: Apache-2.0
 * frames.h: the functions, files or lines of any number of profiles, each once.
 *
 * What a frame is depends on the granularity: what it leaves out is empty, and
 * frames that then are equal are one, as in pprof. A frame's id is a hash of its
 * parts: the same in every profile, view and filter. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "read/pprof/pprof.h"

enum frames_by { FRAMES_BY_FUNCTION, FRAMES_BY_FILEFUNCTION, FRAMES_BY_FILE, FRAMES_BY_LINE };

/* What is where there is no frame. */
enum { FRAMES_NO_STACK, FRAMES_NO_USER, FRAMES_SPECIAL_COUNT };

struct frame {
    struct str function, file; /* as the file spells them; the path without "//", "/./" and "/../" */
    int64_t line;
    uint64_t hash;
    bool is_machinery; /* of JAX, Python, IPython…: LIBRARY_MACHINERY */
};

struct frames {
    struct arena *arena;
    enum frames_by by;
    struct map table;
    struct frame *items;
    size_t capacity;
};

void frames_init(struct frames *frames, enum frames_by by, struct arena *arena);
/* "function", "filefunction", "file", "line", which NULL and "" are too; false with a report for anything else. */
bool frames_by_read(const char *text, enum frames_by *by, struct err *err);
/* The frame of a line of a profile (or of no line: `function` NULL), new or known. */
uint32_t frames_of(struct frames *frames, const struct pprof_function *function, int64_t line, bool is_machinery);
/* The frame of an id, or MAP_NONE. */
uint32_t frames_find(const struct frames *frames, const char *id);
/* A path as pprof prints it. */
struct str frames_path(struct frames *frames, struct str path);

enum { FRAMES_ID_SIZE = 13 };
void frames_id(const struct frames *frames, uint32_t at, char id[FRAMES_ID_SIZE]);
/* "init_state train.py:88": into `out`, which is emptied first. */
struct str frames_short_name(const struct frames *frames, uint32_t at, struct buf *out);
/* The same behind what is in `out`. */
void frames_add_short_name(const struct frames *frames, uint32_t at, struct buf *out);
/* As pprof prints it: "init_state /a/train.py:88", "<unknown>". */
struct str frames_full_name(const struct frames *frames, uint32_t at, struct buf *out);
