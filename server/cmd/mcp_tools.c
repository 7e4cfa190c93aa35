/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/mcp_tools.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/cmd/box.h"
#include "server/cmd/mcp_find.h"
#include "server/mcp/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BYTES = 4096, LIMIT_MIN_BYTES = 1024, LIMIT_MAX_BYTES = 65536, ITEMS_MAX = 64, WORD_MAX = 60 };

enum argument_kind { PATH, PATHS, TEXT, TEXTS, NUMBER, FLAG };
static const char *const TYPES[] = {[PATH] = "string", [PATHS] = "array",    [TEXT] = "string",
                                    [TEXTS] = "array", [NUMBER] = "integer", [FLAG] = "boolean"};
static const char *const TYPE_NAMES[] = {
    [PATH] = "a text",           [PATHS] = "a list of texts", [TEXT] = "a text",
    [TEXTS] = "a list of texts", [NUMBER] = "a whole number", [FLAG] = "true or false"};

enum tool {
#define MCP_TOOL(name, command, run, title, description) TOOL_##name,
#define MCP_ARGUMENT(tool, name, kind, option, is_required, choices, description)
#include "server/cmd/mcp_tools.def"
#undef MCP_TOOL
#undef MCP_ARGUMENT
    TOOL_COUNT,
};

struct tool_argument {
    enum tool tool;
    const char *name;
    enum argument_kind kind;
    const char *option;
    bool is_required;
    const char *choices, *description;
};
static const struct tool_argument ARGUMENTS[] = {
#define MCP_TOOL(name, command, run, title, description)
#define MCP_ARGUMENT(tool, name, kind, option, is_required, choices, description)                                      \
    {TOOL_##tool, name, kind, option, is_required, choices, description},
#include "server/cmd/mcp_tools.def"
#undef MCP_TOOL
#undef MCP_ARGUMENT
};
enum { ARGUMENT_COUNT = sizeof(ARGUMENTS) / sizeof(ARGUMENTS[0]) };

enum { NO_COMMAND = -1 };

static const struct {
    const char *name, *title, *description;
    int command;
    int (*run)(const struct options *options);
} TOOLS[] = {
#define MCP_TOOL(name, command, run, title, description) [TOOL_##name] = {#name, title, description, command, run},
#define MCP_ARGUMENT(tool, name, kind, option, is_required, choices, description)
#include "server/cmd/mcp_tools.def"
#undef MCP_TOOL
#undef MCP_ARGUMENT
};

static enum tool tool_of(const char *name)
{
    int at = 0;
    while (at < TOOL_COUNT && strcmp(TOOLS[at].name, name) != 0)
        at++;
    return (enum tool)at;
}

bool mcp_tools_has(const char *name) { return tool_of(name) < TOOL_COUNT; }

/* ---- schemas ------------------------------------------------------------------------------ */

static bool is_list(const struct tool_argument *argument) { return argument->kind == PATHS || argument->kind == TEXTS; }

static const char *description_of(const struct tool_argument *argument)
{
    if (argument->description)
        return argument->description;
    return options_help((enum commands_bit_at)TOOLS[argument->tool].command, argument->option);
}

static void write_choices(struct json *json, const char *choices)
{
    json_key_array(json, "enum");
    while (*choices) {
        size_t length = strcspn(choices, " ");
        json_string(json, (struct str){choices, length});
        choices += length + (choices[length] == ' ');
    }
    json_array_end(json);
}

static void write_type(struct json *json, const char *type) { json_key_text(json, "type", type); }

static void write_property(struct json *json, const struct tool_argument *argument)
{
    json_key_object(json, argument->name);
    write_type(json, TYPES[argument->kind]);
    json_key_text(json, "description", description_of(argument));
    if (argument->choices)
        write_choices(json, argument->choices);
    if (is_list(argument)) {
        json_key_object(json, "items");
        write_type(json, "string");
        json_object_end(json);
        json_key_int(json, "maxItems", ITEMS_MAX);
    }
    json_object_end(json);
}

static void write_number(struct json *json, const char *name, const char *description, int least, int usual)
{
    json_key_object(json, name);
    write_type(json, "integer");
    json_key_text(json, "description", description);
    json_key_int(json, "minimum", least);
    json_key_int(json, "default", usual);
    json_object_end(json);
}

/* What every tool takes. */
static void write_shared(struct json *json)
{
    json_key_object(json, "format");
    write_type(json, "string");
    json_key_text(json, "description", "text to read, or json: the members that docs/openapi.yaml describes");
    write_choices(json, "text json");
    json_key_text(json, "default", "text");
    json_object_end(json);
    write_number(json, "more", "where the rest of an answer that was cut begins, given in the cut answer", 0, 0);
    write_number(json, "limit_bytes", "how much of the answer to return at most", LIMIT_MIN_BYTES, LIMIT_BYTES);
}

static void write_schema(struct json *json, enum tool tool)
{
    json_key_object(json, "inputSchema");
    write_type(json, "object");
    json_key_object(json, "properties");
    for (size_t at = 0; at < ARGUMENT_COUNT; at++)
        if (ARGUMENTS[at].tool == tool)
            write_property(json, &ARGUMENTS[at]);
    write_shared(json);
    json_object_end(json);
    json_key_array(json, "required");
    for (size_t at = 0; at < ARGUMENT_COUNT; at++)
        if (ARGUMENTS[at].tool == tool && ARGUMENTS[at].is_required)
            json_text(json, ARGUMENTS[at].name);
    json_array_end(json);
    json_key_bool(json, "additionalProperties", false);
    json_object_end(json);
}

void mcp_tools_write(struct json *json)
{
    for (int tool = 0; tool < TOOL_COUNT; tool++) {
        json_object_begin(json);
        json_key_text(json, "name", TOOLS[tool].name);
        json_key_text(json, "title", TOOLS[tool].title);
        json_key_text(json, "description", TOOLS[tool].description);
        write_schema(json, (enum tool)tool);
        json_key_object(json, "annotations");
        json_key_bool(json, "readOnlyHint", true);
        json_key_bool(json, "idempotentHint", true);
        json_key_bool(json, "openWorldHint", false);
        json_object_end(json);
        json_object_end(json);
    }
}

/* ---- a call -------------------------------------------------------------------------------- */

/* The words of a command line; free() each. */
struct words {
    char **items;
    size_t count, capacity;
};

struct mcp_tools_call {
    const struct mcp_tools *tools;
    enum tool tool;
    struct words options, paths;
    char *filter; /* of find */
    bool is_failed, is_json;
};

static void word_add(struct words *words, char *word)
{
    words->items = memory_grow(words->items, &words->capacity, words->count + 1, sizeof(*words->items));
    words->items[words->count++] = word;
}

static void words_free(struct words *words)
{
    for (size_t at = 0; at < words->count; at++)
        free(words->items[at]);
    free(words->items);
}

static void call_free(void *context)
{
    struct mcp_tools_call *call = context;
    words_free(&call->options);
    words_free(&call->paths);
    free(call->filter);
    free(call);
}

/* In a process of its own: the command, as if it had been typed. */
static int call_run(void *context)
{
    struct mcp_tools_call *call = context;
    const struct mcp_tools *tools = call->tools;
    struct options options;
    char reason[512];
    box_question(tools->options, (const char *const *)tools->roots.paths, tools->roots.count);
    if (call->tool == TOOL_find)
        return mcp_find(tools, call->filter, call->is_failed, call->is_json);
    word_add(&call->options, memory_text("--"));
    for (size_t at = 0; at < call->paths.count; at++)
        word_add(&call->options, memory_text(call->paths.items[at]));
    word_add(&call->options, NULL);
    if (!options_read((enum commands_bit_at)TOOLS[call->tool].command, call->options.items, &options, reason,
                      sizeof(reason))) {
        log_line("%s", reason);
        return COMMANDS_UNUSABLE;
    }
    return TOOLS[call->tool].run(&options);
}

static void add_option(struct mcp_tools_call *call, const char *option, const char *value)
{
    word_add(&call->options, value ? memory_format("--%s=%s", option, value) : memory_format("--%s", option));
}

/* Each returns why a value cannot be taken: free(). */

static char *take_path(struct mcp_tools_call *call, const struct tool_argument *argument, const char *text)
{
    char *fault, *path = mcp_roots_find(&call->tools->roots, text, &fault);
    if (path && argument->option)
        add_option(call, argument->option, path);
    else if (path)
        word_add(&call->paths, memory_text(path));
    free(path);
    return fault;
}

static char *take_text(struct mcp_tools_call *call, const struct tool_argument *argument, const char *text)
{
    if (argument->kind == PATH || argument->kind == PATHS)
        return take_path(call, argument, text);
    if (argument->option)
        add_option(call, argument->option, text);
    else
        call->filter = memory_text(text);
    return NULL;
}

static char *take_list(struct mcp_tools_call *call, const struct tool_argument *argument, const cJSON *list)
{
    char *fault = NULL;
    if (cJSON_GetArraySize(list) > ITEMS_MAX)
        return memory_format("%s: more than %d", argument->name, ITEMS_MAX);
    for (const cJSON *item = list->child; item && !fault; item = item->next)
        fault = cJSON_IsString(item) ? take_text(call, argument, item->valuestring)
                                     : memory_format("%s must be a list of texts", argument->name);
    return fault;
}

static bool is_of_kind(enum argument_kind kind, const cJSON *value)
{
    switch (kind) {
    case PATH:
    case TEXT: return cJSON_IsString(value);
    case PATHS:
    case TEXTS: return cJSON_IsArray(value);
    case NUMBER: return rpc_is_whole(value);
    case FLAG: break;
    }
    return cJSON_IsBool(value);
}

static char *take_argument(struct mcp_tools_call *call, const struct tool_argument *argument, const cJSON *value)
{
    char number[32];
    if (!is_of_kind(argument->kind, value))
        return memory_format("%s must be %s", argument->name, TYPE_NAMES[argument->kind]);
    if (cJSON_IsArray(value))
        return take_list(call, argument, value);
    if (cJSON_IsString(value))
        return take_text(call, argument, value->valuestring);
    if (argument->kind == NUMBER) {
        snprintf(number, sizeof(number), "%.0f", value->valuedouble);
        add_option(call, argument->option, number);
    } else if (argument->option && cJSON_IsTrue(value)) {
        add_option(call, argument->option, NULL);
    } else if (!argument->option) {
        call->is_failed = cJSON_IsTrue(value);
    }
    return NULL;
}

/* Reads the parameters that every tool takes. *is_one: the name is one of them. */
static char *take_shared(struct mcp_tools_call *call, const cJSON *value, struct mcp_task *task, bool *is_one)
{
    size_t *number = strcmp(value->string, "more") == 0          ? &task->from_bytes
                     : strcmp(value->string, "limit_bytes") == 0 ? &task->limit_bytes
                                                                 : NULL;
    *is_one = number || strcmp(value->string, "format") == 0;
    if (number && (!rpc_is_whole(value) || value->valuedouble < 0))
        return memory_format("%s must be a whole number from 0 on", value->string);
    if (number) {
        *number = (size_t)value->valuedouble;
    } else if (*is_one) {
        const char *format = cJSON_GetStringValue(value);
        if (!format || (strcmp(format, "text") != 0 && strcmp(format, "json") != 0))
            return memory_text("format must be text or json");
        call->is_json = strcmp(format, "json") == 0;
    }
    return NULL;
}

static const struct tool_argument *argument_find(enum tool tool, const char *name)
{
    for (size_t at = 0; at < ARGUMENT_COUNT; at++)
        if (ARGUMENTS[at].tool == tool && strcmp(ARGUMENTS[at].name, name) == 0)
            return &ARGUMENTS[at];
    return NULL;
}

static char *fault_unknown(enum tool tool, const char *name)
{
    struct buf list = BUF_INIT;
    for (size_t at = 0; at < ARGUMENT_COUNT; at++)
        if (ARGUMENTS[at].tool == tool)
            buf_format(&list, "%s, ", ARGUMENTS[at].name);
    buf_char(&list, '\0');
    char *fault =
        memory_format("unknown argument \"%.*s\": %s takes %sformat, more, limit_bytes",
                      (int)str_cut(str_of(name), WORD_MAX), name, TOOLS[tool].name, list.failed ? "" : list.data);
    buf_free(&list);
    return fault;
}

/* In the order of the table, which is that of the paths; a member that is null is as good as none. */
static char *take_all(struct mcp_tools_call *call, const cJSON *arguments, struct mcp_task *task)
{
    char *fault = NULL;
    bool is_shared = false;
    for (const cJSON *value = arguments ? arguments->child : NULL; value && !fault; value = value->next) {
        fault = cJSON_IsNull(value) ? NULL : take_shared(call, value, task, &is_shared);
        if (!fault && !cJSON_IsNull(value) && !is_shared && !argument_find(call->tool, value->string))
            fault = fault_unknown(call->tool, value->string);
    }
    for (size_t at = 0; at < ARGUMENT_COUNT && !fault; at++) {
        const struct tool_argument *argument = &ARGUMENTS[at];
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(arguments, argument->name);
        bool is_given = value && !cJSON_IsNull(value);
        if (argument->tool != call->tool)
            continue;
        if (is_given)
            fault = take_argument(call, argument, value);
        else if (argument->is_required)
            fault = memory_format("%s wants %s", TOOLS[call->tool].name, argument->name);
    }
    return fault;
}

static char *key_of(const struct mcp_tools_call *call)
{
    const struct words *lists[] = {&call->options, &call->paths};
    char *key = memory_format("%s %d %d %s", TOOLS[call->tool].name, call->is_json, call->is_failed,
                              call->filter ? call->filter : "");
    for (int list = 0; list < 2; list++) {
        for (size_t at = 0; at < lists[list]->count; at++) {
            char *longer = memory_format("%s\n%s", key, lists[list]->items[at]);
            free(key);
            key = longer;
        }
    }
    return key;
}

char *mcp_tools_call(const void *context, const char *name, const cJSON *arguments, struct mcp_task *task)
{
    struct mcp_tools_call *call = memory_new(sizeof(*call));
    *call = (struct mcp_tools_call){.tools = context, .tool = tool_of(name)};
    *task = (struct mcp_task){.limit_bytes = LIMIT_BYTES};
    char *fault = take_all(call, arguments, task);
    if (fault) {
        *task = (struct mcp_task){0};
        call_free(call);
        return fault;
    }
    int command = TOOLS[call->tool].command;
    const char *rules = call->tools->options->category_rules;
    if (call->is_json && command != NO_COMMAND)
        add_option(call, "json", NULL);
    if (rules && command != NO_COMMAND && options_help((enum commands_bit_at)command, "category-rules"))
        add_option(call, "category-rules", rules);
    task->limit_bytes = task->limit_bytes < LIMIT_MIN_BYTES   ? LIMIT_MIN_BYTES
                        : task->limit_bytes > LIMIT_MAX_BYTES ? LIMIT_MAX_BYTES
                                                              : task->limit_bytes;
    task->run = call_run;
    task->free = call_free;
    task->context = call;
    task->form = call->is_json ? MCP_DATA : MCP_TEXT;
    task->key = key_of(call);
    return NULL;
}
