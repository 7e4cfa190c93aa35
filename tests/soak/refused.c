/* SPDX-License-Identifier: Apache-2.0
 * refused.c: memory that is refused to the core, at each place at which it asks for some.
 *
 *   refused [--places=N] FILE…
 *
 * Each file is read as all that it can be and asked every view. Each of these is done again with memory refused at the
 * k-th place: in three ways, the k-th request to an arena at its limit, the k-th request to the system, and all from
 * that one on. The first N places are all tried, of the others N more, evenly spread. What is done then either says
 * that memory did not suffice, and why, or is the same to the byte; it leaves nothing behind; and without a fault it is
 * the same again. */
#include "tests/soak/refused.h"
#include "model/oom/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROGRAMS = 2 };
static const char *const ways[] = {"at the limit", "refused once", "refused from there on"};

static struct {
    const char *path;
    uint64_t places, done_count, refused_count, thing_count;
    bool has_failed;
} trial;

static void fall(const struct thing *thing, const char *promise, const struct err *err)
{
    printf("FAILED  %s: %s: %s, place %llu: %s (%s: %s)\n", trial.path, thing->name, ways[fault.way],
           (unsigned long long)fault.at, promise, err_name(err->code), err->text);
    trial.has_failed = true;
}

/* ---- the trial of one thing ---- */

static bool run(const struct thing *thing, struct buf *out, struct err *err)
{
    int64_t held_count = fault.held_count;
    *err = (struct err)ERR_INIT;
    fault.is_on = true;
    fault.arena_count = fault.system_count = 0;
    bool is_done = thing->make(thing, out, err);
    fault.is_on = false;
    if (fault.held_count - held_count != (out->data != NULL))
        fall(thing, "something stays behind", err);
    return is_done;
}

static bool is_same(const struct buf *one, const struct buf *other)
{
    return one->length == other->length && (one->length == 0 || memcmp(one->data, other->data, one->length) == 0);
}

static bool is_told(enum way way, const struct err *err)
{
    bool is_of_limit = err->code == ERR_limit || err->code == ERR_memory;
    return err->text[0] != '\0' && (way == AT_LIMIT ? is_of_limit : err->code == ERR_exhausted);
}

/* What names the allocations of a trace, and what a text and its plan say of each other, is left out where there is no
 * room for it, and a note says so. */
static bool says_no_room(const struct buf *out)
{
    static const char *const notes[] = {"_no_room\"", "The text was not held against the plan: ",
                                        "Not replayed: it takes more memory than one answer may"};
    bool is_said = false;
    for (size_t at = 0; at < sizeof(notes) / sizeof(notes[0]); at++)
        is_said |= memmem(out->data, out->length, notes[at], strlen(notes[at])) != NULL;
    return fault.way == AT_LIMIT && is_said;
}

static void run_refused(const struct thing *thing, const struct buf *meant, const struct err *meant_err)
{
    struct buf out = BUF_INIT;
    struct err err;
    bool is_done = run(thing, &out, &err);
    trial.done_count++;
    trial.refused_count += err_is_set(&err);
    if (is_done == err_is_set(&err))
        fall(thing, "neither done nor refused", &err);
    else if (is_done && err_is_set(meant_err))
        fall(thing, "done, which without a fault it is not", &err);
    else if (is_done && out.failed)
        fall(thing, "done, and its bytes are not whole", &err);
    else if (is_done && !is_same(&out, meant) && !says_no_room(&out))
        fall(thing, "done, and another answer", &err);
    else if (!is_done && err.code != meant_err->code && !is_told(fault.way, &err))
        fall(thing, "an error that says something else", &err);
    buf_free(&out);
}

static void run_everywhere(const struct thing *thing)
{
    struct buf meant = BUF_INIT, out = BUF_INIT;
    struct err meant_err, err;
    fault.at = 0;
    run(thing, &meant, &meant_err);
    const uint64_t counts[WAY_COUNT] = {fault.arena_count, fault.system_count, fault.system_count};
    trial.thing_count++;
    for (fault.way = 0; fault.way < WAY_COUNT; fault.way++) {
        uint64_t count = counts[fault.way], step = count > 2 * trial.places ? (count - trial.places) / trial.places : 1;
        for (uint64_t at = 1; at <= count && !trial.has_failed; at += at <= trial.places ? 1 : step) {
            fault.at = at;
            run_refused(thing, &meant, &meant_err);
        }
    }
    fault.way = AT_LIMIT;
    fault.at = 0;
    run(thing, &out, &err);
    if (!trial.has_failed && (err.code != meant_err.code || !is_same(&out, &meant)))
        fall(thing, "afterwards another answer", &err);
    buf_free(&meant);
    buf_free(&out);
}

