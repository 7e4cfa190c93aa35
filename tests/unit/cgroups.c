/* SPDX-License-Identifier: Apache-2.0
 * cgroups.c: tests of server/base/cgroups, over folders that look like /proc and /sys. */
#include "server/base/cgroups.h"

#include "bytes.h"

#include <ftw.h>
#include <sys/stat.h>

struct small_file {
    const char *path, *text;
};

static char root[32];

/* The file and the folders that it lies in. */
static void file_make(const struct small_file *made)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", root, made->path);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(made->text, file);
    fclose(file);
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static const struct {
    const char *name;
    struct small_file files[8];
    uint64_t memory_bytes, processor_count;
} machines[] = {
    {"nothing is known", {{"etc/hostname", "a\n"}}, UINT64_MAX, UINT64_MAX},
    {"version 2, no limits",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "max 100000\n"}, {"sys/fs/cgroup/memory.max", "max\n"}},
     UINT64_MAX,
     UINT64_MAX},
    {"version 2, a container with one processor",
     {{"proc/self/cgroup", "0::/\n"},
      {"sys/fs/cgroup/cpu.max", "100000 100000\n"},
      {"sys/fs/cgroup/memory.max", "1073741824\n"}},
     1 << 30,
     1},
    {"version 2, a part of a processor counts as one",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "250000 100000\n"}},
     UINT64_MAX,
     3},
    {"version 2, the least of the groups that it lies in",
     {{"proc/self/cgroup", "0::/system.slice/memviewd.service\n"},
      {"sys/fs/cgroup/system.slice/memviewd.service/cpu.max", "max 100000\n"},
      {"sys/fs/cgroup/system.slice/memviewd.service/memory.max", "4096\n"},
      {"sys/fs/cgroup/system.slice/cpu.max", "200000 100000\n"},
      {"sys/fs/cgroup/system.slice/memory.max", "8192\n"}},
     4096,
     2},
    {"version 1, the host's path in a container",
     {{"proc/self/cgroup", "9:memory:/docker/5f\n4:cpu,cpuacct:/docker/5f\n1:name=systemd:/docker/5f\n"},
      {"sys/fs/cgroup/memory/memory.limit_in_bytes", "2097152\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     2 << 20,
     1},
    {"version 1, no quota; cpuacct is no cpu",
     {{"proc/self/cgroup", "4:cpuacct:/a\n3:cpu:/\n"},
      {"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n"},
      {"sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     UINT64_MAX,
     UINT64_MAX},
    {"files with something else in them",
     {{"proc/self/cgroup", "\n:\n0\n0:\n0::\n0::x\n"},
      {"sys/fs/cgroup/cpu.max", "100000 0\n"},
      {"sys/fs/cgroup/memory.max", "all\n"}},
     UINT64_MAX,
     UINT64_MAX},
    {"a number without the other",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "100000\n"}, {"sys/fs/cgroup/memory.max", ""}},
     UINT64_MAX,
     1},
};

START_TEST(the_min_of_the_groups_counts)
{
    snprintf(root, sizeof(root), "/tmp/cgroups-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (size_t i = 0; i < 8 && machines[_i].files[i].path != NULL; i++)
        file_make(&machines[_i].files[i]);
    uint64_t memory_bytes = cgroups_memory_bytes(root), processor_count = cgroups_processor_count(root);
    nftw(root, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
    ck_assert_msg(memory_bytes == machines[_i].memory_bytes, "%s: %llu bytes", machines[_i].name,
                  (unsigned long long)memory_bytes);
    ck_assert_msg(processor_count == machines[_i].processor_count, "%s: %llu processors", machines[_i].name,
                  (unsigned long long)processor_count);
}
END_TEST

static const struct {
    const char *name;
    struct small_file files[4];
    uint64_t count;
} killed[] = {
    {"nothing is known", {{"etc/hostname", "a\n"}}, UINT64_MAX},
    {"version 2, our own group's although others of the one above have more",
     {{"proc/self/cgroup", "0::/pod/job\n"},
      {"sys/fs/cgroup/pod/job/memory.events", "low 0\nhigh 9\nmax 40\noom 3\noom_kill 2\noom_group_kill 0\n"},
      {"sys/fs/cgroup/pod/memory.events", "oom_kill 7\n"}},
     2},
    {"version 2, a container that sees the host's path",
     {{"proc/self/cgroup", "0::/kubepods/pod1/x\n"}, {"sys/fs/cgroup/memory.events", "oom_kill 1\n"}},
     1},
    {"version 1, where those above do not count it",
     {{"proc/self/cgroup", "4:cpu,memory:/job\n0::/\n"},
      {"sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"},
      {"sys/fs/cgroup/memory/memory.oom_control", "oom_kill 0\n"}},
     5},
    {"no group tells: the machine's",
     {{"proc/self/cgroup", "0::/\n"}, {"proc/vmstat", "pgfault 12\noom_kill 4\ndrop_pagecache 0\n"}},
     4},
    {"files with something else in them",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/memory.events", "oom_kill\n"}, {"proc/vmstat", "\n\n-\n"}},
     UINT64_MAX},
};

START_TEST(what_the_kernel_ended_is_counted)
{
    snprintf(root, sizeof(root), "/tmp/cgroups-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (size_t i = 0; i < 4 && killed[_i].files[i].path != NULL; i++)
        file_make(&killed[_i].files[i]);
    uint64_t count = cgroups_oom_kill_count(root);
    nftw(root, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
    ck_assert_msg(count == killed[_i].count, "%s: %llu", killed[_i].name, (unsigned long long)count);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cgroups");
    TCase *tests = tcase_create("cgroups");
    tcase_add_loop_test(tests, the_min_of_the_groups_counts, 0, sizeof(machines) / sizeof(machines[0]));
    tcase_add_loop_test(tests, what_the_kernel_ended_is_counted, 0, sizeof(killed) / sizeof(killed[0]));
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
