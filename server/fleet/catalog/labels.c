/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/labels.h"

#include "base/json.h"
#include "server/base/label_key.h"
#include "server/base/log.h"
#include "server/base/memory.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FILE_MAX_BYTES = 64 << 10, COUNT_MAX = 64 };
#define FILE_NAME "memviewd.json"

struct label {
    char *key, *value;
};

struct set {
    struct label *items; /* by key */
    size_t count, capacity;
};

/* What memviewd.json of a folder says. */
struct folder {
    char *path; /* root and path; NULL: nothing is kept yet */
    struct set set;
    struct err err;
};

struct labels {
    struct set given, environment;
    const char *const *patterns;
    size_t pattern_count;
    const struct facts *facts; /* what memviewd.json said before; NULL */
    struct folder *folders;    /* from the root to that of the last file: the next is near */
    size_t folder_count, folder_capacity;
    char *file; /* the memviewd.json of the last error */
    struct set found;
    struct buf json;
};

/* ---- sets ---- */

/* What is there already stays. */
static void set_add(struct set *set, const char *key, size_t key_length, const char *value, size_t value_length)
{
    size_t at = 0;
    char *name = memory_format("%.*s", (int)key_length, key);
    while (at < set->count && strcmp(set->items[at].key, name) < 0)
        at++;
    if ((at < set->count && strcmp(set->items[at].key, name) == 0) || set->count >= COUNT_MAX) {
        free(name);
        return;
    }
    set->items = memory_grow(set->items, &set->capacity, set->count + 1, sizeof(*set->items));
    memmove(&set->items[at + 1], &set->items[at], (set->count - at) * sizeof(*set->items));
    set->items[at] = (struct label){name, memory_format("%.*s", (int)value_length, value)};
    set->count++;
}

static void set_add_all(struct set *set, const struct set *other)
{
    for (size_t at = 0; at < other->count; at++)
        set_add(set, other->items[at].key, strlen(other->items[at].key), other->items[at].value,
                strlen(other->items[at].value));
}

static void set_clear(struct set *set)
{
    for (size_t at = 0; at < set->count; at++) {
        free(set->items[at].key);
        free(set->items[at].value);
    }
    set->count = 0;
}

static void set_free(struct set *set)
{
    set_clear(set);
    free(set->items);
}

/* "KEY=VALUE". */
static bool pair_add(struct set *set, const char *text, size_t length)
{
    const char *sign = memchr(text, '=', length);
    size_t key_length = sign ? (size_t)(sign - text) : 0;
    if (!sign || !label_key_is(text, key_length) || length - key_length - 1 > LABEL_VALUE_MAX_BYTES)
        return false;
    set_add(set, text, key_length, sign + 1, length - key_length - 1);
    return true;
}

/* ---- patterns of paths ---- */

/* Of "{job}" at `pattern`: the length of the name; 0: none begins there. */
static size_t name_length(const char *pattern)
{
    const char *end = *pattern == '{' ? strchr(pattern, '}') : NULL;
    return end && label_key_is(pattern + 1, (size_t)(end - pattern - 1)) ? (size_t)(end - pattern - 1) : 0;
}

/* The length of the pattern's literal beginning. */
static size_t literal_length(const char *pattern)
{
    size_t length = 0;
    while (pattern[length] && pattern[length] != '*' && name_length(pattern + length) == 0)
        length++;
    return length;
}

/* Matches components of `path` from the first, up to the end of the pattern. {name} and '*' match at least one
 * character, up to the first place where the rest of the pattern follows. `set` NULL: only checks whether it fits. */
