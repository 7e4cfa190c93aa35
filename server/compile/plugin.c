/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/plugin.h"

#include "base/buf.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/process.h"
#include "server/compile/compile_program.h"

#include <dirent.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PYTHON_LIMIT_MS = 10000, MAX_ANSWER_BYTES = 8192 };

extern char **environ;

static const struct plugin_search {
    const char *name, *option, *variable, *file;
    const char *packages[3]; /* folders that it may lie in, below the one that is named; NULL behind the last */
    const char *python;      /* prints its path last */
    const char *otherwise;   /* what there is not, and how to get it */
} SEARCHES[PLUGIN_KIND_COUNT] = {
    {"libtpu",
     "--libtpu",
     "MEMVIEWD_LIBTPU",
     "libtpu.so",
     {"libtpu"},
     "import libtpu; print(libtpu.get_library_path())",
     "python3 imports no libtpu (pip install libtpu; no TPU is needed)"},
    /* Without importing JAX; of two the one for the newer CUDA. */
    {"CUDA plug-in",
     "--pjrt-plugin",
     "MEMVIEWD_PJRT_PLUGIN",
     "xla_cuda_plugin.so",
     {"jax_plugins/xla_cuda13", "jax_plugins/xla_cuda12"},
     "import glob, importlib.util\n"
     "spec = importlib.util.find_spec('jax_plugins')\n"
     "folders = list(spec.submodule_search_locations or []) if spec else []\n"
     "files = [file for folder in folders for file in glob.glob(glob.escape(folder) + "
     "'/xla_cuda*/xla_cuda_plugin.so')]\nprint(max(files, key=lambda file: file.split('/')[-2], default=''))",
     "python3 has no xla_cuda plug-in of JAX (pip install \"jax[cuda12]\"; no GPU is needed)"},
};

const char *plugin_kind_name(enum plugin_kind kind) { return SEARCHES[kind].name; }

/* The path that Python prints, or NULL. It works in "/", so that no module of the folder we are in is imported. */
static char *ask_python(const char *program)
{
    char *const arguments[] = {"python3", "-c", (char *)(uintptr_t)program, NULL};
    struct process process;
    struct err err = ERR_INIT;
    char answer[MAX_ANSWER_BYTES + 1];
    size_t length = 0;
    if (!process_start(&process, "python3", arguments, environ, "/", PROCESS_REPORTS_APART, &err))
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
    /* The answer is the last line: an import may print other lines before it. */
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

/* `path` itself if it is a file; the library in a folder, or in the package there. NULL: none. */
static char *library_at(const struct plugin_search *search, const char *path)
{
    char *file = memory_text(path);
    for (size_t at = 0; !is_file(file); at++) {
        const char *package = at == 0 ? "" : search->packages[at - 1];
        free(file);
        if (!package)
            return NULL;
        file = memory_format("%s/%s%s%s", path, package, at == 0 ? "" : "/", search->file);
    }
    return file;
}

/* The folder of packages that a library lies in: above site-packages/libtpu/libtpu.so or
 * site-packages/jax_plugins/xla_cuda12/ xla_cuda_plugin.so. free() */
static char *packages_of(enum plugin_kind kind, const char *library)
{
    char *path = memory_text(library);
    char *packages = memory_text(dirname(kind == PLUGIN_CUDA ? dirname(dirname(path)) : dirname(path)));
    free(path);
    return packages;
}

/* By the folder libtpu-VERSION.dist-info beside that of the package; for xla_cuda12 it is
 * jax_cuda12_pjrt-VERSION.dist-info. */
static char *version_of(enum plugin_kind kind, const char *library, const char *packages)
{
    static const char PACKAGE[] = "/jax_plugins/xla_cuda";
    const char *found = strstr(library, PACKAGE), *cuda = found ? found + sizeof(PACKAGE) - 1 : "";
    char *start = kind == PLUGIN_TPU ? memory_text("libtpu-")
                                     : memory_format("jax_cuda%.*s_pjrt-", (int)strcspn(cuda, "/"), cuda);
    char *version = NULL;
    DIR *folder = opendir(packages);
    const struct dirent *entry;
    size_t length = strlen(start);
    while (folder && !version && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name, *end = strstr(name, ".dist-info");
        if (strncmp(name, start, length) == 0 && end && strcmp(end, ".dist-info") == 0)
            version = memory_format("%.*s", (int)(end - name - (ptrdiff_t)length), name + length);
    }
    if (folder)
        closedir(folder);
    free(start);
    return version;
}

/* packages/nvidia/cublas/lib and its like, ":" between them; JAX loads what lies there before the plug-in. NULL: none.
 */
static char *libraries_of(const char *packages)
{
    struct buf found = BUF_INIT;
    char *above = memory_format("%s/nvidia", packages);
    DIR *folder = opendir(above);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        char *place = memory_format("%s/%s/lib", above, entry->d_name);
        if (entry->d_name[0] != '.' && !strchr(place, ':') && access(place, X_OK) == 0)
            buf_format(&found, "%s%s", found.length > 0 ? ":" : "", place);
        free(place);
    }
    if (folder)
        closedir(folder);
    char *text = found.length > 0 && !found.failed ? memory_format("%.*s", (int)found.length, found.data) : NULL;
    buf_free(&found);
    free(above);
    return text;
}

static bool has_program(void)
{
    char *path = compile_program_path();
    free(path);
    return path != NULL;
}

bool plugin_find(enum plugin_kind kind, const char *named, struct plugin *out, struct err *err)
{
    const struct plugin_search *search = &SEARCHES[kind];
    const char *variable = getenv(search->variable), *told = named ? named : variable;
    char *file = NULL;
    *out = (struct plugin){.kind = kind};
    if (!has_program())
        return err_set(err, ERR_notfound, ERR_NO_OFFSET,
                       "this memviewd is linked statically and loads %s by memviewd-compile, which does not lie "
                       "beside it",
                       search->file);
    if (told && told[0] != '\0') {
        file = library_at(search, told);
        if (!file)
            return err_set(err, ERR_notfound, ERR_NO_OFFSET, "%.120s (%s) is no %s", told,
                           named ? search->option : search->variable, search->file);
    } else {
        char *answer = ask_python(search->python);
        file = answer ? library_at(search, answer) : NULL;
        free(answer);
        if (!file)
            return err_set(err, ERR_notfound, ERR_NO_OFFSET, "no %s: neither %s nor %s is set, and %s", search->file,
                           search->option, search->variable, search->otherwise);
    }
    out->path = realpath(file, NULL);
    char *absolute = file[0] == '/' ? memory_text(file) : memory_text(out->path ? out->path : file);
    char *packages = packages_of(kind, absolute); /* of the link, if it is one: what is installed lies beside that */
    out->version = version_of(kind, absolute, packages);
    out->libraries = kind == PLUGIN_CUDA ? libraries_of(packages) : NULL;
    free(packages);
    free(absolute);
    free(file);
    return out->path || err_set(err, ERR_io, ERR_NO_OFFSET, "%s is gone", search->file);
}

void plugin_free(struct plugin *plugin)
{
    free(plugin->path);
    free(plugin->version);
    free(plugin->libraries);
    *plugin = (struct plugin){.kind = plugin->kind};
}
