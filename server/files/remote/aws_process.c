/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/aws_process.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/process.h"
#include "server/files/remote/aws_profile.h"
#include "server/sandbox/helper.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 100, PRINTED_BYTES = AWS_PROCESS_OUTPUT_MAX_BYTES + 1 };

extern char **environ;

/* For the process that asks: the socket to the process outside of the sandbox; -1: there is none. */
static int asking = -1;

/* ---- the command ------------------------------------------------------------------------- */

char **aws_process_split(const char *command)
{
    size_t length = strlen(command), most = length / 2 + 2, count = 0;
    char **arguments = memory_new(most * sizeof(*arguments) + length + 1), *to = (char *)(arguments + most);
    char quote = '\0';
    bool is_within = false; /* an argument */
    for (const char *at = command; *at; at++) {
        if (!quote && strchr(" \t\r\n", *at)) {
            to += is_within; /* the rest is zeroes */
            is_within = false;
            continue;
        }
        if (!is_within)
            arguments[count++] = to;
        is_within = true;
        if (quote ? *at == quote : *at == '"' || *at == '\'') {
            quote = quote ? '\0' : *at;
            continue;
        }
        bool is_escape = *at == '\\' && quote != '\'' && (!quote || at[1] == '"' || at[1] == '\\');
        at += is_escape && at[1];
        *to++ = *at;
    }
    if (count > 0 && !quote)
        return arguments;
    free(arguments);
    return NULL;
}

/* ---- running it -------------------------------------------------------------------------- */

/* What came out of a pipe; of more than there is room for, the newest half. */
struct printed {
    size_t length;
    bool is_cut;
    char text[PRINTED_BYTES];
};

/* True when something came. */
static bool printed_take(struct printed *printed, int descriptor)
{
    if (printed->length == PRINTED_BYTES) {
        printed->is_cut = true;
        printed->length /= 2;
        memmove(printed->text, printed->text + PRINTED_BYTES - printed->length, printed->length);
    }
    ssize_t part = read(descriptor, printed->text + printed->length, PRINTED_BYTES - printed->length);
    printed->length += part > 0 ? (size_t)part : 0;
    return part > 0;
}

static struct str last_line(const struct printed *printed)
{
    size_t end = printed->length, begin;
    while (end > 0 && (printed->text[end - 1] == '\n' || printed->text[end - 1] == '\r'))
        end--;
    for (begin = end; begin > 0 && printed->text[begin - 1] != '\n';)
        begin--;
    return (struct str){printed->text + begin, end - begin};
}

/* False with `err` when it had to be ended. */
static bool process_follow(const struct process *process, int64_t limit_ms, struct printed *output,
                           struct printed *errors, struct err *err)
{
    for (int64_t begin_ms = clock_ms(); clock_ms() - begin_ms < limit_ms;) {
        bool has_ended = process_has_ended(process), is_news = printed_take(output, process->output);
        is_news |= printed_take(errors, process->report);
        if (output->length > AWS_PROCESS_OUTPUT_MAX_BYTES)
            return err_set(err, ERR_limit, ERR_NO_OFFSET, "it prints more than %d bytes", AWS_PROCESS_OUTPUT_MAX_BYTES);
        if (!is_news && has_ended)
            return true;
        if (!is_news)
            process_wait(process, LOOK_MS);
    }
    struct str line = last_line(errors);
    return err_set(err, ERR_io, ERR_NO_OFFSET, "it did not end within %lld ms%s%.*s", (long long)limit_ms,
                   line.length > 0 ? ": " : "", (int)line.length, line.data);
}

static bool process_succeeded(int status, const struct printed *errors, struct err *err)
{
    struct str line = last_line(errors);
    const char *colon = line.length > 0 ? ": " : "";
    if (WIFSIGNALED(status))
        return err_set(err, ERR_io, ERR_NO_OFFSET, "signal %d ended it%s%.*s", WTERMSIG(status), colon,
                       (int)line.length, line.data);
    return WEXITSTATUS(status) == 0 || err_set(err, ERR_io, ERR_NO_OFFSET, "exit status %d%s%.*s", WEXITSTATUS(status),
                                               colon, (int)line.length, line.data);
}

bool aws_process_run(const char *command, int64_t limit_ms, struct buf *output, struct err *err)
{
    char **arguments = aws_process_split(command);
    struct printed *printed = memory_new(2 * sizeof(*printed)), *errors = printed + 1;
    struct process process;
    bool is_good = false;
    if (!arguments)
        err_set(err, ERR_argument, ERR_NO_OFFSET, "it names no command, or has a quote without its end");
    else if (process_start(&process, arguments[0], arguments, environ, NULL, PROCESS_REPORTS_ERRORS, err)) {
        bool has_ended = process_follow(&process, limit_ms, printed, errors, err);
        int status = process_end(&process);
        is_good = has_ended && process_succeeded(status, errors, err);
    }
    if (is_good)
        buf_add(output, printed->text, printed->length);
    is_good = is_good && (!output->failed || err_exhausted(err));
    free(printed);
    free(arguments);
    return is_good;
}

/* ---- outside of the box ------------------------------------------------------------------ */

struct told {
    int32_t is_good;
    char text[AWS_PROCESS_OUTPUT_MAX_BYTES]; /* what it printed, or why it did not */
};

static void aws_process_serve(int socket, void *context)
{
    char question;
    while (helper_receive(socket, &question, sizeof(question), NULL, true) > 0) {
        struct told *told = memory_new(sizeof(*told));
        struct buf output = BUF_INIT;
        struct err err = ERR_INIT;
        told->is_good = aws_process_run(context, AWS_PROCESS_LIMIT_MS, &output, &err);
        const struct str text = told->is_good ? (struct str){output.data, output.length} : str_of(err.text);
        memcpy(told->text, text.length > 0 ? text.data : "", text.length);
        helper_send(socket, told, offsetof(struct told, text) + text.length, -1);
        buf_free(&output);
        free(told);
    }
}

void aws_process_prepare(void)
{
    char *command = asking < 0 ? aws_profile_value("credential_process") : NULL;
    if (command)
        asking = helper_start("memviewd-aws", aws_process_serve, command);
    free(command);
}

bool aws_process_ask(const char *command, struct buf *output, struct err *err)
{
    if (asking < 0)
        return aws_process_run(command, AWS_PROCESS_LIMIT_MS, output, err);
    struct told *told = memory_new(sizeof(*told));
    ssize_t length = helper_send(asking, "?", 1, -1) ? helper_receive(asking, told, sizeof(*told), NULL, true) : 0;
    size_t text_bytes = (size_t)length - offsetof(struct told, text);
    bool is_whole = length >= (ssize_t)offsetof(struct told, text), is_good = is_whole && told->is_good;
    if (is_good) {
        buf_add(output, told->text, text_bytes);
        is_good = !output->failed || err_exhausted(err);
    } else if (is_whole) {
        err_set(err, ERR_io, ERR_NO_OFFSET, "%.*s", (int)text_bytes, told->text);
    } else {
        err_set(err, ERR_io, ERR_NO_OFFSET, "the process that runs it has ended");
    }
    free(told);
    return is_good;
}