/* A thing that fell is told once; the others are tried nevertheless. */
static bool has_fallen;

static void try_thing(const char *name, struct thing thing)
{
    thing.name = name;
    trial.has_failed = false;
    run_everywhere(&thing);
    has_fallen |= trial.has_failed;
}

/* ---- everything about a file ---- */

static const struct analysis_param usual[] = {{"step", "1"},
                                              {"id", "1"},
                                              {"match", "."},
                                              {"file", "a"},
                                              {"by", "scope"},
                                              {"change", "cast=*:bf16"},
                                              {"details", "1"},
                                              {"group", "op"},
                                              {"sort", "-size"},
                                              {"filter", "size:>0 -name:*zz*"},
                                              {"category_rules", "temporary *zz*"}};
enum { USUAL_COUNT = sizeof(usual) / sizeof(usual[0]) };

static bool takes(const struct analysis_view *view, const char *name)
{
    const char *const *at = view->param_names;
    while (*at != NULL && strcmp(*at, name) != 0)
        at++;
    return *at != NULL;
}

static bool is_answered(const struct analysis_question *question)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    bool is_done = analysis_answer(question, &out, &err);
    buf_free(&out);
    return is_done;
}

/* Without parameters, with those of the usual ones that it understands, and as lines. */
static void try_view(const struct analysis_view *view, const struct analysis_use *uses, size_t use_count)
{
    static const char *const formats[] = {"csv", "ndjson", "text", "markdown"};
    struct analysis_param params[USUAL_COUNT + 1];
    struct analysis_question question = {
        .tool = view->tool, .view = view->view, .uses = uses, .use_count = use_count, .params = params};
    char name[128];
    snprintf(name, sizeof(name), "%s/%s", view->tool, view->view);
    if (is_answered(&question))
        try_thing(name, (struct thing){.make = do_answer, .question = question});
    for (size_t at = 0; at < USUAL_COUNT; at++) {
        params[question.param_count] = usual[at];
        question.param_count += takes(view, usual[at].name);
        if (takes(view, usual[at].name) && !is_answered(&question))
            question.param_count -= strcmp(usual[at].name, "id") != 0 && strcmp(usual[at].name, "match") != 0;
    }
    snprintf(name, sizeof(name), "%s/%s with %zu parameters", view->tool, view->view, question.param_count);
    if (question.param_count > 0)
        try_thing(name, (struct thing){.make = do_answer, .question = question});
    question.param_count = 1;
    for (size_t at = 0; takes(view, "format") && at < sizeof(formats) / sizeof(formats[0]); at++) {
        params[0] = (struct analysis_param){"format", formats[at]};
        snprintf(name, sizeof(name), "%s/%s as %s", view->tool, view->view, formats[at]);
        if (is_answered(&question))
            try_thing(name, (struct thing){.make = do_answer, .question = question});
    }
}

static void try_views(const struct analysis_subject *subject, enum analysis_subject_kind kind)
{
    const struct analysis_use uses[] = {{.subject = subject, .id = "a", .name = "a"},
                                        {.subject = subject, .id = "b", .name = "b"}};
    struct analysis_view view;
    for (size_t at = 0; analysis_view_at(at, &view); at++)
        if (view.kind == kind && strcmp(view.tool, "modules") != 0)
            try_view(&view, uses, 1 + view.is_of_two);
}

static void try_verdict(const struct analysis_subject *subject, enum analysis_subject_kind kind,
                        const struct analysis_subject *text)
{
    struct thing thing = {.make = do_verdict, .kind = kind, .subject = subject, .text = text};
    try_thing("verdict", thing);
    thing.format = ANALYSIS_VERDICT_TEXT;
    try_thing("verdict as text", thing);
}

