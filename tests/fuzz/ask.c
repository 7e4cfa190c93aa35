/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/ask.h"
#include "tests/unit/subject.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASK_PROGRAM_COUNT = 4,
    ASK_SPACE_COUNT = 4,
    ASK_MEMBER_COUNT = 8,
    ASK_LIMIT_BYTES = 256 << 20,
    ASK_LARGE_BYTES = 100 << 10
};

static void broken(const char *promise, const char *where, const struct err *err)
{
    fprintf(stderr, "broken promise: %s (%s; %s: %s)\n", promise, where, err_name(err->code), err->text);
    abort();
}

static int64_t ask_read(void *context, uint64_t offset, void *into, size_t size)
{
    const struct ask_bytes *from = context;

    if (offset >= from->size)
        return 0;
    if (size > from->size - offset)
        size = (size_t)(from->size - offset);
    memcpy(into, from->bytes + offset, size);
    return (int64_t)size;
}

struct source ask_source_of(struct ask_bytes *from)
{
    return (struct source){.context = from, .read = ask_read, .size_bytes = from->size, .read_apart = ask_read};
}

struct source ask_source(const uint8_t *bytes, size_t size)
{
    static struct ask_bytes from;

    from = (struct ask_bytes){bytes, size};
    return ask_source_of(&from);
}

/* A refusal names its reason, and its place lies inside plain input. */
static void check_refusal(const struct source *source, const struct err *err, const char *where)
{
    uint8_t head[2] = {0, 0};

    if (err->code == ERR_none || err->code == ERR_internal || err->text[0] == '\0')
        broken("an error has a code and a text", where, err);
    source->read(source->context, 0, head, sizeof(head));
    if (head[0] == 0x1f && head[1] == 0x8b)
        return;
    if (err->offset_bytes != ERR_NO_OFFSET && err->offset_bytes > source->size_bytes)
        broken("an offset lies inside the file", where, err);
}

static cJSON *check_json(const struct buf *out, const char *where, const struct err *err)
{
    cJSON *tree = out->length ? cJSON_ParseWithLength(out->data, out->length) : NULL;

    if (out->failed || !tree)
        broken("an answer is JSON", where, err);
    return tree;
}

/* The id of the first row of a list of buffers, copied into `id`. */
static void take_id(const cJSON *tree, char *id, size_t id_size)
{
    const cJSON *rows = cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "data"), "rows");
    const cJSON *text = cJSON_GetObjectItem(rows ? rows->child : NULL, "id");

    if (cJSON_IsString(text))
        snprintf(id, id_size, "%s", text->valuestring);
}

static void ask_view(const struct source *source, const struct analysis_subject *module,
                     const struct analysis_view *view, const struct analysis_param *params, size_t param_count,
                     char *id, size_t id_size)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    const char *last = param_count > 0 ? params[param_count - 1].value : "";
    bool is_csv = strcmp(last, "csv") == 0 || strcmp(last, "text") == 0;

    if (subject_answer(module, view->tool, view->view, params, param_count, &out, &err) && is_csv) {
        if (out.failed || out.length == 0)
            broken("an answer has bytes", view->view, &err);
    } else if (!err_is_set(&err)) {
        cJSON *tree = check_json(&out, view->view, &err);
        take_id(tree, id, id_size);
        cJSON_Delete(tree);
    } else {
        check_refusal(source, &err, view->view);
    }
    buf_free(&out);
}

/* What the views are asked with: a value for each parameter that they may take, round by round. */
static const struct {
    const char *name, *values[3];
} ask_values[] = {
    {"step", {"1", "all", NULL}},
    {"from", {NULL, "1", "0"}},
    {"to", {NULL, "5", NULL}},
    {"low", {NULL, "0", NULL}},
    {"high", {NULL, "4096", NULL}},
    {"width", {NULL, "16", NULL}},
    {"by", {NULL, "scope", "line"}},
    {"sort", {NULL, "-pad,name", "dies,-shape,op,cat"}},
    {"filter",
     {NULL, "size:>0 -name:*zz* fusion,p,a",
      "dtype:f32,bf16 scope:*f* line:*py* cat:temporary,output unpadded:<64MiB"}},
    {"offset", {NULL, "1", NULL}},
    {"limit", {NULL, "3", NULL}},
    {"format", {NULL, NULL, "csv"}},
};
enum { ASK_ROUND_COUNT = 3, ASK_VALUE_COUNT = sizeof(ask_values) / sizeof(ask_values[0]) };

