/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/mcp.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/mcp/mcp_answer.h"
#include "server/mcp/mcp_method.h"
#include "server/mcp/rpc.h"
#include "server/mcp/work.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 20, READ_BYTES = 64 << 10, QUEUE_MAX = 64, BATCH_MAX = 64, OUTPUT_LOST = 2 };

/* The responses to the requests of one array. */
struct batch {
    struct buf out;
    size_t open_count; /* requests without a response; and one while the array is read */
};

struct job {
    char *id;
    bool is_stateless;
    struct mcp_task task;
    struct batch *batch; /* NULL: the request came alone */
    struct job *next;
};

struct conversation {
    const struct mcp_server *server;
    struct buf input; /* what was read of lines that are not handled yet */
    size_t handled_bytes;
    bool is_skipping;         /* the rest of a line that is too long */
    bool is_ended, is_lost;   /* stdin ended; stdout failed */
    struct job *first, **end; /* the first one is being done if `is_working` */
    size_t job_count;
    bool is_working;
    struct work work;
    struct mcp_answer kept; /* the last answer of a tool, which may be continued */
    struct batch *batch;    /* that is read now */
    size_t batch_count;
};

/* ---- output ----------------------------------------------------------------------------- */

static void write_line(struct conversation *conversation, struct buf *line)
{
    buf_char(line, '\n');
    for (size_t at = 0; at < line->length && !conversation->is_lost;) {
        ssize_t size = write(STDOUT_FILENO, line->data + at, line->length - at);
        if (size > 0)
            at += (size_t)size;
        else if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR)
            conversation->is_lost = true;
    }
}

static void batch_close(struct conversation *conversation, struct batch *batch)
{
    if (!batch || --batch->open_count > 0)
        return;
    if (batch->out.length > 0) { /* there is no response to notifications alone */
        buf_char(&batch->out, ']');
        write_line(conversation, &batch->out);
    }
    buf_free(&batch->out);
    free(batch);
}

/* Sends a response, which is freed. */
static void respond(struct conversation *conversation, struct batch *batch, const char *id, struct buf *response)
{
    if (response->failed) {
        struct json json = JSON_INIT(response);
        buf_free(response);
        rpc_write_error(&json, id, RPC_INTERNAL_ERROR, "there is no memory for the answer", NULL);
    }
    if (batch) {
        buf_char(&batch->out, batch->out.length == 0 ? '[' : ',');
        buf_add(&batch->out, response->data, response->length);
    } else {
        write_line(conversation, response);
    }
    buf_free(response);
}

static void respond_error(struct conversation *conversation, struct batch *batch, const char *id, int code,
                          const char *fault)
{
    struct buf response = BUF_INIT;
    struct json json = JSON_INIT(&response);
    rpc_write_error(&json, id, code, fault, NULL);
    respond(conversation, batch, id, &response);
}

/* ---- jobs --------------------------------------------------------------------------------- */

static void task_free(struct mcp_task *task)
{
    if (task->free)
        task->free(task->context);
    free(task->key);
}

static void job_add(struct conversation *conversation, const struct rpc_message *message, struct mcp_task task)
{
    struct job *job = memory_new(sizeof(*job));
    *job = (struct job){.id = memory_text(message->id),
                        .is_stateless = mcp_method_is_stateless(message),
                        .task = task,
                        .batch = conversation->batch};
    if (job->batch)
        job->batch->open_count++;
    *conversation->end = job;
    conversation->end = &job->next;
    conversation->job_count++;
}

static void job_remove(struct conversation *conversation, struct job **at)
{
    struct job *job = *at;
    *at = job->next;
    if (!job->next)
        conversation->end = at;
    conversation->job_count--;
    batch_close(conversation, job->batch);
    task_free(&job->task);
    free(job->id);
    free(job);
}

static void job_respond(struct conversation *conversation, const struct job *job, const struct mcp_answer *answer)
{
    struct buf response = BUF_INIT;
    struct json json = JSON_INIT(&response);
    bool is_of_tool = answer->form != MCP_MEMBERS;
    if (!is_of_tool && (answer->is_failure || answer->is_missing)) {
        int missing = job->is_stateless ? RPC_INVALID_PARAMS : MCP_METHOD_NO_RESOURCE;
        char *why = memory_format("%.*s", (int)answer->text.length, answer->text.data);
        rpc_write_error(&json, job->id, answer->is_missing ? missing : RPC_INTERNAL_ERROR, why, NULL);
        free(why);
    } else {
        rpc_begin_result(&json, job->id);
        if (is_of_tool)
            mcp_answer_write(&json, answer, job->task.from_bytes, job->task.limit_bytes);
        else
            mcp_answer_write_members(&json, answer);
        if (job->is_stateless)
            mcp_method_write_stateless(&json, !is_of_tool);
        rpc_end_result(&json);
    }
    respond(conversation, job->batch, job->id, &response);
}

