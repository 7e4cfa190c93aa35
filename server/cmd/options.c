/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/options.h"

#include "server/api/web_files.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/base/system.h"
#include "server/base/version.h"
#include "server/cmd/run_notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum kind { FLAG, TEXT, LIST, NUMBER };

struct option {
    unsigned commands;
    const char *name;
    enum kind kind;
    size_t field_at; /* in struct options */
    const char *argument, *default_value, *help;
};

#define SERVE (1u << COMMANDS_BIT_AT_SERVE)
#define SUMMARY (1u << COMMANDS_BIT_AT_SUMMARY)
#define WHOSE (1u << COMMANDS_BIT_AT_WHOSE)
#define WHATIF (1u << COMMANDS_BIT_AT_WHATIF)
#define FIT (1u << COMMANDS_BIT_AT_FIT)
#define EXPLAIN (1u << COMMANDS_BIT_AT_EXPLAIN)
#define RUN (1u << COMMANDS_BIT_AT_RUN)
#define WATCH (1u << COMMANDS_BIT_AT_WATCH)
#define CAPTURE (1u << COMMANDS_BIT_AT_CAPTURE)
#define TOP (1u << COMMANDS_BIT_AT_TOP)
#define DIFF (1u << COMMANDS_BIT_AT_DIFF)
#define EXPORT (1u << COMMANDS_BIT_AT_EXPORT)
#define INDEX (1u << COMMANDS_BIT_AT_INDEX)
#define CHECK (1u << COMMANDS_BIT_AT_CHECK)
#define MCP (1u << COMMANDS_BIT_AT_MCP)
static const struct option OPTIONS[] = {
#define OPTION(commands, name, kind, field, argument, default_value, help)                                             \
    {commands, name, kind, offsetof(struct options, field), argument, default_value, help},
#include "server/cmd/options.def"
#undef OPTION
};
enum { OPTION_COUNT = sizeof(OPTIONS) / sizeof(OPTIONS[0]) };

static const struct {
    const char *name, *usage, *help;
} COMMANDS[] = {
#define COMMAND(constant, name, usage, help) {#name, usage, help},
#include "server/cmd/commands.def"
#undef COMMAND
};
enum { OPTIONS_LEFT_COLUMNS = 24 }; /* left of the help texts */
enum { COMMAND_COUNT = sizeof(COMMANDS) / sizeof(COMMANDS[0]) };

static void list_add(struct options_list *list, const char *item)
{
    list->items = memory_grow(list->items, &list->capacity, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = item;
}

static bool read_number(const char *text, int64_t *number)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return end != text && *end == '\0' && errno == 0;
}

static bool options_set(const struct option *option, const char *value, struct options *options)
{
    void *field = (char *)options + option->field_at;
    switch (option->kind) {
    case FLAG: *(bool *)field = true; return true;
    case TEXT: *(const char **)field = value; return true;
    case LIST: list_add(field, value); return true;
    case NUMBER: break;
    }
    return read_number(value, field);
}

static const struct option *options_find(enum commands_bit_at command, const char *name, size_t length)
{
    for (size_t at = 0; at < OPTION_COUNT; at++) {
        if ((OPTIONS[at].commands & 1u << command) && strlen(OPTIONS[at].name) == length &&
            memcmp(OPTIONS[at].name, name, length) == 0)
            return &OPTIONS[at];
    }
    return NULL;
}

/* Reads the option at **at and moves on to its last argument. */
static bool read_option(enum commands_bit_at command, char *const **at, struct options *options, char *reason,
                        size_t reason_size)
{
    const char *text = **at;
    bool is_short_help = strcmp(text, "-h") == 0;
    const char *name = is_short_help ? "help" : text + 2;
    size_t length = strcspn(name, "=");
    const struct option *option = text[1] == '-' || is_short_help ? options_find(command, name, length) : NULL;
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (!option) {
        snprintf(reason, reason_size, "unknown option %s (--help lists them)", text);
        return false;
    }
    if (option->kind == FLAG && value) {
        snprintf(reason, reason_size, "--%s takes no value", option->name);
        return false;
    }
    if (option->kind != FLAG && !value && (*at)[1])
        value = *++*at;
    if (option->kind != FLAG && (!value || !value[0])) {
        snprintf(reason, reason_size, "--%s wants a value: --%s=%s", option->name, option->name, option->argument);
        return false;
    }
    if (options_set(option, value, options))
        return true;
    snprintf(reason, reason_size, "--%s=%s is not a number", option->name, value);
    return false;
}

