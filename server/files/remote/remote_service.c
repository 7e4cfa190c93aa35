/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_service.h"

#include "server/base/memory.h"
#include "server/files/remote/remote_walk.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE_BY_SIDE_MAX = 32, DEPTH_MAX = 8 };

const struct remote_service *remote_service_of(const struct remote_address *address)
{
    switch (address->kind) {
    case REMOTE_ADDRESS_S3: return &s3_service;
    case REMOTE_ADDRESS_GCS: return &gcs_service;
    case REMOTE_ADDRESS_HTTP: break;
    }
    return &https_files_service;
}

char *remote_service_key(const struct remote_address *address, const char *path)
{
    const char *slash = address->key[0] && path[0] ? "/" : "";
    return memory_format("%s%s%s", address->key, slash, path);
}

const char *remote_service_path(const struct remote_address *address, const char *key)
{
    size_t length = strlen(address->key);
    if (length == 0)
        return key;
    return strncmp(key, address->key, length) == 0 && key[length] == '/' ? key + length + 1 : NULL;
}

void remote_service_page_object(struct remote_service_page *page, const struct remote_object *object)
{
    struct remote_object added = *object;
    added.path = remote_service_path(page->address, object->path);
    if (added.path)
        remote_listing_add(page->listing, &added);
}

void remote_service_page_prefix(struct remote_service_page *page, const char *prefix)
{
    page->prefixes =
        memory_grow(page->prefixes, &page->prefix_capacity, page->prefix_count + 1, sizeof(*page->prefixes));
    page->prefixes[page->prefix_count++] = memory_text(prefix);
}

void remote_service_page_next(struct remote_service_page *page, const char *next)
{
    free(page->next);
    page->next = memory_text(next);
}

void remote_service_page_free(struct remote_service_page *page)
{
    for (size_t at = 0; at < page->prefix_count; at++)
        free(page->prefixes[at]);
    free(page->prefixes);
    free(page->next);
}

struct listing_all {
    const struct remote_address *address;
    struct remote_listing *listing;
    remote_service_ask *ask;
};

static struct remote_service_page page_new(const struct listing_all *all)
{
    return (struct remote_service_page){.address = all->address, .listing = all->listing};
}

/* Can what has this prefix be listed by its folders? Then they are added to the walk, and what lies beside them is
 * listed. */
static bool split(struct remote_walk *walk, const struct listing_all *all, const char *prefix, unsigned depth,
                  bool *is_split, struct err *err)
{
    struct remote_service_page page = page_new(all);
    bool is_good = all->ask(&page, prefix, true, NULL, err);
    *is_split = is_good && !page.next && page.prefix_count > 0 && page.prefix_count <= SIDE_BY_SIDE_MAX;
    for (size_t at = 0; *is_split && at < page.prefix_count; at++)
        remote_walk_add(walk, page.prefixes[at], depth + 1);
    remote_service_page_free(&page);
    return is_good;
}

/* Does the next page repeat an earlier one? Compares it with the page kept when the page count last was a power of two
 * (Brent's cycle detection): a ring of N pages is found after at most 3 * N. */
static bool leads_back(const struct remote_service_page *page, uint64_t page_count, char **kept)
{
    if (!page->next)
        return false;
    if (*kept && strcmp(page->next, *kept) == 0)
        return true;
    if ((page_count & (page_count - 1)) == 0) {
        free(*kept);
        *kept = memory_text(page->next);
    }
    return false;
}

/* The pages that follow one. */
static bool list_on(const struct listing_all *all, const char *prefix, struct remote_service_page *page,
                    struct err *err)
{
    bool is_good = true;
    char *kept = NULL;
    for (uint64_t page_count = 1; is_good && page->next; page_count++) {
        struct remote_service_page following = page_new(all);
        if (leads_back(page, page_count, &kept))
            is_good = err_set(err, ERR_malformed, ERR_NO_OFFSET, "the list of the bucket leads back to itself");
        else
            is_good = all->ask(&following, prefix, false, page->next, err);
        remote_service_page_free(page);
        *page = following;
    }
    free(kept);
    return is_good;
}

static bool remote_service_visit(struct remote_walk *walk, void *context, const char *prefix, unsigned depth,
                                 struct err *err)
{
    const struct listing_all *all = context;
    struct remote_service_page page = page_new(all);
    bool is_split = false, is_good = all->ask(&page, prefix, false, NULL, err);
    if (is_good && page.next && depth < DEPTH_MAX)
        is_good = split(walk, all, prefix, depth, &is_split, err);
    if (is_good && !is_split)
        is_good = list_on(all, prefix, &page, err);
    remote_service_page_free(&page);
    return is_good;
}

bool remote_service_list(const struct remote_address *address, struct remote_listing *listing, remote_service_ask *ask,
                         struct err *err)
{
    struct listing_all all = {address, listing, ask};
    char *prefix = memory_format("%s%s", address->key, address->key[0] ? "/" : "");
    bool is_good = remote_walk_run(remote_service_visit, &all, prefix, err);
    free(prefix);
    return is_good;
}
