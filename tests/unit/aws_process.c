/* SPDX-License-Identifier: Apache-2.0
 * aws_process.c: the command of a profile's credential_process: how it is split, and that it ends. */
#include "server/files/remote/aws_process.h"
#include "bytes.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void splits(const char *command, const char *expected)
{
    char joined[200] = "", **arguments = aws_process_split(command);
    for (size_t at = 0; arguments && arguments[at]; at++)
        snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "[%s]", arguments[at]);
    ck_assert_str_eq(arguments ? joined : "none", expected);
    free(arguments);
}

START_TEST(commands_are_split_as_by_a_shell)
{
    splits("aws configure  export-credentials\t--format process ",
           "[aws][configure][export-credentials][--format][process]");
    splits("'/opt/my tools/x' \"a 'b' \\\" \\\\ \\n\" c\\ d", "[/opt/my tools/x][a 'b' \" \\ \\n][c d]");
    splits("x '' \"\" a''b $HOME `y`;z", "[x][][][ab][$HOME][`y`;z]");
    splits("x 'a\\'", "[x][a\\]");
    splits("a b c", "[a][b][c]");
    splits("x \\", "[x][\\]");
    splits("", "none");
    splits("  ", "none");
    splits("x 'y", "none");
    splits("x \"y", "none");
}
END_TEST

START_TEST(a_command_without_end_is_ended)
{
    struct buf output = BUF_INIT;
    struct err err = ERR_INIT;
    ck_assert(!aws_process_run("sh -c 'echo why >&2; sleep 1000 & sleep 1000'", 300, &output, &err));
    ck_assert_str_eq(err.text, "it did not end within 300 ms: why");
    ck_assert_uint_eq(output.length, 0);
    err = (struct err)ERR_INIT;
    ck_assert(aws_process_run("sh -c 'sleep 1000 & echo this'", AWS_PROCESS_LIMIT_MS, &output,
                              &err)); /* but not the one behind it */
    ck_assert_uint_eq(output.length, 5);
    buf_free(&output);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("aws_process");
    TCase *tests = tcase_create("aws_process");
    tcase_add_test(tests, commands_are_split_as_by_a_shell);
    tcase_add_test(tests, a_command_without_end_is_ended);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
