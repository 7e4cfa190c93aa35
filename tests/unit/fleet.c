/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fleet/fleet.h"

#include "arena.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

enum { VALUES_MAX = 512, NAME_SIZE = 16 };

static const char *const categories[] = {"parameter", "saved_activation"};
static struct buf scratch;

/* ---- made up, always the same ---- */

static uint64_t state = 1;

/* 0 to 1. */
static double uniform(void)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

struct made {
    struct fleet_record records[VALUES_MAX];
    char commits[VALUES_MAX][NAME_SIZE], ids[VALUES_MAX][NAME_SIZE];
    int64_t bytes[VALUES_MAX][2];
    size_t count;
    bool is_by_host;
    struct fleet fleet;
};
static struct made made;

static struct fleet_record *record_add(const char *job, const char *module, int day, const char *host, int64_t bytes)
{
    size_t at = made.count++;
    snprintf(made.commits[at], NAME_SIZE, "c%02d", day);
    snprintf(made.ids[at], NAME_SIZE, "id%03zu", at);
    made.bytes[at][0] = GIB;
    made.bytes[at][1] = bytes - GIB;
    made.records[at] = (struct fleet_record){.job = job,
                                             .module = module,
                                             .kind = "module",
                                             .memory_space = "HBM",
                                             .commit = made.commits[at],
                                             .host = host,
                                             .id = made.ids[at],
                                             .first_at_ms = day * DAY_MS,
                                             .last_at_ms = day * DAY_MS,
                                             .row_count = 1,
                                             .needed_min_bytes = bytes,
                                             .needed_bytes = bytes,
                                             .peak_bytes = bytes,
                                             .capacity_bytes = 16 * GIB,
                                             .category_bytes = made.bytes[at]};
    return &made.records[at];
}

static const struct fleet *built(void)
{
    const struct fleet_source source = {made.records, made.count, categories, 2, made.is_by_host};
    fleet_build(&source, &arena, &made.fleet);
    return &made.fleet;
}

/* Three weeks of two jobs; one loses a donation on day 12, one host of the other differs on day 20. */
static void story(void)
{
    made.count = 0;
    for (int day = 1; day <= 21; day++) {
        record_add("bert", "jit_train_step", day, "host0", (day < 12 ? 9 : 12) * GIB);
        record_add("bert", "jit_init", day, "host0", 2 * GIB);
        for (int host = 0; host < 4; host++)
            record_add("t5", "jit_step", day, (const char *[]){"a", "b", "c", "d"}[host],
                       5 * GIB + (day == 20 && host == 2 ? GIB : 0));
    }
}

START_TEST(the_commit_and_the_host_that_were_planted_are_found)
{
    story();
    const struct fleet *fleet = built();
    ck_assert_uint_eq(fleet->job_count, 2);
    ck_assert_uint_eq(fleet->series_count, 3);
    ck_assert_uint_eq(fleet->point_count, 63);
    ck_assert_uint_eq(fleet->step_count, 1);
    const struct fleet_step *step = &fleet->steps[0];
    ck_assert_str_eq(fleet_record_of(fleet, step->point)->commit, "c12");
    ck_assert_str_eq(fleet_record_of(fleet, step->point)->module, "jit_train_step");
    ck_assert_int_eq(fleet_step_change(step), 3 * GIB);
    ck_assert_uint_eq(step->category, 1);
    ck_assert_int_eq(step->category_change_bytes, 3 * GIB);
    ck_assert_uint_eq(fleet->points[step->point].step, 0);
    ck_assert_uint_eq(fleet->host_count, 1);
    ck_assert_str_eq(fleet->hosts[0].host, "c");
    ck_assert_int_eq(fleet->hosts[0].bytes - fleet->hosts[0].usual_bytes, GIB);
    ck_assert_str_eq(fleet_record_of(fleet, fleet->hosts[0].point)->commit, "c20");
    ck_assert_str_eq(fleet_step_sentence(fleet, step, &arena, &scratch),
                     "bert: jit_train_step needs 3.00 GiB more since c12: 9.00 GiB became 12.00 GiB (+33 %). Most of "
                     "it: saved activation +3.00 GiB. Seen in 10 commits since.");
    ck_assert_str_eq(fleet_host_sentence(fleet, &fleet->hosts[0], &arena, &scratch),
                     "c needs 1.00 GiB more than the median of 4 hosts (5.00 GiB) for jit_step at c20.");
}
END_TEST

