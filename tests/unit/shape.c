/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/shape.h"
#include "read/hlo/hlo.h"

#include "arena.h"

static struct bytes bytes;
static struct hlo hlo;

static void begin(void)
{
    arena_begin();
    bytes_load(&bytes, "build/fixtures/hlo-shapes.pb");
    ARENA_MUST_NOT_JUMP();
    ck_assert(
        hlo_read((struct str){bytes.data, bytes.length}, 0, KIND_HLO_PROTO, (struct str){"", 0}, &arena, &hlo, &err));
}

static void end(void)
{
    arena_end();
    bytes_close(&bytes);
}

/* The fixture's names are the texts, its op_names the sizes. */
START_TEST(texts_and_sizes_are_xlas)
{
    struct buf text = BUF_INIT;
    ck_assert_uint_eq(hlo.instruction_count, 20);
    for (uint32_t i = 0; i < hlo.instruction_count; i++) {
        struct hlo_detail detail = hlo_detail(&hlo, i);
        text.length = 0;
        shape_text(detail.shape, true, &text);
        ck_assert_msg(str_equal((struct str){text.data, text.length}, detail.name), "%.*s, not %.*s", (int)text.length,
                      text.data, (int)detail.name.length, detail.name.data);
        ck_assert_msg(shape_bytes(detail.shape) == strtoll(detail.op_name.data, NULL, 10), "%.*s: %lld bytes",
                      (int)detail.name.length, detail.name.data, (long long)shape_bytes(detail.shape));
    }
    buf_free(&text);
}
END_TEST

START_TEST(parts_of_shapes)
{
    struct buf text = BUF_INIT;
    shape_layout_text(hlo_detail(&hlo, 1).shape, &text);
    ck_assert(str_equal((struct str){text.data, text.length}, STR("{3,2,1,0:T(8,128)(2,1)}")));
    text.length = 0;
    shape_text(hlo_detail(&hlo, 1).shape, false, &text);
    ck_assert(str_equal((struct str){text.data, text.length}, STR("bf16[16,16,2048,2048]")));
    ck_assert_str_eq(shape_element_type(hlo_detail(&hlo, 1).shape), "bf16");
    ck_assert(shape_has_tiles(hlo_detail(&hlo, 1).shape));
    ck_assert(!shape_has_tiles(hlo_detail(&hlo, 10).shape));
    ck_assert_str_eq(shape_element_type(hlo_detail(&hlo, 10).shape), "tuple");
    buf_free(&text);
}
END_TEST

/* 10,000 tuples in each other: the text is cut, nothing overflows. */
START_TEST(deep_shapes_end)
{
    enum { DEPTH = 10000 };
    struct buf text = BUF_INIT;
    char *deep = malloc(DEPTH * 6 + 16), *at = deep + DEPTH * 6 + 16;
    size_t length = 0;
    for (int i = 0; i < DEPTH; i++) { /* from the inside: element_type TUPLE, tuple_shapes = what is there */
        uint8_t head[8];
        size_t size = 0;
        head[size++] = 0x10;
        head[size++] = 13;
        if (length > 0) {
            head[size++] = 0x22;
            for (size_t rest = length; size < 8; rest >>= 7) {
                head[size++] = (uint8_t)((rest & 0x7F) | (rest > 0x7F ? 0x80 : 0));
                if (rest <= 0x7F)
                    break;
            }
        }
        at -= size;
        memcpy(at, head, size);
        length += size;
    }
    shape_text((struct str){at, length}, true, &text);
    ck_assert_uint_lt(text.length, 1000);
    ck_assert_int_eq(shape_bytes((struct str){at, length}), 8);
    buf_free(&text);
    free(deep);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shape");
    TCase *tests = tcase_create("shape");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, texts_and_sizes_are_xlas);
    tcase_add_test(tests, parts_of_shapes);
    tcase_add_test(tests, deep_shapes_end);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
