/* SPDX-License-Identifier: Apache-2.0
 * export_rows.c: every buffer of every memory space as a row, as CSV or as one JSON object a line: the table of the
 * view "buffers", behind the cells that say whose row it is. */
#include "server/cmd/export.h"

#include "base/csv.h"
#include "server/store/subjects.h"

#include <stdio.h>

static struct csv_cell text_cell(const char *head, const char *text)
{
    return (struct csv_cell){.head = head, .kind = text[0] ? CSV_TEXT : CSV_NONE, .text = text};
}

static struct csv_cell number_cell(const char *head, bool is_known, int64_t number)
{
    return (struct csv_cell){.head = head, .kind = is_known ? CSV_INTEGER : CSV_NONE, .integer = number};
}

static bool space_rows(const struct export_module *module, const struct analysis_subject *core,
                       const struct analysis_module_space *space, const char *format, bool is_first, struct buf *out)
{
    char number[24];
    struct err err = ERR_INIT;
    const struct csv_cell lead[] = {
        text_cell("session", module->session->name),
        text_cell("module", module->entry->program->name),
        text_cell("file", module->entry->file->file->path),
        text_cell("modified_at", module->modified_at),
        number_cell("space", true, space->space),
        text_cell("space_name", space->name),
        number_cell("peak_step", space->has_peak_step, space->peak_step),
    };
    snprintf(number, sizeof(number), "%lld", (long long)space->space);
    const struct analysis_param params[] = {{"space", number}, {"step", "all"}, {"sort", "-size"}, {"format", format}};
    const struct analysis_use use = {.subject = core};
    const struct analysis_question question = {.tool = "memory_viewer",
                                               .view = "buffers",
                                               .uses = &use,
                                               .use_count = 1,
                                               .params = params,
                                               .param_count = sizeof(params) / sizeof(params[0]),
                                               .lead = lead,
                                               .lead_count = sizeof(lead) / sizeof(lead[0]),
                                               .is_headless = !is_first};
    bool is_good = analysis_answer(&question, out, &err);
    if (!is_good)
        unread_files_add_module(module->unread, module->entry, &err);
    return is_good;
}

static bool module_rows(const struct export_module *module, const char *format, struct buf *out)
{
    struct err err = ERR_INIT;
    struct subject subject;
    struct analysis_module_space space;
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &module->entry->file->opened, .program = module->entry->program};
    if (!subjects_open(module->store, &place, &subject, &err)) {
        unread_files_add_module(module->unread, module->entry, &err);
        return false;
    }
    bool is_good = true;
    for (size_t at = 0; is_good && analysis_module_space_at(subject.core, at, &space); at++)
        is_good = space_rows(module, subject.core, &space, format, module->is_first && at == 0, out);
    subjects_close(&subject);
    return is_good;
}

static bool module_csv(const struct export_module *module, struct buf *out) { return module_rows(module, "csv", out); }
static bool module_ndjson(const struct export_module *module, struct buf *out)
{
    return module_rows(module, "ndjson", out);
}

const struct export_form export_csv = {"csv", NULL, module_csv, NULL};
const struct export_form export_ndjson = {"ndjson", NULL, module_ndjson, NULL};
