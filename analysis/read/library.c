/* SPDX-License-Identifier: Apache-2.0 */
#include "read/library.h"

/* The part after the last "site-packages/" or "dist-packages/"; empty without one. */
static struct str in_packages(struct str file)
{
    static const char *const folders[] = {"site-packages/", "dist-packages/"};
    struct str rest = {"", 0};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(folders[i]);
        for (const char *at = file.data;
             (at = memmem(at, (size_t)(file.data + file.length - at), folders[i], length)) != NULL;) {
            at += length;
            if (rest.length == 0 || at > rest.data)
                rest = (struct str){at, (size_t)(file.data + file.length - at)};
        }
    }
    return rest;
}

static bool is_package(struct str inside, const char *name)
{
    size_t length = strlen(name);
    return inside.length >= length && memcmp(inside.data, name, length) == 0 &&
           (inside.length == length || inside.data[length] == '/');
}

static struct str library_trimmed(struct str line)
{
    while (line.length > 0 && (line.data[0] == ' ' || line.data[0] == '\t'))
        line = (struct str){line.data + 1, line.length - 1};
    while (line.length > 0 && strchr(" \t\r", line.data[line.length - 1]) != NULL)
        line.length--;
    return line;
}

/* Does a line decide it? */
static bool is_listed(struct str file, struct str listed, enum library *library)
{
    while (listed.length > 0) {
        const char *end = memchr(listed.data, '\n', listed.length);
        size_t length = end == NULL ? listed.length : (size_t)(end - listed.data);
        struct str line = library_trimmed((struct str){listed.data, length});
        size_t taken = length + (end != NULL);
        listed = (struct str){listed.data + taken, listed.length - taken};
        bool is_own = line.length > 0 && line.data[0] == '!';
        struct str piece = is_own ? library_trimmed((struct str){line.data + 1, line.length - 1}) : line;
        if (piece.length == 0 || piece.data[0] == '#' ||
            memmem(file.data, file.length, piece.data, piece.length) == NULL)
            continue;
        *library = is_own ? LIBRARY_USER : LIBRARY_MACHINERY;
        return true;
    }
    return false;
}

enum library library_of(struct str file, struct str listed)
{
    enum library library;
    if (is_listed(file, listed, &library))
        return library;
    static const char *const packages[] = {
#define MACHINERY_PACKAGE(name) name,
#define MACHINERY_PIECE(text)
#include "read/library.def"
#undef MACHINERY_PACKAGE
#undef MACHINERY_PIECE
    };
    static const char *const pieces[] = {
#define MACHINERY_PACKAGE(name)
#define MACHINERY_PIECE(text) text,
#include "read/library.def"
#undef MACHINERY_PACKAGE
#undef MACHINERY_PIECE
    };
    static const struct str test = STR_INIT("_test.py");
    if (file.length >= test.length && memcmp(file.data + file.length - test.length, test.data, test.length) == 0)
        return LIBRARY_USER; /* JAX too calls its tests a user's */
    if (str_starts(file, STR("<frozen ")))
        return LIBRARY_MACHINERY;
    struct str inside = in_packages(file);
    for (size_t i = 0; inside.length > 0 && i < sizeof(packages) / sizeof(packages[0]); i++)
        if (is_package(inside, packages[i]))
            return LIBRARY_MACHINERY;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        if (str_contains(file, str_of(pieces[i])))
            return LIBRARY_MACHINERY;
    if (inside.length > 0)
        return LIBRARY_PACKAGE;
    return str_contains(file, STR("/lib/python2.")) || str_contains(file, STR("/lib/python3")) ? LIBRARY_MACHINERY
                                                                                               : LIBRARY_USER;
}