static bool path_match(const char *pattern, const char *path, struct set *set)
{
    while (*pattern) {
        size_t length = name_length(pattern), taken = 0;
        bool is_star = *pattern == '*';
        if (length == 0 && !is_star) {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        const char *name = pattern + 1;
        pattern += is_star ? 1 : length + 2;
        size_t literal = literal_length(pattern);
        while (path[taken] && path[taken] != '/' &&
               (taken == 0 || literal == 0 || strncmp(path + taken, pattern, literal) != 0))
            taken++;
        if (taken == 0 || taken > LABEL_VALUE_MAX_BYTES)
            return false;
        if (set && !is_star)
            set_add(set, name, length, path, taken);
        path += taken;
    }
    return *path == '\0' || *path == '/' || (path[-1] == '/');
}

static const char *set_value(const struct set *set, const char *key)
{
    for (size_t at = 0; at < set->count; at++)
        if (strcmp(set->items[at].key, key) == 0)
            return set->items[at].value;
    return NULL;
}

/* What a layout says where its pattern begins at `path`; false: it is not of that layout. */
static bool layout_match(const char *pattern, const char *time_form, const char *path, struct set *found)
{
    struct set set = {0};
    struct tm ignored = {0};
    bool is = path_match(pattern, path, &set);
    const char *run = is && time_form ? set_value(&set, "run") : NULL;
    is = is && (!time_form || (run && strptime(run, time_form, &ignored)));
    if (is)
        set_add_all(found, &set);
    set_free(&set);
    return is;
}

static void layouts_find(const char *path, struct set *found)
{
    static const struct {
        const char *pattern, *time_form;
    } layouts[] = {
#define LAYOUT(who, pattern, time_form) {pattern, time_form},
#include "server/fleet/catalog/layouts.def"
#undef LAYOUT
    };
    for (size_t layout = 0; layout < sizeof(layouts) / sizeof(layouts[0]); layout++)
        for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
            if (layout_match(layouts[layout].pattern, layouts[layout].time_form, at, found))
                return;
}

static bool pattern_check(const char *pattern)
{
    bool has_name = false;
    for (const char *at = pattern; *at; at++) {
        size_t length = name_length(at);
        has_name |= length > 0;
        if (length > 0)
            at += length + 1; /* at its '}' */
        else if (*at == '{' || *at == '}')
            return false;
    }
    return has_name && pattern[0] != '/';
}

/* ---- memviewd.json ---- */

static void member_add(struct set *set, const cJSON *member, struct err *err)
{
    char number[32];
    const char *key = member->string, *value = number;
    if (cJSON_IsString(member))
        value = member->valuestring;
    else if (cJSON_IsBool(member))
        value = cJSON_IsTrue(member) ? "true" : "false";
    else if (cJSON_IsNumber(member))
        snprintf(number, sizeof(number), "%.15g", member->valuedouble);
    else
        value = NULL;
    if (!label_key_is(key, strlen(key)))
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "a key is no word of at most %d letters, digits, _, - and .",
                LABEL_KEY_MAX_BYTES);
    else if (!value || strlen(value) > LABEL_VALUE_MAX_BYTES)
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "\"%s\" is no text of at most %d bytes, number, true or false", key,
                LABEL_VALUE_MAX_BYTES);
    else
        set_add(set, key, strlen(key), value, strlen(value));
}

/* A fact is a text; one that is none is read each time. */
static bool labels_is_text(const struct buf *text)
{
    for (size_t at = 0, length; at < text->length; at += length) {
        length = str_utf8_length(text->data + at, text->length - at);
        if (length == 0 || !text->data[at])
            return false;
    }
    return true;
}

static bool text_read(const struct facts *facts, const struct files_place *place, struct buf *text, struct err *err)
{
    struct err absent = ERR_INIT;
    struct file *file = files_open(place, &absent);
    if (!file)
        return false; /* as nearly always; of one that may not be read nothing is known either */
    const struct files_identity identity = *files_identity(file);
    files_close(file);
    if (identity.size_bytes > FILE_MAX_BYTES)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "is larger than %d KiB", FILE_MAX_BYTES >> 10);
    if (facts_find(facts, FACTS_LABELS, place, &identity, text))
        return true;
    text->length = 0;
    if (!files_read_text(place, FILE_MAX_BYTES, text, err))
        return false;
    if (labels_is_text(text))
        facts_keep(facts, FACTS_LABELS, place, &identity, text);
    return true;
}

static void folder_read(struct folder *folder, const struct facts *facts, const struct files_place *place)
{
    struct buf text = BUF_INIT;
    if (text_read(facts, place, &text, &folder->err)) {
        cJSON *root = cJSON_ParseWithLength(text.data, text.length);
        if (!cJSON_IsObject(root))
            err_set(&folder->err, ERR_malformed, ERR_NO_OFFSET, "is no JSON object of labels: {\"job\": \"…\"}");
        for (const cJSON *member = cJSON_IsObject(root) ? root->child : NULL; member; member = member->next)
            member_add(&folder->set, member, &folder->err);
        cJSON_Delete(root);
    }
    buf_free(&text);
}

static void folder_free(struct folder *folder)
{
    free(folder->path);
    set_free(&folder->set);
    *folder = (struct folder){0};
}

/* Folder `depth` of the chain that leads to the file, read where it is another one than before. */
static void folder_at(struct labels *labels, size_t depth, const struct files_place *place, size_t length)
{
    char *path = memory_format("%s/%.*s", place->root, (int)length, place->path);
    if (depth < labels->folder_count && strcmp(labels->folders[depth].path, path) == 0) {
        free(path);
        return;
    }
    while (labels->folder_count > depth)
        folder_free(&labels->folders[--labels->folder_count]);
    labels->folders =
        memory_grow(labels->folders, &labels->folder_capacity, labels->folder_count + 1, sizeof(*labels->folders));
    struct folder *folder = &labels->folders[labels->folder_count++];
    *folder = (struct folder){.path = path, .err = ERR_INIT};
    char *below = memory_format("%.*s%s" FILE_NAME, (int)length, place->path, length > 0 ? "/" : "");
    const struct files_place at = {.root = place->root, .path = below};
    folder_read(folder, labels->facts, &at);
    free(below);
}

