/* SPDX-License-Identifier: Apache-2.0
 * options.c: the command line. Sizes may end in K, M, G or T (powers of 1024). */
#include "tests/bench/trace/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "make-trace OUT [OPTION VALUE]...   writes an XSpace with memory events, the same for the same options\n"
    "  --events N        memory events (100000)\n"
    "  --lines N         lines of /host:CPU; the first holds the steps (4)\n"
    "  --allocators N    memory ids (1)\n"
    "  --seed N          sizes and times follow from it (1)\n"
    "  --steps N         whole steps (one for each 1,200 events of a memory id)\n"
    "  --leak BYTES      allocated in each step and never freed (0)\n"
    "  --before BYTES    in use before the window (4G)\n"
    "  --capacity BYTES  of each memory id (80G)\n"
    "  --others N        further events that are not about memory, for each three that are (1)\n"
    "  --kind bfc|tpu    as BFC allocators write them, or the TPU runtime (bfc)\n"
    "  --bad WORDS       of disorder,free,double,size,stats,clock: faults of this kind\n"
    "  --bad-every N     one fault in so many memory events (1000)\n"
    "Sizes may end in K, M, G or T.\n";

static const char *const bad_words[BAD_KINDS] = {"disorder", "free", "double", "size", "stats", "clock"};

static _Noreturn void wrong(const char *text)
{
    fprintf(stderr, "make-trace: %s\n%s", text, usage);
    exit(2);
}

static int64_t number(const char *text)
{
    static const char suffixes[] = "KMGT";
    char *end;
    long long value = strtoll(text, &end, 10);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    if (end == text || value < 0 || (*end && (!suffix || end[1])))
        wrong("not a number");
    if (suffix)
        for (const char *at = suffixes; at <= suffix; at++)
            value = value > (1LL << 50) ? value : value * 1024;
    return value;
}

static void read_bad(struct options *options, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, ",");
        int kind = 0;
        while (kind < BAD_KINDS && (strlen(bad_words[kind]) != length || strncmp(bad_words[kind], words, length) != 0))
            kind++;
        if (kind == BAD_KINDS)
            wrong("no such fault");
        options->bad[kind] = true;
        words += length + (words[length] == ',');
    }
}

static int64_t *place_of(struct options *options, const char *name)
{
    const struct {
        const char *name;
        int64_t *place;
    } places[] = {
        {"--events", &options->events},         {"--lines", &options->lines},
        {"--allocators", &options->allocators}, {"--seed", &options->seed},
        {"--steps", &options->steps},           {"--leak", &options->leak_bytes},
        {"--before", &options->before_bytes},   {"--capacity", &options->capacity_bytes},
        {"--others", &options->others},         {"--bad-every", &options->bad_every},
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        if (strcmp(name, places[i].name) == 0)
            return places[i].place;
    return NULL;
}

static void read_one(struct options *options, const char *name, const char *value)
{
    int64_t *place = place_of(options, name);
    if (place)
        *place = number(value);
    else if (strcmp(name, "--bad") == 0)
        read_bad(options, value);
    else if (strcmp(name, "--kind") == 0 && (strcmp(value, "tpu") == 0 || strcmp(value, "bfc") == 0))
        options->is_tpu = *value == 't';
    else
        wrong("no such option");
}

struct options options_read(int argc, char **argv)
{
    struct options options = {.events = 100000, .lines = 4, .allocators = 1, .seed = 1, .others = 1, .bad_every = 1000};
    options.before_bytes = 4LL << 30;
    options.capacity_bytes = 80LL << 30;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        if (argv[i][0] != '-' && !options.out)
            options.out = argv[i];
        else if (i + 1 < argc)
            read_one(&options, argv[i], argv[i + 1]), i++;
        else
            wrong("a value is missing");
    }
    if (!options.out)
        wrong("where to?");
    if (options.events < 1 || options.bad_every < 1 || options.lines < 1 || options.lines > OPTIONS_LINES_MAX ||
        options.allocators < 1 || options.allocators > OPTIONS_ALLOCATORS_MAX)
        wrong("at least one event, one line and one allocator; at most 1,024 lines and 64 allocators");
    return options;
}
