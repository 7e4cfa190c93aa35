/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/mcp_answer.h"

#include "server/mcp/rpc.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* NOTE_BYTES: kept free for the line that says how to get the rest. */
enum { NOTE_BYTES = 128, NOTES_MAX_BYTES = 1024, STATUS_ANSWER_MAX = 1 };

static void answer_move(struct buf *to, struct buf *from)
{
    *to = *from;
    *from = (struct buf)BUF_INIT;
    to->failed = false; /* the bytes up to its limit are there */
    to->limit_bytes = 0;
}

static void add_reason(const struct mcp_answer *answer, struct buf *out, const struct work *work, int wait_status)
{
    if (work->is_too_long) {
        out->length = 0;
        buf_format(out, "the answer has more than %d MiB: ask for less of it", WORK_ANSWER_MAX_BYTES >> 20);
    } else if (WIFSIGNALED(wait_status)) {
        buf_format(out, "the command was ended by signal %d (%s)", WTERMSIG(wait_status),
                   strsignal(WTERMSIG(wait_status)));
    } else if (answer->text.length == 0) {
        buf_text(out, answer->is_failure ? "the command failed and said nothing" : "the command printed nothing");
    }
}

void mcp_answer_take(struct mcp_answer *answer, struct mcp_task *task, struct work *work, int wait_status)
{
    bool has_status = WIFEXITED(wait_status) && !work->is_too_long;
    *answer = (struct mcp_answer){.key = task->key, .form = task->form, .text = BUF_INIT, .notes = BUF_INIT};
    task->key = NULL;
    answer->is_failure = !has_status || WEXITSTATUS(wait_status) > STATUS_ANSWER_MAX;
    answer->is_missing = has_status && WEXITSTATUS(wait_status) == STATUS_ANSWER_MAX;
    answer_move(&answer->text, &work->written[0]);
    if (answer->form == MCP_MEMBERS && answer->is_failure) /* a part of the members is none of the message */
        answer->text.length = 0;
    bool has_notes = answer->form != MCP_TEXT && answer->text.length > 0;
    if (!has_notes)
        buf_add(&answer->text, work->written[1].data ? work->written[1].data : "", work->written[1].length);
    else
        answer_move(&answer->notes, &work->written[1]);
    add_reason(answer, has_notes ? &answer->notes : &answer->text, work, wait_status);
}

void mcp_answer_free(struct mcp_answer *answer)
{
    free(answer->key);
    buf_free(&answer->text);
    buf_free(&answer->notes);
    *answer = (struct mcp_answer){.text = BUF_INIT, .notes = BUF_INIT};
}

/* ---- the result -------------------------------------------------------------------------- */

static void write_content(struct json *json, struct str text)
{
    json_object_begin(json);
    json_key_text(json, "type", "text");
    json_key_string(json, "text", text);
    json_object_end(json);
}

/* Writes JSON on one line, as a message has to be: its line ends are between values. */
static void write_on_one_line(struct json *json, struct str text)
{
    struct buf line = BUF_INIT;
    buf_add(&line, text.data, text.length);
    for (size_t at = 0; at < line.length; at++)
        if (line.data[at] == '\n' || line.data[at] == '\r')
            line.data[at] = ' ';
    if (line.failed)
        buf_fail_with(json->out, &line);
    else
        json_written(json, (struct str){line.data, line.length});
    buf_free(&line);
}

static void write_structured(struct json *json, struct str text)
{
    cJSON *value = rpc_read_value(text);
    if (cJSON_IsObject(value)) {
        json_key(json, "structuredContent");
        write_on_one_line(json, text);
    } else if (cJSON_IsArray(value)) { /* structuredContent is an object */
        json_key_object(json, "structuredContent");
        json_key(json, "answers");
        write_on_one_line(json, text);
        json_object_end(json);
    }
    cJSON_Delete(value);
}

/* How much of `rest` is shown: whole lines, as long as one fits. */
static size_t shown_bytes(struct str rest, size_t limit_bytes)
{
    if (rest.length <= limit_bytes)
        return rest.length;
    size_t room = limit_bytes - NOTE_BYTES;
    size_t size = room;
    while (size > 0 && rest.data[size - 1] != '\n')
        size--;
    return size > 0 ? size : str_cut(rest, room);
}

void mcp_answer_write(struct json *json, const struct mcp_answer *answer, size_t from_bytes, size_t limit_bytes)
{
    const struct buf *text = &answer->text;
    if (from_bytes > 0 && from_bytes >= text->length) {
        struct buf fault = BUF_INIT;
        buf_format(&fault, "more=%zu: the answer has %zu bytes", from_bytes, text->length);
        mcp_answer_write_fault(json, fault.failed ? "more is too large" : (buf_char(&fault, '\0'), fault.data));
        buf_free(&fault);
        return;
    }
    struct str rest = {text->data ? text->data + from_bytes : "", text->length - from_bytes};
    size_t notes_bytes = str_cut((struct str){answer->notes.data ? answer->notes.data : "", answer->notes.length},
                                 limit_bytes / 4 < NOTES_MAX_BYTES ? limit_bytes / 4 : NOTES_MAX_BYTES);
    size_t size = shown_bytes(rest, limit_bytes - notes_bytes);
    json_key_array(json, "content");
    write_content(json, (struct str){rest.data, size});
    if (notes_bytes > 0)
        write_content(json, (struct str){answer->notes.data, notes_bytes});
    if (size < rest.length) {
        struct buf note = BUF_INIT;
        buf_format(&note, "[%zu of %zu bytes; for the rest call again with more=%zu and the same arguments]",
                   from_bytes + size, text->length, from_bytes + size);
        write_content(json, (struct str){note.data ? note.data : "", note.length});
        buf_free(&note);
    }
    json_array_end(json);
    if (answer->form == MCP_DATA && size == text->length && !answer->is_failure)
        write_structured(json, (struct str){text->data, text->length});
    json_key_bool(json, "isError", answer->is_failure);
}

void mcp_answer_write_fault(struct json *json, const char *fault)
{
    json_key_array(json, "content");
    write_content(json, str_of(fault));
    json_array_end(json);
    json_key_bool(json, "isError", true);
}

void mcp_answer_write_members(struct json *json, const struct mcp_answer *answer)
{
    struct str text = {answer->text.data, answer->text.length};
    while (text.length > 0 && text.data[text.length - 1] != '}')
        text.length--;
    if (text.length > 2)
        write_on_one_line(json, (struct str){text.data + 1, text.length - 2});
}
