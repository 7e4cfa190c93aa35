/* SPDX-License-Identifier: Apache-2.0
 * beneath.c: tests of server/files/beneath: where links lead, as the kernel says it by openat2. */
#include "server/files/beneath.h"

#include "bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[32];
static int folder;

static void link_make(const char *target, const char *name) { ck_assert_int_eq(symlinkat(target, folder, name), 0); }

static void root_begin(void)
{
    static const char *const folders[] = {"a", "a/b", "outside"};
    strcpy(root, "/tmp/beneath-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    int all = open(root, O_PATH | O_DIRECTORY);
    ck_assert_int_eq(mkdirat(all, "root", 0700), 0);
    folder = openat(all, "root", O_PATH | O_DIRECTORY);
    for (size_t at = 0; at < sizeof(folders) / sizeof(folders[0]); at++)
        ck_assert_int_eq(mkdirat(at == 2 ? all : folder, folders[at], 0700), 0);
    close(openat(folder, "a/b/file", O_WRONLY | O_CREAT, 0600));
    close(openat(all, "outside/secret", O_WRONLY | O_CREAT, 0600));
    close(all);
    link_make("a/b", "to");
    link_make("../a/./b//file", "a/up");
    link_make("b/..", "a/round");
    link_make("to/../up", "twice");
    link_make("../outside", "out");
    link_make("a/../../outside/secret", "out_later");
    link_make("/etc", "absolute");
    link_make("circle", "circle");
    link_make("nowhere", "broken");
}

static int entry_remove(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void root_end(void)
{
    close(folder);
    nftw(root, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static const struct {
    const char *path, *real;
} paths[] = {{"", ""},
             {".", ""},
             {"a/b/file", "a/b/file"},
             {"a//b/./file", "a/b/file"},
             {"a/../a/b", "a/b"},
             {"to/file", "a/b/file"},
             {"a/up", "a/b/file"},
             {"a/round/up", "a/b/file"},
             {"twice", "a/b/file"},
             {"..", NULL},
             {"a/../../outside", NULL},
             {"out/secret", NULL},
             {"out_later", NULL},
             {"absolute/passwd", NULL},
             {"circle", NULL},
             {"broken", NULL},
             {"a/b/file/more", NULL}};

START_TEST(a_path_leads_where_the_kernel_says)
{
    char real[BENEATH_PATH_BYTES];
    const char *path = paths[_i].path;
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    bool is_there = beneath_real_path(folder, path, real);
    int reason = errno;
    ck_assert_msg(is_there == (paths[_i].real != NULL), "%s: %s", path, is_there ? real : strerror(reason));
    if (is_there)
        ck_assert_str_eq(real, paths[_i].real);
    int kernels = (int)syscall(SYS_openat2, folder, path[0] ? path : ".", &how, sizeof(how)), kernels_reason = errno;
    if (kernels < 0 && (kernels_reason == ENOSYS || kernels_reason == EPERM))
        return; /* an old kernel, or a box around the tests */
    ck_assert_int_eq(kernels >= 0, is_there);
    if (kernels < 0)
        ck_assert_int_eq(reason, kernels_reason);
    int own = beneath_open(folder, real, O_PATH | O_CLOEXEC);
    struct stat one, other;
    if (is_there) {
        ck_assert_int_eq(fstat(kernels, &one) | fstat(own, &other), 0);
        ck_assert_int_eq(one.st_ino == other.st_ino && one.st_dev == other.st_dev, true);
    }
    if (kernels >= 0)
        close(kernels);
    if (own >= 0)
        close(own);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("beneath");
    TCase *tests = tcase_create("beneath");
    tcase_add_checked_fixture(tests, root_begin, root_end);
    tcase_add_loop_test(tests, a_path_leads_where_the_kernel_says, 0, sizeof(paths) / sizeof(paths[0]));
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
