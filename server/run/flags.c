/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/flags.h"

#include "base/buf.h"
#include "base/str.h"
#include "server/base/memory.h"
#include "server/files/files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 20 };

static const char SPACES[] = " \t\r\n";

/* One flag as XLA reads it: name=value; the value may be in quotes. */
struct flag {
    struct str name; /* with its dashes */
    char *value;     /* without quotes; NULL: none */
};

/* Reads the flag at *at and moves on behind it; false at the end, and at what is no flag: there XLA stops too. */
static bool flag_next(const char **at, struct flag *flag)
{
    const char *begin = *at + strspn(*at, SPACES), *end = begin;
    if (*begin != '-')
        return false;
    while (isalnum((unsigned char)*end) || *end == '-' || *end == '_')
        end++;
    *flag = (struct flag){.name = {begin, (size_t)(end - begin)}};
    if (*end != '=') {
        *at = end + strcspn(end, SPACES);
        return true;
    }
    char quote = end[1] == '"' || end[1] == '\'' ? end[1] : '\0', *out = flag->value = memory_new(strlen(end) + 1);
    for (end += quote ? 2 : 1; *end && (quote ? *end != quote : !strchr(SPACES, *end)); end++) {
        if (quote == '"' && *end == '\\' && end[1])
            end++;
        *out++ = *end;
    }
    *at = quote && *end ? end + 1 : end;
    return true;
}

static bool is_named(const struct flag *flag, const char *name)
{
    size_t dashes = flag->name.length > 1 && flag->name.data[1] == '-' ? 2 : 1;
    const struct str bare = {flag->name.data + dashes, flag->name.length - dashes};
    return str_equal(bare, str_of(name));
}

/* What the person has chosen already. */
struct chosen {
    char *dump_to;
    bool has_format, has_proto, has_stamp;
};

static struct chosen chosen_read(const char *text)
{
    static const char *const formats[] = {"xla_dump_hlo_as_text", "xla_dump_hlo_as_dot", "xla_dump_hlo_as_html",
                                          "xla_dump_hlo_as_url"};
    struct chosen chosen = {0};
    struct flag flag;
    while (flag_next(&text, &flag)) {
        for (size_t at = 0; at < sizeof(formats) / sizeof(formats[0]); at++)
            chosen.has_format |= is_named(&flag, formats[at]);
        chosen.has_proto |= is_named(&flag, "xla_dump_hlo_as_proto");
        chosen.has_stamp |= is_named(&flag, "xla_dump_include_timestamp");
        if (is_named(&flag, "xla_dump_to") && flag.value && flag.value[0]) {
            free(chosen.dump_to);
            chosen.dump_to = flag.value; /* the last one counts */
            continue;
        }
        free(flag.value);
    }
    return chosen;
}

/* Other words of --xla_dump_to are no folders. */
static bool is_folder_name(const char *word)
{
    return strcmp(word, "-") != 0 && strcmp(word, "sponge") != 0 && strcmp(word, "test_undeclared_outputs_dir") != 0;
}

/* A path, as XLA reads it back. */
static void quoted_add(struct buf *out, const char *path)
{
    bool is_plain = path[0] != '"' && path[0] != '\'' && path[strcspn(path, SPACES)] == '\0';
    if (is_plain) {
        buf_text(out, path);
        return;
    }
    buf_char(out, '"');
    for (const char *at = path; *at; at++) {
        if (*at == '"' || *at == '\\')
            buf_char(out, '\\');
        buf_char(out, *at);
    }
    buf_char(out, '"');
}

/* What XLA reads: the variable itself, or the file that it names. False when there are no flags in it: XLA then reads
 * none, or cannot read the file and ends. */
static bool flags_text(const char *before, struct buf *out)
{
    struct err err = ERR_INIT;
    const struct files_place place = {.root = before, .path = ""};
    if (before[0] == '\0' || before[strspn(before, SPACES)] == '-')
        buf_text(out, before);
    else if (!files_read_text(&place, MAX_FILE_BYTES, out, &err))
        return false;
    buf_char(out, ' ');
    buf_char(out, '\0');
    if (out->failed)
        return false;
    out->length--;
    const char *first = out->data + strspn(out->data, SPACES);
    return *first == '-' || *first == '\0';
}

void flags_make(const char *before, const char *folder, bool has_cache, struct flags *flags)
{
    struct buf text = BUF_INIT;
    *flags = (struct flags){0};
    if (!flags_text(before ? before : "", &text)) {
        buf_free(&text);
        return;
    }
    struct chosen chosen = chosen_read(text.data);
    flags->is_own = chosen.dump_to != NULL;
    flags->own = chosen.dump_to;
    if (flags->is_own && !is_folder_name(flags->own)) {
        free(flags->own);
        flags->own = NULL;
    }
    if (!flags->is_own) {
        buf_text(&text, "--xla_dump_to=");
        quoted_add(&text, folder);
        buf_char(&text, ' ');
    }
    /* Text is what XLA writes when no format is asked for: their dump keeps it. */
    if (flags->is_own && !chosen.has_format && !chosen.has_proto)
        buf_text(&text, "--xla_dump_hlo_as_text ");
    if (!flags->is_own || !chosen.has_proto)
        buf_text(&text, "--xla_dump_hlo_as_proto ");
    /* Else several processes of a job write their programs over each other's. */
    if (!flags->is_own && !chosen.has_stamp && !has_cache)
        buf_text(&text, "--xla_dump_include_timestamp=true ");
    buf_char(&text, '\0');
    if (!text.failed && text.data) {
        const char *value = text.data + strspn(text.data, SPACES);
        flags->value = memory_format("%.*s", (int)(strlen(value) - 1), value);
    }
    buf_free(&text);
}

void flags_free(struct flags *flags)
{
    free(flags->value);
    free(flags->own);
}
