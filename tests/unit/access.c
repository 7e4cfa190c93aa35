/* SPDX-License-Identifier: Apache-2.0
 * Who is let in, for how long, and how often somebody may guess; the clock is the test's. */
#include "server/http/access.h"

#include "bytes.h"

#include "server/base/clock.h"
#include "server/files/opener.h"

enum { IDLE_MS = 12 * 3600 * 1000, SIGN_INS = 256 };

static int64_t now_ms;
static struct access *of;

int64_t clock_ms(void) { return now_ms; }

/* No token is read from a file here. */
int opener_open_root(const char *path, int flags)
{
    (void)path, (void)flags;
    return -1;
}

static void begin(void)
{
    struct token token = {"abcdefghijklmnop-0123"};
    now_ms = 1000;
    of = access_new();
    access_set_token(of, &token);
}

static void end(void) { access_free(of); }

static bool is_in(const char *id) { return access_has(of, id, strlen(id)); }

static enum access_answer tried(const char *peer, const char *text) { return access_try(of, peer, text, strlen(text)); }

START_TEST(an_id_that_is_not_used_ends)
{
    char used[ACCESS_ID_SIZE], idle[ACCESS_ID_SIZE];
    ck_assert(access_begin(of, used) && access_begin(of, idle));
    now_ms += IDLE_MS;
    ck_assert(is_in(used));
    now_ms += 1;
    ck_assert(is_in(used));
    ck_assert(!is_in(idle));
    now_ms -= IDLE_MS; /* what has ended does not come back */
    ck_assert(!is_in(idle));
}
END_TEST

/* What somebody brings is never taken for a new one, nor part of one, nor nothing. */
START_TEST(only_ids_that_were_given_let_in)
{
    char id[ACCESS_ID_SIZE];
    ck_assert(!is_in("0123456789abcdef0123456789abcdef"));
    ck_assert(!is_in(""));
    ck_assert(access_begin(of, id));
    ck_assert(!is_in("0123456789abcdef0123456789abcdef"));
    ck_assert(!is_in(""));
    ck_assert(!access_has(of, id, ACCESS_ID_SIZE - 2));
    ck_assert(!access_has(of, id, ACCESS_ID_SIZE));
    id[0] = id[0] == '0' ? '1' : '0';
    ck_assert(!is_in(id));
}
END_TEST

START_TEST(one_more_than_there_may_be_takes_the_place_of_the_idlest)
{
    static char ids[SIGN_INS + 1][ACCESS_ID_SIZE];
    for (int at = 0; at < SIGN_INS; at++, now_ms++)
        ck_assert(access_begin(of, ids[at]));
    ck_assert(is_in(ids[0]));
    ck_assert(access_begin(of, ids[SIGN_INS]));
    for (int at = 0; at <= SIGN_INS; at++)
        ck_assert_int_eq(is_in(ids[at]), at != 1);
}
END_TEST

START_TEST(another_token_ends_all_ids)
{
    char id[ACCESS_ID_SIZE];
    const struct token same = {"abcdefghijklmnop-0123"}, other = {"abcdefghijklmnop-0124"};
    ck_assert(access_begin(of, id));
    access_set_token(of, &same);
    ck_assert(is_in(id));
    access_set_token(of, &other);
    ck_assert(!is_in(id));
}
END_TEST

START_TEST(an_address_may_guess_ten_times_and_then_once_in_six_seconds)
{
    for (int at = 0; at < 10; at++)
        ck_assert_int_eq(tried("192.0.2.1", "wrong"), ACCESS_WRONG);
    ck_assert_int_eq(tried("192.0.2.1", "abcdefghijklmnop-0123"), ACCESS_NOT_YET);
    ck_assert_int_eq(tried("192.0.2.2", "abcdefghijklmnop-0123"), ACCESS_GOOD);
    now_ms += ACCESS_WAIT_SECONDS * 1000 - 1;
    ck_assert_int_eq(tried("192.0.2.1", "wrong"), ACCESS_NOT_YET);
    now_ms += 1;
    ck_assert_int_eq(tried("192.0.2.1", "wrong"), ACCESS_WRONG);
    ck_assert_int_eq(tried("192.0.2.1", "wrong"), ACCESS_NOT_YET);
    now_ms += IDLE_MS;
    ck_assert_int_eq(tried("192.0.2.1", "abcdefghijklmnop-0123"), ACCESS_GOOD);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, an_id_that_is_not_used_ends);
    tcase_add_test(tests, only_ids_that_were_given_let_in);
    tcase_add_test(tests, one_more_than_there_may_be_takes_the_place_of_the_idlest);
    tcase_add_test(tests, another_token_ends_all_ids);
    tcase_add_test(tests, an_address_may_guess_ten_times_and_then_once_in_six_seconds);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