/* From day 10 on there are runs with twice the batch, too. The sentence names its configuration, as there are
 * several. */
START_TEST(two_configurations_are_no_regression)
{
    made.count = 0;
    for (int day = 1; day <= 20; day++) {
        record_add("bert", "jit_step", day, "host0", (day < 15 ? 5 : 6) * GIB)->configuration = "1 device, batch 8x64";
        if (day >= 10)
            record_add("bert", "jit_step", day, "host0", 9 * GIB)->configuration = "1 device, batch 16x64";
    }
    const struct fleet *fleet = built();
    ck_assert_uint_eq(fleet->series_count, 2);
    ck_assert_uint_eq(fleet->point_count, 31);
    ck_assert_uint_eq(fleet->step_count, 1);
    const char *sentence = fleet_step_sentence(fleet, &fleet->steps[0], &arena, &scratch);
    ck_assert_msg(strncmp(sentence, "bert: jit_step (1 device, batch 8x64) needs 1.00 GiB more since c15", 67) == 0,
                  "%s", sentence);
}
END_TEST

START_TEST(the_line_of_a_job_is_its_largest_module)
{
    story();
    struct fleet_record *memory = record_add("bert", NULL, 21, "host0", 14 * GIB);
    memory->kind = "memory";
    const struct fleet *fleet = built();
    const struct fleet_series *line = &fleet->series[fleet->jobs[0].line];
    ck_assert_str_eq(fleet->jobs[0].name, "bert");
    ck_assert_uint_eq(fleet->jobs[0].series_count, 3);
    ck_assert_str_eq(fleet_record_of(fleet, line->first_point)->module, "jit_train_step");
    ck_assert(line->is_line);
}
END_TEST

/* Everything but the places of records, as text. */
static char *told(const struct fleet *fleet)
{
    struct buf out = BUF_INIT;
    size_t length;
    for (uint32_t i = 0; i < fleet->point_count; i++) {
        const struct fleet_point *point = &fleet->points[i];
        const struct fleet_record *record = fleet_record_of(fleet, i);
        buf_format(&out, "%s %s %s %lld %lld %lld %u\n", record->job, record->module, record->id,
                   (long long)point->max_bytes, (long long)point->host_count, (long long)point->row_count, point->step);
    }
    for (uint32_t i = 0; i < fleet->step_count; i++)
        buf_format(&out, "%s\n", fleet_step_sentence(fleet, &fleet->steps[i], &arena, &scratch));
    for (uint32_t i = 0; i < fleet->host_count; i++)
        buf_format(&out, "%s\n", fleet_host_sentence(fleet, &fleet->hosts[i], &arena, &scratch));
    for (uint32_t i = 0; i < fleet->series_count; i++)
        buf_format(&out, "%s\n", fleet_trend_sentence(fleet, i, &arena, &scratch));
    buf_format(&out, "%s", fleet_sentence(fleet, &arena, &scratch));
    buf_char(&out, '\0');
    return buf_take(&out, &length);
}

START_TEST(the_order_of_records_changes_nothing)
{
    story();
    char *before = told(built());
    for (int try = 0; try < 20; try++) {
        for (size_t i = made.count - 1; i > 0; i--) {
            size_t other = (size_t)(uniform() * (double)(i + 1));
            struct fleet_record kept = made.records[i];
            made.records[i] = made.records[other];
            made.records[other] = kept;
        }
        char *after = told(built());
        ck_assert_str_eq(before, after);
        free(after);
    }
    free(before);
}
END_TEST

