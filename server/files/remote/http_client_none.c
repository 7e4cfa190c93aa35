/* SPDX-License-Identifier: Apache-2.0
 * http_client_none.c: stands in for http_client.c where memviewd is built without libcurl. */
#include "server/files/remote/http_client.h"

bool http_client_set_up(struct err *err)
{
    return err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                   "this build has no libcurl: it reads no gs://, s3:// and https:// addresses");
}

void http_client_stop(void) {}

bool http_client_perform(const struct http_client_request *request, struct http_client_answer *answer, struct err *err)
{
    (void)request;
    *answer = (struct http_client_answer){0};
    return http_client_set_up(err);
}

void http_client_free(struct http_client_answer *answer) { (void)answer; }

bool http_client_header(const struct http_client_answer *answer, const char *name, char *value, size_t size)
{
    (void)answer;
    (void)name;
    if (size > 0)
        value[0] = '\0';
    return false;
}

struct http_client_figures http_client_figures(void) { return (struct http_client_figures){0}; }
