/* SPDX-License-Identifier: Apache-2.0
 * oom_mentions.c: see oom_mentions.h. */
#include "input/oom_mentions.h"

#include "input/oom_sieve.h"

enum { BLOCK = 1 << 20, LONGEST_LINE = 400, MOST_MENTIONS = 200 };

/* Of at least five letters, as the sieve wants them. */
static const char *const words[] = {"emory", "EMORY", "lloca", "XHAUS", "xhaus"};

struct mentions {
    const struct source *source;
    struct json *json;
    struct oom_sieve sieve;
    char *window;
    uint64_t window_at;
    size_t length;
    uint64_t line_count, mention_count;
};

static void mention_write(struct mentions *mentions, size_t begin, size_t end)
{
    struct json *json = mentions->json;
    size_t shown = end - begin > LONGEST_LINE ? LONGEST_LINE : end - begin;
    if (++mentions->mention_count > MOST_MENTIONS)
        return;
    json_object_begin(json);
    json_key_uint(json, "line", mentions->line_count + 1);
    json_key_uint(json, "begin_bytes", mentions->window_at + begin);
    json_key_uint(json, "end_bytes", mentions->window_at + end);
    json_key_string(json, "text", (struct str){mentions->window + begin, shown});
    json_object_end(json);
}

/* Reads the lines of the window that end in it; returns where the first that does not begins. */
static size_t lines_read(struct mentions *mentions, bool is_last)
{
    size_t begin = 0, found = oom_sieve_find(&mentions->sieve, mentions->window, 0, mentions->length);
    while (begin < mentions->length) {
        const char *line_end = memchr(mentions->window + begin, '\n', mentions->length - begin);
        if (line_end == NULL && !is_last && begin > 0)
            break; /* a line longer than the window is read in pieces */
        size_t end = line_end != NULL ? (size_t)(line_end - mentions->window) : mentions->length;
        if (found < end) {
            mention_write(mentions, begin, end > begin && mentions->window[end - 1] == '\r' ? end - 1 : end);
            found = oom_sieve_find(&mentions->sieve, mentions->window, end, mentions->length);
        }
        mentions->line_count += line_end != NULL || is_last;
        begin = end + (line_end != NULL);
    }
    return begin;
}

static bool window_read(struct mentions *mentions, bool *is_last, struct err *err)
{
    mentions->length = 0;
    *is_last = false;
    while (mentions->length < BLOCK && !*is_last) {
        int64_t got = mentions->source->read(mentions->source->context, mentions->window_at + mentions->length,
                                             mentions->window + mentions->length, BLOCK - mentions->length);
        if (got < 0)
            return err_set(err, ERR_io, mentions->window_at, "the bytes cannot be read");
        *is_last = got == 0;
        mentions->length += (size_t)got;
    }
    return true;
}

bool oom_mentions_write(const struct source *source, struct arena *arena, struct json *json, struct err *err)
{
    struct mentions mentions = {.source = source, .json = json};
    bool is_last = false;
    mentions.window = arena_raw(arena, BLOCK);
    mentions.sieve = oom_sieve_new(arena, words, sizeof words / sizeof words[0]);
    json_object_begin(json);
    json_key(json, "mentions");
    json_array_begin(json);
    while (!is_last) {
        if (!window_read(&mentions, &is_last, err))
            return false;
        mentions.window_at += lines_read(&mentions, is_last);
    }
    json_array_end(json);
    json_key_uint(json, "line_count", mentions.line_count);
    json_key_uint(json, "mention_count", mentions.mention_count);
    json_object_end(json);
    return true;
}
