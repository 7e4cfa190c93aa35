/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/inject.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/str.h"
#include "server/base/memory.h"
#include "server/compile/folder.h"
#include "server/files/files.h"
#include "server/run/inject_files.h"
#include "server/run/run_folder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As _hook.py has it, which writes no longer file. */
enum { MAX_MARKS_BYTES = (1 << 20) + 4096 };
/* That are looked at one by one. */
enum { MAX_PROCESSES = 1024, MAX_ID_DIGITS = 10 };

static const char FOLDER[] = ".hook", PACKAGE[] = "memviewd", MARKS[] = ".armed";

static bool files_write(const char *folder, struct err *err)
{
    char *package = memory_format("%s/%s", folder, PACKAGE);
    bool is_good = folder_make_at(folder, err) && folder_make_at(package, err);
    for (size_t at = 0; at < inject_file_count && is_good; at++)
        is_good = folder_write(folder, inject_files[at].name, str_of(inject_files[at].text), err);
    free(package);
    return is_good;
}

bool inject_make(const char *run_folder, const char *before, struct inject *inject, struct err *err)
{
    *inject = (struct inject){.folder = memory_format("%s/%s", run_folder, FOLDER)};
    if (strchr(run_folder, ':')) /* it parts the folders of PYTHONPATH */
        err_set(err, ERR_io, ERR_NO_OFFSET, "%.120s: PYTHONPATH cannot name a folder with a colon", run_folder);
    if (err->code != ERR_none || !files_write(inject->folder, err)) {
        inject_free(inject);
        return false;
    }
    /* An empty part would be the working folder. */
    bool has_more = before && before[0];
    inject->path = memory_format("%s%s%s", inject->folder, has_more ? ":" : "", has_more ? before : "");
    return true;
}

void inject_free(struct inject *inject)
{
    if (inject->folder)
        folder_remove(inject->folder);
    free(inject->folder);
    free(inject->path);
    *inject = (struct inject){0};
}

bool inject_is_made(const char *run_folder)
{
    char *path = memory_format("%s/%s", run_folder, FOLDER);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

/* ---- Marks ---------------------------------------------------------------------- */

/* The text of a line "WORD PID TEXT" with that word and a space; NULL: it has another. free() */
static char *mark_text(struct str line, struct str word)
{
    const char *begin = line.data + word.length;
    const char *space = str_starts(line, word) ? memchr(begin, ' ', line.length - word.length) : NULL;
    return space ? memory_format("%.*s", (int)(line.data + line.length - space - 1), space + 1) : NULL;
}

/* One line. */
static void mark_add(struct inject_marks *marks, struct str line)
{
    const struct {
        const char *word;
        size_t *count;
    } words[] = {{"python ", &marks->python_count},
                 {"torch ", &marks->torch_count},
                 {"jax ", &marks->jax_count},
                 {"failure ", &marks->failure_count}};
    for (size_t at = 0; at < sizeof(words) / sizeof(words[0]); at++)
        *words[at].count += str_starts(line, str_of(words[at].word));
    if (!marks->reason)
        marks->reason = mark_text(line, STR("unarmed "));
    if (!marks->below)
        marks->below = mark_text(line, STR("below "));
    marks->has_told |= str_starts(line, STR("told "));
}

static bool marks_text(const char *run_folder, struct buf *text)
{
    struct err err = ERR_INIT;
    const struct files_place place = {.root = run_folder, .path = MARKS};
    return files_read_text(&place, MAX_MARKS_BYTES, text, &err) && !text->failed && text->length > 0;
}

/* The next line, without its end; false: there is none. */
static bool line_next(struct str *left, struct str *line)
{
    if (left->length == 0)
        return false;
    const char *end = memchr(left->data, '\n', left->length);
    *line = (struct str){left->data, end ? (size_t)(end - left->data) : left->length};
    size_t length = line->length + (end != NULL);
    *left = (struct str){left->data + length, left->length - length};
    return true;
}

struct inject_marks inject_marks_read(const char *run_folder)
{
    struct inject_marks marks = {0};
    struct buf text = BUF_INIT;
    struct str line;
    if (marks_text(run_folder, &text))
        for (struct str left = {text.data, text.length}; line_next(&left, &line);)
            mark_add(&marks, line);
    buf_free(&text);
    return marks;
}

void inject_tell_outer(const char *outer, const char *run_folder, bool has_told)
{
    if (!outer || !run_folder_is(outer) || !run_folder_is_running(outer))
        return;
    char *path = memory_format("%s/%s", outer, MARKS);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) {
        dprintf(file, "%s %d %s\n", has_told ? "told" : "below", getpid(), run_folder);
        close(file);
    }
    free(path);
}

/* 4711 of "torch 4711 2.11.0"; 0: it is no such line. */
static uint64_t mark_process(struct str line, struct str word)
{
    size_t count = str_starts(line, word) ? str_digits(line, word.length) : 0;
    uint64_t process = 0;
    for (size_t at = 0; at < count && count <= MAX_ID_DIGITS; at++)
        process = process * 10 + (uint64_t)(line.data[word.length + at] - '0');
    return process;
}

static bool is_there(uint64_t process)
{
    char *path = memory_format("/proc/%" PRIu64, process);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

size_t inject_waiting_count(const char *run_folder)
{
    struct buf text = BUF_INIT;
    struct map with_gpu;
    size_t count = 0, looked_at = 0;
    bool is_read = marks_text(run_folder, &text);
    const struct str all = {text.data, is_read ? text.length : 0};
    map_init_of(&with_gpu, memory_new, 0);
    for (struct str line, left = all; line_next(&left, &line);) {
        uint64_t process = mark_process(line, STR("cuda "));
        if (process != 0)
            map_put(&with_gpu, process, 0, false);
    }
    for (struct str line, left = all; looked_at < MAX_PROCESSES && line_next(&left, &line);) {
        uint64_t process = mark_process(line, STR("torch "));
        looked_at += process != 0;
        count += process != 0 && map_get(&with_gpu, process) == MAP_NONE && is_there(process);
    }
    map_free(&with_gpu);
    buf_free(&text);
    return count;
}

struct inject_marks inject_marks_take(const char *run_folder)
{
    struct inject_marks marks = inject_marks_read(run_folder);
    char *path = memory_format("%s/%s", run_folder, MARKS);
    unlink(path);
    free(path);
    return marks;
}

void inject_marks_free(struct inject_marks *marks)
{
    free(marks->reason);
    free(marks->below);
    *marks = (struct inject_marks){0};
}

/* ---- Commands that read no hook --------------------------------------------------- */

static bool is_python(const char *program)
{
    struct str name = str_last_part(str_of(program));
    return str_starts(name, STR("python")) || str_starts(name, STR("pypy"));
}

const char *inject_refusal(char *const *arguments)
{
    static const char *const names[] = {"-I", "-E", "-S"};
    for (arguments += is_python(arguments[0]) ? 1 : 0; arguments[0] && arguments[0][0] == '-'; arguments++) {
        size_t is_word = strcspn(arguments[0] + 1, "cmWX"); /* from there on it is the option's argument */
        for (size_t at = 0; at < sizeof(names) / sizeof(names[0]) && arguments[0][1] != '-'; at++)
            if (memchr(arguments[0] + 1, names[at][1], is_word))
                return names[at];
        if (arguments[0][1 + is_word] == 'c' || arguments[0][1 + is_word] == 'm')
            return NULL;
        if (arguments[0][1 + is_word] != '\0' && arguments[0][2 + is_word] == '\0' && arguments[1])
            arguments++; /* -W ARGUMENT */
    }
    return NULL;
}
