/* SPDX-License-Identifier: Apache-2.0
 * job_list.c: tests of server/http/job_list: whose turn is next. */
#include "server/http/job_list.h"

#include "bytes.h"

static struct job_list list;

static struct job *job_add(const char *target, enum job_kind kind, const char *owner)
{
    struct request *request = request_new(target, "127.0.0.1");
    struct job *job = job_list_add(&list, request, kind, owner);
    request_release(request);
    return job;
}

static void job_end(struct job *job)
{
    job_list_remove(&list, job);
    job_list_free(job);
}

/* The targets in the order in which they would be begun. */
static void order_is(enum job_kind kind, const char *expected)
{
    char order[64] = "";
    for (struct job *job; (job = job_list_next(&list, kind)) != NULL; job_end(job)) {
        job_list_begin(&list, job);
        strcat(order, job->request->target + 1);
    }
    ck_assert_str_eq(order, expected);
    ck_assert_uint_eq(list.waiting_count[kind], 0);
}

START_TEST(those_who_ask_take_turns)
{
    const char *const first[] = {"/a", "/b", "/c", "/d"};
    for (size_t i = 0; i < 4; i++)
        job_add(first[i], JOB_COSTLY, "one");
    job_add("/x", JOB_COSTLY, "two");
    job_add("/y", JOB_COSTLY, "two");
    job_add("/m", JOB_COSTLY, "three");
    order_is(JOB_COSTLY, "axmbycd");
}
END_TEST

START_TEST(who_comes_later_does_not_catch_up)
{
    const char *const first[] = {"/a", "/b", "/c", "/d"};
    for (size_t i = 0; i < 4; i++)
        job_add(first[i], JOB_COSTLY, "one");
    for (int i = 0; i < 2; i++) {
        struct job *job = job_list_next(&list, JOB_COSTLY);
        job_list_begin(&list, job);
        job_end(job);
    }
    job_add("/x", JOB_COSTLY, "two");
    job_add("/y", JOB_COSTLY, "two");
    job_add("/z", JOB_COSTLY, "two");
    order_is(JOB_COSTLY, "xcydz");
}
END_TEST

START_TEST(classes_have_turns_of_their_own)
{
    job_add("/a", JOB_COSTLY, "one");
    job_add("/b", JOB_COSTLY, "one");
    job_add("/q", JOB_QUICK, "one");
    ck_assert_uint_eq(job_list_next(&list, JOB_QUICK)->turn, 0);
    order_is(JOB_QUICK, "q");
    order_is(JOB_COSTLY, "ab");
}
END_TEST

START_TEST(what_two_wait_for_comes_at_the_better_turn)
{
    job_add("/a", JOB_COSTLY, "one");
    job_add("/b", JOB_COSTLY, "one");
    job_add("/c", JOB_COSTLY, "one");
    struct request *same = request_new("/c", "127.0.0.1");
    struct job *job = job_list_find(&list, same);
    ck_assert_ptr_nonnull(job);
    job_list_share(&list, job, "two");
    order_is(JOB_COSTLY, "acb");
    job = job_add("/c", JOB_COSTLY, "one");
    job->is_left = true;
    ck_assert_ptr_null(job_list_find(&list, same)); /* a job that ends answers no one */
    request_release(same);
    order_is(JOB_COSTLY, "c");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("job_list");
    TCase *tests = tcase_create("job_list");
    tcase_add_test(tests, those_who_ask_take_turns);
    tcase_add_test(tests, who_comes_later_does_not_catch_up);
    tcase_add_test(tests, classes_have_turns_of_their_own);
    tcase_add_test(tests, what_two_wait_for_comes_at_the_better_turn);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