/* What many rows come to, instead of those rows: as a catalog keeps it. */
START_TEST(rows_and_what_they_come_to_are_the_same_points)
{
    story();
    char *rows = told(built());
    struct made sums = {.count = 0};
    for (uint32_t i = 0; i < made.fleet.point_count; i++) {
        const struct fleet_point *point = &made.fleet.points[i];
        struct fleet_record *record = &sums.records[sums.count++];
        *record = *fleet_record_of(&made.fleet, i);
        record->row_count = point->row_count;
        record->host_count = point->host_count;
        record->needed_min_bytes = point->min_bytes;
        record->host = NULL;
    }
    struct fleet fleet;
    fleet_build(&(struct fleet_source){sums.records, sums.count, categories, 2, false}, &arena, &fleet);
    ck_assert_uint_eq(fleet.point_count, made.fleet.point_count);
    for (uint32_t i = 0; i < fleet.point_count; i++) {
        ck_assert_int_eq(fleet.points[i].min_bytes, made.fleet.points[i].min_bytes);
        ck_assert_int_eq(fleet.points[i].host_count, made.fleet.points[i].host_count);
        ck_assert_int_eq(fleet.points[i].row_count, made.fleet.points[i].row_count);
    }
    ck_assert_uint_eq(fleet.step_count, made.fleet.step_count);
    ck_assert_uint_eq(fleet.host_count, 0);
    ck_assert(fleet.hosts_are_summed && !made.fleet.hosts_are_summed);
    free(rows);
}
END_TEST

START_TEST(hosts_have_series_of_their_own_when_asked_for)
{
    story();
    record_add("t5", "jit_step", 21, NULL, 5 * GIB);
    for (int host = 0; host < 3; host++)
        for (int day = 22; day < 27; day++)
            record_add("t5", "jit_step", day, (const char *[]){"a", "b", "c"}[host], (5 + (host == 1)) * GIB);
    made.is_by_host = true;
    const struct fleet *fleet = built();
    made.is_by_host = false;
    ck_assert_uint_eq(fleet->series_count, 2 + 5); /* one without a host */
    for (uint32_t i = 0; i < fleet->series_count; i++)
        ck_assert_int_eq(fleet->series[i].is_line,
                         strcmp(fleet->jobs[fleet->series[i].job].name, "bert") != 0 ||
                             fleet_record_of(fleet, fleet->series[i].first_point)->needed_bytes != 2 * GIB);
    ck_assert_uint_eq(fleet->host_count, 0);
    ck_assert_uint_eq(fleet->step_count, 2);
    const struct fleet_step *step = &fleet->steps[1];
    ck_assert_str_eq(fleet_host_of(fleet, step->series), "b");
    const char *sentence = fleet_step_sentence(fleet, step, &arena, &scratch);
    ck_assert_msg(strncmp(sentence, "t5: jit_step on b needs 1.00 GiB more since c22", 47) == 0, "%s", sentence);
    for (uint32_t i = 0; i < fleet->series_count; i++)
        for (uint32_t at = 0; at < fleet->series[i].point_count; at++)
            ck_assert_int_le(fleet->points[fleet->series[i].first_point + at].host_count, 1);
}
END_TEST

START_TEST(of_two_hosts_that_differ_both_are_told)
{
    made.count = 0;
    record_add("t5", "jit_step", 1, "a", 5 * GIB);
    record_add("t5", "jit_step", 1, "b", 6 * GIB);
    record_add("t5", "jit_step", 2, "a", 5 * GIB);
    record_add("t5", "jit_step", 2, "b", 5 * GIB + MIB);
    const struct fleet *fleet = built();
    ck_assert_uint_eq(fleet->host_count, 2);
    ck_assert_int_eq(fleet->hosts[0].bytes - fleet->hosts[0].usual_bytes, -GIB);
    ck_assert_str_eq(fleet_host_sentence(fleet, &fleet->hosts[1], &arena, &scratch),
                     "b needs 1.00 GiB more than the other host (5.00 GiB) for jit_step at c01; of two it cannot be "
                     "known which is the odd one.");
}
END_TEST

START_TEST(hosts_that_all_differ_a_little_are_alike)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    made.count = 0;
    for (int i = 0; i < 8; i++)
        record_add("t5", "jit_step", 1, names[i], 5 * GIB + i * 100 * MIB);
    ck_assert_uint_eq(built()->host_count, 0);
    made.records[7].needed_bytes = 20 * GIB;
    ck_assert_uint_eq(built()->host_count, 1);
}
END_TEST

