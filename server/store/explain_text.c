/* SPDX-License-Identifier: Apache-2.0
 * explain_text.c: see explain.h. Names come from a log: what would move a terminal's
 * cursor is escaped. */
#include "server/store/explain.h"

#include "base/size_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 10 };

static const cJSON *value_of(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *value = value_of(object, key);
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

/* -1 when it is not known. */
static double number_of(const cJSON *object, const char *key)
{
    const cJSON *value = value_of(object, key);
    return cJSON_IsNumber(value) ? value->valuedouble : -1;
}

/* UTF-8 stays; bytes below a space and DEL become '?'. */
static void print_safe(const char *text, size_t most)
{
    size_t length = strlen(text);
    for (size_t at = 0; at < length && at < most; at++)
        putchar((unsigned char)text[at] < ' ' || text[at] == 0x7f ? '?' : text[at]);
    if (length > most)
        printf("…");
}

static void print_size(const char *what, double bytes)
{
    char size[SIZE_TEXT_BYTES];
    if (bytes >= 0)
        printf("  %-26s %12s\n", what, size_text_rounded(size, bytes, 2));
}

static const char *family_title(const char *family)
{
    static const struct {
        const char *family, *title;
    } titles[] = {{"tpu_compile", "TPU compiler: the program does not fit"},
                  {"tpu_program_load", "TPU runtime: no place to load the program"},
                  {"tpu_buffer", "TPU runtime: no place for a buffer"},
                  {"gpu_xla", "GPU: no memory for a buffer of the program"},
                  {"gpu_bfc", "GPU: the BFC allocator has no chunk for a request"},
                  {"cpu_alloc", "host memory: no place for a buffer"}};
    for (size_t at = 0; family && at < sizeof(titles) / sizeof(titles[0]); at++) {
        if (strcmp(family, titles[at].family) == 0)
            return titles[at].title;
    }
    return "out of memory";
}

static void print_word(const char *what, const char *text)
{
    if (!text)
        return;
    printf("  %-26s ", what);
    print_safe(text, 120);
    putchar('\n');
}

static void print_title(const cJSON *failure)
{
    double replicas = number_of(failure, "replicas");
    const char *code = text_of(failure, "error_code");
    printf("%s", family_title(text_of(failure, "family")));
    if (code) {
        printf(" (");
        print_safe(code, 8);
        putchar(')');
    }
    if (replicas > 1)
        printf(", %.0f times", replicas);
    putchar('\n');
    print_word("program", text_of(failure, "module"));
    print_word("memory", text_of(failure, "memory_space"));
    print_word("device", text_of(failure, "device"));
}

/* What is missing: as printed, or the difference of what is. */
static double missing_of(const cJSON *failure)
{
    static const char *const limits[] = {"capacity_bytes", "largest_free_bytes", "available_bytes", "free_bytes"};
    double exceeded = number_of(failure, "exceeded_bytes"), needed = number_of(failure, "needed_bytes");
    bool is_compile = text_of(failure, "phase") && strcmp(text_of(failure, "phase"), "compile") == 0;
    for (size_t at = is_compile ? 0 : 1; exceeded < 0 && needed >= 0 && at < sizeof(limits) / sizeof(limits[0]); at++) {
        double limit = number_of(failure, limits[at]);
        if (limit >= 0)
            exceeded = needed > limit ? needed - limit : -1;
        if (limit >= 0)
            break;
    }
    return exceeded;
}

static void print_figures(const cJSON *failure)
{
    static const struct {
        const char *key, *title;
    } parts[] = {{"program_bytes", "program"},   {"arguments_bytes", "arguments"},
                 {"output_bytes", "output"},     {"shared_bytes", "output in arguments"},
                 {"reserved_bytes", "reserved"}, {"fragmentation_bytes", "fragmentation"},
                 {"total_bytes", "in all"}};
    print_size("asked for", number_of(failure, "needed_bytes"));
    print_size("there was", number_of(failure, "capacity_bytes"));
    print_size("could be reserved", number_of(failure, "available_bytes"));
    print_size("free", number_of(failure, "free_bytes"));
    print_size("largest free piece", number_of(failure, "largest_free_bytes"));
    print_size("over by", missing_of(failure));
    for (size_t at = 0; at < sizeof(parts) / sizeof(parts[0]); at++)
        print_size(parts[at].title, number_of(failure, parts[at].key));
}

/* Shortage or pieces: only where the text gives both. */
static void print_verdict(const cJSON *failure)
{
    double needed = number_of(failure, "needed_bytes"), free_bytes = number_of(failure, "free_bytes");
    double largest = number_of(failure, "largest_free_bytes");
    if (needed < 0 || free_bytes < 0)
        return;
    if (free_bytes >= needed && largest >= 0 && largest < needed)
        printf("  Enough is free, but not in one piece: the memory is fragmented.\n");
    else if (free_bytes < needed)
        printf("  Less is free than was asked for: memory is short, whatever its order.\n");
}

/* ---- buffers, folded by equal shape and line ---- */

struct row {
    const cJSON *buffer;
    size_t count;
    double size_bytes;
};

static bool is_same(const cJSON *a, const cJSON *b, const char *key)
{
    return cJSON_Compare(value_of(a, key), value_of(b, key), true);
}

static bool is_same_row(const cJSON *a, const cJSON *b)
{
    return is_same(a, b, "shape") && is_same(a, b, "size_bytes") && is_same(a, b, "source_file") &&
           is_same(a, b, "source_line") && is_same(a, b, "stack_frame_id") && is_same(a, b, "op_name");
}

static int by_size(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    double left = x->size_bytes * (double)x->count, right = y->size_bytes * (double)y->count;
    return left < right ? 1 : left > right ? -1 : 0;
}

static size_t fold(const cJSON *buffers, struct row *rows)
{
    size_t count = 0;
    const cJSON *buffer;
    cJSON_ArrayForEach(buffer, buffers)
    {
        size_t at = 0;
        while (at < count && !is_same_row(rows[at].buffer, buffer))
            at++;
        if (at == count)
            rows[count++] = (struct row){buffer, 0, number_of(buffer, "size_bytes")};
        rows[at].count++;
    }
    qsort(rows, count, sizeof(*rows), by_size);
    return count;
}

static void print_row(const struct row *row)
{
    char size[SIZE_TEXT_BYTES];
    const char *name = text_of(row->buffer, "op_name"), *file = text_of(row->buffer, "source_file");
    printf("  %12s", row->size_bytes >= 0 ? size_text_rounded(size, row->size_bytes, 2) : "?");
    if (row->count > 1)
        printf(" ×%-3zu ", row->count);
    else
        printf("      ");
    print_safe(text_of(row->buffer, "shape") ? text_of(row->buffer, "shape") : "", 80);
    if (!name)
        name = text_of(row->buffer, "label");
    printf("  ");
    print_safe(name ? name : "", 100);
    if (file) {
        printf("  ");
        print_safe(file, 100);
        printf(":%.0f", number_of(row->buffer, "source_line"));
    }
    putchar('\n');
}

static void print_buffers(const char *title, const cJSON *buffers)
{
    size_t total = (size_t)cJSON_GetArraySize(buffers);
    struct row *rows = total > 0 ? calloc(total, sizeof(*rows)) : NULL;
    if (!rows)
        return;
    size_t count = fold(buffers, rows);
    printf("%s\n", title);
    for (size_t at = 0; at < count && at < MOST_ROWS; at++)
        print_row(&rows[at]);
    if (count > MOST_ROWS)
        printf("  … and %zu more\n", count - MOST_ROWS);
    free(rows);
}

static void print_failure(const cJSON *failure)
{
    const cJSON *note;
    print_title(failure);
    print_figures(failure);
    print_verdict(failure);
    print_buffers("Largest buffers", value_of(failure, "buffers"));
    print_buffers("Largest arguments and outputs", value_of(failure, "io_buffers"));
    cJSON_ArrayForEach(note, value_of(failure, "notes"))
    {
        printf("Note: %s\n", text_of(note, "text") ? text_of(note, "text") : "");
    }
    printf("Next\n");
    for (const char *const *step = explain_next_steps(failure); *step; step++)
        printf("  %s\n", *step);
}

void explain_text(const struct explain_log *log)
{
    const cJSON *failure;
    size_t count = log->explanation.failure_count;
    print_safe(strcmp(log->name, "-") == 0 ? "standard input" : log->name, 400);
    if (count == 0 && log->explanation.report_line_count > 0)
        printf(": no failure here: reports of memory, and nothing that did not fit\n");
    else if (count == 0)
        printf(": not recognised\n");
    else
        printf(": %zu out-of-memory failure%s\n", count, count == 1 ? "" : "s");
    cJSON_ArrayForEach(failure, log->failures)
    {
        putchar('\n');
        print_failure(failure);
    }
    if (log->explanation.left_out_count > 0)
        printf("\n%llu further failures are not shown.\n", (unsigned long long)log->explanation.left_out_count);
}