static void folders_find(struct labels *labels, const struct files_place *place, const char **file, struct err *err)
{
    size_t depth = 0;
    if (place->bytes || !place->path[0])
        return; /* a file that was named itself lies below no root */
    folder_at(labels, depth++, place, 0);
    for (const char *slash = strchr(place->path, '/'); slash; slash = strchr(slash + 1, '/'))
        folder_at(labels, depth++, place, (size_t)(slash - place->path));
    while (labels->folder_count > depth)
        folder_free(&labels->folders[--labels->folder_count]);
    for (size_t at = labels->folder_count; at-- > 0;) {
        const struct folder *folder = &labels->folders[at];
        if (!err_is_set(&folder->err)) {
            set_add_all(&labels->found, &folder->set);
        } else if (!err_is_set(err)) {
            *err = folder->err;
            free(labels->file);
            const char *below = folder->path + strlen(place->root) + 1;
            *file = labels->file = memory_format("%s%s" FILE_NAME, below, below[0] ? "/" : "");
        }
    }
}

/* ---- all of them ---- */

static bool environment_read(struct set *set, const char *text)
{
    while (text && *text) {
        size_t length = strcspn(text, ",");
        if (length > 0 && !pair_add(set, text, length))
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

struct labels *labels_new(const char *const *given, size_t given_count, const char *const *patterns,
                          size_t pattern_count, const char *environment)
{
    struct labels *labels = memory_new(sizeof(*labels));
    bool is_good = environment_read(&labels->environment, environment);
    *labels = (struct labels){
        .environment = labels->environment, .patterns = patterns, .pattern_count = pattern_count, .json = BUF_INIT};
    if (!is_good)
        log_line("MEMVIEWD_LABELS=%s: it is KEY=VALUE,KEY=VALUE", environment);
    for (size_t at = given_count; at-- > 0 && is_good;) { /* of one key the last counts */
        is_good = pair_add(&labels->given, given[at], strlen(given[at]));
        if (!is_good)
            log_line("--label=%s: it is KEY=VALUE, the key a word of letters, digits, _, - and .", given[at]);
    }
    for (size_t at = 0; at < pattern_count && is_good; at++) {
        is_good = pattern_check(patterns[at]);
        if (!is_good)
            log_line("--label-path=%s: it is a path with names in it, {user}/{job}/*", patterns[at]);
    }
    if (is_good)
        return labels;
    labels_free(labels);
    return NULL;
}

struct labels *labels_copy(const struct labels *labels)
{
    struct labels *copy = memory_new(sizeof(*copy));
    *copy = (struct labels){
        .patterns = labels->patterns, .pattern_count = labels->pattern_count, .facts = labels->facts, .json = BUF_INIT};
    set_add_all(&copy->given, &labels->given);
    set_add_all(&copy->environment, &labels->environment);
    return copy;
}

void labels_set_facts(struct labels *labels, const struct facts *facts) { labels->facts = facts; }

void labels_free(struct labels *labels)
{
    if (!labels)
        return;
    while (labels->folder_count > 0)
        folder_free(&labels->folders[--labels->folder_count]);
    free(labels->folders);
    free(labels->file);
    set_free(&labels->given);
    set_free(&labels->environment);
    set_free(&labels->found);
    buf_free(&labels->json);
    free(labels);
}

void labels_find(struct labels *labels, const struct files_place *place, const char **file, struct err *err)
{
    set_clear(&labels->found);
    set_add_all(&labels->found, &labels->given);
    folders_find(labels, place, file, err);
    for (size_t at = 0; at < labels->pattern_count; at++) {
        if (!path_match(labels->patterns[at], place->path, NULL))
            continue;
        path_match(labels->patterns[at], place->path, &labels->found);
        break;
    }
    set_add_all(&labels->found, &labels->environment);
    layouts_find(place->path, &labels->found);
}

const char *labels_value(const struct labels *labels, const char *key) { return set_value(&labels->found, key); }

const char *labels_json(struct labels *labels)
{
    struct buf *out = &labels->json;
    out->length = 0;
    struct json json = JSON_INIT(out);
    json_object_begin(&json);
    for (size_t at = 0; at < labels->found.count; at++)
        json_key_text(&json, labels->found.items[at].key, labels->found.items[at].value);
    json_object_end(&json);
    buf_char(out, '\0');
    return out->failed ? "{}" : out->data;
}
