/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/reading.h"

#include "server/base/clock.h"

#include <pthread.h>

/* A pace that was measured over less of a file and less time than this is chance. */
enum { LEAST_SHARE = 50, LEAST_MS = 500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reading_of_file *first;

void reading_begin(struct reading_of_file *reading, struct file *file)
{
    *reading = (struct reading_of_file){.of = *files_identity(file), .file = file, .began_ms = clock_ms()};
    files_count_into(file, &reading->read_bytes);
    pthread_mutex_lock(&lock);
    reading->next = first;
    first = reading;
    pthread_mutex_unlock(&lock);
}

void reading_end(struct reading_of_file *reading)
{
    files_count_into(reading->file, NULL);
    pthread_mutex_lock(&lock);
    struct reading_of_file **at = &first;
    while (*at != reading)
        at = &(*at)->next;
    *at = reading->next;
    pthread_mutex_unlock(&lock);
}

static void reading_tell(struct reading_of_file *reading, struct reading_so_far *so_far)
{
    uint64_t size_bytes = reading->of.size_bytes;
    uint64_t read_bytes = atomic_load_explicit(&reading->read_bytes, memory_order_relaxed);
    int64_t took_ms = clock_ms() - reading->began_ms;
    if (read_bytes > size_bytes)
        read_bytes = size_bytes;
    *so_far = (struct reading_so_far){read_bytes, size_bytes, took_ms, -1};
    if (read_bytes > size_bytes / LEAST_SHARE && took_ms >= LEAST_MS)
        so_far->left_ms = (int64_t)((double)took_ms / (double)read_bytes * (double)(size_bytes - read_bytes));
}

bool reading_find(const struct files_identity *of, struct reading_so_far *so_far)
{
    pthread_mutex_lock(&lock);
    struct reading_of_file *reading = first;
    while (reading && !files_identity_equal(&reading->of, of))
        reading = reading->next;
    if (reading)
        reading_tell(reading, so_far);
    pthread_mutex_unlock(&lock);
    return reading != NULL;
}