START_TEST(records_that_say_nothing_are_counted)
{
    story();
    record_add(NULL, "jit_step", 1, "a", GIB);
    record_add("", "jit_step", 1, "a", GIB);
    struct fleet_record *unknown = record_add("t5", "jit_step", 1, "a", GIB);
    unknown->needed_bytes = unknown->peak_bytes = -1;
    unknown = record_add("t5", "jit_step", 1, "a", GIB);
    unknown->needed_bytes = -1; /* its series has needed bytes, so its peak is no value */
    unknown = record_add("t5", "jit_step", 1, "a", GIB);
    unknown->needed_bytes = unknown->peak_bytes = INT64_MAX;
    const struct fleet *fleet = built();
    ck_assert_uint_eq(fleet->unlabelled_count, 2);
    ck_assert_uint_eq(fleet->unknown_count, 3);
    ck_assert_uint_eq(fleet->point_count, 63);
}
END_TEST

START_TEST(a_series_of_peaks_is_one_of_peaks)
{
    made.count = 0;
    for (int day = 1; day < 5; day++)
        record_add("t5", NULL, day, "a", (day < 4 ? 2 : 3) * GIB)->needed_bytes = -1;
    const struct fleet *fleet = built();
    ck_assert(fleet->series[0].is_of_peaks);
    ck_assert_uint_eq(fleet->step_count, 1);
    ck_assert_int_eq(fleet->points[0].min_bytes, 2 * GIB);
}
END_TEST

START_TEST(nothing_makes_an_empty_fleet)
{
    made.count = 0;
    const struct fleet *fleet = built();
    ck_assert_uint_eq(fleet->job_count + fleet->series_count + fleet->point_count, 0);
    ck_assert_str_eq(fleet_sentence(fleet, &arena, &scratch), "There are no rows.");
    record_add(NULL, NULL, 1, NULL, GIB);
    ck_assert_str_eq(fleet_sentence(built(), &arena, &scratch), "No row says which job it is of.");
    made.count = 0;
    record_add("t5", NULL, 1, NULL, -1);
    ck_assert_str_eq(fleet_sentence(built(), &arena, &scratch), "No row has a figure.");
}
END_TEST

START_TEST(names_are_cut_and_cleaned)
{
    static char job[400];
    memset(job, 'x', sizeof(job) - 1);
    job[3] = '\n';
    made.count = 0;
    for (int day = 1; day < 8; day++)
        record_add(job, job, day, "a", (day < 5 ? 2 : 3) * GIB)->commit = day == 5 ? NULL : made.commits[day];
    const char *sentence = fleet_sentence(built(), &arena, &scratch);
    ck_assert_ptr_null(strchr(sentence, '\n'));
    ck_assert_uint_lt(strlen(sentence), 400);
}
END_TEST

START_TEST(too_many_records_are_refused)
{
    struct arena own;
    struct err refused = ERR_INIT;
    arena_init(&own, 0, &refused);
    if (setjmp(own.trap) == 0) {
        struct fleet fleet;
        fleet_build(&(struct fleet_source){made.records, FLEET_RECORDS_MAX + 1, categories, 2, false}, &own, &fleet);
        ck_abort_msg("taken");
    }
    ck_assert_int_eq(refused.code, ERR_limit);
    arena_free(&own);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet");
    TCase *tcase = tcase_create("fleet");
    tcase_add_checked_fixture(tcase, arena_begin, arena_end);
    tcase_add_test(tcase, the_commit_and_the_host_that_were_planted_are_found);
    tcase_add_test(tcase, two_configurations_are_no_regression);
    tcase_add_test(tcase, the_line_of_a_job_is_its_largest_module);
    tcase_add_test(tcase, the_order_of_records_changes_nothing);
    tcase_add_test(tcase, rows_and_what_they_come_to_are_the_same_points);
    tcase_add_test(tcase, hosts_have_series_of_their_own_when_asked_for);
    tcase_add_test(tcase, of_two_hosts_that_differ_both_are_told);
    tcase_add_test(tcase, hosts_that_all_differ_a_little_are_alike);
    tcase_add_test(tcase, records_that_say_nothing_are_counted);
    tcase_add_test(tcase, a_series_of_peaks_is_one_of_peaks);
    tcase_add_test(tcase, nothing_makes_an_empty_fleet);
    tcase_add_test(tcase, names_are_cut_and_cleaned);
    tcase_add_test(tcase, too_many_records_are_refused);
    suite_add_tcase(suite, tcase);
    return bytes_run(suite);
}