static void job_finish(struct conversation *conversation)
{
    struct job *job = conversation->first;
    struct mcp_answer answer;
    int status = work_end(&conversation->work);
    mcp_answer_take(&answer, &job->task, &conversation->work, status);
    work_free(&conversation->work);
    conversation->is_working = false;
    job_respond(conversation, job, &answer);
    if (answer.form == MCP_MEMBERS) {
        mcp_answer_free(&answer);
    } else {
        mcp_answer_free(&conversation->kept);
        conversation->kept = answer;
    }
    job_remove(conversation, &conversation->first);
}

/* Begins the next job, or answers it by what is kept. */
static void jobs_go_on(struct conversation *conversation)
{
    while (!conversation->is_working && conversation->first) {
        struct job *job = conversation->first;
        const struct mcp_answer *kept = &conversation->kept;
        bool is_kept = job->task.from_bytes > 0 && kept->key && strcmp(kept->key, job->task.key) == 0;
        if (!is_kept && work_start(&conversation->work, job->task.run, job->task.context)) {
            conversation->is_working = true;
            return;
        }
        if (is_kept)
            job_respond(conversation, job, kept);
        else
            respond_error(conversation, job->batch, job->id, RPC_INTERNAL_ERROR, strerror(errno));
        job_remove(conversation, &conversation->first);
    }
}

/* Ends what is being done; its answer is lost. */
static void stop_working(struct conversation *conversation)
{
    work_end(&conversation->work);
    work_free(&conversation->work);
    conversation->is_working = false;
}

static void cancel(struct conversation *conversation, const struct rpc_message *message, struct str text)
{
    char *id = rpc_request_id(message, text);
    for (struct job **at = &conversation->first; id && *at; at = &(*at)->next) {
        if (strcmp((*at)->id, id) != 0)
            continue;
        if (*at == conversation->first && conversation->is_working)
            stop_working(conversation);
        job_remove(conversation, at);
        break;
    }
    free(id);
}

/* ---- input -------------------------------------------------------------------------------- */

static void handle_text(void *context, struct str text);

static void handle_batch(struct conversation *conversation, struct str text, size_t count)
{
    if (conversation->batch || count > BATCH_MAX) {
        respond_error(conversation, conversation->batch, "null", RPC_INVALID_REQUEST,
                      conversation->batch ? "an array in an array" : "more than 64 messages in an array");
        return;
    }
    struct batch *batch = memory_new(sizeof(*batch));
    *batch = (struct batch){.out = BUF_INIT, .open_count = 1};
    conversation->batch = batch;
    rpc_each(text, handle_text, conversation);
    conversation->batch = NULL;
    batch_close(conversation, batch);
}

static void handle_request(struct conversation *conversation, const struct rpc_message *message)
{
    struct buf response = BUF_INIT;
    struct json json = JSON_INIT(&response);
    struct mcp_task task;
    if (mcp_method(conversation->server, message, &json, &task))
        job_add(conversation, message, task);
    else
        respond(conversation, conversation->batch, message->id, &response);
}

static void handle_text(void *context, struct str text)
{
    struct conversation *conversation = context;
    struct rpc_message message;
    rpc_read(text, &message);
    switch (message.kind) {
    case RPC_REQUEST: handle_request(conversation, &message); break;
    case RPC_BATCH: handle_batch(conversation, text, (size_t)cJSON_GetArraySize(message.root)); break;
    case RPC_REFUSED: respond_error(conversation, conversation->batch, message.id, message.code, message.fault); break;
    case RPC_NOTIFICATION:
        if (message.method && strcmp(message.method, "notifications/cancelled") == 0)
            cancel(conversation, &message, text);
        break;
    case RPC_RESPONSE: break;
    }
    rpc_free(&message);
}

static void handle_line(struct conversation *conversation, struct str line)
{
    while (line.length > 0 && strchr(" \t\r", line.data[line.length - 1]) && line.data[line.length - 1])
        line.length--;
    if (line.length > 0)
        handle_text(conversation, line);
}

