/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/cgroups.h"

#include "server/base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What is asked of a group, by the files in its folder, and of the groups that it lies in: the least counts, or what
 * the nearest says that says anything. */
struct question {
    const char *controller;
    uint64_t (*ask)(const char *folder);
    bool is_nearest;
};

/* The first number in a file, or the one behind it; UINT64_MAX when there is none ("max" means no limit, and so
 * does "-1"). */
static uint64_t number_in(const char *folder, const char *name, bool is_second)
{
    uint64_t numbers[2] = {UINT64_MAX, UINT64_MAX};
    char *path = memory_format("%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%" SCNu64 " %" SCNu64, &numbers[0], &numbers[1]) < 1)
            numbers[0] = UINT64_MAX;
        fclose(file);
    }
    free(path);
    return numbers[is_second];
}

static uint64_t memory_in(const char *folder)
{
    uint64_t bytes = number_in(folder, "memory.max", false);
    return bytes != UINT64_MAX ? bytes : number_in(folder, "memory.limit_in_bytes", false);
}

static uint64_t processors_in(const char *folder)
{
    uint64_t used_us = number_in(folder, "cpu.max", false), period_us = number_in(folder, "cpu.max", true);
    if (used_us == UINT64_MAX) {
        used_us = number_in(folder, "cpu.cfs_quota_us", false);
        period_us = number_in(folder, "cpu.cfs_period_us", false);
    }
    if (used_us == UINT64_MAX || period_us == 0)
        return UINT64_MAX;
    return used_us / period_us + (used_us % period_us > 0);
}

/* In a container the group's path may be the host's: only its last step, the top, exists. */
static uint64_t min_up_to(const char *top, char *group, const struct question *question)
{
    uint64_t min = UINT64_MAX;
    for (bool is_top = false; !is_top && !(question->is_nearest && min != UINT64_MAX);) {
        char *slash = strrchr(group, '/');
        is_top = !slash || slash[1] == '\0';
        char *folder = memory_format("%s%s", top, is_top ? "" : group);
        uint64_t allowed = question->ask(folder);
        min = allowed < min ? allowed : min;
        free(folder);
        if (!is_top)
            slash[slash == group] = '\0';
    }
    return min;
}

static bool is_among(char *controllers, const char *controller)
{
    for (char *name; (name = strsep(&controllers, ","));)
        if (strcmp(name, controller) == 0)
            return true;
    return false;
}

/* A line of /proc/self/cgroup is ID:CONTROLLERS:PATH; version 2 names no controller. */
static uint64_t line_allows(const char *root, char *line, const struct question *question)
{
    line[strcspn(line, "\n")] = '\0';
    char *group = line;
    strsep(&group, ":");
    char *controllers = strsep(&group, ":");
    if (!controllers || !group)
        return UINT64_MAX;
    bool is_second = controllers[0] == '\0';
    if (!is_second && !is_among(controllers, question->controller))
        return UINT64_MAX;
    char *top = memory_format("%s/sys/fs/cgroup/%s", root, is_second ? "" : question->controller);
    uint64_t min = min_up_to(top, group, question);
    free(top);
    return min;
}

static uint64_t min_of_all(const char *root, const struct question *question)
{
    uint64_t min = UINT64_MAX;
    char *path = memory_format("%s/proc/self/cgroup", root), *line = NULL;
    FILE *file = fopen(path, "re");
    size_t capacity = 0;
    while (file && getline(&line, &capacity, file) >= 0) {
        uint64_t allowed = line_allows(root, line, question);
        min = allowed < min ? allowed : min;
    }
    free(line);
    if (file)
        fclose(file);
    free(path);
    return min;
}

uint64_t cgroups_memory_bytes(const char *root)
{
    return min_of_all(root, &(const struct question){"memory", memory_in, false});
}

uint64_t cgroups_processor_count(const char *root)
{
    return min_of_all(root, &(const struct question){"cpu", processors_in, false});
}

uint64_t cgroups_usable_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t there = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
    struct rlimit space = {.rlim_cur = RLIM_INFINITY}, data = {.rlim_cur = RLIM_INFINITY};
    uint64_t left = cgroups_memory_bytes("");
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        left = space.rlim_cur < left ? space.rlim_cur : left;
    if (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY)
        left = data.rlim_cur < left ? data.rlim_cur : left;
    return there == 0 ? left == UINT64_MAX ? 0 : left : there < left ? there : left;
}

/* ---- What the kernel ended ------------------------------------------------------- */

/* Reads a file of lines "WORD NUMBER". */
static uint64_t oom_kills_in(const char *folder, const char *name)
{
    char *path = memory_format("%s/%s", folder, name), word[64];
    uint64_t number, found = UINT64_MAX;
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%63s %" SCNu64, word, &number) == 2)
        found = strcmp(word, "oom_kill") == 0 ? number : found;
    if (file)
        fclose(file);
    free(path);
    return found;
}

static uint64_t oom_kills_of(const char *folder)
{
    uint64_t count = oom_kills_in(folder, "memory.events");
    return count != UINT64_MAX ? count : oom_kills_in(folder, "memory.oom_control");
}

uint64_t cgroups_oom_kill_count(const char *root)
{
    uint64_t count = min_of_all(root, &(const struct question){"memory", oom_kills_of, true});
    if (count != UINT64_MAX)
        return count;
    char *folder = memory_format("%s/proc", root);
    count = oom_kills_in(folder, "vmstat");
    free(folder);
    return count;
}
