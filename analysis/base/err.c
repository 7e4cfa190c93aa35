/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Says of a fact that is longer than its room that it goes on. */
static void err_mark_cut(struct err *err)
{
    static const char sign[] = "…";
    size_t at = sizeof(err->text) - sizeof(sign);
    while (at > 0 && ((unsigned char)err->text[at] & 0xc0) == 0x80)
        at--;
    memcpy(err->text + at, sign, sizeof(sign));
}

bool err_set(struct err *err, enum err_code code, uint64_t offset_bytes, const char *format, ...)
{
    if (err_is_set(err))
        return false;
    err->code = code;
    err->offset_bytes = offset_bytes;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(err->text, sizeof(err->text), format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof(err->text))
        err_mark_cut(err);
    return false;
}

bool err_exhausted(struct err *err)
{
    return err_set(err, ERR_exhausted, ERR_NO_OFFSET, "the system has no more memory");
}

bool err_empty(struct err *err)
{
    return err_set(err, ERR_truncated, ERR_NO_OFFSET, "is empty: nothing was written to it");
}

/* Texts that count bytes themselves say where. */
static bool names_place(const char *text)
{
    const char *found = text;
    while ((found = strstr(found, "byte ")) != NULL && !(found[5] >= '0' && found[5] <= '9'))
        found += 5;
    return found != NULL;
}

const char *err_describe(const struct err *err, char out[ERR_DESCRIPTION_SIZE])
{
    bool has_place = err->offset_bytes != 0 && err->offset_bytes != ERR_NO_OFFSET && !names_place(err->text);
    snprintf(out, ERR_DESCRIPTION_SIZE, has_place ? "%s, at byte %" PRIu64 : "%s", err->text, err->offset_bytes);
    return out;
}

bool err_is_transient(enum err_code code)
{
    return code == ERR_io || code == ERR_changed || code == ERR_exhausted || code == ERR_stopped;
}

const char *err_name(enum err_code code)
{
    switch (code) {
#define ERR(name, meaning)                                                                                             \
    case ERR_##name: return #name;
#include "base/err.def"
#undef ERR
    }
    return "internal";
}