static bool has_room(const struct conversation *conversation) { return conversation->job_count < QUEUE_MAX; }

static void refuse_line(struct conversation *conversation)
{
    char fault[64];
    snprintf(fault, sizeof(fault), "a line has more than %d MiB", LINE_MAX_BYTES >> 20);
    respond_error(conversation, NULL, "null", RPC_PARSE_ERROR, fault);
}

/* A line that is too long is refused once, and its rest is skipped. */
static void pass_over(struct conversation *conversation, struct str rest)
{
    if (!conversation->is_skipping && rest.length > LINE_MAX_BYTES) {
        conversation->is_skipping = true;
        refuse_line(conversation);
    }
    if (conversation->is_skipping)
        conversation->handled_bytes = conversation->input.length;
}

/* The whole lines that were read, while there is room for what they want; at the end of stdin its last one, too. */
static void handle_lines(struct conversation *conversation)
{
    struct buf *input = &conversation->input;
    while (has_room(conversation) && conversation->handled_bytes < input->length) {
        struct str rest = {input->data + conversation->handled_bytes, input->length - conversation->handled_bytes};
        const char *end = memchr(rest.data, '\n', rest.length);
        bool is_last = !end && conversation->is_ended;
        size_t length = end ? (size_t)(end - rest.data) : rest.length;
        if (!end && (!is_last || conversation->is_skipping || length > LINE_MAX_BYTES)) {
            pass_over(conversation, rest);
            break;
        }
        conversation->handled_bytes += length + (end != NULL);
        if (conversation->is_skipping)
            conversation->is_skipping = false;
        else if (length > LINE_MAX_BYTES)
            refuse_line(conversation);
        else
            handle_line(conversation, (struct str){rest.data, length});
    }
    size_t left = input->length - conversation->handled_bytes;
    if (conversation->handled_bytes > 0 && left > 0)
        memmove(input->data, input->data + conversation->handled_bytes, left);
    input->length = left;
    conversation->handled_bytes = 0;
}

static void read_input(struct conversation *conversation)
{
    char bytes[READ_BYTES];
    ssize_t size = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (size > 0)
        buf_add(&conversation->input, bytes, (size_t)size);
    else if (size == 0 || (errno != EINTR && errno != EAGAIN))
        conversation->is_ended = true;
    if (conversation->input.failed) {
        log_error("there is no memory for what was read");
        conversation->is_ended = conversation->is_lost = true;
    }
}

static void wait_and_read(struct conversation *conversation)
{
    struct pollfd polled[1 + WORK_PIPE_COUNT] = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
    if (!conversation->is_ended && has_room(conversation))
        polled[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    if (conversation->is_working)
        work_poll(&conversation->work, polled + 1);
    if (poll(polled, 1 + WORK_PIPE_COUNT, -1) < 0)
        return;
    if (polled[0].revents)
        read_input(conversation);
    if (!conversation->is_working)
        return;
    work_take(&conversation->work, polled + 1);
    if (work_is_over(&conversation->work))
        job_finish(conversation);
}

/* Would handle_lines go on? Jobs that were answered at once left room for lines that were read before. */
static bool has_more_lines(const struct conversation *conversation)
{
    const struct buf *input = &conversation->input;
    return has_room(conversation) && input->length > 0 &&
           (conversation->is_ended || memchr(input->data, '\n', input->length));
}

int mcp_serve(const struct mcp_server *server)
{
    struct conversation conversation = {.server = server, .input = BUF_INIT};
    conversation.end = &conversation.first;
    signal(SIGPIPE, SIG_IGN);
    do {
        handle_lines(&conversation);
        jobs_go_on(&conversation);
        if (!has_more_lines(&conversation) && !conversation.is_lost &&
            (conversation.is_working || !conversation.is_ended))
            wait_and_read(&conversation);
    } while (!conversation.is_lost && (!conversation.is_ended || conversation.first || conversation.input.length > 0));
    if (conversation.is_working)
        stop_working(&conversation);
    while (conversation.first)
        job_remove(&conversation, &conversation.first);
    mcp_answer_free(&conversation.kept);
    buf_free(&conversation.input);
    if (conversation.is_lost)
        log_line("standard output was closed");
    return conversation.is_lost ? OUTPUT_LOST : 0;
}
