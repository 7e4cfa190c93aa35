/* SPDX-License-Identifier: Apache-2.0
 * explain_read.c: see explain.h. What cannot be read at an offset (a pipe) is copied to
 * a temporary file without a name first. */
#include "server/cmd/explain.h"
#include "server/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct analysis_reading READING = {.kind = ANALYSIS_TEXT, .limit_bytes = ANALYSIS_TEXT_MAX_BYTES};

static int64_t copy_read(void *context, uint64_t offset, void *into, size_t size)
{
    const int *descriptor = context;
    ssize_t got = pread(*descriptor, into, size, (off_t)offset);
    return got;
}

/* Copies all of `from`; false when either side fails. */
static bool explain_read_copy(int from, FILE *to)
{
    static char bytes[1 << 16];
    for (;;) {
        ssize_t got = read(from, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 && fflush(to) == 0;
        if (fwrite(bytes, 1, (size_t)got, to) != (size_t)got)
            return false;
    }
}

static struct analysis_subject *read_stream(int from, struct err *err)
{
    struct stat status;
    FILE *file = tmpfile();
    struct analysis_subject *text = NULL;
    if (!file || !explain_read_copy(from, file) || fstat(fileno(file), &status) != 0) {
        err_set(err, ERR_io, ERR_NO_OFFSET, "%s", strerror(errno));
    } else {
        int descriptor = fileno(file);
        struct source source = {.context = &descriptor, .read = copy_read, .size_bytes = (uint64_t)status.st_size};
        text = analysis_subject_read(&source, &READING, err);
    }
    if (file)
        fclose(file);
    return text;
}

struct analysis_subject *explain_read_file(const struct files_place *place, struct err *err)
{
    struct file *file = files_open(place, err);
    if (!file)
        return NULL;
    struct analysis_subject *text = analysis_subject_read(files_source(file), &READING, err);
    files_close(file);
    return text;
}

static struct analysis_subject *read_path(const char *path, struct err *err)
{
    const struct files_place place = {.root = path, .path = ""};
    return explain_read_file(&place, err);
}

static struct analysis_subject *explain_read_fail(struct err *err)
{
    err_set(err, ERR_io, ERR_NO_OFFSET, "%s", strerror(errno));
    return NULL;
}

struct analysis_subject *explain_read(const char *path, struct err *err)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return read_stream(STDIN_FILENO, err);
    if (remote_address_is(path))
        return read_path(path, err);
    if (stat(path, &status) != 0)
        return explain_read_fail(err);
    if (S_ISREG(status.st_mode))
        return read_path(path, err);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return explain_read_fail(err);
    struct analysis_subject *text = read_stream(descriptor, err);
    close(descriptor);
    return text;
}
