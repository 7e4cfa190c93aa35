/* SPDX-License-Identifier: Apache-2.0
 * The views of the memory viewer over real and made programs: sums that balance, figures of the example, refusals. */
#include "asked.h"

static const char example[] =
    ASKED_DUMP "seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb";

static void begin(void) { err = (struct err)ERR_INIT; }

START_TEST(the_example_peaks_at_300_gib)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, example);
    cJSON *space = cJSON_GetArrayItem(cJSON_GetObjectItem(ask(&asked, "summary", NULL, NULL, &root), "spaces"), 0);
    ck_assert_str_eq(cJSON_GetObjectItem(space, "name")->valuestring, "HBM");
    ck_assert_double_eq(number(space, "peak_bytes"), 300.0 * 1073741824);
    ck_assert_double_eq(number(space, "total_bytes"), 300.0 * 1073741824);
    cJSON_Delete(root);
    cJSON *rows = cJSON_GetObjectItem(ask(&asked, "buffers", "step", "peak", &root), "rows");
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(rows, 0), "name")->valuestring, "fusion.31");
    ck_assert_double_eq(number(cJSON_GetArrayItem(rows, 0), "bytes"), 200.0 * 1073741824);
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(rows, 1), "name")->valuestring, "xor_convert_fusion");
    ck_assert_double_eq(number(cJSON_GetArrayItem(rows, 1), "bytes"), 100.0 * 1073741824);
    ck_assert_int_eq(cJSON_GetArraySize(rows), 2);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

/* At every step of every space the rows add up to the curve. */
START_TEST(rows_add_up_to_the_curve)
{
    struct asked asked;
    cJSON *root, *curve_root, *rows_root, *space;
    asked_open(&asked, asked_modules[_i]);
    cJSON *spaces =
        cJSON_GetObjectItem(ask(&asked, "summary", NULL, NULL, &root), "spaces"); /* the macro looks twice */
    cJSON_ArrayForEach(space, spaces)
    {
        char number_text[24], step_text[24];
        snprintf(number_text, sizeof(number_text), "%.0f", number(space, "space"));
        struct analysis_param params[] = {{"space", number_text}, {"width", "16384"}};
        struct buf out = BUF_INIT;
        ck_assert(subject_answer(asked.module, "memory_viewer", "curve", params, 2, &out, &err));
        curve_root = cJSON_ParseWithLength(out.data, out.length);
        buf_free(&out);
        cJSON *columns = cJSON_GetObjectItem(cJSON_GetObjectItem(curve_root, "data"), "columns");
        cJSON *step = cJSON_GetObjectItem(columns, "step")->child,
              *bytes = cJSON_GetObjectItem(columns, "bytes")->child;
        double highest = 0;
        for (; step != NULL; step = step->next, bytes = bytes->next) {
            snprintf(step_text, sizeof(step_text), "%.0f", step->valuedouble);
            struct analysis_param at[] = {{"space", number_text}, {"step", step_text}, {"limit", "0"}};
            out = (struct buf)BUF_INIT;
            ck_assert(subject_answer(asked.module, "memory_viewer", "buffers", at, 3, &out, &err));
            rows_root = cJSON_ParseWithLength(out.data, out.length);
            buf_free(&out);
            ck_assert_double_eq(number(cJSON_GetObjectItem(rows_root, "data"), "total_bytes"), bytes->valuedouble);
            cJSON_Delete(rows_root);
            if (bytes->valuedouble > highest)
                highest = bytes->valuedouble;
        }
        if (highest > 0)
            ck_assert_double_eq(highest, number(space, "peak_bytes"));
        cJSON_Delete(curve_root);
    }
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

/* The bars of a strip are the buffers of the step, merged or not. */
START_TEST(strips_hold_every_byte)
{
    struct asked asked;
    static const char *const widths[] = {"1", "3", "40", "900"};
    asked_open(&asked, asked_modules[_i]);
    for (int i = 0; i < 4; i++) {
        cJSON *root, *order, *bar, *data = ask(&asked, "strips", "width", widths[i], &root);
        double padding[3] = {0, 0, 0};
        int at = 0;
        cJSON_ArrayForEach(order, cJSON_GetObjectItem(data, "orders"))
        {
            double bytes = 0, count = 0;
            cJSON_ArrayForEach(bar, order)
            {
                ck_assert_double_eq(number(bar, "first_rank"), count);
                bytes += number(bar, "bytes");
                count += number(bar, "count");
                padding[at] += number(bar, "padding_bytes");
                ck_assert(!cJSON_HasObjectItem(bar, "id") == (number(bar, "count") > 1));
            }
            if (strcmp(order->string, "padding") != 0) {
                ck_assert_double_eq(bytes, number(data, "bytes"));
                ck_assert_double_eq(count, number(data, "buffer_count"));
            }
            at++;
        }
        ck_assert_double_eq(padding[0], padding[1]);
        ck_assert_double_eq(padding[0], padding[2]);
        cJSON_Delete(root);
    }
    asked_close(&asked);
}
END_TEST

/* What was live, plus what was born, minus what died, is what is left: over any window. */
START_TEST(windows_balance)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, asked_modules[_i]);
    cJSON *summary = ask(&asked, "summary", NULL, NULL, &root);
    int steps = (int)number(cJSON_GetArrayItem(cJSON_GetObjectItem(summary, "spaces"), 0), "step_count");
    cJSON_Delete(root);
    for (int from = 0; from < steps; from += 1 + steps / 7)
        for (int to = from; to <= steps; to += 1 + steps / 5) {
            char begin_text[16], end_text[16];
            snprintf(begin_text, sizeof(begin_text), "%d", from);
            snprintf(end_text, sizeof(end_text), "%d", to);
            struct analysis_param params[] = {{"from", begin_text}, {"to", end_text}};
            cJSON *data = ask_many(&asked, "window", params, 2, &root);
            ck_assert_double_eq(number(data, "bytes_before") + number(cJSON_GetObjectItem(data, "born"), "bytes") -
                                    number(cJSON_GetObjectItem(data, "died"), "bytes"),
                                number(data, "bytes_after"));
            cJSON_Delete(root);
        }
    asked_close(&asked);
}
END_TEST

