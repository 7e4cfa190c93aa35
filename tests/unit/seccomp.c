/* SPDX-License-Identifier: Apache-2.0
 * seccomp.c: every number of a system call against the lists of server/sandbox, and those of other architectures. Each
 * box is a process of its own. */
#include "server/sandbox/seccomp.h"
#include "bytes.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NEWEST_KNOWN = 450, PAST_THEM = 700 };
static const char *enter_fault; /* NULL: filters can be made here */

#define GUARD(condition)                                                                                               \
    if (!(condition)) {                                                                                                \
        fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno));                           \
        _exit(1);                                                                                                      \
    }

static void enter(enum seccomp_kind kind)
{
    const struct seccomp_needs daemon = {.serves = true, .is_confined = true};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    GUARD(seccomp_enter(kind, &daemon));
}

/* The wait status of a process that did this in a box. */
static int status_of(void (*body)(void))
{
    int status = 0;
    pid_t id = fork();
    if (id == 0) {
        body();
        _exit(0);
    }
    waitpid(id, &status, 0);
    return status;
}

static void narrow_body(void)
{
    static const long BY_ARGUMENTS[] = {SYS_mmap,  SYS_mprotect, SYS_openat,    SYS_clone, SYS_ioctl,
                                        SYS_prctl, SYS_tgkill,   SYS_prlimit64, SYS_socket};
    const bool ALWAYS = true, SERVES = true, CONFINED = true, WRITES = false, CONNECTS = false;
    bool is_allowed[NEWEST_KNOWN + 1] = {false};
    for (size_t at = 0; at < sizeof(BY_ARGUMENTS) / sizeof(BY_ARGUMENTS[0]); at++)
        is_allowed[BY_ARGUMENTS[at]] = true;
#ifdef SYS_open
    is_allowed[SYS_open] = true;
#endif
#define ALLOWED(name, when) is_allowed[SYS_##name] |= when;
#include "server/sandbox/seccomp_allowed.def"
#undef ALLOWED
#ifdef __x86_64__
    is_allowed[335] = is_allowed[336] =
        true; /* uretprobe, uprobe: newer kernels ask no filter about them (kernel/seccomp.c) */
#endif
    enter(SECCOMP_NARROW);
    for (long number = 0; number < PAST_THEM; number++) {
        int refusal = number > NEWEST_KNOWN || number == SYS_clone3 ? ENOSYS : EPERM;
        if (number <= NEWEST_KNOWN && is_allowed[number])
            continue;
        long result = syscall(number, -1L, -1L, -1L, -1L, -1L, -1L);
        if (result != -1 || errno != refusal)
            fprintf(stderr, "system call %ld: %ld, %s\n", number, result, strerror(errno));
        GUARD(result == -1 && errno == refusal);
    }
    /* The kernel takes 32 bits of a request: those above it open no way around. */
    GUARD(syscall(SYS_ioctl, 0, TIOCSTI | 1UL << 32, "x") == -1 && errno == EPERM);
    GUARD(syscall(SYS_ioctl, -1, TIOCGWINSZ | 1UL << 32, NULL) == -1 && errno == EBADF);
    GUARD(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

static void wide_body(void)
{
    static const long REFUSED_CALLS[] = {
#define REFUSED(name) SYS_##name,
#include "server/sandbox/seccomp_refused.def"
#undef REFUSED
    };
    enter(SECCOMP_WIDE);
    for (size_t at = 0; at < sizeof(REFUSED_CALLS) / sizeof(REFUSED_CALLS[0]); at++)
        GUARD(syscall(REFUSED_CALLS[at], -1L, -1L, -1L, -1L, -1L, -1L) == -1 && errno == EPERM);
    for (long number = NEWEST_KNOWN + 1; number < PAST_THEM; number++)
        GUARD(syscall(number, -1L, -1L, -1L, -1L, -1L, -1L) == -1 && errno == ENOSYS);
    GUARD(syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS);
    GUARD(syscall(SYS_ioctl, 0, TIOCSTI | 1UL << 32, "x") == -1 && errno == EPERM);
    GUARD(getppid() > 0);
}

static void holds(void (*body)(void))
{
    int status = status_of(body);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d: see above", status);
}

START_TEST(what_is_not_allowed_is_refused) { holds(narrow_body); }
END_TEST

START_TEST(what_is_refused_to_a_library_is_refused) { holds(wide_body); }
END_TEST

#ifdef __x86_64__
static void call_x32(void)
{
    enter(SECCOMP_WIDE);
    syscall(0x40000000 | SYS_getpid);
}

static void call_i386(void)
{
    long number = 20; /* getpid there */
    enter(SECCOMP_WIDE);
    __asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
}

/* A kernel without calls of i386 ends it by SIGSEGV before any filter sees one. */
START_TEST(numbers_of_another_architecture_kill)
{
    int x32 = status_of(call_x32), i386 = status_of(call_i386);
    ck_assert_msg(WIFSIGNALED(x32) && WTERMSIG(x32) == SIGSYS, "x32: status %d", x32);
    ck_assert_msg(WIFSIGNALED(i386) && (WTERMSIG(i386) == SIGSYS || WTERMSIG(i386) == SIGSEGV), "i386: status %d",
                  i386);
}
END_TEST
#endif

static void only_enter(void) { enter(SECCOMP_NARROW); }

int main(void)
{
    Suite *suite = suite_create("seccomp");
    TCase *tests = tcase_create("seccomp");
    if (status_of(only_enter) != 0)
        enter_fault = "the kernel takes no filter";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    enter_fault = "built with sanitizers";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    enter_fault = "built with sanitizers";
#endif
#endif
    if (enter_fault) {
        printf("skipped: seccomp: %s\n", enter_fault);
    } else {
        tcase_add_test(tests, what_is_not_allowed_is_refused);
        tcase_add_test(tests, what_is_refused_to_a_library_is_refused);
#ifdef __x86_64__
        tcase_add_test(tests, numbers_of_another_architecture_kill);
#endif
    }
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
