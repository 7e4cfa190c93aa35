/* SPDX-License-Identifier: Apache-2.0
 * reading.c: tests of server/files/reading: how much of a file was read so far. */
#include "server/files/reading.h"

#include "bytes.h"

#include <unistd.h>

enum { SIZE_BYTES = 1 << 20 };

static void file_write(char path[])
{
    static const char nothing[SIZE_BYTES];
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, nothing, sizeof(nothing)), SIZE_BYTES);
    close(descriptor);
}

static void read_half(struct file *file, uint64_t from)
{
    static char into[SIZE_BYTES / 2];
    const struct source *source = files_source(file);
    ck_assert_int_eq(source->read_apart(source->context, from, into, sizeof(into)), SIZE_BYTES / 2);
}

START_TEST(what_is_read_is_told_until_its_end)
{
    char path[] = "/tmp/memviewd-reading-XXXXXX";
    struct err err = ERR_INIT;
    struct reading_of_file reading;
    struct reading_so_far so_far;
    file_write(path);
    const struct files_place place = {.root = path, .path = ""};
    struct file *file = files_open(&place, &err);
    ck_assert_ptr_nonnull(file);
    const struct files_identity of = *files_identity(file);
    ck_assert(!reading_find(&of, &so_far));
    reading_begin(&reading, file);
    ck_assert(reading_find(&of, &so_far));
    ck_assert_uint_eq(so_far.read_bytes, 0);
    ck_assert_uint_eq(so_far.size_bytes, SIZE_BYTES);
    ck_assert_int_eq(so_far.left_ms, -1); /* its pace is not known */
    read_half(file, 0);
    ck_assert(reading_find(&of, &so_far));
    ck_assert_uint_eq(so_far.read_bytes, SIZE_BYTES / 2);
    reading.began_ms -= 10000;
    ck_assert(reading_find(&of, &so_far));
    ck_assert_int_ge(so_far.took_ms, 10000);
    ck_assert_int_eq(so_far.left_ms, so_far.took_ms); /* the other half */
    read_half(file, SIZE_BYTES / 2);
    read_half(file, 0); /* again: no more than there is */
    ck_assert(reading_find(&of, &so_far));
    ck_assert_uint_eq(so_far.read_bytes, SIZE_BYTES);
    ck_assert_int_eq(so_far.left_ms, 0);
    reading_end(&reading);
    ck_assert(!reading_find(&of, &so_far));
    read_half(file, 0); /* it is counted nowhere */
    files_close(file);
    unlink(path);
}
END_TEST

START_TEST(files_are_told_apart)
{
    char path[] = "/tmp/memviewd-reading-XXXXXX", second_path[] = "/tmp/memviewd-reading-XXXXXX";
    struct err err = ERR_INIT;
    struct reading_of_file reading, second_reading;
    struct reading_so_far so_far;
    file_write(path);
    file_write(second_path);
    const struct files_place place = {.root = path, .path = ""}, second_place = {.root = second_path, .path = ""};
    struct file *file = files_open(&place, &err), *second = files_open(&second_place, &err);
    reading_begin(&reading, file);
    reading_begin(&second_reading, second);
    read_half(second, 0);
    ck_assert(reading_find(files_identity(file), &so_far));
    ck_assert_uint_eq(so_far.read_bytes, 0);
    reading_end(&reading); /* the one that began first */
    ck_assert(!reading_find(files_identity(file), &so_far));
    ck_assert(reading_find(files_identity(second), &so_far));
    ck_assert_uint_eq(so_far.read_bytes, SIZE_BYTES / 2);
    reading_end(&second_reading);
    files_close(file);
    files_close(second);
    unlink(path);
    unlink(second_path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reading");
    TCase *tests = tcase_create("reading");
    tcase_add_test(tests, what_is_read_is_told_until_its_end);
    tcase_add_test(tests, files_are_told_apart);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
