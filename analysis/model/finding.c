/* SPDX-License-Identifier: Apache-2.0
 * finding.c: see finding.h. */
#include "model/finding.h"

#include "base/size_text.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 512 };

struct finding *finding_begin(struct arena *arena, const char *kind, const char *view)
{
    struct finding *finding = arena_array(arena, struct finding, 1);
    finding->arena = arena;
    finding->kind = kind;
    finding->view = view;
    return finding;
}

static struct finding_part *part_add(struct finding *finding)
{
    uint32_t at = finding->part_count < FINDING_PARTS_MAX - 1 ? finding->part_count++ : FINDING_PARTS_MAX - 1;
    return &finding->parts[at];
}

void finding_text(struct finding *finding, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    *part_add(finding) = (struct finding_part){FINDING_TEXT, arena_text(finding->arena, str_of(text)), 0, NULL};
}

void finding_count(struct finding *finding, const char *before, uint64_t count, const char *one)
{
    char text[COUNT_TEXT_BYTES];
    finding_text(finding, "%s%s %s%s", before, size_text_count(text, count), one, count == 1 ? "" : "s");
}

static void size_add(struct finding *finding, const char *sign, int64_t bytes, const char *figure)
{
    char text[SIZE_TEXT_BYTES];
    size_text(text, bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes);
    *part_add(finding) =
        (struct finding_part){FINDING_SIZE, arena_format(finding->arena, "%s%s", sign, text), bytes, figure};
}

void finding_size(struct finding *finding, int64_t bytes) { finding_figure(finding, bytes, NULL); }

void finding_figure(struct finding *finding, int64_t bytes, const char *figure)
{
    size_add(finding, "", bytes, figure);
}

void finding_change(struct finding *finding, int64_t bytes)
{
    size_add(finding, bytes > 0 ? "+" : bytes < 0 ? "\xE2\x88\x92" : "", bytes, NULL);
}

void finding_name(struct finding *finding, struct str name)
{
    *part_add(finding) = (struct finding_part){FINDING_NAME, arena_text(finding->arena, name), 0, NULL};
}

void finding_param(struct finding *finding, const char *name, struct str value)
{
    if (finding->param_count == FINDING_PARAMS_MAX)
        return;
    finding->params[finding->param_count].name = name;
    finding->params[finding->param_count++].value = arena_text(finding->arena, value);
}

/* One text of all parts. */
static const char *sentence_of(const struct finding *finding)
{
    size_t length = 1;
    for (uint32_t i = 0; i < finding->part_count; i++)
        length += strlen(finding->parts[i].text);
    char *sentence = arena_alloc(finding->arena, length, 1), *at = sentence;
    for (uint32_t i = 0; i < finding->part_count; i++) {
        size_t own = strlen(finding->parts[i].text);
        memcpy(at, finding->parts[i].text, own);
        at += own;
    }
    return sentence;
}

struct finding *finding_end(struct finding *finding)
{
    finding->sentence = sentence_of(finding);
    return finding;
}
