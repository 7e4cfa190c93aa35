/* SPDX-License-Identifier: Apache-2.0
 * cache.c: tests of server/store/cache: what stays, and what leaves. */
#include "server/store/cache.h"

#include "server/base/clock.h"
#include "server/base/wanted.h"

#include "bytes.h"

#include <pthread.h>
#include <unistd.h>

enum { COSTLY, SMALL };

static int made_count;

struct cost {
    uint64_t bytes;
    int64_t kept_ms;
    struct wanted *left; /* whose last asker leaves while the value is made */
};

static void *make(void *context, struct cache_made *made, struct err *err)
{
    const struct cost *cost = context;
    (void)err;
    made->cost_bytes = cost->bytes;
    made->kept_ms = cost->kept_ms;
    made_count++;
    wanted_release(cost->left);
    return malloc(1);
}

static void ask_brief(struct cache *cache, size_t shelf, const char *key, uint64_t cost_bytes, int64_t kept_ms)
{
    struct cost cost = {cost_bytes, kept_ms, NULL};
    const struct cache_maker maker = {make, free, &cost};
    struct cache_hold hold = {0};
    struct err err = ERR_INIT;
    ck_assert_ptr_nonnull(cache_get(cache, shelf, key, &maker, &hold, &err));
    cache_release(&hold);
}

static void ask(struct cache *cache, size_t shelf, const char *key, uint64_t cost_bytes)
{
    ask_brief(cache, shelf, key, cost_bytes, 0);
}

static bool is_kept(struct cache *cache, size_t shelf, const char *key)
{
    struct cache_hold hold = {0};
    bool is = cache_peek(cache, shelf, key, &hold) != NULL;
    cache_release(&hold);
    return is;
}

static struct cache *cache_begin(void)
{
    const struct cache_shelf shelves[] = {
        [COSTLY] = {1000, UINT64_MAX, CACHE_READ, 500}, [SMALL] = {1000, UINT64_MAX, CACHE_FACT, 0}};
    made_count = 0;
    return cache_new(shelves, 2);
}

START_TEST(the_newest_stays_whatever_it_costs)
{
    struct cache *cache = cache_begin();
    ask(cache, COSTLY, "small", 100);
    ask(cache, COSTLY, "large", 5000);
    ask(cache, COSTLY, "large", 5000);
    ck_assert_int_eq(made_count, 2);
    ck_assert(!is_kept(cache, COSTLY, "small"));
    ask(cache, COSTLY, "next", 5000);
    ck_assert(is_kept(cache, COSTLY, "next") && !is_kept(cache, COSTLY, "large"));
    ask(cache, SMALL, "large", 5000); /* what the account does not know of keeps to its budget */
    ck_assert(!is_kept(cache, SMALL, "large"));
    ck_assert(cache_drop_oldest(cache, CACHE_READ)); /* when the room is needed it goes too */
    ck_assert(!is_kept(cache, COSTLY, "next"));
    cache_free(cache);
}
END_TEST

START_TEST(the_longest_unused_of_all_shelves_leaves_first)
{
    const struct cache_shelf shelves[] = {{1000, UINT64_MAX, CACHE_READ, 0}, {1000, UINT64_MAX, CACHE_READ, 0}};
    struct cache *cache = cache_new(shelves, 2);
    ask(cache, 0, "a", 1);
    ask(cache, 1, "b", 1);
    ask(cache, 0, "c", 1);
    ask(cache, 0, "a", 1);
    ck_assert(cache_drop_oldest(cache, CACHE_READ));
    ck_assert(!is_kept(cache, 1, "b") && is_kept(cache, 0, "c"));
    ck_assert(cache_drop_oldest(cache, CACHE_READ));
    ck_assert(!is_kept(cache, 0, "c") && is_kept(cache, 0, "a"));
    ck_assert(cache_drop_oldest(cache, CACHE_READ) && !cache_drop_oldest(cache, CACHE_READ));
    cache_free(cache);
}
END_TEST

START_TEST(what_is_costly_has_an_age_of_its_own)
{
    struct cache *cache = cache_begin();
    int64_t before_ms = clock_ms();
    ask(cache, COSTLY, "a", 100);
    ask(cache, SMALL, "b", 100);
    cache_drop_idle(cache, before_ms + 400, 100);
    ck_assert(is_kept(cache, COSTLY, "a"));
    cache_drop_idle(cache, clock_ms() + 600, 1000000);
    ck_assert(!is_kept(cache, COSTLY, "a") && is_kept(cache, SMALL, "b"));
    cache_free(cache);
}
END_TEST

