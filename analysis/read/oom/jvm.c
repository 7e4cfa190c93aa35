/* SPDX-License-Identifier: Apache-2.0
 * jvm.c: memory of a Java virtual machine, where a build tool says which of its areas is used up and not the class of
 * the error: "> Java heap space" under "What went wrong:". The words alone are a heading or a line of settings; what
 * stands around them decides. */
#include "read/oom/cursor.h"
#include "read/oom/handlers.h"

enum { NEAR = 4 << 10, SOON = 400 };

/* Does the line end at clean byte `at`? */
static bool jvm_is_line_end(const struct oom_text *text, size_t at)
{
    return at >= text->length || oom_text_is_line_begin(text, at);
}

/* Does a build fail around clean bytes [from, at)? */
static bool is_of_failed_build(struct oom_reader *reader, size_t from, size_t at)
{
    static const char *const words[] = {
        "wentwrong:",        "Executionfailedfor", "Afailureoccurred", "Buildfailed", "BUILDFAIL",
        "FAILURE:",          "Compilationfailed",  "FAILED",           "D8:",         "R8:",
        "compileIncremental"};
    size_t which;
    if (oom_seen_before(&reader->builds, &reader->text, from, NEAR, words, sizeof(words) / sizeof(words[0]), &which))
        return true;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t end = at;
        if (oom_cursor_find(&reader->text, &end, words[i], SOON))
            return true;
    }
    return false;
}

/* At the beginning of a line, or behind what Maven, sbt and compilers put before an error. */
static bool is_told(const struct oom_text *text, size_t from)
{
    static const char *const heads[] = {
        "[ERROR]", "[error]", "Error:", "ERROR:", "error:", "e:", "Causedby:", ">", ")"};
    bool is_one = oom_text_is_line_begin(text, from);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        is_one |= oom_text_is_before(text, from, heads[i]);
    return is_one;
}

static size_t area_read(struct oom_reader *reader, size_t from, size_t at, const char *form)
{
    size_t end = at;
    bool is_of_maven = oom_cursor_take(&reader->text, &end, "->[Help");
    if (!is_told(&reader->text, from) || (!is_of_maven && !jvm_is_line_end(&reader->text, at)) ||
        (!is_of_maven && !is_of_failed_build(reader, from, at)))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_process, form, from, at)->has_own_limit = true;
    return oom_draft_reach(reader, at);
}

static size_t heap_read(struct oom_reader *reader, size_t from, size_t at)
{
    return area_read(reader, from, at, "java");
}

static size_t classes_read(struct oom_reader *reader, size_t from, size_t at)
{
    return area_read(reader, from, at, "java_classes");
}

/* "java.lang.OutOfMemoryError" and nothing behind it, or that there is no message. */
static size_t bare_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t end = at;
    bool is_said = oom_cursor_take(text, &end, "(noerrormessage)");
    bool has_head = oom_text_is_line_begin(text, from) || (from > 0 && strchr(":\">", text->bytes[from - 1]) != NULL);
    size_t frame = end;
    bool has_frame = oom_cursor_take(text, &frame, "at");
    if (!has_head || !jvm_is_line_end(text, end) || !(is_said || has_frame || is_of_failed_build(reader, from, end)))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_process, "java", from, end)->has_own_limit = true;
    return oom_draft_reach(reader, end);
}

const struct oom_handler oom_jvm_handlers[] = {
    {"Javaheapspace", heap_read, false},
    {"GCoverheadlimitexceeded", heap_read, false},
    {"Metaspace", classes_read, false},
    {"Compressedclassspace", classes_read, false},
    {"java.lang.OutOfMemoryError", bare_read, false},
    {NULL, NULL, false},
};
