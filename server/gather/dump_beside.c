/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/dump_beside.h"

#include "server/base/memory.h"
#include "server/files/archive_beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 22 };

/* Files that name the chip, the best first. */
static const char GPU_TARGET[] = ".gpu_target_config.pbtxt";
static const char *const CHIP_FILES[] = {".target_arguments.pb", "/topology.pb", ".target_arguments.txt",
                                         "/topology.textproto", GPU_TARGET};
enum { CHIP_FILE_COUNT = sizeof(CHIP_FILES) / sizeof(CHIP_FILES[0]) };

/* Length of the path up to the stage in its name: "…/module_0000.jit_f.cl_1"; 0: it has none. */
static size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct names_module module = names_module_of(name);
    return module.stage == NAMES_STAGE_NONE ? 0 : (size_t)(name - path) + module.stem_length;
}

static bool is_path(const struct files_place *place) { return place->path && place->path[0] != '\0'; }

/* What is on disk beside a module whose stage is not in its name has no name of its own. */
static size_t stem_of(const struct files_place *place)
{
    return place->bytes && !place->member ? 0 : stem_length(is_path(place) ? place->path : place->root);
}

/* Most dumps lack most of these files. */
void dump_beside_lost_note(struct dump_beside_lost *lost, const char *path, const struct err *err)
{
    const char *slash = strrchr(path, '/');
    bool is_read = !err_is_set(err) || err->code == ERR_notfound || err->code == ERR_unsupported; /* a newer chip */
    if (!lost || lost->file[0] || is_read)
        return;
    snprintf(lost->file, sizeof(lost->file), "%s", slash ? slash + 1 : path);
    lost->err = *err;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* A file at the stem; false if there is none. */
static bool read_at(const struct files_place *place, char *path, struct buf *out, struct dump_beside_lost *lost)
{
    struct err err = ERR_INIT;
    const struct files_place beside = {.root = is_path(place) ? place->root : path, .path = is_path(place) ? path : ""};
    bool is_read = place->member ? archive_beside_read(place, path, MAX_BYTES, out, &err)
                                 : !files_is_absent(&beside) && files_read_text(&beside, MAX_BYTES, out, &err);
    is_read = is_read && !out->failed;
    dump_beside_lost_note(lost, path, &err);
    free(path);
    return is_read;
}

/* The same; XLA puts the time in front of the names of some files of a program alone. */
static bool read_one(const struct files_place *place, size_t stem, const char *end, struct buf *out,
                     struct dump_beside_lost *lost)
{
    const char *path = is_path(place) ? place->path : place->root;
    size_t folder = folder_length(path), stamp = names_stamp_length(path + folder);
    return read_at(place, memory_format("%.*s%s", (int)stem, path, end), out, lost) ||
           (stamp > 0 && read_at(place,
                                 memory_format("%.*s%.*s%s", (int)folder, path, (int)(stem - folder - stamp),
                                               path + folder + stamp, end),
                                 out, lost));
}

static bool chip_of(const struct buf *bytes, struct analysis_chip *chip, const char *file,
                    struct dump_beside_lost *lost)
{
    struct err err = ERR_INIT;
    bool is_told = analysis_chip_read((struct str){bytes->data, bytes->length}, chip, &err);
    dump_beside_lost_note(lost, file, &err);
    return is_told;
}

static bool chip_on_disk(const struct files_place *place, struct analysis_chip *chip, const char **ending,
                         struct dump_beside_lost *lost)
{
    size_t stem = stem_of(place);
    const char *path = is_path(place) ? place->path : place->root, *name = path + folder_length(path);
    bool is_told = false;
    for (size_t at = 0; stem > 0 && at < CHIP_FILE_COUNT && !is_told; at++) {
        struct buf bytes = BUF_INIT;
        char *file = memory_format("%.*s%s", (int)(stem - (size_t)(name - path)), name, CHIP_FILES[at]);
        is_told = read_one(place, stem, CHIP_FILES[at], &bytes, lost) && chip_of(&bytes, chip, file, lost);
        *ending = CHIP_FILES[at];
        free(file);
        buf_free(&bytes);
    }
    return is_told;
}

/* For a GPU without a row in the table, its own figures are enough for a compiler. */
static void target_read(const struct files_place *place, size_t stem, struct dump_beside *beside)
{
    struct analysis_chip chip = {.memory_bytes = 0};
    struct err err = ERR_INIT;
    if (!read_one(place, stem, GPU_TARGET, &beside->target, NULL) || beside->target.length == 0) {
        buf_free(&beside->target);
        return;
    }
    beside->source = &GPU_TARGET[1];
    if (!analysis_chip_read((struct str){beside->target.data, beside->target.length}, &chip, &err))
        return;
    beside->memory_bytes = chip.memory_bytes > 0 ? chip.memory_bytes : chip.device.physical_bytes;
    snprintf(beside->gpu, sizeof(beside->gpu), "%s", chip.device.title);
}

void dump_beside_read(const struct files_place *place, struct dump_beside *beside)
{
    struct analysis_chip chip;
    const char *ending;
    size_t stem = stem_of(place);
    *beside = (struct dump_beside){.options = BUF_INIT, .target = BUF_INIT};
    if (chip_on_disk(place, &chip, &ending, NULL) && chip.topology[0] != '\0') {
        memcpy(beside->topology, chip.topology, sizeof(beside->topology));
        beside->source = ending + 1;
    }
    if (stem > 0 && !beside->source)
        target_read(place, stem, beside);
    if (stem > 0 && !read_one(place, stem, "/compile_options.pb", &beside->options, NULL))
        buf_free(&beside->options);
}

void dump_beside_free(struct dump_beside *beside)
{
    buf_free(&beside->options);
    buf_free(&beside->target);
}

static int file_named(const void *name, const void *file)
{
    return strcmp(name, (*(const struct snapshot_file *const *)file)->name);
}

/* NULL: the session has no file of that stem and ending. */
static const struct snapshot_file *file_find(const struct snapshot_session *session, const char *stem, const char *end)
{
    char *name = memory_format("%s%s", stem, end);
    const struct snapshot_file *const *found =
        session->file_count > 0
            ? bsearch(name, session->files, session->file_count, sizeof(*session->files), file_named)
            : NULL;
    free(name);
    return found ? *found : NULL;
}

static bool chip_of_file(const struct snapshot_file *file, struct analysis_chip *chip, struct dump_beside_lost *lost)
{
    struct buf bytes = BUF_INIT;
    struct err err = ERR_INIT;
    bool is_told =
        file && files_read_text(&file->place, MAX_BYTES, &bytes, &err) && chip_of(&bytes, chip, file->name, lost);
    if (file)
        dump_beside_lost_note(lost, file->name, &err);
    buf_free(&bytes);
    return is_told;
}

/* Files may lack the time that is in front of the names of others (read_one). */
static bool chip_find(const struct snapshot_session *session, const struct snapshot_group *group,
                      struct analysis_chip *chip, const char **ending, struct dump_beside_lost *lost)
{
    size_t stamp = names_stamp_length(group->stem);
    for (size_t kind = 0; kind < CHIP_FILE_COUNT; kind++) {
        *ending = CHIP_FILES[kind];
        if (CHIP_FILES[kind][0] != '.')
            continue;
        if (chip_of_file(file_find(session, group->stem, *ending), chip, lost) ||
            (stamp > 0 && chip_of_file(file_find(session, group->stem + stamp, *ending), chip, lost)))
            return true;
    }
    return chip_on_disk(&group->file->place, chip, ending, lost);
}

bool dump_beside_chip(const struct snapshot_session *session, const struct snapshot_group *group,
                      struct analysis_chip *chip, const char **ending, struct dump_beside_lost *lost)
{
    struct dump_beside_lost own = {.file = ""};
    bool is_told = chip_find(session, group, chip, ending, &own);
    if (!is_told && lost && !lost->file[0]) /* else another file has said it */
        *lost = own;
    return is_told;
}
