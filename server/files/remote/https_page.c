/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/https_page.h"

#include "base/str.h"
#include "server/base/memory.h"
#include "server/files/remote/remote_address.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct https_page_reading {
    const char *path;
    void (*entry)(void *context, const char *name, bool is_folder);
    void *context;
};

static bool is_name(const char *name)
{
    return name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static bool read_json(const struct https_page_reading *reading, const char *page, size_t size)
{
    cJSON *root = cJSON_ParseWithLength(page, size);
    const cJSON *each;
    bool is_list = cJSON_IsArray(root);
    cJSON_ArrayForEach(each, root)
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(each, "name"),
                    *type = cJSON_GetObjectItemCaseSensitive(each, "type");
        is_list = is_list && cJSON_IsString(name) && cJSON_IsString(type);
        if (is_list && is_name(name->valuestring))
            reading->entry(reading->context, name->valuestring, strcmp(type->valuestring, "directory") == 0);
    }
    cJSON_Delete(root);
    return is_list;
}

/* ---- HTML ----------------------------------------------------------------------------------- */

/* &amp; and the few others that servers write into links, in place. */
static void entities_decode(char *text)
{
    static const struct {
        const char *entity;
        char letter;
    } ENTITIES[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},  {"&quot;", '"'},
                    {"&#39;", '\''}, {"&#x27;", '\''}, {"&#43;", '+'}, {"&#34;", '"'}};
    char *to = text;
    while (*text) {
        size_t at = 0, count = sizeof(ENTITIES) / sizeof(ENTITIES[0]);
        while (at < count && strncmp(text, ENTITIES[at].entity, strlen(ENTITIES[at].entity)) != 0)
            at++;
        *to++ = at < count ? ENTITIES[at].letter : *text;
        text += at < count ? strlen(ENTITIES[at].entity) : 1;
    }
    *to = '\0';
}

/* If the link leads right below the folder, reports it. */
static void link_take(const struct https_page_reading *reading, char *link)
{
    size_t folder = strlen(reading->path);
    entities_decode(link);
    if (strncmp(link, reading->path, folder) == 0)
        link += folder;
    else if (strncmp(link, "./", 2) == 0)
        link += 2;
    link[strcspn(link, "?#")] = '\0'; /* columns to sort by are links to the page itself */
    size_t length = strlen(link);
    bool is_folder = length > 0 && link[length - 1] == '/';
    if (is_folder)
        link[length - 1] = '\0';
    const char *colon = strchr(link, ':'); /* of another scheme; in names it is encoded, or behind ./ */
    if (!colon && !strchr(link, '/') && remote_address_decode(link) && is_name(link))
        reading->entry(reading->context, link, is_folder);
}

/* The value of the attribute that begins at `at` behind its equals sign; NULL: it has no end. free() */
static char *value_at(const char *at, const char *end)
{
    const char quote = at < end ? *at : '\0';
    bool is_quoted = quote == '"' || quote == '\'';
    const char *begin = at + is_quoted, *stop = begin;
    while (stop < end && (is_quoted ? *stop != quote : !isspace((unsigned char)*stop) && *stop != '>'))
        stop++;
    bool is_whole = stop < end && !memchr(begin, '\0', (size_t)(stop - begin));
    return is_whole ? memory_format("%.*s", (int)(stop - begin), begin) : NULL;
}

static bool is_link_start(const char *at)
{
    return at[0] == '<' && (at[1] == 'a' || at[1] == 'A') && isspace((unsigned char)at[2]);
}

static void read_html(const struct https_page_reading *reading, const char *page, size_t size)
{
    const char *end = page + size;
    for (const char *at = page; end - at > 9; at++) { /* goes on behind each tag: no page takes quadratic time */
        if (!is_link_start(at))
            continue;
        const char *close = memchr(at, '>', (size_t)(end - at));
        if (!close)
            return;
        for (const char *in = at + 2; close - in > 5; in++) {
            if (strncasecmp(in, "href=", 5) != 0)
                continue;
            char *link = value_at(in + 5, end);
            if (link)
                link_take(reading, link);
            free(link);
            break;
        }
        at = close;
    }
}

bool https_page_read(const char *page, size_t size, const char *path,
                     void (*entry)(void *context, const char *name, bool is_folder), void *context, struct err *err)
{
    const struct https_page_reading reading = {path, entry, context};
    size_t begin = 0;
    while (begin < size && isspace((unsigned char)page[begin]))
        begin++;
    if (begin < size && page[begin] == '[')
        return read_json(&reading, page, size) ||
               err_set(err, ERR_malformed, ERR_NO_OFFSET, "the list of the folder is not as it has to be");
    if (size > 0) /* else `page` may be NULL */
        read_html(&reading, page, size);
    return true;
}
