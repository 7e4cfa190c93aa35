/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/rows_state.h"

#include "server/files/remote/remote_address.h"
#include "server/store/sha256.h"

#include <string.h>

static void state_add_identity(struct sha256_stream *stream, const struct files_place *place,
                               const struct files_identity *identity)
{
    const int64_t figures[] = {(int64_t)identity->size_bytes, identity->modified_at_ns, identity->status_at_ns};
    sha256_add(stream, figures, sizeof(figures));
    if (!place->root || !remote_address_is(place->root))
        return; /* device and inode differ between machines that share a disk; on a server they are the ETag */
    sha256_add(stream, &identity->device, sizeof(identity->device));
    sha256_add(stream, &identity->inode, sizeof(identity->inode));
}

static void file_add(struct sha256_stream *stream, const struct snapshot_file *file)
{
    sha256_add(stream, file->path, strlen(file->path) + 1);
    state_add_identity(stream, &file->place, &file->identity);
}

static void state_end(struct sha256_stream *stream, char state[ROWS_STATE_SIZE])
{
    char text[SHA256_TEXT_SIZE];
    sha256_end(stream, text);
    memcpy(state, text, ROWS_STATE_SIZE - 1);
    state[ROWS_STATE_SIZE - 1] = '\0';
}

void rows_state_of_session(const char *category_rules, const struct snapshot_session *session, const char *problem,
                           char state[ROWS_STATE_SIZE])
{
    struct sha256_stream stream;
    sha256_begin(&stream);
    sha256_add(&stream, category_rules ? category_rules : "", category_rules ? strlen(category_rules) + 1 : 1);
    sha256_add(&stream, problem, strlen(problem) + 1);
    for (size_t at = 0; session && at < session->file_count; at++)
        file_add(&stream, session->files[at]);
    for (size_t at = 0; session && at < session->program_file_count; at++)
        file_add(&stream, session->program_files[at]);
    state_end(&stream, state);
}

void rows_state_of_file(const char session_state[ROWS_STATE_SIZE], const struct snapshot_file *file,
                        const char *labels_json, const char *fault, char state[ROWS_STATE_SIZE])
{
    struct sha256_stream stream;
    sha256_begin(&stream);
    sha256_add(&stream, session_state, ROWS_STATE_SIZE);
    if (file)
        file_add(&stream, file);
    sha256_add(&stream, labels_json, strlen(labels_json) + 1);
    sha256_add(&stream, fault, strlen(fault) + 1);
    state_end(&stream, state);
}

void rows_state_of_identity(const struct files_place *place, const struct files_identity *identity,
                            char state[ROWS_STATE_SIZE])
{
    struct sha256_stream stream;
    sha256_begin(&stream);
    state_add_identity(&stream, place, identity);
    state_end(&stream, state);
}
