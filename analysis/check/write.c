/* SPDX-License-Identifier: Apache-2.0
 * write.c: see write.h. */
#include "check/write.h"

#include "base/json.h"
#include "base/markdown.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "base/size_text.h"
#include "plan/describe.h"

enum { PPM_PER_PERCENT = 10000 };

static void sentence_into(const struct check_report *report, struct buf *text)
{
    text->length = 0;
    check_sentence(report, text);
}

/* "17.50 GiB of HBM, 9.39 GiB in the baseline" */
static void say_figures(const struct check_module *module, struct buf *out)
{
    char size[SIZE_TEXT_BYTES];
    buf_format(out, "%s of %s", size_text(size, (uint64_t)module->total_bytes), module->space_name);
    if (module->baseline_bytes >= 0)
        buf_format(out, ", %s in the baseline", size_text(size, (uint64_t)module->baseline_bytes));
}

/* ---- text ---- */

/* Runners of workflows read what is printed for commands: GitHub takes a line that begins with "::" behind blanks for
 * one, and "##[" anywhere, Azure "##vso[" anywhere, TeamCity "##teamcity[". So those beginnings are escaped, too. */
static void say_text(struct buf *out, struct str text)
{
    size_t from = 0, blanks = 0;
    while (blanks < text.length && text.data[blanks] == ' ')
        blanks++;
    for (size_t at = 0; at + 1 < text.length; at++) {
        bool is_command =
            text.data[at] == text.data[at + 1] && (text.data[at] == '#' || (text.data[at] == ':' && at == blanks));
        if (!is_command)
            continue;
        buf_printable(out, (struct str){text.data + from, at - from});
        buf_format(out, "\\u%04x", (unsigned)text.data[at]);
        from = at + 1;
    }
    buf_printable(out, (struct str){text.data + from, text.length - from});
}

static void write_text(const struct check_report *report, struct buf *out, struct buf *scratch)
{
    sentence_into(report, scratch);
    say_text(out, describe_str(scratch));
    buf_char(out, '\n');
    for (size_t i = 0; i < report->count; i++) {
        const struct check_module *module = &report->modules[i];
        buf_char(out, '\n');
        say_text(out, str_of(module->name));
        buf_text(out, "  ");
        if (module->fault != NULL) {
            buf_text(out, "not checked: ");
            struct str file = str_last_part(str_of(module->file != NULL ? module->file : ""));
            say_text(out, file);
            buf_text(out, file.length > 0 ? ": " : "");
            say_text(out, str_of(module->fault));
        } else {
            say_figures(module, out);
        }
        buf_char(out, '\n');
        for (uint32_t at = 0; at < module->finding_count; at++) {
            buf_format(out, "  %s: ", check_rule_words(module->findings[at].rule));
            say_text(out, str_of(module->findings[at].sentence));
            buf_char(out, '\n');
        }
    }
}

/* ---- JSON ---- */

static void json_finding(struct json *json, const struct check_finding *finding)
{
    json_object_begin(json);
    json_key_text(json, "rule", check_rule_name(finding->rule));
    json_key_text(json, "sentence", finding->sentence);
    json_key_int(json, "bytes", finding->bytes);
    json_key_uint(json, "count", finding->count);
    if (json_key_object_if(json, "source", finding->source_file != NULL)) {
        json_key_text(json, "file", finding->source_file);
        json_key_int(json, "line", finding->source_line);
        json_object_end(json);
    }
    json_object_end(json);
}

static void json_module(struct json *json, const struct check_module *module)
{
    json_object_begin(json);
    json_key_text(json, "file", module->file);
    json_key_text(json, "module", module->name);
    json_key_text(json, "fault", module->fault);
    json_key_text(json, "space_name", module->space_name);
    json_key_known(json, "total_bytes", module->fault == NULL ? module->total_bytes : -1);
    if (module->fit != NULL)
        memory_fit_write(json, "fit", module->fit);
    else
        json_key_null(json, "fit");
    json_key_known(json, "baseline_bytes", module->baseline_bytes);
    json_key_array(json, "findings");
    for (uint32_t at = 0; at < module->finding_count; at++)
        json_finding(json, &module->findings[at]);
    json_array_end(json);
    json_object_end(json);
}

