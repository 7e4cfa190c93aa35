/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/grpc_call.h"

#include "base/str.h"
#include "server/base/memory.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_LIMIT_MS = 10000, TICK_MS = 200, HEADERS_MAX_BYTES = 64 * 1024, RECEIVE_BYTES = 256 * 1024 };

/* A call while it runs. */
struct transfer {
    struct grpc_call *call;
    CURL *easy;
    size_t header_bytes;
    bool is_grpc;       /* its content type says so */
    bool is_over_limit; /* of its headers */
    bool is_given_up;   /* by `take` */
};

bool grpc_call_set_up(struct err *err)
{
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "libcurl does not start: %s", curl_easy_strerror(code));
    const curl_version_info_data *library = curl_version_info(CURLVERSION_NOW);
    return (library->features & CURL_VERSION_HTTP2) != 0 ||
           err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                   "this libcurl has no HTTP/2 (%s), without which no profiler server can be asked", library->version);
}

/* ---- what comes ---- */

static int status_of(const struct transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

/* "name: value" goes to `value`, cut to what fits; false: it is another header. */
static bool value_take(struct str line, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    if (line.length <= length || line.data[length] != ':' ||
        !str_equal_any_case((struct str){line.data, length}, str_of(name)))
        return false;
    line = (struct str){line.data + length + 1, line.length - length - 1};
    while (line.length > 0 && (line.data[0] == ' ' || line.data[0] == '\t'))
        line = (struct str){line.data + 1, line.length - 1};
    if (line.length >= size)
        line.length = size - 1;
    memcpy(value, line.data, line.length);
    value[line.length] = '\0';
    return true;
}

/* Headers, and behind the body the trailers. */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    struct grpc_call *call = transfer->call;
    struct str line = {bytes, size * count};
    char type[32] = "";
    while (line.length > 0 && (line.data[line.length - 1] == '\n' || line.data[line.length - 1] == '\r'))
        line.length--;
    transfer->header_bytes += line.length;
    transfer->is_over_limit = transfer->header_bytes > HEADERS_MAX_BYTES;
    if (value_take(line, "content-type", type, sizeof(type)))
        transfer->is_grpc = strncmp(type, "application/grpc", 16) == 0;
    else if (!value_take(line, "grpc-status", call->status, sizeof(call->status)))
        value_take(line, "grpc-message", call->message, sizeof(call->message));
    return transfer->is_over_limit ? 0 : size * count;
}

static bool is_answer(const struct transfer *transfer) { return transfer->is_grpc && status_of(transfer) == 200; }

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    if (!is_answer(transfer))
        return 0;
    transfer->is_given_up = !transfer->call->take(transfer->call->context, bytes, size * count);
    return transfer->is_given_up ? 0 : size * count;
}

/* ---- how it ended ---- */

static bool say_not_grpc(struct grpc_call *call)
{
    return err_set(&call->err, ERR_unsupported, ERR_NO_OFFSET,
                   "the server there is not a profiler server: it does not speak gRPC without TLS");
}

static bool say_no_connection(const struct transfer *transfer)
{
    long fault = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &fault);
    if (fault == ECONNREFUSED)
        return err_set(&transfer->call->err, ERR_io, ERR_NO_OFFSET, "connection refused: nothing listens there");
    return err_set(&transfer->call->err, ERR_io, ERR_NO_OFFSET, "cannot be connected to: %s",
                   fault ? strerror((int)fault) : "no address of its name answers");
}

static bool say_timeout(const struct transfer *transfer)
{
    double connected_s = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_CONNECT_TIME, &connected_s);
    if (connected_s <= 0)
        return err_set(&transfer->call->err, ERR_io, ERR_NO_OFFSET, "does not answer within %d s",
                       CONNECT_LIMIT_MS / 1000);
    return err_set(&transfer->call->err, ERR_io, ERR_NO_OFFSET, "connected, but sent nothing for %lld s",
                   (long long)(transfer->call->silence_limit_ms / 1000));
}

