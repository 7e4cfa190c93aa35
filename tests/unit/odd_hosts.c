/* SPDX-License-Identifier: Apache-2.0
 * Which hosts are odd, why, and what is said of them. */
#include "model/fleet/odd_hosts.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS_MAX = 64, NAME_SIZE = 8 };
static const int64_t GIB = INT64_C(1) << 30;

static char names[HOSTS_MAX][NAME_SIZE];

/* Hosts that are alike: 9 GiB of 16 of the program "step". */
static void hosts_make(struct odd_host *hosts, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        snprintf(names[at], NAME_SIZE, "h%zu", at);
        hosts[at] = (struct odd_host){
            .name = names[at], .program = "step", .needed_bytes = 9 * GIB, .capacity_bytes = 16 * GIB};
    }
}

static void check_said(struct odd_host *hosts, size_t count, const char *expected)
{
    int64_t scratch[2 * HOSTS_MAX];
    struct buf out = BUF_INIT;
    odd_hosts_judge(hosts, count, scratch);
    odd_hosts_say(hosts, count, "host", &out);
    ck_assert_msg(out.length == strlen(expected) && memcmp(out.data, expected, out.length) == 0, "%.*s",
                  (int)out.length, out.data);
    buf_free(&out);
}

START_TEST(the_first_true_reason_counts)
{
    struct odd_host hosts[HOSTS_MAX];
    hosts_make(hosts, 64);
    check_said(hosts, 64, "64 hosts.");
    hosts[17].capacity_bytes = 8 * GIB;
    hosts[17].program = "other";
    hosts[17].needed_bytes = 12 * GIB;
    check_said(hosts, 64, "64 hosts; h17 differs: another limit, 8.00 GiB.");
    ck_assert_int_eq(hosts[17].off_bytes, 3 * GIB);
    hosts[17].capacity_bytes = 16 * GIB;
    check_said(hosts, 64, "64 hosts; h17 differs: another program, other.");
    hosts[17].program = "step";
    check_said(hosts, 64, "64 hosts; h17 differs: another plan, 3.00 GiB more.");
    hosts[17].needed_bytes = 9 * GIB + (1 << 20);
    check_said(hosts, 64, "64 hosts.");
    for (size_t at = 0; at < 6; at++)
        hosts[at].needed_bytes = 6 * GIB;
    check_said(hosts, 64,
               "64 hosts; odd are h0 (another plan, 3.00 GiB less); h1 (another plan, 3.00 GiB less); h2 (another "
               "plan, 3.00 GiB less); h3 (another plan, 3.00 GiB less) and 2 more.");
}
END_TEST

START_TEST(what_is_not_known_is_no_reason)
{
    struct odd_host hosts[HOSTS_MAX];
    hosts_make(hosts, 3);
    hosts[0].capacity_bytes = hosts[1].needed_bytes = -1;
    hosts[2].program = NULL;
    check_said(hosts, 3, "3 hosts.");
    hosts_make(hosts, 4); /* half of each: neither is that of most */
    hosts[0].program = hosts[1].program = "other";
    hosts[0].capacity_bytes = hosts[1].capacity_bytes = 8 * GIB;
    check_said(hosts, 4, "4 hosts.");
    check_said(hosts, 1, "1 host.");
    check_said(hosts, 0, "0 hosts.");
}
END_TEST

START_TEST(of_two_that_need_different_both_are_odd)
{
    struct odd_host hosts[HOSTS_MAX];
    hosts_make(hosts, 2);
    hosts[1].needed_bytes = 12 * GIB;
    check_said(hosts, 2, "2 hosts; odd are h0 (another plan, 3.00 GiB less); h1 (another plan, 3.00 GiB more).");
}
END_TEST

/* Hosts in any order have the same reasons. */
START_TEST(the_order_does_not_matter)
{
    struct odd_host hosts[HOSTS_MAX], turned[HOSTS_MAX];
    int64_t scratch[2 * HOSTS_MAX];
    for (unsigned seed = 0; seed < 200; seed++) {
        size_t count = 1 + seed % HOSTS_MAX;
        unsigned random = seed * 2654435761U;
        hosts_make(hosts, count);
        for (size_t at = 0; at < count; at++) {
            random = random * 1103515245U + 12345U;
            hosts[at].needed_bytes = (random >> 16) % 4 == 0 ? -1 : (int64_t)((random >> 18) % 5) * GIB;
            hosts[at].capacity_bytes = (random >> 20) % 3 == 0 ? 8 * GIB : 16 * GIB;
            hosts[at].program = (random >> 22) % 5 == 0 ? "other" : (random >> 22) % 5 == 1 ? NULL : "step";
        }
        for (size_t at = 0; at < count; at++)
            turned[count - 1 - at] = hosts[at];
        odd_hosts_judge(hosts, count, scratch);
        odd_hosts_judge(turned, count, scratch);
        for (size_t at = 0; at < count; at++) {
            ck_assert_int_eq(hosts[at].reason, turned[count - 1 - at].reason);
            ck_assert_int_eq(hosts[at].off_bytes, turned[count - 1 - at].off_bytes);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("odd_hosts");
    TCase *tests = tcase_create("odd_hosts");
    tcase_add_test(tests, the_first_true_reason_counts);
    tcase_add_test(tests, what_is_not_known_is_no_reason);
    tcase_add_test(tests, of_two_that_need_different_both_are_odd);
    tcase_add_test(tests, the_order_does_not_matter);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
