/* SPDX-License-Identifier: Apache-2.0
 * overview.h: the modules of a session side by side: one row a module and memory space, or one more for each host.
 *
 * Equal modules of several hosts are one: those of equal keys; and those of equal names, where each host has one of
 * that name (a host that compiled something else gives it another program id). Per space the usual figures are those of
 * most hosts (of equally many the smaller); a host with others is an outlier.
 * Memory: the arena that is handed in. */
#pragma once

#include "model/modules/set.h"

#define OVERVIEW_NONE UINT32_MAX

enum overview_state {
    OVERVIEW_READ,
    OVERVIEW_NOT_READ,
    OVERVIEW_FAILED,
    OVERVIEW_NO_ASSIGNMENT, /* the program is there, but nothing of its memory */
};

/* A module: items overview.order[first] … [first + count − 1], in the order of the hosts. */
struct overview_group {
    uint32_t first, count;
    uint32_t read_count, failed_count;
    uint32_t absent_count; /* hosts without it */
};

struct overview_row {
    uint32_t group, item;             /* item: whose figures are shown; of all hosts that with the largest total */
    const struct module_space *space; /* NULL: not known, or the host's module takes nothing there */
    bool has_space;
    int64_t space_number;
    const char *space_name;
    uint32_t outlier_count;   /* hosts whose total or peak is not the usual one */
    bool has_usual;           /* at least two hosts were read */
    int64_t difference_bytes; /* total less the usual one */
    bool is_outlier;          /* of one host: it is one; of all: some host is one */
    bool is_single;           /* of one host */
};

/* A host whose figures differ from those of most. */
struct overview_host {
    uint32_t item; /* the first of the host */
    uint32_t module_count;
    uint32_t outlier_count; /* rows that differ */
    uint32_t missing_count; /* modules that most hosts have, and it has not */
    uint32_t failed_count;
    int64_t difference_bytes; /* the largest of one module, with its sign; of the main space */
    uint32_t row;             /* where: OVERVIEW_NONE without one */
    const char *reason;       /* for views: "another plan" (model/fleet/odd_hosts.h); NULL */
    int64_t limit_bytes;      /* for views: of another limit, that; else -1 */
};

struct overview {
    const struct module_set *set;
    struct arena *arena;
    struct buf *scratch;    /* for one text at a time */
    int64_t capacity_bytes; /* that was chosen; 0: as recorded for each host */
    uint32_t *order;        /* items, module by module */
    uint32_t *host_of;      /* of each item: a place in hosts */
    struct overview_group *groups;
    uint32_t *group_of; /* of each item */
    uint32_t group_count, host_count;
    struct overview_host *hosts;
    struct overview_row *rows; /* of all spaces, all hosts together; then, if asked for, host by host */
    uint32_t row_count, row_capacity;
    bool has_space;
    int64_t main_space; /* memory of the device; without one that with the largest total */
    const char *main_space_name;
    uint64_t read_count, failed_count, unread_count; /* items */
};

/* Groups, hosts and the rows of all hosts together. */
void overview_build(const struct module_set *set, int64_t capacity_bytes, struct arena *arena, struct buf *scratch,
                    struct overview *out);
/* Replaces the rows by one for each host. */
void overview_split(struct overview *overview);

enum overview_state overview_state_of(const struct overview *overview, const struct overview_row *row);
/* "read", "not_read", "failed", "no_assignment". */
const char *overview_state_name(enum overview_state state);
static inline const struct module_item *overview_item(const struct overview *overview, const struct overview_row *row)
{
    return &overview->set->items[row->item];
}
/* What the device has for a program in the row's space; 0: not known. */
struct memory_capacity overview_device(const struct overview *overview, const struct overview_row *row);
int64_t overview_capacity(const struct overview *overview, const struct overview_row *row);
/* NULL: the trace does not tell, or the module did not run in it. */
const struct module_run *overview_run(const struct module_item *item);
/* One sentence on what is not known of the row; NULL: nothing is missing. In the arena. */
const char *overview_remark(const struct overview *overview, const struct overview_row *row);
