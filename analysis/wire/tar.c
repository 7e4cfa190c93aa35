/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/tar.h"

#include <stdlib.h>
#include <string.h>

/* A header, and where its fields are. Source: POSIX.1-2017, pax; the GNU tar manual, "Basic Tar Format". */
enum {
    BLOCK_BYTES = 512,
    NAME_BYTES = 100,
    SIZE_AT = 124,
    CHECKSUM_AT = 148,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX_BYTES = 155,
    NUMBER_BYTES = 12,
    CHECKSUM_BYTES = 8,
    EXTENSION_MAX = 1 << 20 /* the most bytes of an extension before a header */
};
#define MAX_SIZE ((uint64_t)1 << 62)

struct header {
    unsigned char bytes[BLOCK_BYTES];
};

/* What extensions before a header say about it. */
struct extension {
    char name[TAR_NAME_BYTES_MAX + 1];
    size_t name_length;
    bool has_name, has_size, is_sparse, is_damaged;
    uint64_t size_bytes;
};

struct tar_reading {
    const struct source *plain;
    const struct tar_limits *limits;
    struct err *err;
    struct tar *tar;
    struct extension extension;
    uint64_t at;
    size_t header_count;
};

/* ---- fields ---- */

/* Octal digits, or with the first bit set a number of 256 to a digit. MAX_SIZE: it is none, or too large. */
static uint64_t field_number(const unsigned char *field, size_t size)
{
    uint64_t value = 0;
    size_t at = 0;
    if ((field[0] & 0x80) != 0) {
        value = field[0] & 0x7F;
        for (at = 1; at < size && value < MAX_SIZE >> 8; at++)
            value = value << 8 | field[at];
        return at < size ? MAX_SIZE : value;
    }
    while (at < size && field[at] == ' ')
        at++;
    for (; at < size && field[at] >= '0' && field[at] <= '7'; at++)
        value = value << 3 | (uint64_t)(field[at] - '0');
    return at < size && field[at] != ' ' && field[at] != '\0' ? MAX_SIZE : value;
}

/* The sum of all bytes, its own field as blanks; old writers took them with a sign. */
static bool header_is_whole(const struct header *header)
{
    int64_t plain = 0, with_sign = 0;
    for (size_t at = 0; at < BLOCK_BYTES; at++) {
        bool is_own = at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES;
        unsigned char byte = is_own ? ' ' : header->bytes[at];
        plain += byte;
        with_sign += (signed char)byte;
    }
    uint64_t said = field_number(header->bytes + CHECKSUM_AT, CHECKSUM_BYTES);
    return said == (uint64_t)plain || said == (uint64_t)with_sign;
}

static bool header_is_tar(const struct header *header)
{
    return memcmp(header->bytes + MAGIC_AT, "ustar", 5) == 0 && header_is_whole(header);
}

static bool header_is_zero(const struct header *header)
{
    size_t at = 0;
    while (at < BLOCK_BYTES && header->bytes[at] == 0)
        at++;
    return at == BLOCK_BYTES;
}

bool tar_matches(const struct source *plain)
{
    struct header header;
    return plain->read(plain->context, 0, header.bytes, BLOCK_BYTES) == BLOCK_BYTES && header_is_tar(&header);
}

/* extensions before a header */

static void name_keep(struct extension *extension, struct str name)
{
    extension->name_length = name.length < TAR_NAME_BYTES_MAX ? name.length : TAR_NAME_BYTES_MAX;
    memcpy(extension->name, name.data, extension->name_length);
    extension->has_name = true;
}

/* Lines of "LENGTH KEY=VALUE\n", the length that of the whole line. False: one is none; what stands before it is kept.
 */
static bool pax_read(struct extension *extension, struct str text)
{
    for (size_t at = 0, length = 0; at < text.length; at += length) {
        size_t digits = at;
        for (length = 0; digits < text.length && text.data[digits] >= '0' && text.data[digits] <= '9'; digits++)
            if ((length = length * 10 + (size_t)(text.data[digits] - '0')) > text.length)
                return false;
        const char *key = text.data + digits + 1, *end = text.data + at + length - 1;
        if (digits == at || length > text.length - at || key >= end || text.data[digits] != ' ' || *end != '\n')
            return false;
        const char *equals = memchr(key, '=', (size_t)(end - key));
        if (equals == NULL)
            return false;
        struct str name = {key, (size_t)(equals - key)}, value = {equals + 1, (size_t)(end - equals - 1)};
        if (str_equal(name, STR("path"))) {
            if (value.length > 0) /* an empty one takes a name back */
                name_keep(extension, value);
        } else if (str_equal(name, STR("size")))
            extension->has_size = str_number_read(value, MAX_SIZE - 1, &extension->size_bytes);
        else if (str_starts(name, STR("GNU.sparse.")))
            extension->is_sparse = true;
    }
    return true;
}

