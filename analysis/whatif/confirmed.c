/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/confirmed.h"

#include "base/size_text.h"
#include "base/sum.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 16384 };

struct confirmed_figures confirmed_of_assignment(int64_t parameter_bytes, int64_t output_bytes,
                                                 int64_t output_reused_bytes, int64_t temporary_bytes)
{
    int64_t pages = temporary_bytes / PAGE_BYTES + (temporary_bytes % PAGE_BYTES > 0);
    return (struct confirmed_figures){parameter_bytes, output_bytes, output_reused_bytes,
                                      pages > INT64_MAX / PAGE_BYTES ? INT64_MAX : pages * PAGE_BYTES};
}

int64_t confirmed_total_bytes(const struct confirmed_figures *figures)
{
    int64_t sum = sum_add(sum_add(figures->argument_bytes, figures->output_bytes), figures->temporary_bytes);
    return figures->alias_bytes < sum ? sum - figures->alias_bytes : 0;
}

struct figure {
    const char *name;
    int64_t dump_bytes, compiled_bytes;
};

/* "; arguments 1,024 B more". */
static void put_difference(struct buf *out, const struct figure *figure)
{
    char text[COUNT_TEXT_BYTES];
    bool is_more = figure->compiled_bytes > figure->dump_bytes;
    uint64_t bytes = is_more ? (uint64_t)figure->compiled_bytes - (uint64_t)figure->dump_bytes
                             : (uint64_t)figure->dump_bytes - (uint64_t)figure->compiled_bytes;
    if (bytes > 0)
        buf_format(out, "; %s %s B %s", figure->name, size_text_count(text, bytes), is_more ? "more" : "less");
}

/* All else is the same, and temporaries nearly so. */
static bool is_of_autotuning(const struct confirmed_figures *dump, const struct confirmed_figures *compiled)
{
    int64_t more = compiled->temporary_bytes - dump->temporary_bytes; /* neither is below 0 */
    return dump->argument_bytes == compiled->argument_bytes && dump->output_bytes == compiled->output_bytes &&
           dump->alias_bytes == compiled->alias_bytes &&
           (more < 0 ? -more : more) <= confirmed_total_bytes(dump) / CONFIRMED_GPU_SHARE;
}

bool confirmed_is_same(const struct confirmed_figures *dump, const struct confirmed_figures *compiled,
                       uint64_t dump_build, uint64_t compiler_build, bool is_gpu, struct buf *sentence)
{
    const struct figure figures[] = {
        {"arguments", dump->argument_bytes, compiled->argument_bytes},
        {"outputs", dump->output_bytes, compiled->output_bytes},
        {"aliased", dump->alias_bytes, compiled->alias_bytes},
        {"temporaries", dump->temporary_bytes, compiled->temporary_bytes},
    };
    const struct figure total = {"in all", confirmed_total_bytes(dump), confirmed_total_bytes(compiled)};
    struct buf differences = BUF_INIT;
    for (size_t at = 0; at < sizeof(figures) / sizeof(figures[0]); at++)
        put_difference(&differences, &figures[at]);
    bool is_same = differences.length == 0 && !differences.failed;
    if (is_same) {
        buf_text(sentence, "The unchanged program compiles to the figures of the dump, byte for byte.");
    } else if (is_gpu && is_of_autotuning(dump, compiled)) {
        is_same = true;
        buf_text(sentence,
                 "The unchanged program compiles to the figures of the dump, but for what autotuning chooses");
        buf_add(sentence, differences.data, differences.length);
        buf_char(sentence, '.');
    } else {
        buf_text(sentence, "Not confirmed: the unchanged program compiles to other figures than those of the dump");
        buf_add(sentence, differences.data, differences.length);
        put_difference(sentence, &total);
        if (dump_build > 0 && compiler_build > 0 && dump_build != compiler_build)
            buf_format(sentence, " (dump of libtpu cl/%llu, compiled by cl/%llu)", (unsigned long long)dump_build,
                       (unsigned long long)compiler_build);
        buf_text(sentence, is_gpu
                               ? " (compiled without a GPU, so nothing was autotuned; another release of XLA, or other "
                                 "flags, differ as well)."
                               : ".");
    }
    buf_free(&differences);
    return is_same;
}

bool confirmed_is_refuted(int64_t predicted_saving_bytes, int64_t saving_bytes, bool was_to_fit, bool does_fit)
{
    return (predicted_saving_bytes > PAGE_BYTES && saving_bytes <= predicted_saving_bytes / 2) ||
           (was_to_fit && !does_fit);
}

uint64_t confirmed_build(const char *text)
{
    for (const char *at = text; (at = strstr(at, "cl")) != NULL; at += 2)
        if ((at[2] == '_' || at[2] == '/') && at[3] >= '0' && at[3] <= '9')
            return strtoull(at + 3, NULL, 10);
    return 0;
}
