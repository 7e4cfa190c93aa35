/* SPDX-License-Identifier: Apache-2.0
 * rows_ids.c: what files and rows are told by. */
#include "server/base/memory.h"
#include "server/fleet/catalog/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The end of each text counts: "a", "bc" and "ab", "c" have different ids. */
void rows_id(char id[ROWS_ID_SIZE], const char *const *texts, size_t count)
{
    struct sha256_stream stream;
    char text[SHA256_TEXT_SIZE];
    sha256_begin(&stream);
    for (size_t at = 0; at < count; at++)
        sha256_add(&stream, texts[at] ? texts[at] : "", texts[at] ? strlen(texts[at]) + 1 : 1);
    sha256_end(&stream, text);
    memcpy(id, text, 32);
    id[32] = '\0';
}

char *rows_address(const struct files_place *place, const char *path)
{
    return place->path[0] ? memory_format("%s/%s", strcmp(place->root, "/") == 0 ? "" : place->root, path)
                          : memory_text(place->root);
}

void rows_row_id(char id[ROWS_ID_SIZE], const char *address, const char *kind, const char *part, int64_t failure)
{
    char number[24];
    snprintf(number, sizeof(number), "%lld", (long long)failure);
    rows_id(id, (const char *const[]){address, kind, part, number}, 4);
}

void rows_failure_id(char id[ROWS_ID_SIZE], const struct snapshot_file *file, int64_t failure)
{
    char *address = rows_address(&file->place, file->path);
    rows_row_id(id, address, "failure", "", failure);
    free(address);
}