START_TEST(what_is_good_for_a_while_is_made_anew_after_it)
{
    struct cache *cache = cache_begin();
    struct cost cost = {100, 1, NULL};
    const struct cache_maker maker = {make, free, &cost};
    struct cache_hold hold = {0};
    struct err err = ERR_INIT;
    ask_brief(cache, COSTLY, "long", 100, 60000);
    ask_brief(cache, COSTLY, "long", 100, 60000);
    ck_assert_int_eq(made_count, 1);
    ck_assert_ptr_nonnull(cache_get(cache, COSTLY, "short", &maker, &hold, &err));
    usleep(5000);
    ask(cache, COSTLY, "short", 100); /* while somebody still holds the former */
    ck_assert_int_eq(made_count, 3);
    cache_release(&hold);
    ask(cache, COSTLY, "short", 100);
    ck_assert_int_eq(made_count, 3);
    cache_free(cache);
}
END_TEST

START_TEST(what_was_made_for_nobody_is_not_kept)
{
    struct cache *cache = cache_begin();
    struct wanted wanted;
    struct cost cost = {100, 0, &wanted};
    const struct cache_maker maker = {make, free, &cost};
    struct cache_hold hold = {0};
    struct err err = ERR_INIT;
    wanted_begin(&wanted);
    wanted_work_for(&wanted);
    ck_assert_ptr_null(cache_get(cache, COSTLY, "a", &maker, &hold, &err));
    ck_assert_int_eq(err.code, ERR_stopped);
    wanted_work_for(NULL);
    ck_assert(!is_kept(cache, COSTLY, "a"));
    ask(cache, COSTLY, "a", 100);
    ck_assert_int_eq(made_count, 2);
    cache_free(cache);
}
END_TEST

static void *damaged(void *context, struct cache_made *out, struct err *report)
{
    (void)context, (void)out;
    err_set(report, ERR_malformed, ERR_NO_OFFSET, "damaged");
    return NULL;
}

static void fails(struct cache *cache, size_t shelf, const char *key)
{
    const struct cache_maker maker = {.make = damaged, .free_value = free};
    struct cache_hold hold = {0};
    struct err report = ERR_INIT;
    ck_assert_ptr_null(cache_get(cache, shelf, key, &maker, &hold, &report));
}

static void *other_asks(void *cache)
{
    ask(cache, COSTLY, "of another", 100);
    return NULL;
}

START_TEST(what_another_thread_uses_stays)
{
    struct cache *cache = cache_begin();
    struct cache_hold hold = {0};
    pthread_t other;
    ask(cache, COSTLY, "own", 100);
    ask(cache, COSTLY, "of another", 100); /* first */
    ask(cache, COSTLY, "held", 100);
    ask(cache, SMALL, "a fact", 100);
    ck_assert_ptr_nonnull(cache_peek(cache, COSTLY, "held", &hold));
    ck_assert_int_eq(pthread_create(&other, NULL, other_asks, cache), 0);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    cache_drop_own(cache, CACHE_READ);
    ck_assert(!is_kept(cache, COSTLY, "own"));
    ck_assert(is_kept(cache, COSTLY, "of another"));
    ck_assert(is_kept(cache, COSTLY, "held"));
    ck_assert(is_kept(cache, SMALL, "a fact"));
    cache_release(&hold);
    cache_free(cache);
}
END_TEST

/* Else each session of a folder of damaged dumps would walk over those of all before it. */
START_TEST(what_failed_leaves_with_what_was_made)
{
    static const struct cache_shelf shelf = {1 << 20, UINT64_MAX, CACHE_READ, 0};
    struct cache *cache = cache_new(&shelf, 1);
    fails(cache, 0, "damaged");
    ck_assert_uint_eq(cache_figures_of(cache, 0).count, 1);
    cache_drop_own(cache, CACHE_READ);
    ck_assert_uint_eq(cache_figures_of(cache, 0).count, 0);
    cache_free(cache);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cache");
    TCase *tests = tcase_create("cache");
    tcase_add_test(tests, the_newest_stays_whatever_it_costs);
    tcase_add_test(tests, what_is_good_for_a_while_is_made_anew_after_it);
    tcase_add_test(tests, the_longest_unused_of_all_shelves_leaves_first);
    tcase_add_test(tests, what_is_costly_has_an_age_of_its_own);
    tcase_add_test(tests, what_was_made_for_nobody_is_not_kept);
    tcase_add_test(tests, what_another_thread_uses_stays);
    tcase_add_test(tests, what_failed_leaves_with_what_was_made);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