static bool bytes_read(const struct tar_reading *reading, uint64_t at, void *into, size_t size)
{
    int64_t got = reading->plain->read(reading->plain->context, at, into, size);
    if (got == (int64_t)size)
        return true;
    return got < 0 ? err_set(reading->err, ERR_io, at, "the bytes cannot be read")
                   : err_set(reading->err, ERR_truncated, at, "the tar archive is cut");
}

static bool extension_read(struct tar_reading *reading, char type, uint64_t size)
{
    if (size > EXTENSION_MAX)
        return err_set(reading->err, ERR_malformed, reading->at, "a header of the tar archive is longer than 1 MiB");
    char *text = malloc((size_t)size + 1);
    if (text == NULL)
        return err_exhausted(reading->err);
    bool is_read = bytes_read(reading, reading->at + BLOCK_BYTES, text, (size_t)size);
    text[is_read ? size : 0] = '\0';
    if (is_read && type == 'L')
        name_keep(&reading->extension, (struct str){text, strlen(text)});
    else if (is_read && type == 'x')
        reading->extension.is_damaged = !pax_read(&reading->extension, (struct str){text, (size_t)size});
    free(text);
    return is_read;
}

/* ---- members ---- */

static size_t field_length(const unsigned char *field, size_t size)
{
    const unsigned char *end = memchr(field, '\0', size);
    return end != NULL ? (size_t)(end - field) : size;
}

/* The name in the header, or the one in an extension before it. */
static size_t member_name(const struct tar_reading *reading, const struct header *header, const char **name,
                          char room[PREFIX_BYTES + 1 + NAME_BYTES])
{
    const struct extension *extension = &reading->extension;
    if (extension->has_name) {
        *name = extension->name;
        return extension->name_length;
    }
    bool has_prefix = header->bytes[MAGIC_AT + 5] == '\0'; /* GNU's own has other fields there */
    size_t prefix = has_prefix ? field_length(header->bytes + PREFIX_AT, PREFIX_BYTES) : 0;
    memcpy(room, header->bytes + PREFIX_AT, prefix);
    if (prefix > 0)
        room[prefix++] = '/';
    size_t length = field_length(header->bytes, NAME_BYTES);
    memcpy(room + prefix, header->bytes, length);
    *name = room;
    return prefix + length;
}

static const char *member_fault(const struct tar_reading *reading, char type)
{
    if (reading->extension.is_damaged)
        return "has a damaged header";
    if (reading->extension.is_sparse)
        type = 'S';
    switch (type) {
    case '0':
    case '\0':
    case '7': return NULL;
    case '1':
    case '2': return "is a link";
    case 'S': return "is stored with holes, as sparse files are";
    default: return "is a device, a pipe or of an unknown kind";
    }
}

static bool member_add(struct tar_reading *reading, const struct header *header, char type, uint64_t size)
{
    struct tar *tar = reading->tar;
    char room[PREFIX_BYTES + 1 + NAME_BYTES];
    const char *name;
    size_t length = member_name(reading, header, &name, room);
    while (length >= 2 && name[0] == '.' && name[1] == '/') {
        name += 2;
        length -= 2;
    }
    if (type == '5' || length == 0 || name[length - 1] == '/')
        return true;
    if (tar->member_count == reading->limits->members)
        return err_set(reading->err, ERR_limit, 0, "a tar archive of more than %zu files", reading->limits->members);
    if (tar->member_count == tar->capacity) {
        size_t capacity = tar->capacity > 0 ? 2 * tar->capacity : 16;
        struct tar_member *grown = realloc(tar->members, capacity * sizeof(*grown));
        if (grown == NULL)
            return err_exhausted(reading->err);
        tar->members = grown;
        tar->capacity = capacity;
    }
    char *kept = malloc(length + 1);
    if (kept == NULL)
        return err_exhausted(reading->err);
    memcpy(kept, name, length);
    kept[length] = '\0';
    tar->members[tar->member_count++] = (struct tar_member){.name = {kept, length},
                                                            .fault = member_fault(reading, type),
                                                            .header_at = reading->at,
                                                            .data_at = reading->at + BLOCK_BYTES,
                                                            .size_bytes = size};
    return true;
}

/* ---- headers ---- */

/* Links and devices have no bytes, even if their headers give a size. */
static uint64_t size_of(const struct tar_reading *reading, const struct header *header, char type)
{
    bool is_empty = type >= '1' && type <= '6';
    bool is_for_member = reading->extension.has_size && type != 'x' && type != 'g' && type != 'L' && type != 'K';
    return is_empty        ? 0
           : is_for_member ? reading->extension.size_bytes
                           : field_number(header->bytes + SIZE_AT, NUMBER_BYTES);
}

