/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fleet/odd_hosts.h"

#include "base/size_text.h"
#include "model/fleet/level_steps.h"
#include "model/fleet/robust.h"

#include <stdlib.h>
#include <string.h>

#define SIZE(bytes) size_text((char[SIZE_TEXT_BYTES]){0}, (uint64_t)(bytes))

enum { NAME_MAX = 80 };

/* ---- what more than half of them have ---- */

typedef bool odd_hosts_same(const struct odd_host *a, const struct odd_host *b);

static bool same_limit(const struct odd_host *a, const struct odd_host *b)
{
    return a->capacity_bytes == b->capacity_bytes;
}

static bool same_program(const struct odd_host *a, const struct odd_host *b)
{
    return strcmp(a->program, b->program) == 0;
}

static bool has_limit(const struct odd_host *host) { return host->capacity_bytes >= 0; }
static bool has_program(const struct odd_host *host) { return host->program != NULL; }

/* By the vote of Boyer and Moore. NULL: no value is that of more than half of those that have one. */
static const struct odd_host *usual_of(const struct odd_host *hosts, size_t count, bool (*has)(const struct odd_host *),
                                       odd_hosts_same *same)
{
    const struct odd_host *usual = NULL;
    size_t lead = 0, known = 0, votes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!has(&hosts[i]))
            continue;
        if (lead == 0)
            usual = &hosts[i];
        lead += same(usual, &hosts[i]) ? 1 : (size_t)-1;
    }
    for (size_t i = 0; i < count; i++) {
        known += has(&hosts[i]);
        votes += usual != NULL && has(&hosts[i]) && same(usual, &hosts[i]);
    }
    return votes * 2 > known ? usual : NULL;
}

static void mark(struct odd_host *hosts, size_t count, bool (*has)(const struct odd_host *), odd_hosts_same *same,
                 enum odd_host_reason reason)
{
    const struct odd_host *usual = usual_of(hosts, count, has, same);
    for (size_t i = 0; i < count && usual != NULL; i++)
        if (hosts[i].reason == ODD_HOST_NOT && has(&hosts[i]) && !same(usual, &hosts[i]))
            hosts[i].reason = reason;
}

/* ---- what they need ---- */

static void needs_judge(struct odd_host *hosts, size_t count, int64_t *scratch)
{
    size_t known = 0;
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (hosts[i].needed_bytes >= 0)
            scratch[known++] = hosts[i].needed_bytes;
    if (known < 2)
        return;
    int64_t middle = robust_median(scratch, known);
    if (known == 2)
        sum = scratch[0] + scratch[1];
    double noise =
        known < 3 ? 0 : (double)robust_deviation(scratch, known, middle, scratch + known) * ROBUST_DEVIATIONS_PER_MAD;
    int64_t threshold = level_steps_threshold(middle, noise);
    for (size_t i = 0; i < count; i++) {
        struct odd_host *host = &hosts[i];
        if (host->needed_bytes < 0)
            continue;
        host->off_bytes = host->needed_bytes - (known == 2 ? sum - host->needed_bytes : middle);
        if (host->reason == ODD_HOST_NOT && llabs(host->off_bytes) > threshold)
            host->reason = ODD_HOST_PLAN;
    }
}

void odd_hosts_judge(struct odd_host *hosts, size_t count, int64_t *scratch)
{
    for (size_t i = 0; i < count; i++) {
        hosts[i].reason = ODD_HOST_NOT;
        hosts[i].off_bytes = 0;
    }
    mark(hosts, count, has_limit, same_limit, ODD_HOST_LIMIT);
    mark(hosts, count, has_program, same_program, ODD_HOST_PROGRAM);
    needs_judge(hosts, count, scratch);
}

/* ---- in words ---- */

const char *odd_hosts_reason(enum odd_host_reason reason)
{
    static const char *const words[] = {NULL, "another limit", "another program", "another plan"};
    return words[reason];
}

static void why_say(struct buf *out, const struct odd_host *host)
{
    buf_text(out, odd_hosts_reason(host->reason));
    if (host->reason == ODD_HOST_LIMIT)
        buf_format(out, ", %s", SIZE(host->capacity_bytes));
    if (host->reason == ODD_HOST_PROGRAM) {
        buf_text(out, ", ");
        buf_printable_cut(out, str_of(host->program), NAME_MAX);
    }
    if (host->reason == ODD_HOST_PLAN)
        buf_format(out, ", %s %s", SIZE(llabs(host->off_bytes)), host->off_bytes > 0 ? "more" : "less");
}

void odd_hosts_say(const struct odd_host *hosts, size_t count, const char *noun, struct buf *out)
{
    size_t odd = 0, named = 0;
    for (size_t i = 0; i < count; i++)
        odd += hosts[i].reason != ODD_HOST_NOT;
    buf_format(out, "%s %s%s", size_text_count((char[COUNT_TEXT_BYTES]){0}, count), noun, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && named < ODD_HOSTS_NAMED_MAX; i++) {
        if (hosts[i].reason == ODD_HOST_NOT)
            continue;
        buf_text(out, named == 0 ? (odd == 1 ? "; " : "; odd are ") : "; ");
        buf_printable_cut(out, str_of(hosts[i].name), NAME_MAX);
        buf_text(out, odd == 1 ? " differs: " : " (");
        why_say(out, &hosts[i]);
        buf_text(out, odd == 1 ? "" : ")");
        named++;
    }
    if (odd > named)
        buf_format(out, " and %zu more", odd - named);
    buf_char(out, '.');
}
