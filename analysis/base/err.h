/* SPDX-License-Identifier: Apache-2.0
 * err.h: the one error value of the analysis core.
 *
 * The first report wins; later ones are ignored, so that the deepest place,
 * which knows most, is what the reader sees. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum err_code {
#define ERR(name, meaning) ERR_##name,
#include "base/err.def"
#undef ERR
};

#define ERR_NO_OFFSET UINT64_MAX

struct err {
    enum err_code code;    /* ERR_none while nothing was reported */
    uint64_t offset_bytes; /* place in the (uncompressed) input, or ERR_NO_OFFSET */
    char text[200];        /* one line, a fact: "length runs past the end" */
};

#define ERR_INIT {ERR_none, ERR_NO_OFFSET, ""}

/* Reports `code` at `offset_bytes` with a printf-style fact, unless `err`
 * already holds a report. Returns false, so that `return err_set(…)` reads well. */
bool err_set(struct err *err, enum err_code code, uint64_t offset_bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reports that the system had no memory. Returns false. */
bool err_exhausted(struct err *err);

/* Reports that a file has no byte. Returns false. */
bool err_empty(struct err *err);

/* True once something was reported. */
static inline bool err_is_set(const struct err *err) { return err->code != ERR_none; }

/* May the same question be answered when it is asked again, although nothing else is changed? */
bool err_is_transient(enum err_code code);

/* "length runs past the end, at byte 612": the fact and its place, where there is one that the fact does not name
 * itself; the first byte is none: it is the file. */
enum { ERR_DESCRIPTION_SIZE = 240 };
const char *err_describe(const struct err *err, char out[ERR_DESCRIPTION_SIZE]);

/* The row's name in err.def, e.g. "truncated". Static storage. */
const char *err_name(enum err_code code);
