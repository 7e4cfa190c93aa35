/* SPDX-License-Identifier: Apache-2.0
 * driver.c: runs a fuzz target over files without a fuzzing engine.
 *
 *   TARGET [--work=MEGABYTES] FILE_OR_FOLDER…
 *
 * Each file is given whole, then cut at every byte, then with one byte changed in three ways at
 * every byte; of a large file so many places, evenly spread, that about MEGABYTES are read in all,
 * but 60 at least (default 8; 0: whole files only, as with every file whose name begins with
 * "whole-"). The order is fixed, so two runs are equal. Prints what it ran. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct driver {
    uint64_t work_bytes; /* to read per file with cuts, and as much again with changes */
    uint64_t file_count;
    uint64_t run_count;
};

/* Gives exact-size memory to the target, so that a read past the end is seen. */
static void give(struct driver *driver, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    driver->run_count++;
}

/* Places to try in a file of `size` bytes: at least a few, never more than one a byte. */
static size_t place_count(const struct driver *driver, size_t size, uint64_t runs_per_place)
{
    enum { FEWEST_RUNS = 60 };
    uint64_t runs = size && driver->work_bytes ? driver->work_bytes / size : 0;

    if (driver->work_bytes && runs < FEWEST_RUNS)
        runs = FEWEST_RUNS;
    return runs / runs_per_place < size ? (size_t)(runs / runs_per_place) : size;
}

static void give_cuts(struct driver *driver, const uint8_t *bytes, size_t size)
{
    size_t places = place_count(driver, size, 1);

    for (size_t at = 0; at < places; at++)
        give(driver, bytes, (size_t)((unsigned __int128)size * at / places));
}

static void give_changes(struct driver *driver, uint8_t *bytes, size_t size)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    size_t places = place_count(driver, size, sizeof(masks));

    for (size_t at = 0; at < places; at++) {
        size_t place = (size_t)((unsigned __int128)size * at / places);
        for (size_t mask = 0; mask < sizeof(masks); mask++) {
            bytes[place] ^= masks[mask];
            give(driver, bytes, size);
            bytes[place] ^= masks[mask];
        }
    }
}

static void run_file(struct driver *driver, const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(size ? size : 1);

    if (!file || !bytes || fread(bytes, 1, size, file) != size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    give(driver, bytes, size);
    if (!strstr(path, "/whole-")) {
        give_cuts(driver, bytes, size);
        give_changes(driver, bytes, size);
    }
    free(bytes);
    driver->file_count++;
}

static void run_path(struct driver *driver, const char *path)
{
    struct stat status;
    struct dirent **names = NULL;

    if (stat(path, &status) != 0) {
        fprintf(stderr, "%s: not found\n", path);
        exit(2);
    }
    if (!S_ISDIR(status.st_mode)) {
        run_file(driver, path, (size_t)status.st_size);
        return;
    }
    int count = scandir(path, &names, NULL, alphasort);
    for (int at = 0; at < count; at++) {
        char inner[4096];
        snprintf(inner, sizeof(inner), "%s/%s", path, names[at]->d_name);
        if (names[at]->d_name[0] != '.')
            run_path(driver, inner);
        free(names[at]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    struct driver driver = {8 << 20, 0, 0};

    for (int at = 1; at < argc; at++) {
        if (strncmp(argv[at], "--work=", 7) == 0)
            driver.work_bytes = (uint64_t)(strtod(argv[at] + 7, NULL) * (1 << 20));
        else
            run_path(&driver, argv[at]);
    }
    printf("%s: %llu files, %llu runs\n", strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0],
           (unsigned long long)driver.file_count, (unsigned long long)driver.run_count);
    return driver.file_count ? 0 : 2;
}