/* `size` bytes of data behind one more header. What a packed archive says of itself is no reason to inflate it. */
static bool limits_hold(struct tar_reading *reading, uint64_t size)
{
    if (++reading->header_count > TAR_MAX_MEMBERS)
        return err_set(reading->err, ERR_limit, 0, "the tar archive has more than 65,536 headers");
    const uint64_t most = reading->limits->bytes;
    if (reading->at > most || (size < MAX_SIZE && size > most - reading->at))
        return err_set(reading->err, ERR_limit, 0, "the tar archive has more than %llu GiB",
                       (unsigned long long)(most >> 30));
    return true;
}

/* GNU's own form of a file with more than four pieces between its holes lists further ones in blocks behind its header,
 * which its size does not count. */
static bool pieces_skip(struct tar_reading *reading, const struct header *header)
{
    enum { MORE_AT = 482, MORE_IN_BLOCK_AT = 504 };
    struct header block;
    for (unsigned char more = header->bytes[MORE_AT]; more != 0; more = block.bytes[MORE_IN_BLOCK_AT]) {
        reading->at += BLOCK_BYTES;
        if (!limits_hold(reading, 0) || !bytes_read(reading, reading->at, block.bytes, BLOCK_BYTES))
            return false;
    }
    return true;
}

static bool header_take(struct tar_reading *reading, const struct header *header)
{
    const char type = (char)header->bytes[TYPE_AT];
    const uint64_t size = size_of(reading, header, type);
    if (!limits_hold(reading, size) || (type == 'S' && !pieces_skip(reading, header)))
        return false;
    if (size >= MAX_SIZE || (size > 0 && reading->plain->size_bytes != UINT64_MAX &&
                             size > reading->plain->size_bytes - reading->at - BLOCK_BYTES))
        return err_set(reading->err, size >= MAX_SIZE ? ERR_malformed : ERR_truncated, reading->at,
                       size >= MAX_SIZE ? "a size in the tar archive is damaged" : "the tar archive is cut");
    bool is_extension = type == 'x' || type == 'L';
    bool is_good = is_extension                 ? extension_read(reading, type, size)
                   : type == 'g' || type == 'K' ? true
                                                : member_add(reading, header, type, size);
    if (!is_extension && type != 'K' && type != 'g')
        reading->extension = (struct extension){.name_length = 0};
    reading->at += BLOCK_BYTES + (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    return is_good;
}

/* The last byte is there, of a packed archive too, whose size is known only at its end. */
static bool end_check(const struct tar_reading *reading)
{
    const struct tar *tar = reading->tar;
    const struct tar_member *last = tar->member_count > 0 ? &tar->members[tar->member_count - 1] : NULL;
    unsigned char byte;
    return last == NULL || last->size_bytes == 0 || bytes_read(reading, last->data_at + last->size_bytes - 1, &byte, 1);
}

/* Zeros, or the end of the bytes, are the end of the archive. */
static bool tar_walk(struct tar_reading *reading)
{
    struct header header;
    for (;;) {
        int64_t got = reading->plain->read(reading->plain->context, reading->at, header.bytes, BLOCK_BYTES);
        if (got < 0)
            return err_set(reading->err, ERR_io, reading->at, "the bytes cannot be read");
        if (got == 0 || (got == BLOCK_BYTES && header_is_zero(&header)))
            break;
        if (got < BLOCK_BYTES)
            return err_set(reading->err, ERR_truncated, reading->at, "the tar archive is cut");
        if (!header_is_tar(&header))
            return err_set(reading->err, ERR_malformed, reading->at, "the tar archive is damaged");
        if (!header_take(reading, &header))
            return false;
    }
    reading->tar->end_at = reading->at;
    return end_check(reading);
}

struct tar *tar_open(const struct source *plain, const struct tar_limits *limits, struct err *err)
{
    struct tar_reading *reading = calloc(1, sizeof(*reading));
    struct tar *tar = calloc(1, sizeof(*tar));
    bool is_good = reading != NULL && tar != NULL;
    if (is_good) {
        *reading = (struct tar_reading){.plain = plain, .limits = limits, .err = err, .tar = tar};
        is_good = tar_walk(reading);
    } else {
        err_exhausted(err);
    }
    free(reading);
    if (is_good)
        return tar;
    tar_close(tar);
    return NULL;
}

void tar_close(struct tar *tar)
{
    if (tar == NULL)
        return;
    for (size_t at = 0; at < tar->member_count; at++)
        free((void *)(uintptr_t)tar->members[at].name.data);
    free(tar->members);
    free(tar);
}