static void try_module(const struct source *source, const struct analysis_program *program,
                       const struct analysis_subject *text)
{
    struct err err = ERR_INIT;
    struct thing thing = {.make = do_totals, .source = source, .program = program, .kind = ANALYSIS_MODULE};
    try_thing("sums", thing);
    thing.make = do_read;
    try_thing("module", thing);
    thing.subject = subject_module(source, program, LIMIT_BYTES, &err);
    if (thing.subject != NULL) {
        try_views(thing.subject, ANALYSIS_MODULE);
        try_verdict(thing.subject, ANALYSIS_MODULE, NULL);
        thing.make = do_groundwork;
        try_thing("groundwork", thing);
        thing.make = do_check;
        try_thing("check", thing);
        thing.make = do_change;
        try_thing("a changed program", thing);
    }
    const struct oom_report *report = text != NULL ? analysis_text_report(text) : NULL;
    if (thing.subject != NULL && report != NULL && report->found.failure_count > 0) {
        thing.text = text;
        thing.make = do_compare;
        try_thing("a failure beside its plan", thing);
        try_verdict(thing.subject, ANALYSIS_MODULE, text);
    }
    analysis_subject_free((struct analysis_subject *)thing.subject);
    thing = (struct thing){.make = do_read, .source = source, .program = program, .kind = ANALYSIS_FIGURES};
    try_thing("figures", thing);
    err = (struct err)ERR_INIT;
    const struct analysis_reading reading = {.kind = ANALYSIS_FIGURES, .program = program, .limit_bytes = LIMIT_BYTES};
    struct analysis_subject *figures = analysis_subject_read(source, &reading, &err);
    const struct analysis_module_use use = {.id = "a", .name = "m", .key = "m(1)", .file = "f", .figures = figures};
    struct analysis_question question = {.tool = "modules", .view = "table", .modules = &use, .module_count = 1};
    if (figures != NULL)
        try_thing("modules/table", (struct thing){.make = do_answer, .question = question});
    analysis_subject_free(figures);
}

static void try_moments(const struct analysis_subject *trace)
{
    static const char *const moments[] = {"peak", "end"};
    struct analysis_view view;
    struct analysis_use uses[2];
    for (size_t at = 0; at < 2; at++)
        uses[at] =
            (struct analysis_use){.subject = trace, .id = moments[at], .name = moments[at], .moment = moments[at]};
    for (size_t at = 0; analysis_view_at(at, &view); at++)
        if (view.kind == ANALYSIS_PROFILE)
            try_view(&view, uses, 2);
}

static void try_kind(const struct source *source, enum analysis_subject_kind kind, const char *name)
{
    struct err err = ERR_INIT;
    const struct analysis_reading reading = {.kind = kind, .limit_bytes = LIMIT_BYTES};
    struct thing thing = {.make = do_read, .source = source, .kind = kind};
    try_thing(name, thing);
    if (kind == ANALYSIS_TRACE && source->read_apart != NULL) {
        thing.is_in_pieces = true;
        try_thing("trace in pieces", thing);
    }
    struct analysis_subject *subject = analysis_subject_read(source, &reading, &err);
    if (subject != NULL && kind <= ANALYSIS_TEXT) {
        try_views(subject, kind);
        try_verdict(kind == ANALYSIS_TEXT ? NULL : subject, kind, kind == ANALYSIS_TEXT ? subject : NULL);
    }
    if (subject != NULL && kind == ANALYSIS_TRACE && analysis_trace_has_stacks(subject))
        try_moments(subject);
    analysis_subject_free(subject);
}

static void try_contents(const struct source *source, const struct analysis_subject *text)
{
    struct err err = ERR_INIT;
    struct analysis_contents *contents = analysis_contents_read(source, &err);
    try_thing("contents", (struct thing){.make = do_contents, .source = source});
    if (contents != NULL)
        try_thing("contents that were kept", (struct thing){.make = do_contents_of_bytes, .source = source});
    for (size_t at = 0; contents != NULL && at < contents->program_count && at < MOST_PROGRAMS; at++)
        try_module(source, &contents->programs[at], text);
    analysis_contents_free(contents);
}

static void try_file(const struct source *source, const struct analysis_subject *text);