static void write_json(const struct check_report *report, struct buf *out, struct buf *scratch)
{
    struct json json = JSON_INIT(out);
    sentence_into(report, scratch);
    json_object_begin(&json);
    json_key_string(&json, "sentence", describe_str(scratch));
    json_key_uint(&json, "finding_count", report->finding_count);
    json_key_uint(&json, "fault_count", report->fault_count);
    json_key_known(&json, "max_total_bytes", report->limits.max_total_bytes);
    json_key(&json, "tolerance_percent");
    if (report->limits.has_baseline)
        json_double(&json, (double)report->limits.tolerance_ppm / (double)PPM_PER_PERCENT);
    else
        json_null(&json);
    json_key_array(&json, "modules");
    for (size_t i = 0; i < report->count; i++)
        json_module(&json, &report->modules[i]);
    json_array_end(&json);
    json_object_end(&json);
    buf_char(out, '\n');
}

/* ---- JUnit ---- */

/* Text of an XML attribute or element: only characters that XML 1.0 has. */
static void xml_text(struct buf *out, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        static const struct {
            char c;
            const char *as;
        } names[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\n', "&#10;"}};
        size_t length = str_utf8_length(text, left);
        const char *as = length == 0 ? "\xEF\xBF\xBD" : NULL;
        char escape[PRINTABLE_ESCAPE_SIZE];
        if (length > 0 && printable_run((struct str){text, length}, PRINTABLE_WORDS) == 0) {
            printable_escape((struct str){text, length}, escape);
            as = escape;
        }
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            as = *text == names[i].c ? names[i].as : as;
        if (length == 3 && memcmp(text, "\xEF\xBF", 2) == 0 && (unsigned char)text[2] >= 0xBE)
            as = "\xEF\xBF\xBD"; /* U+FFFE, U+FFFF */
        length += length == 0;
        if (as != NULL)
            buf_text(out, as);
        else
            buf_add(out, text, length);
        text += length;
        left -= length;
    }
}

static void xml_attribute(struct buf *out, const char *name, const char *text)
{
    buf_format(out, " %s=\"", name);
    xml_text(out, text);
    buf_char(out, '"');
}

static const struct check_finding *finding_of(const struct check_module *module, enum check_rule rule)
{
    for (uint32_t at = 0; at < module->finding_count; at++)
        if (module->findings[at].rule == rule)
            return &module->findings[at];
    return NULL;
}

static void junit_case(struct buf *out, const struct check_module *module, const char *what, const char *element,
                       const char *type, const char *message)
{
    buf_text(out, "    <testcase");
    xml_attribute(out, "classname", module->name);
    xml_attribute(out, "name", what);
    xml_attribute(out, "file", module->file);
    if (message == NULL) {
        buf_text(out, "/>\n");
        return;
    }
    buf_format(out, ">\n      <%s", element);
    xml_attribute(out, "type", type);
    xml_attribute(out, "message", message);
    buf_text(out, "/>\n    </testcase>\n");
}

/* One case for each rule that was looked at, so that a rule that holds is seen too. */
static void junit_module(const struct check_report *report, const struct check_module *module, struct buf *out)
{
    if (module->fault != NULL) {
        junit_case(out, module, "readable", "error", "not_checked", module->fault);
        return;
    }
    for (int i = 0; i < CHECK_RULE_COUNT; i++) {
        enum check_rule rule = (enum check_rule)i;
        const struct check_finding *finding = finding_of(module, rule);
        if (check_applies(&report->limits, module, rule))
            junit_case(out, module, check_rule_name(rule), "failure", check_rule_name(rule),
                       finding == NULL ? NULL : finding->sentence);
    }
}

static void write_junit(const struct check_report *report, struct buf *out, struct buf *scratch)
{
    size_t case_count = report->fault_count;
    (void)scratch;
    for (size_t i = 0; i < report->count; i++)
        for (int rule = 0; rule < CHECK_RULE_COUNT && report->modules[i].fault == NULL; rule++)
            case_count += check_applies(&report->limits, &report->modules[i], (enum check_rule)rule);
    buf_format(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
               "  <testsuite name=\"memviewd check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
               case_count, report->finding_count, report->fault_count);
    for (size_t i = 0; i < report->count; i++)
        junit_module(report, &report->modules[i], out);
    buf_text(out, "  </testsuite>\n</testsuites>\n");
}