static bool takes(const struct analysis_view *view, const char *name)
{
    for (const char *const *at = view->param_names; *at; at++) {
        if (strcmp(*at, name) == 0)
            return true;
    }
    return false;
}

static size_t fill_params(const struct analysis_view *view, const char *space, const char *id, int round,
                          struct analysis_param *params)
{
    size_t count = 0;

    if (takes(view, "space"))
        params[count++] = (struct analysis_param){"space", space};
    if (takes(view, "id"))
        params[count++] = (struct analysis_param){"id", id};
    for (size_t at = 0; at < ASK_VALUE_COUNT; at++) {
        if (ask_values[at].values[round] && takes(view, ask_values[at].name))
            params[count++] = (struct analysis_param){ask_values[at].name, ask_values[at].values[round]};
    }
    return count;
}

static void ask_views(const struct source *source, const struct analysis_subject *module, const char *space)
{
    char id[64] = "1";
    struct analysis_view view;
    int round_count = source->size_bytes > ASK_LARGE_BYTES ? 1 : ASK_ROUND_COUNT; /* large answers take long to check */

    for (size_t at = 0; analysis_view_at(at, &view); at++) {
        if (strcmp(view.tool, "memory_viewer") != 0)
            continue; /* of something else than a module */
        for (int round = 0; round < round_count; round++) {
            struct analysis_param params[ASK_VALUE_COUNT + 2];
            size_t count = fill_params(&view, space, id, round, params);
            ask_view(source, module, &view, params, count, id, sizeof(id));
        }
    }
}

/* A number that follows from the bytes: which question they are asked, where one is enough. */
static uint32_t number_of(const struct source *source)
{
    uint8_t bytes[4096];
    int64_t count = source->read(source->context, source->size_bytes / 2, bytes, sizeof(bytes));
    uint32_t number = (uint32_t)source->size_bytes;

    for (int64_t i = 0; i < count; i++)
        number = number * 31 + bytes[i];
    return number >> 4;
}

/* Changes of every kind on top of each other, each alone, and sets that fit. Those that do not apply are told. One of
 * the questions for each input, and of larger ones every fourth: they cost more than all else that is asked. */
enum { ASK_WHATIF_LARGE_BYTES = 32 << 10 };

static void ask_whatif(const struct source *source, const struct analysis_subject *module)
{
    static const struct analysis_param asked[][10] = {
        {{"change", "donate=all"},
         {"change", "batch=0.5"},
         {"change", "cast=*:bf16"},
         {"change", "checkpoint=*"},
         {"change", "sequence=2"},
         {"change", "shard=*:4"},
         {"alone", "1"},
         {"width", "16"},
         {"rows", "3"}},
        {{"change", "batch=1024"},
         {"change", "sequence=1024"},
         {"change", "batch=1024"},
         {"change", "checkpoint=*l*"},
         {"change", "cast=*a*:int8"},
         {"change", "unpad=*"},
         {"change", "offload=*x*"},
         {"alone", "1"},
         {"glob", "*e*"}},
        {{"fit", "1"}, {"capacity_bytes", "1"}, {"format", "text"}},
        {{"fit", "1"}, {"capacity_bytes", "100000"}},
    };
    char id[64] = "1";
    struct analysis_view view;
    uint32_t number = number_of(source), which = number % (sizeof(asked) / sizeof(asked[0]));
    size_t count = 0;
    if (source->size_bytes > ASK_WHATIF_LARGE_BYTES && number / 8 % 4 != 0)
        return;
    while (count < 10 && asked[which][count].name != NULL)
        count++;
    for (size_t at = 0; analysis_view_at(at, &view); at++)
        if (strcmp(view.view, "whatif") == 0)
            ask_view(source, module, &view, asked[which], count, id, sizeof(id));
}