/* Each file of an archive as one of its own. */
static void try_members(const struct source *source)
{
    struct err err = ERR_INIT;
    try_thing("files of the archive", (struct thing){.make = do_members, .source = source});
    struct analysis_members *members = analysis_members_read(source, 2, &err);
    for (size_t at = 0; members != NULL && at < members->count; at++) {
        struct member member;
        if (err_is_set(&members->items[at].why) || !analysis_members_locate(members, at, &member, &err))
            continue;
        struct analysis_member_view *view = analysis_member_view_new(source, &member);
        if (view != NULL)
            try_file(analysis_member_view_source(view), NULL);
        analysis_member_view_free(view);
    }
    analysis_members_free(members);
}

static void try_file(const struct source *source, const struct analysis_subject *text)
{
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    struct err err = ERR_INIT;
    bool gzip = false;
    try_thing("what it is", (struct thing){.make = do_identify, .source = source});
    try_thing("unpacked", (struct thing){.make = do_unpack, .source = source});
    analysis_identify(source, &kind, &gzip, &err);
    switch (kind) {
    case ANALYSIS_KIND_XSPACE: try_kind(source, ANALYSIS_RUNS, "runs"); /* fall through */
    case ANALYSIS_KIND_TORCH_SNAPSHOT: try_kind(source, ANALYSIS_TRACE, "trace"); break;
    case ANALYSIS_KIND_ARCHIVE: try_members(source); return;
    case ANALYSIS_KIND_PPROF: try_kind(source, ANALYSIS_PROFILE, "profile"); break;
    case ANALYSIS_KIND_TEXT:
        try_thing("a part of it", (struct thing){.make = do_window, .source = source});
        try_kind(source, ANALYSIS_TEXT, "text");
        break;
    default: break;
    }
    if (kind != ANALYSIS_KIND_TEXT)
        try_contents(source, text);
}

/* ---- files ---- */

struct bytes {
    char *data;
    size_t size;
};

static int64_t bytes_read(void *context, uint64_t offset, void *into, size_t size)
{
    const struct bytes *bytes = context;
    if (offset >= bytes->size)
        return 0;
    if (size > bytes->size - offset)
        size = (size_t)(bytes->size - offset);
    memcpy(into, bytes->data + offset, size);
    return (int64_t)size;
}

static struct source source_of(const char *path, struct bytes *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    bytes->size = (size_t)ftell(file);
    bytes->data = malloc(bytes->size + 1);
    rewind(file);
    if (bytes->data == NULL || fread(bytes->data, 1, bytes->size, file) != bytes->size)
        exit(2);
    fclose(file);
    return (struct source){.context = bytes, .read = bytes_read, .size_bytes = bytes->size, .read_apart = bytes_read};
}

int main(int argc, char **argv)
{
    const char *text_path = NULL;
    int fallen_count = 0, file_count = 0;
    trial.places = 200;
    for (int at = 1; at < argc; at++) {
        struct bytes bytes, text_bytes = {NULL, 0};
        struct err err = ERR_INIT;
        if (sscanf(argv[at], "--places=%lu", &trial.places) == 1)
            continue;
        trial.path = argv[at];
        has_fallen = false;
        struct source source = source_of(trial.path, &bytes);
        struct source text_source = text_path != NULL ? source_of(text_path, &text_bytes) : source;
        struct analysis_subject *text = text_path != NULL ? subject_text(&text_source, false, &err) : NULL;
        trial.thing_count = trial.done_count = trial.refused_count = 0;
        try_file(&source, text);
        printf("%s  %s: %llu things, %llu places, %llu refusals\n", has_fallen ? "FAILED" : "ok    ", trial.path,
               (unsigned long long)trial.thing_count, (unsigned long long)trial.done_count,
               (unsigned long long)trial.refused_count);
        fflush(stdout);
        fallen_count += has_fallen;
        file_count++;
        if (strstr(trial.path, "error.txt") != NULL)
            text_path = trial.path; /* of the programs that come behind it */
        analysis_subject_free(text);
        free(text_bytes.data);
        free(bytes.data);
    }
    printf("%d passed, %d failed, 0 skipped\n", file_count - fallen_count, fallen_count);
    return fallen_count > 0 ? 1 : 0;
}
