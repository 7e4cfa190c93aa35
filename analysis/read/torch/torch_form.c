/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/torch_form.h"

#include "read/torch/torch_form_keys.h"
#include "wire/base64.h"

enum { PICKLE_SEEN = 512 };

/* ---- a pickle ---- */

/* PROTO, then a frame, a dict or a list; of a protocol that does not exist yet as well. */
static bool is_pickle(struct str begin)
{
    return begin.length >= 3 && (unsigned char)begin.data[0] == 0x80 && begin.data[1] >= 2 && begin.data[1] <= 15 &&
           ((unsigned char)begin.data[2] == 0x95 || begin.data[2] == '}' || begin.data[2] == ']');
}

/* A key of its dict, or of its first segment; dicts keep the order in which they were made. */
static enum torch_form pickle_form(struct str begin)
{
    begin.length = begin.length < PICKLE_SEEN ? begin.length : PICKLE_SEEN;
    bool is_snapshot = str_contains(begin, STR("segments")) || str_contains(begin, STR("device_traces")) ||
                       str_contains(begin, STR("total_size"));
    return is_snapshot ? TORCH_FORM_PICKLE : TORCH_FORM_OTHER_PICKLE;
}

/* ---- JSON ---- */

static struct str without_blanks(struct str text)
{
    while (text.length > 0 && strchr(" \t\r\n", text.data[0]) != NULL && text.data[0] != '\0')
        text = (struct str){text.data + 1, text.length - 1};
    return text;
}

static struct str torch_form_behind(struct str text, size_t length)
{
    return without_blanks((struct str){text.data + length, text.length - length});
}

/* As Kineto writes it; with keys in another order torch_form_read looks further. */
static bool is_trace(struct str begin)
{
    begin = without_blanks(begin);
    return str_starts(begin, STR("{")) && str_starts(torch_form_behind(begin, 1), STR("\"schemaVersion\"")) &&
           (str_contains(begin, STR("\"deviceProperties\"")) || str_contains(begin, STR("\"traceEvents\"")));
}

/* Is it a snapshot's dict, by its first key and the first row below it, or the list of its segments? Files about speech
 * or video have segments, too. */
static bool is_json_snapshot(struct str begin)
{
    static const char *const KEYS[] = {"\"segments\"", "\"device_traces\"", "\"allocator_settings\"",
                                       "\"external_annotations\""};
    if (str_starts(begin, STR("\xEF\xBB\xBF")))
        begin = (struct str){begin.data + 3, begin.length - 3};
    begin = without_blanks(begin);
    bool has_rows = str_contains(begin, STR("\"total_size\"")) || str_contains(begin, STR("\"device_traces\""));
    if (str_starts(begin, STR("[")))
        return has_rows && str_starts(torch_form_behind(begin, 1), STR("{"));
    if (!str_starts(begin, STR("{")))
        return false;
    begin = torch_form_behind(begin, 1);
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
        if (str_starts(begin, str_of(KEYS[i])))
            return has_rows || i > 1;
    return false;
}

/* ---- a page ---- */

static size_t place_behind(struct str text, struct str word, size_t from)
{
    for (size_t at = from; at + word.length <= text.length; at++)
        if (memcmp(text.data + at, word.data, word.length) == 0)
            return at + word.length;
    return 0;
}

/* const local_files = [{"name": "snapshot.pickle", "base64": "… */
size_t torch_form_page_at(struct str begin)
{
    size_t at = place_behind(begin, STR("local_files"), 0);
    at = at == 0 ? 0 : place_behind(begin, STR("\"base64\""), at);
    if (at == 0)
        return 0;
    struct str rest = torch_form_behind(begin, at);
    rest = str_starts(rest, STR(":")) ? torch_form_behind(rest, 1) : rest;
    return str_starts(rest, STR("\"")) ? (size_t)(rest.data - begin.data) + 1 : 0;
}

static enum torch_form page_form(struct str begin)
{
    char plain[PICKLE_SEEN];
    size_t at = torch_form_page_at(begin);
    if (at == 0)
        return TORCH_FORM_NONE;
    size_t length = base64_decode((struct str){begin.data + at, begin.length - at}, plain, sizeof(plain));
    struct str inside = {plain, length};
    return is_pickle(inside) && pickle_form(inside) == TORCH_FORM_PICKLE ? TORCH_FORM_PAGE : TORCH_FORM_NONE;
}

/* PROTO 2, LONG1, and the number that torch.save wrote first. Source: torch/serialization.py, MAGIC_NUMBER. */
static bool is_checkpoint(struct str begin)
{
    return str_starts(begin, STR("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."));
}

enum torch_form torch_form_of(struct str begin)
{
    if (is_checkpoint(begin))
        return TORCH_FORM_CHECKPOINT;
    if (is_pickle(begin))
        return pickle_form(begin);
    if (is_json_snapshot(begin))
        return TORCH_FORM_JSON;
    if (is_trace(begin))
        return TORCH_FORM_TRACE;
    return str_starts(without_blanks(begin), STR("<")) ? page_form(begin) : TORCH_FORM_NONE;
}

enum torch_form torch_form_read(const struct source *source)
{
    char begin[TORCH_FORM_SEEN];
    int64_t length = source->read(source->context, 0, begin, sizeof(begin));
    struct str seen = {begin, length < 0 ? 0 : (size_t)length};
    enum torch_form form = torch_form_of(seen);
    bool may_be_trace = form == TORCH_FORM_NONE && str_starts(without_blanks(seen), STR("{"));
    return may_be_trace && torch_form_keys_are_of_trace(source) ? TORCH_FORM_TRACE : form;
}
