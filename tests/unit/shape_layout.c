/* SPDX-License-Identifier: Apache-2.0
 * What arrays take in their layouts: by hand, and as the TPU compiler sized the buffers of real programs; layouts that
 * are damaged. */
#include "read/hlo/shape_layout.h"

#include "program.h"

/* Bytes of one array, written as in program.h. */
static int64_t padded(const char *shape)
{
    struct program_writing writing = {.at = shape};
    struct buf encoded = BUF_INIT;
    uint64_t bytes[PROGRAM_ELEMENTS_MAX];
    struct shape_array array;
    struct shape_layout layout;
    program_shape(&writing, &encoded, bytes);
    struct str text = {encoded.data, encoded.length};
    int64_t result =
        shape_array_read(text, &array) && shape_layout_read(text, &layout) ? shape_padded_bytes(&array, &layout) : -2;
    buf_free(&encoded);
    return result;
}

START_TEST(tiles_are_whole)
{
    static const struct {
        const char *shape;
        int64_t bytes;
    } known[] = {
        {"f32[5,3]", 60},
        {"f32[5,3]{1,0}", 60},
        {"f32[5,3]{1,0:T(8,128)}", 8 * 128 * 4},
        {"f32[5,3]{0,1:T(8,128)}", 8 * 128 * 4},
        {"f32[9,300]{1,0:T(8,128)}", 16 * 384 * 4},
        {"f32[9,300]{0,1:T(8,128)}", 304 * 128 * 4},
        {"bf16[9,300]{1,0:T(8,128)(2,1)}", 16 * 384 * 2},
        {"bf16[3,300]{1,0:T(4,128)(2,1)}", 4 * 384 * 2},
        {"bf16[3,300]{1,0:T(2,128)(2,1)}", 4 * 384 * 2},
        {"bf16[1,300]{1,0:T(1,128)(2,1)}", 2 * 384 * 2}, /* two rows are one word: half is empty */
        {"f32[1500]{0:T(1024)}", 2048 * 4},
        {"bf16[1500]{0:T(1024)(128)(2,1)}", 2048 * 2},
        {"pred[100,100]{1,0:T(8,128)(4,1)}", 104 * 128},
        {"f32[2,3,9,300]{3,2,1,0:T(8,128)}", 6 * 16 * 384 * 4},
        {"f32[2,3,9,300]{3,0,1,2:T(8,128)}", 3 * 9 * 8 * 384 * 4},
        {"f32[]{:T(128)}", 512},
        {"f32[]", 4},
        {"f32[0,128]{1,0:T(8,128)}", 0},
        {"f32[7]{0:T(8,128)}", 128 * 4}, /* of fewer dimensions than its tile */
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        ck_assert_msg(padded(known[i].shape) == known[i].bytes, "%s: %lld", known[i].shape,
                      (long long)padded(known[i].shape));
    /* combined with the next: six rows of one dimension */
    ck_assert_int_eq(padded("f32[2,3,5]{2,1,0:T(*,8,128)}"), 8 * 128 * 4);
    ck_assert_int_eq(padded("f32[20,3,5]{2,1,0:T(*,8,128)}"), 64 * 128 * 4);
}
END_TEST

/* The same array, so that a layout that was read says where its dimensions lie. */
START_TEST(the_order_in_memory_is_read)
{
    struct program_writing writing = {.at = "f32[2,3,4]{0,2,1}"};
    struct buf encoded = BUF_INIT;
    uint64_t bytes[PROGRAM_ELEMENTS_MAX];
    struct shape_layout layout;
    program_shape(&writing, &encoded, bytes);
    ck_assert(shape_layout_read((struct str){encoded.data, encoded.length}, &layout));
    ck_assert_uint_eq(layout.physical[0], 1);
    ck_assert_uint_eq(layout.physical[1], 2);
    ck_assert_uint_eq(layout.physical[2], 0);
    ck_assert_int_eq(layout.element_bits, 32);
    ck_assert_uint_eq(layout.tile_count, 0);
    buf_free(&encoded);
}
END_TEST

/* An array of given dimensions with a layout of any fields. */
static bool reads(const struct buf *layout, const uint64_t *dimensions, size_t count, int64_t *padded_bytes)
{
    struct buf shape = BUF_INIT, copy = BUF_INIT;
    struct shape_array array;
    struct shape_layout read;
    put_number(&shape, SHAPE_PROTO_ELEMENT_TYPE, PRIMITIVE_TYPE_F32);
    for (size_t i = 0; i < count; i++)
        put_number(&shape, SHAPE_PROTO_DIMENSIONS, dimensions[i]);
    buf_add(&copy, layout->data, layout->length);
    put_message(&shape, SHAPE_PROTO_LAYOUT, &copy);
    struct str text = {shape.data, shape.length};
    bool is_read = shape_layout_read(text, &read);
    *padded_bytes = is_read && shape_array_read(text, &array) ? shape_padded_bytes(&array, &read) : -2;
    buf_free(&shape);
    return is_read;
}

static void put_tile(struct buf *layout, uint64_t a, uint64_t b)
{
    struct buf tile = BUF_INIT;
    put_number(&tile, TILE_PROTO_DIMENSIONS, a);
    put_number(&tile, TILE_PROTO_DIMENSIONS, b);
    put_message(layout, LAYOUT_PROTO_TILES, &tile);
}

static void put_order(struct buf *layout, uint64_t a, uint64_t b)
{
    put_number(layout, LAYOUT_PROTO_MINOR_TO_MAJOR, a);
    put_number(layout, LAYOUT_PROTO_MINOR_TO_MAJOR, b);
}

START_TEST(damage_is_refused)
{
    static const uint64_t small[] = {4, 4}, huge[] = {INT64_MAX, INT64_MAX}, negative[] = {4, (uint64_t)-1};
    static const uint64_t orders[][2] = {{0, 0}, {1, 2}, {UINT64_MAX, 0}, {1, 1}};
    static const uint64_t tiles[][2] = {{0, 8}, {8, (uint64_t)-5}, {(uint64_t)-1, 128}};
    int64_t bytes;
    for (size_t i = 0; i < 4; i++) {
        struct buf layout = BUF_INIT;
        put_order(&layout, orders[i][0], orders[i][1]);
        ck_assert_msg(!reads(&layout, small, 2, &bytes), "order %zu", i);
        buf_free(&layout);
    }
    for (size_t i = 0; i < 3; i++) {
        struct buf layout = BUF_INIT;
        put_order(&layout, 1, 0);
        put_tile(&layout, tiles[i][0], tiles[i][1]);
        ck_assert_msg(!reads(&layout, small, 2, &bytes), "tile %zu", i);
        buf_free(&layout);
    }
    struct buf layout = BUF_INIT; /* more tiles, and more dimensions of one, than are kept */
    for (int i = 0; i <= SHAPE_TILE_MAX; i++)
        put_tile(&layout, 8, 128);
    ck_assert(!reads(&layout, small, 2, &bytes));
    layout.length = 0;
    struct buf tile = BUF_INIT;
    for (int i = 0; i <= SHAPE_RANK_MAX; i++)
        put_number(&tile, TILE_PROTO_DIMENSIONS, 1);
    put_message(&layout, LAYOUT_PROTO_TILES, &tile);
    ck_assert(!reads(&layout, small, 2, &bytes));
    layout.length = 0; /* more places than dimensions: none is written past the end */
    for (int i = 0; i < 1000; i++)
        put_number(&layout, LAYOUT_PROTO_MINOR_TO_MAJOR, (uint64_t)i);
    ck_assert(!reads(&layout, small, 2, &bytes));
    layout.length = 0; /* sizes past 64 bits, and dimensions that are not known */
    put_order(&layout, 1, 0);
    put_tile(&layout, 8, 128);
    ck_assert(reads(&layout, huge, 2, &bytes));
    ck_assert_int_eq(bytes, SHAPE_UNKNOWN_SIZE);
    ck_assert(!reads(&layout, negative, 2, &bytes) || bytes == SHAPE_UNKNOWN_SIZE);
    layout.length = 0;
    put_order(&layout, 1, 0);
    put_tile(&layout, INT64_MAX, INT64_MAX);
    ck_assert(reads(&layout, small, 2, &bytes));
    ck_assert_int_eq(bytes, SHAPE_UNKNOWN_SIZE);
    layout.length = 0; /* combined, past 64 bits */
    put_order(&layout, 1, 0);
    put_tile(&layout, (uint64_t)INT64_MIN, 8);
    ck_assert(reads(&layout, huge, 2, &bytes));
    ck_assert_int_eq(bytes, SHAPE_UNKNOWN_SIZE);
    buf_free(&layout);
}
END_TEST

START_TEST(what_has_no_layout_lies_as_it_is_said)
{
    struct shape_layout layout;
    struct buf tuple = BUF_INIT;
    put_number(&tuple, SHAPE_PROTO_ELEMENT_TYPE, PRIMITIVE_TYPE_TUPLE);
    ck_assert(!shape_layout_read((struct str){tuple.data, tuple.length}, &layout));
    ck_assert(!shape_layout_read((struct str){"\x1a\x05", 2}, &layout));
    buf_free(&tuple);
}
END_TEST

/* Every array of a program that the TPU compiler gave a buffer: its size is that of its layout. */
static uint32_t compare(const struct hlo *hlo)
{
    uint32_t compared = 0;
    for (uint32_t i = 0; i < hlo->buffer_count; i++) {
        const struct hlo_buffer *buffer = &hlo->buffers[i];
        struct shape_array array;
        struct shape_layout layout;
        if (buffer->instruction_at == HLO_NONE || buffer->index_count > 0 ||
            !shape_array_read(hlo_instruction_shape(hlo, buffer->instruction_at), &array))
            continue;
        if (array.rank == 0 && !shape_has_tiles(hlo_instruction_shape(hlo, buffer->instruction_at)))
            continue; /* the layout does not show in what the compiler keeps a scalar without tiles */
        ck_assert(shape_layout_read(hlo_instruction_shape(hlo, buffer->instruction_at), &layout));
        int64_t padded_bytes = shape_padded_bytes(&array, &layout);
        struct str name = hlo_instruction_name(hlo, buffer->instruction_at);
        ck_assert_msg(padded_bytes == buffer->size_bytes, "%.*s: %lld, not %lld", (int)name.length, name.data,
                      (long long)padded_bytes, (long long)buffer->size_bytes);
        compared++;
    }
    return compared;
}

static struct bytes bytes;
static struct hlo hlo;

static uint32_t compare_all(const char *path)
{
    ARENA_MUST_NOT_JUMP();
    bytes_load(&bytes, path);
    ck_assert_msg(
        hlo_read((struct str){bytes.data, bytes.length}, 0, KIND_HLO_PROTO, (struct str){"", 0}, &arena, &hlo, &err),
        "%s: %s", path, err.text);
    uint32_t compared = compare(&hlo);
    bytes_close(&bytes);
    return compared;
}

START_TEST(buffers_of_real_programs_have_the_bytes_of_their_layouts)
{
    ck_assert_uint_gt(compare_all("tests/fixtures/dumps/d-tile-padding/"
                                  "module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb"),
                      1);
    ck_assert_uint_gt(compare_all("tests/fixtures/dumps/f5-vmem-matmul-blocks/"
                                  "module_0003.jit_f5.cl_1014260217.after_optimizations.hlo.pb"),
                      1);
    ck_assert_uint_gt(compare_all("tests/fixtures/modules/pallas-matmul/"
                                  "module_0024.jit_f.cl_1014260217.after_optimizations.hlo.pb"),
                      1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shape_layout");
    TCase *tests = tcase_create("shape_layout");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, tiles_are_whole);
    tcase_add_test(tests, the_order_in_memory_is_read);
    tcase_add_test(tests, damage_is_refused);
    tcase_add_test(tests, what_has_no_layout_lies_as_it_is_said);
    tcase_add_test(tests, buffers_of_real_programs_have_the_bytes_of_their_layouts);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
