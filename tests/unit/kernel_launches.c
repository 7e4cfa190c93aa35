/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"
#include "read/trace/memory_events.h"

enum { PADDING_BYTES = 1 << 17 }; /* more than any window: the host's plane and the device's are never in one */

/* A trace that is written while it is read: from a certain reading on its kernels tell other programs. */
struct changing {
    struct bytes before, after;
    size_t left; /* readings until then */
};

static int64_t read_changing(void *context, uint64_t offset, void *into, size_t size)
{
    struct changing *changing = context;
    struct bytes *now = changing->left > 0 ? &changing->before : &changing->after;
    changing->left -= changing->left > 0;
    return bytes_read_at(now, offset, into, size);
}

/* Where the second plane begins: the first is shorter than 2^14 bytes, and longer than 2^7. */
static size_t second_plane(const struct bytes *bytes)
{
    const unsigned char *data = (const unsigned char *)bytes->data;
    ck_assert(data[0] == 0x0a && data[1] >= 0x80 && data[2] < 0x80);
    return 3 + (size_t)((data[1] & 0x7f) | data[2] << 7);
}

/* A field 15 of bytes between the planes. */
static void load_apart(struct bytes *bytes, const char *path)
{
    struct bytes file;
    static const unsigned char head[] = {0x7a, 0x80, 0x80, 0x08};
    bytes_load(&file, path);
    size_t first = second_plane(&file), length = file.length + sizeof(head) + PADDING_BYTES;
    char *data = calloc(length, 1);
    memcpy(data, file.data, first);
    memcpy(data + first, head, sizeof(head));
    memcpy(data + first + sizeof(head) + PADDING_BYTES, file.data + first, file.length - first);
    bytes_open(bytes, data, length);
    free(data);
    bytes_close(&file);
}

/* Gives each kernel's stat 3, program_id, a number of its own; how many there are. */
static size_t programs_change(struct bytes *bytes)
{
    static const char stat[] = {0x22, 0x04, 0x08, 0x03, 0x20};
    size_t count = 0;
    for (size_t i = PADDING_BYTES; i + sizeof(stat) < bytes->length; i++)
        if (memcmp(bytes->data + i, stat, sizeof(stat)) == 0)
            bytes->data[i + sizeof(stat)] = (char)(0x20 + count++);
    return count;
}

/* The names of launches after a reading; 0 when `left` readings were all. */
static uint32_t names_of(struct changing *changing, size_t left)
{
    struct err err = ERR_INIT;
    struct arena arena;
    static struct memory_events events;
    const struct source source = {.context = changing, .read = read_changing, .size_bytes = changing->before.length};
    arena_init(&arena, 0, &err);
    changing->left = left;
    ck_assert_int_eq(setjmp(arena.trap), 0);
    ck_assert(memory_events_read(&source, NULL, &arena, &events, &err));
    uint32_t count = events.launches.names.map.count;
    for (size_t i = 0; i < events.launches.items.count; i++)
        ck_assert_uint_lt(CHUNKS_AT(&events.launches.items, struct module_launch, i).name_at, count);
    arena_free(&arena);
    return changing->left > 0 ? 0 : count;
}

/* Where the host is asked, a device's plane is read twice: the second time it may tell modules that are new. */
START_TEST(modules_that_come_up_in_the_second_reading_have_names)
{
    static const char path[] = "build/fixtures/trace-gpu-calls.pb";
    struct changing changing;
    uint32_t names, max = 0;
    load_apart(&changing.before, path);
    load_apart(&changing.after, path);
    size_t new_count = programs_change(&changing.after);
    ck_assert_uint_eq(new_count, 16);
    for (size_t left = 0; (names = names_of(&changing, left)) > 0; left++)
        max = names > max ? names : max;
    ck_assert_uint_eq(max, 6 + new_count);
    bytes_close(&changing.before);
    bytes_close(&changing.after);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernel_launches");
    TCase *tests = tcase_create("kernel_launches");
    tcase_add_test(tests, modules_that_come_up_in_the_second_reading_have_names);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
