/* SPDX-License-Identifier: Apache-2.0
 * unpacked.c: tests of server/store/unpacked and server/gather/log_texts: how often a packed dump or log is inflated
 * while all is read of it. */
#include "server/store/unpacked.h"

#include "bytes.h"
#include "server/gather/index.h"
#include "server/store/text_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define DUMP "tests/fixtures/dumps/seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb"
enum { PACKED_MAX = 1 << 20 };
static const uint64_t ROOM_BYTES = UINT64_C(256) << 20;

/* The linker leads each call of the libraries through these. */
static size_t inflation_count;
int __real_inflateInit2_(z_streamp stream, int window_bits, const char *version, int stream_size);
int __wrap_inflateInit2_(z_streamp stream, int window_bits, const char *version, int stream_size);
int __wrap_inflateInit2_(z_streamp stream, int window_bits, const char *version, int stream_size)
{
    inflation_count++;
    return __real_inflateInit2_(stream, window_bits, version, stream_size);
}

bool __real_gzip_whole_inflate(const struct source *packed, uint64_t size_bytes, struct buf *out);
bool __wrap_gzip_whole_inflate(const struct source *packed, uint64_t size_bytes, struct buf *out);
bool __wrap_gzip_whole_inflate(const struct source *packed, uint64_t size_bytes, struct buf *out)
{
    bool is_inflated = __real_gzip_whole_inflate(packed, size_bytes, out);
    inflation_count += is_inflated;
    return is_inflated;
}

static size_t member_add(const char *plain, size_t length, unsigned char *packed)
{
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)plain;
    stream.avail_in = (uInt)length;
    stream.next_out = packed;
    stream.avail_out = PACKED_MAX;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t size = stream.total_out;
    deflateEnd(&stream);
    return size;
}

/* The dump as a gzip of that many members; only the first `kept` parts of a hundred are written. */
static void dump_write(char path[], size_t member_count, size_t kept)
{
    struct bytes dump;
    unsigned char *packed = malloc(2 * PACKED_MAX);
    bytes_load(&dump, DUMP);
    size_t piece = dump.length / member_count, size = 0;
    for (size_t at = 0; at < member_count; at++) {
        size_t length = at + 1 < member_count ? piece : dump.length - at * piece;
        size += member_add(dump.data + at * piece, length, packed + size);
    }
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, packed, size * kept / 100), (ssize_t)(size * kept / 100));
    close(descriptor);
    free(packed);
    bytes_close(&dump);
}

/* Reads all that the commands read of a dump; how often it was inflated. *err: of the program. */
static size_t inflations_of(struct store *store, const char *path, struct err *err)
{
    const struct files_place place = {.root = path, .path = ""};
    struct store_file file;
    struct cache_hold totals_hold = {0};
    inflation_count = 0;
    if (!store_open(store, &place, &file, err))
        return inflation_count;
    const struct store_totals *totals = store_totals(store, &file, &totals_hold, err);
    ck_assert_ptr_nonnull(totals);
    ck_assert_ptr_nonnull(totals->programs[0].totals);
    const struct subjects_place of = {.kind = ANALYSIS_MODULE, .opened = &file, .program = &file.contents->programs[0]};
    struct subject module;
    ck_assert(subjects_open(store, &of, &module, err));
    struct analysis_module_space space;
    ck_assert(analysis_module_space_at(module.core, 0, &space));
    ck_assert_str_eq(space.name, "HBM");
    subjects_close(&module);
    cache_release(&totals_hold);
    store_close(&file);
    return inflation_count;
}

static void store_end(struct store *store)
{
    store_drop_own(store);
    ck_assert_uint_eq(account_taken(store_account(store)), 0);
    store_free(store);
}

START_TEST(a_packed_dump_is_inflated_once)
{
    char path[] = "/tmp/memviewd-unpacked-XXXXXX";
    struct err err = ERR_INIT;
    struct store *store = store_new(ROOM_BYTES);
    dump_write(path, 1, 100);
    ck_assert_uint_eq(inflations_of(store, path, &err), 1);
    ck_assert_uint_eq(inflations_of(store, path, &err), 0);
    ck_assert(!err_is_set(&err));
    ck_assert_uint_eq(cache_figures_of(store_cache(store), STORE_UNPACKED).count, 1);
    unlink(path);
    store_end(store);
}
END_TEST

