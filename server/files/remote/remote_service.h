/* SPDX-License-Identifier: Apache-2.0
 * remote_service.h: what each kind of server is asked, in its own words: s3.c, gcs.c, https_files.c. */
#pragma once

#include "base/err.h"
#include "server/files/remote/http_client.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_answer.h"
#include "server/files/remote/remote_listing.h"

#include <stdbool.h>

struct remote_service {
    /* Adds all objects below the address to `listing`, with several requests at a time. False with `err` when some
     * could not be listed. */
    bool (*list)(const struct remote_address *address, struct remote_listing *listing, struct err *err);
    /* What is known of the object at `path` below the address, which is "" for the address itself. False with `err`:
     * notfound, io, … */
    bool (*look)(const struct remote_address *address, const char *path, struct remote_answer_object *object,
                 struct err *err);
    /* Reads a range of the object, as `like` says with its range, take and begin, if its ETag is still `etag` ("":
     * any). False with `err`: changed, notfound, io, … */
    bool (*read)(const struct remote_address *address, const char *path, const char *etag,
                 const struct http_client_request *like, struct err *err);
};

extern const struct remote_service s3_service, gcs_service, https_files_service;

const struct remote_service *remote_service_of(const struct remote_address *address);

/* ---- what services share -------------------------------------------------------------- */

/* The key of `path` below the address, "a/b"; free(). */
char *remote_service_key(const struct remote_address *address, const char *path);
/* The path below the address that `key` has, within `key`; NULL when it is not below it. */
const char *remote_service_path(const struct remote_address *address, const char *key);

/* One page of a list that is read. */
struct remote_service_page {
    const struct remote_address *address;
    struct remote_listing *listing; /* where its objects go */
    char **prefixes;                /* of a list by folders, each with its slash; free() each */
    size_t prefix_count, prefix_capacity;
    char *next; /* says where the next page begins; NULL: this was the last */
};
/* What is in it; `path` of the object is its whole key. All is copied. */
void remote_service_page_object(struct remote_service_page *page, const struct remote_object *object);
void remote_service_page_prefix(struct remote_service_page *page, const char *prefix);
void remote_service_page_next(struct remote_service_page *page, const char *next);
void remote_service_page_free(struct remote_service_page *page);

/* Asks for one page of what begins with `prefix`; `by_folder`: what lies in folders below it is not listed, their
 * prefixes are. `next`: NULL for the first page. */
typedef bool remote_service_ask(struct remote_service_page *page, const char *prefix, bool by_folder, const char *next,
                                struct err *err);
/* All pages below the address. Where there are more than one, folders are listed side by side, unless they are so many
 * that asking for each would cost more requests than it saves time. */
bool remote_service_list(const struct remote_address *address, struct remote_listing *listing, remote_service_ask *ask,
                         struct err *err);

/* s3.c: Amazon S3 and what speaks like it. */
/* The server to ask instead of Amazon's, "http://127.0.0.1:9000", with the bucket in the path. NULL:
 * AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else Amazon's. Before any request; borrowed. */
void s3_set_endpoint(const char *url);
/* That server, or NULL: Amazon's. */
const char *s3_endpoint(void);

/* gcs.c: Google Cloud Storage, by its JSON interface. The generation of an object is its ETag here: it changes with
 * each write and with nothing else. */
/* The server in STORAGE_EMULATOR_HOST, which is used instead of Google's and gets no credentials; NULL: Google's. */
const char *gcs_endpoint(void);

/* https_files.c: files on any web server: a folder is what its page lists (https_page.h), and each file in it is
 * asked for its size and ETag. No credentials are sent. */
