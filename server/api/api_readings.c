/* SPDX-License-Identifier: Apache-2.0
 * api_readings.c: how far the files of a session are read that somebody waits for. */
#include "server/api/api.h"

#include "base/size_text.h"
#include "server/files/reading.h"

#include <inttypes.h>
#include <stdlib.h>

enum { READINGS_MAX = 16, MINUTE_S = 60 };

/* "about 9 s of reading left", "about 2 min of reading left"; "" when it is not known. */
static char *left_words(const struct reading_so_far *so_far)
{
    int64_t left_s = (so_far->left_ms + 999) / 1000;
    if (so_far->left_ms < 0)
        return memory_text("");
    return left_s > 2 * MINUTE_S
               ? memory_format("; about %" PRId64 " min of reading left", (left_s + MINUTE_S / 2) / MINUTE_S)
               : memory_format("; about %" PRId64 " s of reading left", left_s);
}

static char *reading_words(const struct reading_so_far *so_far)
{
    char read[SIZE_TEXT_BYTES], size[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    size_text(size, so_far->size_bytes);
    if (so_far->read_bytes >= so_far->size_bytes)
        return memory_format("All %s are read; what they hold is being added up", size);
    char *left = left_words(so_far);
    size_text_share(share, (int64_t)so_far->read_bytes, (int64_t)so_far->size_bytes);
    char *words = memory_format("%s of %s are read, %s%s", size_text(read, so_far->read_bytes), size, share, left);
    free(left);
    return words;
}

static void reading_write(struct json *json, const struct snapshot_file *file, const struct reading_so_far *so_far)
{
    char *words = reading_words(so_far);
    json_object_begin(json);
    json_key_text(json, "file", file->path);
    json_key_uint(json, "size_bytes", so_far->size_bytes);
    json_key_uint(json, "read_bytes", so_far->read_bytes);
    json_key_int(json, "took_ms", so_far->took_ms);
    json_key_known(json, "left_ms", so_far->left_ms);
    json_key_text(json, "text", words);
    json_object_end(json);
    free(words);
}

struct response *api_readings(const struct server *server, const struct request *request)
{
    struct api_subject subject = {0};
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    struct reading_so_far so_far;
    struct response *response = api_open(server, request_param(request, "session", NULL), NULL, &subject);
    if (!response) {
        size_t count = 0;
        json_object_begin(&json);
        json_key_text(&json, "session", subject.session->id);
        json_key_array(&json, "readings");
        for (size_t at = 0; at < subject.session->file_count && count < READINGS_MAX; at++) {
            const struct snapshot_file *file = subject.session->files[at];
            if (!reading_find(&file->identity, &so_far))
                continue;
            reading_write(&json, file, &so_far);
            count++;
        }
        json_array_end(&json);
        json_object_end(&json);
        response = response_json(&buf);
    }
    api_close(&subject);
    return response;
}