/* An eighth of the account is less than the dump, or the last member gives only its own size: each reader still reads
 * it for itself, and nothing is held. */
START_TEST(what_has_no_room_is_read_all_the_same)
{
    char path[] = "/tmp/memviewd-unpacked-XXXXXX";
    struct err err = ERR_INIT;
    bool is_of_members = _i == 1;
    struct store *store = store_new(ROOM_BYTES);
    struct store *small = store_new(UINT64_C(60) << 10);
    dump_write(path, is_of_members ? 2 : 1, 100);
    if (is_of_members)
        ck_assert_uint_eq(inflations_of(store, path, &err), 4); /* one try to hold it among them */
    else
        ck_assert_uint_eq(cache_figures_of(store_cache(small), STORE_UNPACKED).count, 0);
    const struct files_place place = {.root = path, .path = ""};
    struct file *file = files_open(&place, &err);
    struct cache_hold hold;
    unpacked_attach(is_of_members ? store : small, file, &hold);
    ck_assert_ptr_null(files_source(file)->unpacked);
    unpacked_let_go(file, &hold);
    files_close(file);
    ck_assert(!err_is_set(&err));
    unlink(path);
    store_end(store);
    store_end(small);
}
END_TEST

/* The reader of a file reports what is wrong with it, as before. */
START_TEST(a_cut_dump_is_reported)
{
    char path[] = "/tmp/memviewd-unpacked-XXXXXX";
    struct err err = ERR_INIT;
    struct store *store = store_new(ROOM_BYTES);
    dump_write(path, 1, 60);
    inflations_of(store, path, &err);
    ck_assert_int_eq(err.code, ERR_truncated);
    ck_assert_ptr_nonnull(strstr(err.text, "the gzip stream is cut at byte"));
    unlink(path);
    store_end(store);
}
END_TEST

static void log_write(const char *path)
{
    static const char said[] =
        "step 1\nRESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.\n";
    unsigned char *packed = malloc(PACKED_MAX);
    size_t size = member_add(said, sizeof(said) - 1, packed);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(packed, 1, size, file), size);
    fclose(file);
    free(packed);
}

/* The scan reads it to learn whether it holds a failure, and its rows and notices are made of that; without keeping
 * it is read again. */
START_TEST(a_packed_log_is_inflated_once)
{
    char folder[] = "/tmp/memviewd-unpacked-XXXXXX", path[64];
    struct err err = ERR_INIT;
    struct subject subject;
    struct store *store = store_new(ROOM_BYTES);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/job.log.gz", folder);
    log_write(path);
    inflation_count = 0;
    struct index *index = index_new();
    index_add(index, folder);
    if (_i == 1)
        index_keep_texts(index);
    index_scan_once_with_texts(index, false);
    struct snapshot *snapshot = index_hold(index);
    ck_assert_uint_eq(snapshot->session_count, 1);
    ck_assert_uint_eq(snapshot->sessions[0]->text_count, 1);
    const struct oom_report *report = text_report_open(store, &snapshot->sessions[0]->texts[0], &subject, &err);
    ck_assert_uint_eq(analysis_oom_count(report), 1);
    ck_assert_uint_eq(inflation_count, _i == 1 ? 1 : 2);
    subjects_close(&subject);
    index_release(index, snapshot);
    index_free(index);
    unlink(path);
    rmdir(folder);
    store_end(store);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unpacked");
    TCase *tests = tcase_create("unpacked");
    tcase_add_test(tests, a_packed_dump_is_inflated_once);
    tcase_add_loop_test(tests, what_has_no_room_is_read_all_the_same, 0, 2);
    tcase_add_test(tests, a_cut_dump_is_reported);
    tcase_add_loop_test(tests, a_packed_log_is_inflated_once, 0, 2);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
