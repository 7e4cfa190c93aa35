/* SPDX-License-Identifier: Apache-2.0
 * index.h: what can be opened, kept up to date by a thread of its own.
 *
 * The scanner refreshes what is new in its trees (tree.h) about once a second, and all of them too; less often when
 * that takes long: it is busy for no more than a tenth of the time with the one and a fiftieth with the other, so that
 * a new session is listed soon on a slow disk as well, and a change of an old one later. Of folders on local disks the
 * kernel tells what changes (watch.h): what it told is refreshed at once, and, while there is ever more of it, for no
 * more than another tenth of the time. The scans go on beside that, and find what it does not tell.
 * Addresses of servers are listed by threads of their own (remote.h), which are ended by remote_stop before index_free.
 * When something differs it publishes a new snapshot. Requests take the newest
 * one and never wait for a scan, but for one case: before the first scan of all
 * roots is complete they wait for it, ten seconds at most, so that a page opened
 * right after the start is not told that there is nothing. While that first
 * scan lasts, a snapshot of what was found so far is published every second. */
#pragma once

#include "server/gather/snapshot.h"

struct index;

/* Roots are added first; then index_start or index_scan_once. */
struct index *index_new(void);
/* A folder or a file that exists, or an address of remote.h. */
void index_add(struct index *index, const char *path);
/* The files of a folder that exists, without the folders in it. */
void index_add_files(struct index *index, const char *folder);
/* Files that are compiled in. */
void index_add_demo(struct index *index);

/* Root `at`, as its snapshots name it; NULL: there are not so many. */
const char *index_root(const struct index *index, size_t at);
/* Facts that an earlier scan read: index_scan_once_with_texts uses them and adds to them. Borrowed; call it before. */
void index_set_facts(struct index *index, const struct facts *facts);
/* index_scan_once_with_texts then keeps what it found in texts with failures, as long as that takes little memory, for
 * who asks next (struct log_text_failure), until index_free. Call it before. */
void index_keep_texts(struct index *index);

/* Starts the scanner. False when no thread could be made. */
bool index_start(struct index *index);
/* For the command line: one scan on the calling thread. Logs are left out, and error texts are not read. */
void index_scan_once(struct index *index);
/* The same, with texts that are read: all, or those that lie beside a dump alone, which may state the capacity. */
void index_scan_once_with_texts(struct index *index, bool are_beside);
/* Stops the scanner, if there is one, and frees everything. No snapshot may be held. */
void index_free(struct index *index);

/* The newest snapshot, see above; release with index_release. */
struct snapshot *index_hold(struct index *index);
void index_release(struct index *index, struct snapshot *snapshot);

struct index_figures {
    size_t folder_count, watched_count; /* below the roots, and of how many the kernel tells what changes */
    uint64_t lost_count;                /* how often it lost count, and all was looked at instead */
    uint64_t looked_count;              /* folders and files that were asked about, by all refreshes so far */
};
/* As of the last refresh. */
struct index_figures index_figures(struct index *index);

/* Is the first scan complete? */
bool index_is_ready(struct index *index);

/* Asks for a refresh soon: something on disk was met that no longer fits. */
void index_nudge(struct index *index);
