/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/zip.h"

#include "wire/gzip.h"
#include "wire/zip_view.h"

#include <stdlib.h>
#include <zlib.h>

/* Sizes of the records, without what varies. Source: PKWARE's APPNOTE.TXT. */
enum {
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    LOCATOR_BYTES = 20,
    END64_BYTES = 56,
    MAX_COMMENT_BYTES = 65535,
};
#define MAX_LIST_BYTES ((uint64_t)64 << 20)

struct zip_state {
    const struct source *packed;
    struct err *err;
    unsigned char *list;
    struct zip_view view; /* of the member that was entered */
    struct source entered;
    struct gzip *gzip; /* its inside; NULL: it is stored */
};

static uint64_t zip_number(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

static bool read_all(const struct zip_state *state, uint64_t at, void *into, size_t size)
{
    const struct source *packed = state->packed;
    int64_t got = packed->read(packed->context, at, into, size);
    if (got == (int64_t)size)
        return true;
    at = at < packed->size_bytes ? at : packed->size_bytes;
    return got < 0 ? err_set(state->err, ERR_io, at, "the file cannot be read")
                   : err_set(state->err, ERR_truncated, at, "the zip archive is cut");
}

bool zip_matches(const struct source *source)
{
    unsigned char head[4];
    return source->read(source->context, 0, head, 4) == 4 && zip_number(head, 4) == 0x04034B50;
}

/* ---- the list ---- */

struct list_place {
    uint64_t at, size_bytes, count;
};

/* With 64-bit sizes there is another record before the one at the end. */
static bool place_widen(const struct zip_state *state, uint64_t end_at, struct list_place *place)
{
    unsigned char locator[LOCATOR_BYTES], end[END64_BYTES];
    bool is_wide = place->at == UINT32_MAX || place->size_bytes == UINT32_MAX || place->count == UINT16_MAX;
    if (!is_wide || end_at < LOCATOR_BYTES)
        return true;
    if (!read_all(state, end_at - LOCATOR_BYTES, locator, sizeof(locator)))
        return false;
    if (zip_number(locator, 4) != 0x07064B50)
        return true;
    if (!read_all(state, zip_number(locator + 8, 8), end, sizeof(end)))
        return false;
    if (zip_number(end, 4) != 0x06064B50)
        return err_set(state->err, ERR_malformed, zip_number(locator + 8, 8),
                       "the zip archive has no list where it should be");
    *place = (struct list_place){zip_number(end + 48, 8), zip_number(end + 40, 8), zip_number(end + 32, 8)};
    return true;
}

static bool place_find(const struct zip_state *state, struct list_place *place)
{
    uint64_t size = state->packed->size_bytes;
    if (size == UINT64_MAX)
        return err_set(state->err, ERR_unsupported, 0, "a zip archive inside another packed file is not looked into");
    size_t length = size < END_BYTES + MAX_COMMENT_BYTES ? (size_t)size : END_BYTES + MAX_COMMENT_BYTES;
    unsigned char *tail = malloc(length + 1);
    if (tail == NULL)
        return err_exhausted(state->err);
    uint64_t end_at = UINT64_MAX;
    bool is_read = read_all(state, size - length, tail, length);
    for (size_t at = length + 1; is_read && at-- > 0 && end_at == UINT64_MAX;) {
        if (at + END_BYTES > length || zip_number(tail + at, 4) != 0x06054B50 ||
            at + END_BYTES + zip_number(tail + at + 20, 2) > length)
            continue;
        end_at = size - length + at;
        *place = (struct list_place){zip_number(tail + at + 16, 4), zip_number(tail + at + 12, 4),
                                     zip_number(tail + at + 10, 2)};
    }
    free(tail);
    if (is_read && end_at == UINT64_MAX)
        return err_set(state->err, ERR_truncated, size, "the zip archive is cut: its list of members is at the end");
    return is_read && place_widen(state, end_at, place);
}

/* Sizes that do not fit are behind the name, in this order, if they are needed. */
static void member_widen(struct zip_member *member, const unsigned char *extra, size_t length)
{
    uint64_t *wide[3] = {&member->plain_bytes, &member->packed_bytes, &member->header_at};
    for (size_t at = 0; at + 4 <= length;) {
        size_t size = (size_t)zip_number(extra + at + 2, 2), from = at + 4;
        size_t end = size > length - from ? length : from + size;
        for (size_t i = 0; zip_number(extra + at, 2) == 1 && i < 3; i++) {
            if (*wide[i] != UINT32_MAX || from + 8 > end)
                continue;
            *wide[i] = zip_number(extra + from, 8);
            from += 8;
        }
        at = end;
    }
}

static bool list_read(struct zip *zip, const struct list_place *place)
{
    struct zip_state *state = zip->state;
    if (place->size_bytes > MAX_LIST_BYTES || place->count > ZIP_MAX_MEMBERS)
        return err_set(state->err, ERR_limit, place->at, "the zip archive has more than 65,536 members");
    state->list = malloc((size_t)place->size_bytes + 1);
    zip->members = calloc((size_t)place->count + 1, sizeof(*zip->members));
    if (state->list == NULL || zip->members == NULL)
        return err_exhausted(state->err);
    if (!read_all(state, place->at, state->list, (size_t)place->size_bytes))
        return false;
    for (size_t at = 0; zip->member_count < place->count;) {
        const unsigned char *entry = state->list + at;
        size_t left = (size_t)place->size_bytes - at, names = 0, all = CENTRAL_BYTES;
        if (left >= CENTRAL_BYTES && zip_number(entry, 4) == 0x02014B50) {
            names = (size_t)zip_number(entry + 28, 2);
            all += names + (size_t)zip_number(entry + 30, 2) + (size_t)zip_number(entry + 32, 2);
        }
        if (left < all || all == CENTRAL_BYTES)
            return err_set(state->err, ERR_malformed, place->at + at, "the list of the zip archive is damaged");
        struct zip_member *member = &zip->members[zip->member_count++];
        *member = (struct zip_member){.name = {(const char *)entry + CENTRAL_BYTES, names},
                                      .header_at = zip_number(entry + 42, 4),
                                      .packed_bytes = zip_number(entry + 20, 4),
                                      .plain_bytes = zip_number(entry + 24, 4),
                                      .checksum = (uint32_t)zip_number(entry + 16, 4),
                                      .method = (uint16_t)zip_number(entry + 10, 2),
                                      .flags = (uint16_t)zip_number(entry + 8, 2)};
        member_widen(member, entry + CENTRAL_BYTES + names, (size_t)zip_number(entry + 30, 2));
        at += all;
    }
    return true;
}

struct zip *zip_open(const struct source *packed, struct err *err)
{
    struct zip *zip = calloc(1, sizeof(*zip));
    struct list_place place = {0};
    if (zip != NULL)
        zip->state = calloc(1, sizeof(*zip->state));
    if (zip == NULL || zip->state == NULL) {
        free(zip);
        err_exhausted(err);
        return NULL;
    }
    zip->state->packed = packed;
    zip->state->err = err;
    if (place_find(zip->state, &place) && list_read(zip, &place))
        return zip;
    zip_close(zip);
    return NULL;
}

/* ---- the inside of a member ---- */

bool zip_locate(struct zip *zip, size_t member_at, struct member *out)
{
    const struct zip_state *state = zip->state;
    const struct zip_member *member = &zip->members[member_at];
    unsigned char header[LOCAL_BYTES];
    if ((member->flags & 1) != 0)
        return err_set(state->err, ERR_unsupported, member->header_at, "the member of the zip archive is encrypted");
    if (member->method != 0 && member->method != Z_DEFLATED)
        return err_set(
            state->err, ERR_unsupported, member->header_at,
            "the member of the zip archive is packed by method %u; only stored (0) and deflated (8) ones are read",
            member->method);
    if (!read_all(state, member->header_at, header, sizeof(header)))
        return false;
    if (zip_number(header, 4) != 0x04034B50)
        return err_set(state->err, ERR_malformed, member->header_at,
                       "the zip archive has no member where it should be");
    uint64_t data_at = member->header_at + LOCAL_BYTES + zip_number(header + 26, 2) + zip_number(header + 28, 2);
    if (data_at > state->packed->size_bytes || member->packed_bytes > state->packed->size_bytes - data_at)
        return err_set(state->err, ERR_truncated, data_at, "the zip archive is cut");
    *out = (struct member){.data_at = data_at,
                           .packed_bytes = member->packed_bytes,
                           .plain_bytes = member->plain_bytes,
                           .checksum = member->checksum,
                           .has_checksum = true,
                           .is_deflated = member->method != 0};
    return true;
}

bool zip_enter(struct zip *zip, size_t member_at)
{
    struct zip_state *state = zip->state;
    if (!zip_locate(zip, member_at, &state->view.member))
        return false;
    state->view.packed = state->packed;
    state->entered = zip_view_source(&state->view);
    zip->source = &state->entered;
    if (!state->view.member.is_deflated)
        return true;
    state->gzip = gzip_open(&state->entered, state->err);
    if (state->gzip == NULL)
        return false;
    zip->source = &state->gzip->source;
    return true;
}

uint64_t zip_entered_bytes(const struct zip *zip) { return zip->state->view.member.plain_bytes; }

void zip_close(struct zip *zip)
{
    if (zip == NULL)
        return;
    gzip_close(zip->state->gzip);
    free(zip->state->list);
    free(zip->state);
    free(zip->members);
    free(zip);
}