/* What was wrong below gRPC: false with call->err. */
static bool judge_transfer(const struct transfer *transfer, CURLcode code)
{
    struct err *err = &transfer->call->err;
    if (transfer->is_given_up)
        return err_set(err, ERR_stopped, ERR_NO_OFFSET, "its answer was not wanted any further");
    if (transfer->is_over_limit)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "the headers of its answer are too large");
    if (code == CURLE_COULDNT_RESOLVE_HOST)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "its name is not known");
    if (code == CURLE_COULDNT_CONNECT)
        return say_no_connection(transfer);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return say_timeout(transfer);
    if (code == CURLE_OUT_OF_MEMORY)
        return err_set(err, ERR_exhausted, ERR_NO_OFFSET, "there is no memory for it");
    int status = status_of(transfer);
    if (status == 200 && !transfer->is_grpc)
        return say_not_grpc(transfer->call);
    if (status != 0 && status != 200)
        return err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                       "the server there is not a profiler server: it answered with HTTP status %d", status);
    if (code != CURLE_OK && status == 0)
        return say_not_grpc(transfer->call);
    return code == CURLE_OK ||
           err_set(err, ERR_io, ERR_NO_OFFSET, "the connection was cut: %s", curl_easy_strerror(code));
}

/* ---- asking ---- */

static void set_request(CURL *easy, struct transfer *transfer, struct curl_slist *headers)
{
    const struct grpc_call *call = transfer->call;
    curl_easy_setopt(easy, CURLOPT_URL, call->url);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->request_bytes);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->request);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
}

static void set_limits(CURL *easy, const struct grpc_call *call)
{
    int64_t silence_s = (call->silence_limit_ms + 999) / 1000;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_LIMIT_MS);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)silence_s);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "memviewd");
}

/* False, and the call has ended, when there is no memory for it. */
static bool transfer_begin(CURLM *multi, struct transfer *transfer, struct curl_slist *headers)
{
    CURL *easy = multi && headers ? curl_easy_init() : NULL;
    if (easy) {
        set_request(easy, transfer, headers);
        set_limits(easy, transfer->call);
        if (curl_multi_add_handle(multi, easy) == CURLM_OK) {
            transfer->easy = easy;
            return true;
        }
        curl_easy_cleanup(easy);
    }
    transfer->call->is_ended = true;
    return err_set(&transfer->call->err, ERR_exhausted, ERR_NO_OFFSET, "there is no memory for it");
}

static size_t take_ended(CURLM *multi)
{
    size_t ended_count = 0;
    int left;
    for (CURLMsg *told; (told = curl_multi_info_read(multi, &left));) {
        struct transfer *transfer = NULL;
        if (told->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(told->easy_handle, CURLINFO_PRIVATE, &transfer);
        judge_transfer(transfer, told->data.result);
        transfer->call->is_ended = true;
        ended_count++;
    }
    return ended_count;
}

static void wait_for_all(CURLM *multi, size_t running_count, bool (*tick)(void *context), void *context)
{
    int unused;
    while (running_count > 0 && curl_multi_perform(multi, &unused) == CURLM_OK) {
        running_count -= take_ended(multi);
        if (!tick(context) || running_count == 0)
            return;
        curl_multi_poll(multi, NULL, 0, TICK_MS, NULL);
    }
}

/* A call that has not ended yet was stopped. */
static void transfer_end(CURLM *multi, struct transfer *transfer)
{
    if (!transfer->call->is_ended)
        err_set(&transfer->call->err, ERR_stopped, ERR_NO_OFFSET, "was stopped");
    transfer->call->is_ended = true;
    if (!transfer->easy)
        return;
    curl_multi_remove_handle(multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
}

static struct curl_slist *headers_make(void)
{
    static const char *const LINES[] = {"Content-Type: application/grpc", "TE: trailers", "Expect:", "Accept:"};
    struct curl_slist *list = NULL;
    for (size_t at = 0; at < sizeof(LINES) / sizeof(LINES[0]); at++) {
        struct curl_slist *longer = curl_slist_append(list, LINES[at]);
        if (!longer) {
            curl_slist_free_all(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

void grpc_call_run(struct grpc_call *const *calls, size_t count, bool (*tick)(void *context), void *context)
{
    CURLM *multi = curl_multi_init();
    struct curl_slist *headers = headers_make();
    struct transfer *transfers = memory_new((count + 1) * sizeof(*transfers));
    size_t running_count = 0;
    for (size_t at = 0; at < count; at++) {
        calls[at]->is_ended = false;
        calls[at]->err = (struct err)ERR_INIT;
        calls[at]->status[0] = calls[at]->message[0] = '\0';
        transfers[at].call = calls[at];
        running_count += transfer_begin(multi, &transfers[at], headers);
    }
    wait_for_all(multi, running_count, tick, context);
    for (size_t at = 0; at < count; at++)
        transfer_end(multi, &transfers[at]);
    if (multi)
        curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
    free(transfers);
}