bool options_read(enum commands_bit_at command, char *const *arguments, struct options *options, char *reason,
                  size_t reason_size)
{
    *options = (struct options){0};
    for (size_t at = 0; at < OPTION_COUNT; at++) {
        if (OPTIONS[at].default_value && (OPTIONS[at].commands & 1u << command))
            options_set(&OPTIONS[at], OPTIONS[at].default_value, options);
    }
    bool is_ended = false;
    for (char *const *at = arguments; *at; at++) {
        if (is_ended || (*at)[0] != '-' || (*at)[1] == '\0') {
            list_add(&options->paths, *at);
            is_ended |= commands_is_run(command);
        } else if (strcmp(*at, "--") == 0)
            is_ended = true;
        else if (!read_option(command, &at, options, reason, reason_size))
            return false;
    }
    return true;
}

void options_take_runs(struct options *options)
{
    static const char RUNS[] = "memviewd-runs"; /* --logdir of `run` */
    struct stat status;
    bool has_more = options->logdirs.count + options->paths.count > 0 || options->is_demo || options->catalog;
    if (!has_more && stat(RUNS, &status) == 0 && S_ISDIR(status.st_mode))
        list_add(&options->logdirs, RUNS);
}

const char *options_keep(struct options *options, char *text)
{
    list_add(&options->kept, text);
    return text;
}

void options_free(struct options *options)
{
    for (size_t at = 0; at < options->kept.count; at++)
        free((void *)(uintptr_t)options->kept.items[at]);
    free(options->kept.items);
    options->kept = (struct options_list){0};
    free(options->paths.items);
    for (size_t at = 0; at < OPTION_COUNT; at++) {
        struct options_list *list = (void *)((char *)options + OPTIONS[at].field_at);
        if (OPTIONS[at].kind != LIST)
            continue;
        free(list->items);
        *list = (struct options_list){0}; /* several commands may share it */
    }
}

const char *options_help(enum commands_bit_at command, const char *name)
{
    const struct option *option = options_find(command, name, strlen(name));
    return option ? option->help : NULL;
}

void options_print_help(enum commands_bit_at command)
{
    bool is_default = command == COMMANDS_BIT_AT_SERVE;
    printf("usage: memviewd %s%s%s\n%s\n\n", is_default ? "" : COMMANDS[command].name, is_default ? "" : " ",
           COMMANDS[command].usage, COMMANDS[command].help);
    for (size_t at = 0; at < OPTION_COUNT; at++) {
        const struct option *option = &OPTIONS[at];
        char left[40];
        if (!(option->commands & 1u << command))
            continue;
        snprintf(left, sizeof(left), "--%s%s%s", option->name, option->argument ? "=" : "",
                 option->argument ? option->argument : "");
        bool has_default = option->default_value && option->default_value[0] != '-';
        printf("  %-*s %s%s%s%s\n", output_width(left, OPTIONS_LEFT_COLUMNS), left, option->help,
               has_default ? " (" : "", has_default ? option->default_value : "", has_default ? ")" : "");
    }
    if (command == COMMANDS_BIT_AT_WATCH)
        fputs(WATCH_NOTES, stdout);
    if (commands_is_run(command))
        fputs(RUN_NOTES, stdout);
    if (!is_default)
        return;
    printf("\nThe first word may be a command (a file of that name is ./WORD):\n");
    for (size_t at = 0; at < COMMAND_COUNT; at++)
        printf("  %-*s %s\n", OPTIONS_LEFT_COLUMNS, COMMANDS[at].name, COMMANDS[at].help);
    if (!version_has_fleet)
        printf("\n" VERSION_FLEETLESS ": no index, --catalog, --notify, page Fleet\n");
}

static void print_version(void)
{
    printf("memviewd %s\n", version_number);
    if (version_commit[0])
        printf("commit %s\n", version_commit);
    printf("built with %s\n", version_libraries);
    if (!version_has_fleet)
        printf(VERSION_FLEETLESS "\n");
    if (system_lacks[0])
        printf("this system has %s\n", system_lacks);
}

static void print_licenses(void)
{
    struct buf text = BUF_INIT;
    web_files_add(web_files_find(WEB_FILES_LICENSES), &text);
    fwrite(text.data, 1, text.length, stdout);
    buf_free(&text);
}

bool options_answer(enum commands_bit_at command, const struct options *options)
{
    if (options->is_help)
        options_print_help(command);
    else if (options->is_version)
        print_version();
    else if (options->is_licenses)
        print_licenses();
    return options->is_help || options->is_version || options->is_licenses;
}
