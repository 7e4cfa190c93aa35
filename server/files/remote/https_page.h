/* SPDX-License-Identifier: Apache-2.0
 * https_page.h: what a folder on a web server holds, by the page that nginx, Apache, Python and others make of it
 * (autoindex), or by nginx's JSON of it. Pure; any bytes. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Calls `entry` with the decoded name of each file and folder right below, and for nothing else that the page links to.
 * `path`: the folder's own path as in its URL, "/a/b/", by which links that begin with a slash are distinguished. False
 * with `err` (malformed) when it is JSON but no such list; any page of HTML may have no entry. */
bool https_page_read(const char *page, size_t size, const char *path,
                     void (*entry)(void *context, const char *name, bool is_folder), void *context, struct err *err);
