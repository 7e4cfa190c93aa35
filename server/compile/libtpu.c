/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/libtpu.h"

#include "base/buf.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/compile/compile_program.h"
#include "server/compile/process.h"

#include <dirent.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PYTHON_LIMIT_MS = 10000, MAX_ANSWER_BYTES = 8192 };

extern char **environ;

/* The path that Python prints, or NULL. It works in "/", so that no module of the folder we are in is imported. */
static char *ask_python(void)
{
    static char *const arguments[] = {"python3", "-c", "import libtpu; print(libtpu.get_library_path())", NULL};
    struct process process;
    struct err err = ERR_INIT;
    char answer[MAX_ANSWER_BYTES + 1];
    size_t length = 0;
    if (!process_start(&process, "python3", arguments, environ, "/", &err))
        return NULL;
    for (int64_t begin = clock_ms(); clock_ms() - begin < PYTHON_LIMIT_MS;) {
        if (length == MAX_ANSWER_BYTES) { /* the path comes last */
            length = MAX_ANSWER_BYTES / 2;
            memcpy(answer, answer + MAX_ANSWER_BYTES - length, length);
        }
        bool has_ended = process_has_ended(&process);
        ssize_t part = read(process.output, answer + length, MAX_ANSWER_BYTES - length);
        length += part > 0 ? (size_t)part : 0;
        if (part <= 0 && has_ended)
            break;
        if (part <= 0)
            process_wait(&process, 100);
    }
    bool is_answer = process_end(&process) == 0;
    answer[length] = '\0';
    /* The last line: what else an import prints stands before it. */
    while (length > 0 && answer[length - 1] == '\n')
        answer[--length] = '\0';
    const char *line = strrchr(answer, '\n');
    line = line ? line + 1 : answer;
    return is_answer && line[0] == '/' ? memory_text(line) : NULL;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* `path` itself if it is a file, with links resolved; the library in a folder, or in the package there. NULL: none. */
static char *library_at(const char *path)
{
    char *file = memory_text(path);
    for (int at = 0; at < 2 && !is_file(file); at++) {
        free(file);
        file = memory_format("%s/%slibtpu.so", path, at == 0 ? "" : "libtpu/");
    }
    char *found = is_file(file) ? realpath(file, NULL) : NULL;
    free(file);
    return found;
}

/* Of site-packages/libtpu/libtpu.so: the folder libtpu-VERSION.dist-info beside that of the package. */
static char *version_of(const char *library)
{
    char *path = memory_text(library), *version = NULL;
    DIR *packages = opendir(dirname(dirname(path)));
    const struct dirent *entry;
    while (packages && !version && (entry = readdir(packages)) != NULL) {
        const char *name = entry->d_name, *end = strstr(name, ".dist-info");
        if (strncmp(name, "libtpu-", 7) == 0 && end && strcmp(end, ".dist-info") == 0)
            version = memory_format("%.*s", (int)(end - name - 7), name + 7);
    }
    if (packages)
        closedir(packages);
    free(path);
    return version;
}

static bool has_program(void)
{
    char *path = compile_program_path();
    free(path);
    return path != NULL;
}

bool libtpu_find(const char *named, struct libtpu *out, struct err *err)
{
    const char *variable = getenv("MEMVIEWD_LIBTPU"), *told = named ? named : variable;
    *out = (struct libtpu){NULL, NULL};
    if (!has_program())
        return err_set(err, ERR_notfound, ERR_NO_OFFSET,
                       "this memviewd is linked statically and loads libtpu.so by memviewd-compile, which does not lie "
                       "beside it");
    if (told && told[0] != '\0') {
        out->path = library_at(told);
        if (!out->path)
            return err_set(err, ERR_notfound, ERR_NO_OFFSET, "%.120s (%s) is no libtpu.so", told,
                           named ? "--libtpu" : "MEMVIEWD_LIBTPU");
    } else {
        char *answer = ask_python();
        out->path = answer ? library_at(answer) : NULL;
        free(answer);
        if (!out->path)
            return err_set(err, ERR_notfound, ERR_NO_OFFSET,
                           "no libtpu.so: neither --libtpu nor MEMVIEWD_LIBTPU is set, and python3 imports no libtpu "
                           "(pip install libtpu; no TPU is needed)");
    }
    out->version = version_of(out->path);
    return true;
}

void libtpu_free(struct libtpu *libtpu)
{
    free(libtpu->path);
    free(libtpu->version);
    *libtpu = (struct libtpu){NULL, NULL};
}
