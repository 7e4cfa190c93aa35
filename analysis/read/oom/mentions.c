/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/mentions.h"

#include "read/oom/sieve.h"

enum { BLOCK = 1 << 20, LONGEST_LINE = 400, MAX_MENTIONS = 200 };

/* Of at least five letters, as the sieve wants them. */
static const char *const words[] = {"emory", "EMORY", "lloca", "XHAUS", "xhaus"};

struct mentions_reading {
    const struct source *source;
    struct arena *arena;
    struct oom_mentions *found;
    struct oom_sieve sieve;
    char *window;
    uint64_t window_at;
    size_t length;
};

static void mention_add(struct mentions_reading *reading, size_t begin, size_t end)
{
    struct oom_mentions *found = reading->found;
    size_t shown = end - begin > LONGEST_LINE ? LONGEST_LINE : end - begin;
    found->mention_count++;
    if (found->count == MAX_MENTIONS)
        return;
    struct str text = {arena_text(reading->arena, (struct str){reading->window + begin, shown}), shown};
    found->items[found->count++] =
        (struct oom_mention){found->line_count + 1, reading->window_at + begin, reading->window_at + end, text};
}

/* Reads the lines of the window that end in it; returns where the first that does not begins. */
static size_t lines_read(struct mentions_reading *reading, bool is_last)
{
    size_t begin = 0, found = oom_sieve_find(&reading->sieve, reading->window, 0, reading->length);
    while (begin < reading->length) {
        const char *line_end = memchr(reading->window + begin, '\n', reading->length - begin);
        if (line_end == NULL && !is_last && begin > 0)
            break; /* a line longer than the window is read in pieces */
        size_t end = line_end != NULL ? (size_t)(line_end - reading->window) : reading->length;
        if (found < end) {
            mention_add(reading, begin, end > begin && reading->window[end - 1] == '\r' ? end - 1 : end);
            found = oom_sieve_find(&reading->sieve, reading->window, end, reading->length);
        }
        reading->found->line_count += line_end != NULL || is_last;
        begin = end + (line_end != NULL);
    }
    return begin;
}

static bool window_read(struct mentions_reading *reading, bool *is_last, struct err *err)
{
    reading->length = 0;
    *is_last = false;
    while (reading->length < BLOCK && !*is_last) {
        int64_t got = reading->source->read(reading->source->context, reading->window_at + reading->length,
                                            reading->window + reading->length, BLOCK - reading->length);
        if (got < 0)
            return err_set(err, ERR_io, reading->window_at, "the bytes cannot be read");
        *is_last = got == 0;
        reading->length += (size_t)got;
    }
    return true;
}

bool oom_mentions_read(const struct source *source, struct arena *arena, struct oom_mentions *out, struct err *err)
{
    struct mentions_reading reading = {.source = source, .arena = arena, .found = out};
    bool is_last = false;
    *out = (struct oom_mentions){.items = arena_array(arena, struct oom_mention, MAX_MENTIONS)};
    reading.window = arena_raw(arena, BLOCK);
    reading.sieve = oom_sieve_new(arena, words, sizeof(words) / sizeof(words[0]));
    while (!is_last) {
        if (!window_read(&reading, &is_last, err))
            return false;
        reading.window_at += lines_read(&reading, is_last);
    }
    return true;
}
