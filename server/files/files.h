/* SPDX-License-Identifier: Apache-2.0
 * files.h: one profile on disk (or in memory, or on a server), opened to be read by the core.
 *
 * Files are read with pread through a window that moves, never mapped (a trace
 * that is rewritten under a map would end the process) and never held whole.
 * Threads: one open file belongs to one thread.
 * Errors:  `io` when it cannot be opened or read, `changed` when it is no
 *          longer the file that was opened. */
#pragma once

#include "analysis/analysis.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/source.h"
#include "server/files/beneath.h"
#include "server/files/remote/remote.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* What tells two states of a file apart. For a file on a server, `device` and `inode` are a hash of its address and
 * ETag, the same on every machine. */
struct files_identity {
    uint64_t device, inode, size_bytes;
    int64_t modified_at_ns; /* Unix time; 0: not known */
    int64_t status_at_ns;   /* of the last change of any kind; no program can set it back */
};

struct files_identity files_identity_of(const struct stat *status);
struct files_identity files_identity_remote(const struct remote_identity *remote);
/* The whole identity as one number, combined with `seed`. */
uint64_t files_identity_hash(const struct files_identity *identity, uint64_t seed);
/* The identity of a member of an archive: it changes with the archive. */
struct files_identity files_identity_member(const struct files_identity *archive, const struct member *member);
bool files_identity_equal(const struct files_identity *a, const struct files_identity *b);
/* As the key of a cache; free(). */
char *files_identity_text(const struct files_identity *identity);

/* A file that lies in an archive. Its bytes are those of the archive, read as analysis_members.h says. */
struct files_member {
    struct member at;
    size_t archive_path_bytes; /* length of the archive's path, with which the place's path begins; 0: the root */
    struct files_identity archive_identity; /* of an archive in memory; else it is asked for */
};

/* Where a file is. Borrowed strings. */
struct files_place {
    const char *root; /* absolute folder or address (remote.h), or a file named by the user when `path` is "" */
    const char *path; /* below root, without "..": never leaves it, not even by symbolic links */
    const unsigned char *bytes; /* not NULL: in memory; root and path are only names; of a member, its archive's */
    size_t byte_count;
    const struct files_identity *identity; /* of bytes in memory; NULL otherwise */
    const struct files_member *member;     /* not NULL: `path` goes on inside an archive */
    const struct files_place *parts; /* not NULL: these together (files_joined.h); root and path are those of one */
    size_t part_count;
};

/* "root/path", as it is named; free(). */
char *files_place_path(const struct files_place *place);

struct file;

/* Where `path` leads to, without links (beneath.h). False when it is not there, or not below the root. */
bool files_real_path(const struct files_place *place, char path[BENEATH_PATH_BYTES]);

struct file *files_open(const struct files_place *place, struct err *err);
void files_close(struct file *file);

/* For the core. Tells the size that the file had when it was opened and never
 * reads past it. Reads of 256 KiB and more go straight to their destination. */
const struct source *files_source(const struct file *file);
const struct files_identity *files_identity(const struct file *file);
/* For a packed file: sets the inflated bytes, held by another owner (source.unpacked) for as long as they stay set;
 * NULL: no one holds them now. */
void files_set_unpacked(struct file *file, const struct source *unpacked);

/* The end of a source, from `from` on, which cannot be read any further once `is_stopping`. */
struct files_tail {
    const struct source *of;
    uint64_t from;
    const atomic_bool *is_stopping;
};
/* As long as `tail` lives. */
struct source files_tail_source(struct files_tail *tail);
/* Reading it has failed: says so when it was stopped. */
void files_tail_fail(const struct files_tail *tail, struct err *err);

/* By its first bytes. */
bool files_is_gzip(struct file *file);
/* Gzip or zip. */
bool files_is_packed(struct file *file);

/* Adds all bytes read of the file from now on, by any thread, to `counter`; NULL: stops counting. Not for joined
 * files. */
void files_count_into(struct file *file, atomic_uint_fast64_t *counter);

/* What this process has read from disk and from servers by this module, of all files; any thread. */
uint64_t files_bytes_read(void);

/* To be asked after reading: still the same bytes? False sets `changed`, or `malformed` where a member of an archive is
 * not what its checksum says. */
bool files_unchanged(const struct file *file, struct err *err);

/* The same check for a log, which may have grown meanwhile: the bytes it had when it was opened must be unchanged. */
bool files_only_grew(const struct file *file, struct err *err);

/* Is there nothing of that name on disk, or nothing that the process may look at (in the sandbox that looks the
 * same)? */
bool files_is_absent(const struct files_place *place);

/* Appends up to `max` bytes from the start of a text file to `out`, looking
 * through gzip. */
bool files_read_text(const struct files_place *place, size_t max, struct buf *out, struct err *err);
