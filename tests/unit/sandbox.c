/* SPDX-License-Identifier: Apache-2.0
 * sandbox.c: tests of server/sandbox, and of server/files/opener, from within a box: what is refused, and what still
 * goes; and of the messages between a box and its helper.
 * Each test is a process of its own; where the kernel has no Landlock, or the build no seccomp, rows of those are left
 * out. */
#include "server/sandbox/sandbox.h"

#include "server/files/beneath.h"
#include "server/files/opener.h"
#include "server/sandbox/helper.h"
#include "server/sandbox/landlock.h"

#include "bytes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* root/read/file, root/write, root/outside/secret */
static char root[32];
static bool has_landlock, has_seccomp;

static const char *in_root(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    return path;
}

static void file_make(const char *name, const char *text)
{
    FILE *file = fopen(in_root(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void root_make(void)
{
    static const char *const folders[] = {"read", "write", "outside"};
    snprintf(root, sizeof(root), "/tmp/memviewd-unit-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (size_t at = 0; at < 3; at++)
        ck_assert_int_eq(mkdir(in_root(folders[at]), 0700), 0);
    file_make("read/file", "text");
    file_make("outside/secret", "secret");
}

static void root_remove(void) { nftw(root, entry_remove, 16, FTW_DEPTH | FTW_PHYS); }

static void enter(enum sandbox_kind kind, bool writes)
{
    struct sandbox *sandbox = sandbox_new(kind);
    struct buf said = BUF_INIT;
    sandbox_reads(sandbox, in_root("read"));
    sandbox_reads(sandbox, in_root("not there"));
    if (writes)
        sandbox_writes(sandbox, in_root("write"));
    has_landlock = landlock_version() > 0;
    bool is_on = sandbox_enter(sandbox, &said);
    buf_char(&said, '\0');
    has_seccomp = strstr(said.data, "seccomp") && !strstr(said.data, "no seccomp");
    ck_assert_msg(is_on == (has_landlock || has_seccomp), "%s", said.data);
    ck_assert_msg(has_landlock == (strstr(said.data, "Landlock ABI ") != NULL), "%s", said.data);
    buf_free(&said);
}

/* ---- what is tried: 0, or the errno --------------------------------------------------- */

static int told(long result) { return result < 0 ? errno : 0; }

static int opened(const char *path, int flags)
{
    int file = open(path, flags | O_CLOEXEC, 0600);
    int reason = told(file);
    if (file >= 0)
        close(file);
    return reason;
}

static int read_outside(void) { return opened(in_root("outside/secret"), O_RDONLY); }
static int read_shadow(void) { return opened("/etc/hostname", O_RDONLY); }
static int list_outside(void) { return opened("/", O_RDONLY | O_DIRECTORY); }
static int read_by_way_up(void) { return opened(in_root("read/../outside/secret"), O_RDONLY); }
static int write_file(void) { return opened(in_root("read/file"), O_WRONLY); }
static int make_file(void) { return opened(in_root("read/new"), O_WRONLY | O_CREAT); }
static int remove_file(void) { return told(unlink(in_root("read/file"))); }
static int make_folder(void) { return told(mkdir(in_root("read/folder"), 0700)); }
static int cut_file(void) { return told(truncate(in_root("read/file"), 0)); }
static int change_mode(void) { return told(chmod(in_root("read/file"), 0777)); }

static int run_program(void)
{
    char *const arguments[] = {"true", NULL};
    return told(execv("/bin/true", arguments));
}

static int split(void)
{
    pid_t id = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (id == 0)
        _exit(0);
    return told(id);
}

static int open_socket(void) { return told(socket(AF_INET, SOCK_STREAM, 0)); }
static int open_datagrams(void) { return told(socket(AF_INET6, SOCK_DGRAM, 0)); }
static int open_unix(void) { return told(socket(AF_UNIX, SOCK_STREAM, 0)); }
static int open_route(void) { return told(socket(AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE)); }

static int spare_socket = -1; /* opened before the box */
static int connect_somewhere(void)
{
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return told(connect(spare_socket, (const struct sockaddr *)&to, sizeof(to)));
}

static int bind_somewhere(void)
{
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return told(bind(spare_socket, (const struct sockaddr *)&to, sizeof(to)));
}

static int trace(void) { return told(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL)); }

static int read_memory_of_other(void)
{
    char byte;
    const struct iovec here = {&byte, 1}, there = {root, 1};
    return told(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}

static int signal_other(void) { return told(kill(getppid(), 0)); }
static int add_code(void)
{
    return told((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
static int change_limit(void)
{
    const struct rlimit limit = {10, 10};
    return told(setrlimit(RLIMIT_NOFILE, &limit));
}
static int type_into_terminal(void) { return told(ioctl(0, TIOCSTI, "x")); }
static int leave_root(void) { return told(chroot("/")); }
static int ring(void) { return told(syscall(SYS_io_uring_setup, 1, NULL)); }
static int call_unknown(void) { return told(syscall(3000)); }
static int clone_anew(void) { return told(syscall(SYS_clone3, NULL, 0)); }

/* What still goes. */
static int read_below(void) { return opened(in_root("read/file"), O_RDONLY); }
static int list_below(void) { return opened(in_root("read"), O_RDONLY | O_DIRECTORY); }
static int read_itself(void) { return opened("/proc/self/statm", O_RDONLY); }
static int read_connections(void) { return opened("/proc/net/tcp", O_RDONLY); }
static int ask_about_outside(void)
{
    struct stat status;
    return told(stat(in_root("outside/secret"), &status));
}
static int ask_whose(void)
{
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return told(netlink < 0 ? netlink : close(netlink));
}
static void *thread_work(void *context) { return context; }
static int start_thread(void)
{
    pthread_t thread;
    int reason = pthread_create(&thread, NULL, thread_work, NULL);
    return reason ? reason : pthread_join(thread, NULL);
}
static int keep_file(void)
{
    char from[256];
    int reason = opened(in_root("write/new"), O_WRONLY | O_CREAT | O_EXCL);
    snprintf(from, sizeof(from), "%s", in_root("write/new"));
    if (reason == 0)
        reason = told(rename(from, in_root("write/kept")));
    return reason ? reason : told(unlink(in_root("write/kept")));
}

static int write_file_by_openat2(void)
{
    const struct open_how how = {.flags = O_WRONLY | O_CLOEXEC};
    int file = (int)syscall(SYS_openat2, AT_FDCWD, in_root("outside/secret"), &how, sizeof(how));
    return told(file < 0 ? file : close(file));
}

enum { FILES = 1, CALLS = 2 }; /* whose refusal it is: Landlock's, seccomp's; either is enough */
struct row {
    const char *name;
    int (*try)(void);
    int by, reason; /* 0: EACCES or EPERM */
};

static void hold(const struct row *rows, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        const struct row *row = &rows[at];
        if (row->by && !(row->by & FILES && has_landlock) && !(row->by & CALLS && has_seccomp))
            continue;
        int reason = row->try();
        bool is_as_wanted = row->reason || !row->by ? reason == row->reason : reason == EACCES || reason == EPERM;
        ck_assert_msg(is_as_wanted, "%s: %s", row->name, strerror(reason));
    }
}
#define HOLD(rows) hold(rows, sizeof(rows) / sizeof((rows)[0]))

static const struct row of_all[] = {
    {"a file elsewhere", read_outside, FILES, 0},
    {"a file of the system", read_shadow, FILES, 0},
    {"a folder elsewhere", list_outside, FILES, 0},
    {"a file elsewhere, by ..", read_by_way_up, FILES, 0},
    {"writing into a file", write_file, FILES | CALLS, 0},
    {"writing into a file, its flags in memory", write_file_by_openat2, FILES | CALLS, 0},
    {"a new file", make_file, FILES | CALLS, 0},
    {"removing a file", remove_file, FILES, 0},
    {"a new folder", make_folder, FILES, 0},
    {"cutting a file", cut_file, CALLS, 0},
    {"its mode", change_mode, CALLS, 0},
    {"a process", split, CALLS, 0},
    {"a socket", open_socket, CALLS, 0},
    {"a socket of datagrams", open_datagrams, CALLS, 0},
    {"a Unix socket", open_unix, CALLS, 0},
    {"a netlink socket of another kind", open_route, CALLS, 0},
    {"connecting", connect_somewhere, CALLS, 0},
    {"binding", bind_somewhere, CALLS, 0},
    {"tracing", trace, FILES | CALLS, 0},
    {"memory of others", read_memory_of_other, FILES | CALLS, 0},
    {"a signal", signal_other, CALLS, 0},
    {"more code", add_code, CALLS, 0},
    {"limits", change_limit, CALLS, 0},
    {"typing into the terminal", type_into_terminal, CALLS, 0},
    {"another root", leave_root, CALLS, 0},
    {"a ring", ring, CALLS, 0},
    {"a call that is not known", call_unknown, CALLS, ENOSYS},
    {"clone3, for which clone stands in", clone_anew, CALLS, ENOSYS},
    {"a file below", read_below, 0, 0},
    {"a folder below", list_below, 0, 0},
    {"its own memory", read_itself, 0, 0},
    {"connections of this machine", read_connections, 0, 0},
    {"what another file is", ask_about_outside, 0, 0},
    {"a thread", start_thread, 0, 0},
};

static void begin(void)
{
    root_make();
    spare_socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* The folders are removed by the process that made them, outside of the box. */
static void in_a_box(enum sandbox_kind kind, bool writes, void (*body)(void))
{
    int status;
    begin();
    pid_t id = fork();
    if (id == 0) {
        enter(kind, writes);
        body();
        exit(0);
    }
    waitpid(id, &status, 0);
    root_remove();
    close(spare_socket);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "see above");
}

static void daemon_body(void)
{
    static const struct row rows[] = {{"asking whose a connection is", ask_whose, 0, 0},
                                      {"a program", run_program, FILES | CALLS, 0}};
    HOLD(of_all);
    HOLD(rows);
}

START_TEST(a_daemon_reads_what_was_named_and_does_nothing_else) { in_a_box(SANDBOX_DAEMON, false, daemon_body); }
END_TEST

static void command_body(void)
{
    static const struct row rows[] = {{"asking whose a connection is", ask_whose, CALLS, 0},
                                      {"a program", run_program, FILES | CALLS, 0}};
    HOLD(of_all);
    HOLD(rows);
}

START_TEST(a_command_has_no_socket_at_all) { in_a_box(SANDBOX_COMMAND, false, command_body); }
END_TEST

static void writing_body(void)
{
    static const struct row rows[] = {{"keeping a file", keep_file, 0, 0},
                                      {"a new file elsewhere", make_file, FILES, 0},
                                      {"removing one elsewhere", remove_file, FILES, 0},
                                      {"a new folder elsewhere", make_folder, FILES, 0}};
    HOLD(rows);
}

START_TEST(it_writes_where_it_was_told) { in_a_box(SANDBOX_DAEMON, true, writing_body); }
END_TEST

static void compiler_body(void)
{
    static const struct row rows[] = {{"a file elsewhere", read_outside, FILES, 0},
                                      {"a new file elsewhere", make_file, FILES, 0},
                                      {"a program", run_program, FILES | CALLS, 0},
                                      {"a socket", open_socket, CALLS, 0},
                                      {"a Unix socket", open_unix, CALLS, 0},
                                      {"connecting", connect_somewhere, FILES | CALLS, 0},
                                      {"tracing", trace, FILES | CALLS, 0},
                                      {"memory of others", read_memory_of_other, FILES | CALLS, 0},
                                      {"typing into the terminal", type_into_terminal, CALLS, 0},
                                      {"a ring", ring, CALLS, 0},
                                      {"another root", leave_root, CALLS, 0},
                                      {"keeping a file", keep_file, 0, 0},
                                      {"a process", split, 0, 0},
                                      {"code that is loaded", add_code, 0, 0},
                                      {"a thread", start_thread, 0, 0}};
    HOLD(rows);
}

START_TEST(a_compiler_runs_code_but_reaches_nobody) { in_a_box(SANDBOX_COMPILER, true, compiler_body); }
END_TEST

/* ---- opener ----------------------------------------------------------------------------- */

static void replace_folder(void)
{
    char old[256], new[256];
    snprintf(old, sizeof(old), "%s", in_root("read"));
    snprintf(new, sizeof(new), "%s", in_root("before"));
    ck_assert_int_eq(rename(old, new), 0);
    ck_assert_int_eq(mkdir(old, 0700), 0);
    file_make("read/file", "new text");
    ck_assert_int_eq(symlink("../outside/secret", in_root("read/link")), 0);
}

/* 0, the errno, or -1: the opened file holds other bytes. */
static int read_of(int file, const char *text)
{
    char found[32] = "";
    if (file < 0)
        return errno;
    bool is_read = read(file, found, sizeof(found) - 1) >= 0;
    close(file);
    return is_read && strcmp(found, text) == 0 ? 0 : -1;
}

static void opener_body(void)
{
    const char *path = in_root("read");
    char named[256];
    snprintf(named, sizeof(named), "%s", path);
    if (has_landlock)
        ck_assert_int_eq(opened(named, O_RDONLY | O_DIRECTORY), EACCES); /* it is another folder now */
    int folder = open(named, O_PATH | O_CLOEXEC), other = open(in_root("outside"), O_PATH | O_CLOEXEC);
    ck_assert_int_ge(opener_open_root(named, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
    ck_assert_int_eq(read_of(beneath_open(folder, "file", O_RDONLY | O_CLOEXEC), "new text"), 0);
    ck_assert_int_ge(beneath_open(folder, "", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
    ck_assert_int_eq(read_of(beneath_open(folder, "../outside/secret", O_RDONLY | O_CLOEXEC), ""), EXDEV);
    ck_assert_int_eq(read_of(beneath_open(folder, "link", O_RDONLY | O_CLOEXEC), ""), EXDEV);
    ck_assert_int_ne(read_of(opener_open_beneath(other, "secret", O_RDONLY), "secret"), 0);
    ck_assert_int_ne(read_of(opener_open_beneath(folder, "../outside/secret", O_RDONLY), "secret"), 0);
    ck_assert_int_ne(read_of(opener_open_root(in_root("outside/secret"), O_RDONLY | O_CLOEXEC), "secret"),
                     has_landlock ? 0 : -2);
    ck_assert_int_eq(told(write(beneath_open(folder, "file", O_RDWR | O_CLOEXEC), "x", 1)), has_landlock ? EBADF : 0);
    opener_unlink(in_root("outside/secret"));
    ck_assert_int_eq(ask_about_outside(), 0);
    opener_unlink(in_root("socket"));
    ck_assert_int_eq(access(in_root("socket"), F_OK) == 0, false);
}

START_TEST(a_folder_that_is_made_anew_is_read_and_nothing_else)
{
    int status;
    begin();
    file_make("socket", "");
    pid_t id = fork();
    if (id == 0) {
        char roots[1][300], socket_path[256];
        const char *const named[] = {roots[0]};
        snprintf(roots[0], sizeof(roots[0]), "%s/", in_root("read"));
        snprintf(socket_path, sizeof(socket_path), "%s", in_root("socket"));
        ck_assert(opener_start(named, 1, socket_path));
        enter(SANDBOX_DAEMON, false);
        raise(SIGSTOP);
        opener_body();
        exit(0);
    }
    waitpid(id, &status, WUNTRACED);
    replace_folder();
    kill(id, SIGCONT);
    waitpid(id, &status, 0);
    root_remove();
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "see above");
}
END_TEST

/* ---- messages --------------------------------------------------------------------------- */

START_TEST(of_two_descriptors_in_a_message_one_is_left)
{
    int ends[2], sent[2] = {STDIN_FILENO, STDOUT_FILENO}, taken;
    char byte = 'x';
    union {
        char bytes[CMSG_SPACE(sizeof(sent))];
        struct cmsghdr head;
    } control = {.bytes = {0}};
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    ck_assert(helper_pair(ends));
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(sent));
    memcpy(CMSG_DATA(head), sent, sizeof(sent));
    int lowest = dup(STDIN_FILENO); /* what is free before */
    close(lowest);
    ck_assert_int_eq((int)sendmsg(ends[0], &message, 0), 1);
    ck_assert_int_eq((int)helper_receive(ends[1], &byte, 1, &taken, true), 1);
    ck_assert_int_eq(taken, lowest);
    ck_assert_int_eq(fcntl(lowest + 1, F_GETFD), -1);
    close(taken);
    close(ends[0]);
    ck_assert_int_eq((int)helper_receive(ends[1], &byte, 1, &taken, true), 0);
    ck_assert_int_eq(taken, -1);
    close(ends[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sandbox");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, a_daemon_reads_what_was_named_and_does_nothing_else);
    tcase_add_test(cases, a_command_has_no_socket_at_all);
    tcase_add_test(cases, it_writes_where_it_was_told);
    tcase_add_test(cases, a_compiler_runs_code_but_reaches_nobody);
    tcase_add_test(cases, a_folder_that_is_made_anew_is_read_and_nothing_else);
    tcase_add_test(cases, of_two_descriptors_in_a_message_one_is_left);
    suite_add_tcase(suite, cases);
    return bytes_run(suite);
}