/* Filter, window and marks agree on a rectangle of steps and offsets with a count row by row. */
START_TEST(a_rectangle_holds_what_overlaps_it)
{
    struct asked asked;
    cJSON *root, *row, *bar;
    asked_open(&asked, asked_modules[_i]);
    struct analysis_param every[] = {{"step", "all"}, {"limit", "1000"}};
    cJSON *map = ask_many(&asked, "map", NULL, 0, &root);
    const double steps = number(map, "step_count"), high = number(map, "height_bytes");
    const double from = floor(steps / 4), to = ceil(steps / 2), low = floor(high / 8), end = ceil(high / 2);
    cJSON_Delete(root);
    double count = 0, bytes = 0, marked = 0;
    cJSON *rows = cJSON_GetObjectItem(ask_many(&asked, "buffers", every, 2, &root), "rows");
    cJSON_ArrayForEach(row, rows)
    {
        cJSON *dies = cJSON_GetObjectItem(row, "dies_step"), *place = cJSON_GetObjectItem(row, "allocation");
        if (cJSON_IsTrue(cJSON_GetObjectItem(row, "is_indefinite")))
            continue;
        double born = number(row, "born_step"), offset = number(place, "offset_bytes"), size = number(row, "bytes");
        double dead = dies == NULL ? steps : dies->valuedouble;
        bool is_in = born < to && dead > from && offset < end && offset + size > low && size > 0;
        count += is_in;
        bytes += is_in ? size : 0;
        marked += is_in && born <= from && dead > from;
    }
    ck_assert_int_lt(cJSON_GetArraySize(rows), 1000);
    cJSON_Delete(root);
    ck_assert(count > 0 || high < 1048576); /* those of some kilobytes have nothing there */
    char filter[160], covers[80], from_text[16], to_text[16];
    snprintf(covers, sizeof(covers), "covers:%.0f..%.0f", low, end > low ? end - 1 : low);
    snprintf(filter, sizeof(filter), "alive:%.0f..%.0f %s", from, to - 1, covers);
    snprintf(from_text, sizeof(from_text), "%.0f", from);
    snprintf(to_text, sizeof(to_text), "%.0f", to);
    struct analysis_param listed[] = {{"step", "all"}, {"filter", filter}};
    cJSON *data = ask_many(&asked, "buffers", listed, 2, &root);
    ck_assert_double_eq(number(data, "matched_count"), count);
    ck_assert_double_eq(number(data, "matched_bytes"), bytes);
    cJSON_Delete(root);
    struct analysis_param window[] = {{"from", from_text}, {"to", to_text}, {"filter", covers}};
    data = ask_many(&asked, "window", window, 3, &root);
    cJSON *alive = cJSON_GetObjectItem(data, "alive"), *peak = cJSON_GetObjectItem(data, "peak");
    ck_assert_double_eq(number(alive, "count"), count);
    ck_assert_double_eq(number(alive, "bytes"), bytes);
    ck_assert_double_le(number(peak, "bytes"), bytes);
    ck_assert_double_eq(number(data, "bytes_before") + number(cJSON_GetObjectItem(data, "born"), "bytes") -
                            number(cJSON_GetObjectItem(data, "died"), "bytes"),
                        number(data, "bytes_after"));
    cJSON_Delete(root);
    struct analysis_param strips[] = {{"step", from_text}, {"mark", filter}, {"width", "64"}};
    cJSON *bars =
        cJSON_GetObjectItem(cJSON_GetObjectItem(ask_many(&asked, "strips", strips, 3, &root), "orders"), "size");
    cJSON_ArrayForEach(bar, bars) marked -= number(bar, "marked_count");
    ck_assert_double_eq(marked, 0);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(maps_hold_every_buffer_at_any_width)
{
    static const char *const widths[] = {"1", "2", "16", "4000"};
    struct asked asked;
    asked_open(&asked, asked_modules[_i]);
    for (int i = 0; i < 4; i++) {
        struct analysis_param width = {"width", widths[i]};
        cJSON *root, *rectangle, *data = ask_many(&asked, "map", &width, 1, &root);
        cJSON *rectangles = cJSON_GetObjectItem(data, "rectangles");
        double count = 0;
        ck_assert_int_le(cJSON_GetArraySize(rectangles), 2 * atoi(widths[i]));
        cJSON_ArrayForEach(rectangle, rectangles)
        {
            count += number(rectangle, "count");
            ck_assert_double_le(number(rectangle, "from"), number(rectangle, "to"));
            ck_assert_double_le(number(rectangle, "high_bytes"), number(data, "height_bytes"));
        }
        ck_assert_double_eq(count, number(data, "rectangle_count"));
        double bands = 0, band_bytes = 0;
        cJSON_ArrayForEach(rectangle, cJSON_GetObjectItem(data, "indefinite"))
        {
            bands += number(rectangle, "count");
            band_bytes += number(rectangle, "bytes");
        }
        ck_assert_double_eq(bands, number(data, "indefinite_count"));
        ck_assert_double_eq(band_bytes, number(data, "indefinite_bytes"));
        cJSON_Delete(root);
    }
    asked_close(&asked);
}
END_TEST

START_TEST(strips_and_map_show_what_the_filter_lists)
{
    static const char *const filters[] = {"", "kind:parameter", "kind:temporary >1KiB", "-kind:temporary"};
    struct asked asked;
    asked_open(&asked, asked_modules[_i]);
    for (int i = 0; i < 4; i++) {
        struct analysis_param params[] = {{"filter", filters[i]}, {"step", "all"}};
        cJSON *strips_root, *rows_root, *all_root, *map_root, *band;
        cJSON *strips = ask_many(&asked, "strips", params, 1, &strips_root);
        cJSON *rows = ask_many(&asked, "buffers", params, 1, &rows_root);
        cJSON *all = ask_many(&asked, "buffers", params, 2, &all_root);
        cJSON *map = ask_many(&asked, "map", params, 1, &map_root);
        ck_assert_double_eq(number(strips, "matched_count"), number(rows, "matched_count"));
        ck_assert_double_eq(number(strips, "matched_bytes"), number(rows, "matched_bytes"));
        ck_assert_double_eq(number(strips, "buffer_count"), number(rows, "total_count"));
        double count = number(map, "rectangle_count");
        cJSON_ArrayForEach(band, cJSON_GetObjectItem(map, "indefinite")) count += number(band, "count");
        ck_assert_double_le(count, number(all, "matched_count")); /* buffers without bytes are no rectangles */
        if (i == 1)
            ck_assert_double_eq(number(map, "rectangle_count"), 0);
        cJSON_Delete(strips_root);
        cJSON_Delete(rows_root);
        cJSON_Delete(all_root);
        cJSON_Delete(map_root);
    }
    asked_close(&asked);
}
END_TEST

START_TEST(a_merged_bar_opens_into_its_own_buffers)
{
    struct asked asked;
    asked_open(&asked, asked_modules[_i]);
    struct analysis_param narrow = {"width", "64"};
    cJSON *root, *bar, *data = ask_many(&asked, "strips", &narrow, 1, &root);
    cJSON_ArrayForEach(bar, cJSON_GetObjectItem(cJSON_GetObjectItem(data, "orders"), "size"))
    {
        char first[16], count[16];
        snprintf(first, sizeof(first), "%d", (int)number(bar, "first_rank"));
        snprintf(count, sizeof(count), "%d", (int)number(bar, "count"));
        struct analysis_param params[] = {{"width", "64"}, {"order", "size"}, {"first", first}, {"count", count}};
        cJSON *part_root, *each, *part = ask_many(&asked, "strips", params, 4, &part_root);
        double members = 0, bytes = 0;
        cJSON *orders = cJSON_GetObjectItem(part, "orders");
        cJSON_ArrayForEach(each, cJSON_GetObjectItem(orders, "size"))
        {
            ck_assert_double_ge(number(each, "first_rank"), number(bar, "first_rank"));
            members += number(each, "count");
            bytes += number(each, "bytes");
        }
        ck_assert_double_eq(members, number(bar, "count"));
        ck_assert_double_eq(bytes, number(bar, "bytes"));
        ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(orders, "program")),
                         cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetObjectItem(data, "orders"), "program")));
        cJSON_Delete(part_root);
    }
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(without_a_trace_the_schedule_answers)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, "build/fixtures/hlo-no-trace.pb");
    cJSON *space = cJSON_GetArrayItem(cJSON_GetObjectItem(ask(&asked, "summary", NULL, NULL, &root), "spaces"), 0);
    ck_assert_str_eq(cJSON_GetObjectItem(space, "step_unit")->valuestring, "schedule");
    ck_assert_double_eq(number(space, "step_count"), 3);
    ck_assert_double_eq(number(space, "peak_bytes"), 3072); /* argument, result, and dot.1 from step 1 on */
    ck_assert_double_eq(number(space, "peak_step"), 1);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(scoped_vmem_comes_from_the_pool)
{
    struct asked asked;
    cJSON *root;
    struct buf out = BUF_INIT;
    struct analysis_param vmem = {"space", "1"};
    asked_open(&asked, "build/fixtures/hlo-payload-pool.pb");
    ck_assert(subject_answer(asked.module, "memory_viewer", "xprof", &vmem, 1, &out, &err));
    root = cJSON_ParseWithLength(out.data, out.length);
    buf_free(&out);
    ck_assert_double_eq(number(root, "maxScopedVmemAllocationMib"), 2);
    ck_assert_str_eq(cJSON_GetObjectItem(root, "maxScopedVmemInstructionName")->valuestring, "b");
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(odd_files_have_notes_not_crashes)
{
    static const char *const views[] = {"summary", "curve", "strips", "buffers", "live_range", "xprof"};
    struct asked asked;
    cJSON *root;
    asked_open(&asked, "build/fixtures/hlo-odd.pb");
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        ask(&asked, views[i], NULL, NULL, &root);
        ck_assert(root != NULL || err_is_set(&err));
        cJSON_Delete(root);
    }
    ask(&asked, "summary", NULL, NULL, &root);
    ck_assert_int_ge(cJSON_GetArraySize(cJSON_GetObjectItem(root, "notes")), 4);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

static const struct {
    const char *view, *name, *value;
    enum err_code code;
} refused[] = {
    /* clang-format off */
    {"nothing", NULL, NULL, ERR_notfound},     {"curve", "space", "77", ERR_notfound},
    {"curve", "space", "x", ERR_argument},     {"curve", "width", "0", ERR_argument},
    {"curve", "width", "99999999", ERR_argument}, {"curve", "sze", "1", ERR_argument},
    {"curve", "from", "9", ERR_argument},      {"buffers", "step", "-1", ERR_argument},
    {"buffers", "step", "2", ERR_argument},    {"buffers", "sort", "color", ERR_argument},
    {"buffers", "filter", "sze:1", ERR_argument}, {"buffers", "limit", "1001", ERR_argument},
    {"buffers", "format", "xml", ERR_argument}, {"buffer", NULL, NULL, ERR_argument},
    {"buffer", "id", "1; drop", ERR_notfound}, {"buffer", "id", "999999", ERR_notfound},
    {"strips", "step", "99999999999999999999", ERR_argument}, {"strips", "mark", "sze:1", ERR_argument},
    {"window", "filter", "covers:x", ERR_argument},
    /* clang-format on */
};

START_TEST(broken_questions_are_refused_by_name)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, example);
    ask(&asked, refused[_i].view, refused[_i].name, refused[_i].value, &root);
    ck_assert_ptr_null(root);
    ck_assert_msg(err.code == refused[_i].code, "%s %s=%s: %s", refused[_i].view, refused[_i].name, refused[_i].value,
                  err.text);
    asked_close(&asked);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_viewer");
    TCase *tests = tcase_create("memory_viewer");
    const int modules = (int)(sizeof(asked_modules) / sizeof(asked_modules[0]));
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_test(tests, the_example_peaks_at_300_gib);
    tcase_add_loop_test(tests, rows_add_up_to_the_curve, 0, modules);
    tcase_add_loop_test(tests, strips_hold_every_byte, 0, modules);
    tcase_add_loop_test(tests, windows_balance, 0, modules);
    tcase_add_loop_test(tests, a_rectangle_holds_what_overlaps_it, 0, modules);
    tcase_add_loop_test(tests, maps_hold_every_buffer_at_any_width, 0, modules);
    tcase_add_loop_test(tests, strips_and_map_show_what_the_filter_lists, 0, modules);
    tcase_add_loop_test(tests, a_merged_bar_opens_into_its_own_buffers, 0, modules);
    tcase_add_test(tests, without_a_trace_the_schedule_answers);
    tcase_add_test(tests, scoped_vmem_comes_from_the_pool);
    tcase_add_test(tests, odd_files_have_notes_not_crashes);
    tcase_add_loop_test(tests, broken_questions_are_refused_by_name, 0, (int)(sizeof(refused) / sizeof(refused[0])));
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