/* One of two capacities for each input, alone or beside a failure; of larger ones some, as above. */
static void ask_module_verdict(const struct source *source, const struct analysis_subject *module)
{
    uint32_t number = number_of(source);
    const struct analysis_verdict_parts parts = {
        .module = module, .around.capacity.bytes = number % 2 ? 1 : 100000, .around.capacity.source = "as chosen"};

    if (source->size_bytes > ASK_WHATIF_LARGE_BYTES && number / 16 % 4 != 0)
        return;
    ask_verdict(&parts);
    if (number / 2 % 2)
        ask_check(module);
    else
        ask_verdict_of_failure(parts, ASK_FAILURE_OF_PLAN);
}

void ask_program(const struct source *source, const struct analysis_program *program)
{
    struct err totals_err = ERR_INIT, module_err = ERR_INIT;
    struct analysis_totals *totals = analysis_totals_read(source, program, &totals_err);
    const struct analysis_reading reading = {
        .kind = ANALYSIS_MODULE,
        .program = program,
        .limit_bytes = ASK_LIMIT_BYTES,
        .libraries = source->size_bytes % 2 == 1 ? "# a comment\n !models.py\n  site-packages/flax \n\n!" : NULL};
    struct analysis_subject *module = analysis_subject_read(source, &reading, &module_err);

    if (!totals)
        check_refusal(source, &totals_err, "totals");
    if (!module)
        check_refusal(source, &module_err, "module");
    for (size_t at = 0; module && totals && at < totals->space_count && at < ASK_SPACE_COUNT; at++) {
        char space[32];
        snprintf(space, sizeof(space), "%lld", (long long)totals->spaces[at].space);
        ask_views(source, module, space);
    }
    if (module && (!totals || totals->space_count == 0))
        ask_views(source, module, "0");
    if (module) {
        ask_whatif(source, module);
        ask_module_verdict(source, module);
    }
    ask_modules(source, program);
    analysis_subject_free(module);
    analysis_totals_free(totals);
}

/* Tables that depend on no input. */
static void ask_tables(void)
{
    struct analysis_device device;
    struct err err = ERR_INIT;

    for (size_t at = 0; analysis_device_at(at, &device); at++) {
        if (!device.name || !device.title || !device.source)
            broken("a device has texts", "devices", &err);
    }
    for (size_t at = 0; analysis_oom_looked_for(at); at++) {
        if (analysis_oom_looked_for(at)[0] == '\0')
            broken("a row has a text", "looked for", &err);
    }
}

/* Each file of an archive as what it is, and its bytes to their end. */
static void ask_members(const struct source *source)
{
    struct err err = ERR_INIT;
    struct analysis_members *members = analysis_members_read(source, 2, &err);
    if (!members)
        check_refusal(source, &err, "members");
    for (size_t at = 0; members && at < members->count && at < ASK_MEMBER_COUNT; at++) {
        struct member member;
        struct err why = members->items[at].why;
        if (err_is_set(&why) || !analysis_members_locate(members, at, &member, &why)) {
            check_refusal(source, &why, "member");
            continue;
        }
        struct analysis_member_view *view = analysis_member_view_new(source, &member);
        if (!view)
            continue;
        const struct source *inner = analysis_member_view_source(view);
        uint8_t last;
        enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
        if (inner->size_bytes > 0 && inner->read(inner->context, inner->size_bytes - 1, &last, 1) != 1)
            broken("a member has its last byte", "members", &why);
        if (!analysis_identify(inner, &kind, NULL, &why))
            check_refusal(inner, &why, "identify a member");
        analysis_member_view_free(view);
    }
    analysis_members_free(members);
}

void ask_file(const struct source *source)
{
    struct err err = ERR_INIT;

    ask_tables();
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    bool gzip = false;

    if (!analysis_identify(source, &kind, &gzip, &err))
        check_refusal(source, &err, "identify");
    if (!analysis_kind_name(kind))
        broken("a kind has a name", "identify", &err);
    ask_members(source);
    err = (struct err)ERR_INIT;
    struct analysis_contents *contents = analysis_contents_read(source, &err);
    if (!contents)
        check_refusal(source, &err, "contents");
    for (size_t at = 0; contents && at < contents->program_count && at < ASK_PROGRAM_COUNT; at++)
        ask_program(source, &contents->programs[at]);
    analysis_contents_free(contents);
}