/* ---- Markdown ---- */

static void write_markdown(const struct check_report *report, struct buf *out, struct buf *scratch)
{
    sentence_into(report, scratch);
    buf_text(out, "**Memory:** ");
    markdown_text(out, describe_str(scratch));
    buf_text(out, "\n\n| Module | Total | Baseline | Finding |\n|---|---:|---:|---|\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct check_module *module = &report->modules[i];
        char total[SIZE_TEXT_BYTES] = "", before[SIZE_TEXT_BYTES] = "";
        if (module->fault == NULL)
            size_text(total, (uint64_t)module->total_bytes);
        if (module->baseline_bytes >= 0)
            size_text(before, (uint64_t)module->baseline_bytes);
        buf_text(out, "| ");
        markdown_text(out, str_of(module->name));
        buf_format(out, " | %s | %s | ", total, before);
        if (module->fault != NULL)
            buf_text(out, "not checked: ");
        markdown_text(out, str_of(module->fault != NULL ? module->fault : ""));
        for (uint32_t at = 0; at < module->finding_count; at++) {
            buf_format(out, "%s**%s**: ", at == 0 ? "" : "<br>", check_rule_words(module->findings[at].rule));
            markdown_text(out, str_of(module->findings[at].sentence));
        }
        buf_text(out, " |\n");
    }
}

/* ---- GitHub ---- */

/* What a workflow command would take for its own: https://docs.github.com, "Workflow commands". */
static void github_text(struct buf *out, const char *text, bool is_property)
{
    for (struct str left = str_of(text); left.length > 0;) {
        char escape[PRINTABLE_ESCAPE_SIZE], c = left.data[0];
        size_t length = 1;
        if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','))) {
            buf_format(out, "%%%02X", (unsigned)c);
        } else if (printable_run(left, PRINTABLE_WORDS) > 0) {
            length = str_utf8_length(left.data, left.length);
            buf_add(out, left.data, length);
        } else {
            length = printable_escape(left, escape);
            buf_text(out, escape);
        }
        left = (struct str){left.data + length, left.length - length};
    }
}

static void github_error(struct buf *out, const char *file, int64_t line, const char *title, const char *name,
                         const char *sentence)
{
    buf_text(out, "::error file=");
    github_text(out, file, true);
    if (line > 0)
        buf_format(out, ",line=%lld", (long long)line);
    buf_format(out, ",title=memory%%3A %s (", title);
    github_text(out, name, true);
    buf_text(out, ")::");
    github_text(out, sentence, false);
    buf_char(out, '\n');
}

static void write_github(const struct check_report *report, struct buf *out, struct buf *scratch)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct check_module *module = &report->modules[i];
        if (module->fault != NULL)
            github_error(out, module->file, 0, "not checked", module->name, module->fault);
        for (uint32_t at = 0; at < module->finding_count; at++) {
            const struct check_finding *finding = &module->findings[at];
            bool has_source = finding->source_file != NULL;
            github_error(out, has_source ? finding->source_file : module->file, finding->source_line,
                         check_rule_words(finding->rule), module->name, finding->sentence);
        }
    }
    sentence_into(report, scratch);
    buf_char(scratch, '\0');
    buf_text(out, "::notice title=memory::");
    github_text(out, scratch->data == NULL ? "" : scratch->data, false);
    buf_char(out, '\n');
}

/* ---- all of them ---- */

bool write_format_find(const char *name, enum write_format *format, struct err *err)
{
    static const char *const names[] = {
#define FORMAT(constant, name) #name,
#include "check/formats.def"
#undef FORMAT
    };
    size_t chosen = WRITE_TEXT;
    if (!nearest_choose("format", "format", str_of(name), names, WRITE_FORMAT_COUNT, &chosen, err))
        return false;
    *format = (enum write_format)chosen;
    return true;
}

void write_report(const struct check_report *report, enum write_format format, struct buf *out)
{
    static void (*const writers[])(const struct check_report *report, struct buf *out, struct buf *scratch) = {
#define FORMAT(constant, name) write_##name,
#include "check/formats.def"
#undef FORMAT
    };
    struct buf scratch = BUF_INIT;
    writers[format](report, out, &scratch);
    buf_fail_with(out, &scratch);
    buf_free(&scratch);
}
