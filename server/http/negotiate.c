/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/negotiate.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The weight of one element of Accept-Encoding in thousandths; 1000 unless it says "q=". */
static int weight_of(const char *element, size_t length)
{
    const char *end = element + length;
    for (const char *at = memchr(element, ';', length); at && at < end; at = memchr(at, ';', (size_t)(end - at))) {
        do
            at++;
        while (at < end && (*at == ' ' || *at == '\t'));
        if (end - at < 3 || (*at != 'q' && *at != 'Q') || at[1] != '=')
            continue;
        int weight = at[2] == '1' ? 1000 : 0, unit = 100;
        if (at[2] == '0' && end - at > 3 && at[3] == '.') {
            for (at += 4; at < end && isdigit((unsigned char)*at) && unit > 0; at++, unit /= 10)
                weight += (*at - '0') * unit;
        }
        return weight;
    }
    return 1000;
}

static bool is_coding(const char *element, size_t length, const char *coding)
{
    size_t name_length = strcspn(element, " \t;,");
    return name_length == strlen(coding) && name_length <= length && strncasecmp(element, coding, name_length) == 0;
}

bool negotiate_gzip(const char *accept_encoding)
{
    int gzip = -1, any = -1, identity = -1;
    for (const char *at = accept_encoding; at && *at;) {
        at += strspn(at, " \t,");
        size_t length = strcspn(at, ",");
        int weight = weight_of(at, length);
        if (is_coding(at, length, "gzip") || is_coding(at, length, "x-gzip"))
            gzip = weight;
        else if (is_coding(at, length, "*"))
            any = weight;
        else if (is_coding(at, length, "identity"))
            identity = weight;
        at += length;
    }
    if (gzip < 0)
        gzip = any;
    return gzip > 0 && gzip >= identity;
}

/* Length of the tag's text without its quotes and the mark of the packed form. */
static size_t tag_length(const char *text, size_t length)
{
    static const char MARK[] = "-gz";
    size_t mark = sizeof(MARK) - 1;
    return length > mark && memcmp(text + length - mark, MARK, mark) == 0 ? length - mark : length;
}

bool negotiate_matches(const char *if_none_match, const char *etag)
{
    const char *own = etag + 1; /* without quotes */
    size_t own_length = tag_length(own, strlen(own) - 1);
    for (const char *at = if_none_match; at && *at;) {
        at += strspn(at, " \t,");
        if (*at == '*')
            return true;
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        if (*at != '"')
            return false;
        size_t length = strcspn(at + 1, "\"");
        if (tag_length(at + 1, length) == own_length && memcmp(at + 1, own, own_length) == 0)
            return true;
        at += length + 1 + (at[length + 1] == '"');
    }
    return false;
}
