/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/confirmation.h"

#include "base/size_text.h"

#include <string.h>

static bool is_answered(const struct confirmation_compile *compile)
{
    return compile->status != NULL && (compile->has_figures || compile->needed_bytes > 0);
}

int64_t confirmation_needed_bytes(const struct confirmation_compile *compile)
{
    if (!is_answered(compile))
        return -1;
    return compile->has_figures ? confirmed_total_bytes(&compile->figures) : compile->needed_bytes;
}

static bool is_same(const struct confirmation *confirmation, struct buf *sentence)
{
    return confirmation->base.has_figures &&
           confirmed_is_same(&confirmation->dump, &confirmation->base.figures, confirmation->dump_build,
                             confirmation->compiler_build, confirmation->is_gpu, sentence);
}

static bool is_refuted(const struct confirmation *confirmation)
{
    const struct confirmation_compile *changed = &confirmation->changed;
    int64_t predicted = confirmation->predicted_bytes;
    if (predicted < 0)
        return false;
    return confirmed_is_refuted(confirmed_total_bytes(&confirmation->dump) - predicted,
                                confirmation_needed_bytes(&confirmation->base) - confirmation_needed_bytes(changed),
                                predicted <= changed->available_bytes, changed->does_fit);
}

enum confirmation_state confirmation_state(const struct confirmation *confirmation)
{
    struct buf unsaid = BUF_INIT;
    bool is_good = is_same(confirmation, &unsaid);
    buf_free(&unsaid);
    if (confirmation->obstacle != NULL || !is_answered(&confirmation->base) || !is_answered(&confirmation->changed))
        return CONFIRMATION_UNANSWERED;
    if (!is_good)
        return CONFIRMATION_DIFFERENT;
    if (confirmation->partial != NULL)
        return CONFIRMATION_PARTIAL;
    return is_refuted(confirmation) ? CONFIRMATION_REFUTED : CONFIRMATION_CONFIRMED;
}

bool confirmation_is_of_dump(const struct confirmation *confirmation)
{
    enum confirmation_state state = confirmation_state(confirmation);
    return state == CONFIRMATION_CONFIRMED || state == CONFIRMATION_REFUTED;
}

const char *confirmation_state_name(enum confirmation_state state)
{
    static const char *const names[] = {"confirmed", "refuted", "partial", "different", "unanswered"};
    return names[state];
}

/* ---- sentences ---- */

/* " (predicted: 4.00 GiB)". */
static void put_prediction(struct buf *out, const struct confirmation *confirmation)
{
    char predicted[SIZE_TEXT_BYTES];
    if (confirmation->predicted_bytes >= 0)
        buf_format(out, " (predicted: %s)", size_text(predicted, (uint64_t)confirmation->predicted_bytes));
}

/* What the figures are not of: what was asked for and could not follow; and the slice, where it is another one. */
static void put_limits(struct buf *out, const struct confirmation *confirmation)
{
    const char *before = confirmation->base.topology, *after = confirmation->changed.topology;
    char count[COUNT_TEXT_BYTES];
    bool is_one = confirmation->left_count == 1;
    if (confirmation->left_count > 0)
        buf_format(out, " %s argument%s or layer%s that %s asked for stay%s as %s.",
                   size_text_count(count, confirmation->left_count), is_one ? "" : "s", is_one ? "" : "s",
                   is_one ? "was" : "were", is_one ? "s" : "", is_one ? "it is" : "they are");
    if (before == NULL || after == NULL || strcmp(before, after) == 0)
        return;
    buf_text(out, " The changed program was compiled for ");
    buf_printable(out, str_of(after));
    buf_text(out, ", which has the chips that it is split over.");
}

static void put_figures(struct buf *out, const struct confirmation *confirmation)
{
    char before[SIZE_TEXT_BYTES], after[SIZE_TEXT_BYTES], difference[SIZE_TEXT_BYTES];
    int64_t base = confirmation_needed_bytes(&confirmation->base),
            changed = confirmation_needed_bytes(&confirmation->changed), saving = base - changed;
    buf_format(out, "%s becomes %s", size_text(before, (uint64_t)base), size_text(after, (uint64_t)changed));
    put_prediction(out, confirmation);
    buf_format(out, ", which %s %s", saving < 0 ? "costs" : "saves",
               size_text(difference, (uint64_t)(saving < 0 ? -saving : saving)));
    buf_text(out, confirmation->changed.does_fit ? "." : "; that does not fit this chip.");
    put_limits(out, confirmation);
}

/* Of GPUs: what the device may choose otherwise; how much that was for the unchanged program. */
static void put_autotuning(struct buf *out, const struct confirmation *confirmation)
{
    char text[COUNT_TEXT_BYTES];
    int64_t more = confirmation->base.figures.temporary_bytes - confirmation->dump.temporary_bytes;
    if (!confirmation->is_gpu)
        return;
    buf_text(out, " Compiled without a GPU, so kernels were not autotuned: on the device the temporaries may differ");
    if (more == 0)
        buf_text(out, " (unchanged: not by a byte).");
    else
        buf_format(out, " (unchanged: %s B %s here).", size_text_count(text, (uint64_t)(more < 0 ? -more : more)),
                   more < 0 ? "less" : "more");
}

void confirmation_sentence(const struct confirmation *confirmation, struct buf *out)
{
    const struct confirmation_compile *failed =
        is_answered(&confirmation->base) ? &confirmation->changed : &confirmation->base;
    enum confirmation_state state = confirmation_state(confirmation);
    switch (state) {
    case CONFIRMATION_CONFIRMED:
    case CONFIRMATION_REFUTED:
        buf_format(out, "%s by the compiler: ", state == CONFIRMATION_CONFIRMED ? "Confirmed" : "Refuted");
        put_figures(out, confirmation);
        put_autotuning(out, confirmation);
        return;
    case CONFIRMATION_PARTIAL:
        buf_format(out, "Not confirmed: what was compiled is not surely the printed change, because %s. As compiled, ",
                   confirmation->partial);
        put_figures(out, confirmation);
        put_autotuning(out, confirmation);
        return;
    case CONFIRMATION_DIFFERENT:
        if (confirmation->base.has_figures)
            is_same(confirmation, out);
        else
            buf_text(out, "Not confirmed: of the unchanged program the compiler tells only that it does not fit.");
        buf_text(out, " By this compiler ");
        put_figures(out, confirmation);
        return;
    case CONFIRMATION_UNANSWERED: break;
    }
    buf_text(out, "Not confirmed; the prediction remains. ");
    if (confirmation->obstacle != NULL) {
        buf_printable(out, str_of(confirmation->obstacle));
    } else if (failed->sentence != NULL) {
        buf_format(out, "The %s program: ", failed == &confirmation->base ? "unchanged" : "changed");
        buf_printable(out, str_of(failed->sentence));
    } else {
        buf_text(out, "The compiler was not asked.");
    }
}

/* ---- JSON ---- */

static void compile_write(struct json *json, const char *key, const struct confirmation_compile *compile)
{
    if (!json_key_object_if(json, key, compile->status != NULL))
        return;
    json_key_text(json, "status", compile->status);
    json_key_text(json, "sentence", compile->sentence);
    json_key_text(json, "topology", compile->topology);
    json_key_known(json, "total_bytes", confirmation_needed_bytes(compile));
    json_key_known(json, "peak_bytes", compile->peak_bytes);
    json_key_known(json, "argument_bytes", compile->has_figures ? compile->figures.argument_bytes : -1);
    json_key_known(json, "output_bytes", compile->has_figures ? compile->figures.output_bytes : -1);
    json_key_known(json, "alias_bytes", compile->has_figures ? compile->figures.alias_bytes : -1);
    json_key_known(json, "temporary_bytes", compile->has_figures ? compile->figures.temporary_bytes : -1);
    json_key_int(json, "took_ms", compile->took_ms);
    json_key_uint(json, "resident_bytes", compile->resident_bytes);
    json_object_end(json);
}

/* The word for what is in the way; "done" where nothing is. */
static const char *status_of(const struct confirmation *confirmation)
{
    if (confirmation->obstacle != NULL)
        return confirmation->obstacle_status;
    if (!is_answered(&confirmation->base) && confirmation->base.status != NULL)
        return confirmation->base.status;
    return confirmation->changed.status != NULL ? confirmation->changed.status : "cannot_start";
}

void confirmation_write(const struct confirmation *confirmation, struct json *json)
{
    struct buf sentence = BUF_INIT;
    enum confirmation_state state = confirmation_state(confirmation);
    int64_t before = confirmation_needed_bytes(&confirmation->base),
            after = confirmation_needed_bytes(&confirmation->changed);
    confirmation_sentence(confirmation, &sentence);
    json_object_begin(json);
    json_key_text(json, "state", confirmation_state_name(state));
    json_key_text(json, "status", status_of(confirmation));
    json_key_string(json, "sentence", (struct str){sentence.data, sentence.length});
    json_key_known(json, "total_bytes_before", before);
    json_key_known(json, "total_bytes_after", after);
    json_key_known(json, "peak_bytes_before", confirmation->base.status != NULL ? confirmation->base.peak_bytes : -1);
    json_key_known(json, "peak_bytes_after",
                   confirmation->changed.status != NULL ? confirmation->changed.peak_bytes : -1);
    if (before >= 0 && after >= 0)
        json_key_int(json, "saving_bytes", before - after);
    if (is_answered(&confirmation->changed))
        json_key_bool(json, "fits", confirmation->changed.does_fit);
    json_key_known(json, "predicted_total_bytes", confirmation->predicted_bytes);
    json_key_known(json, "dump_total_bytes", confirmed_total_bytes(&confirmation->dump));
    json_key_known(json, "dump_peak_bytes", confirmation->dump_peak_bytes);
    json_key_uint(json, "changed_count", confirmation->changed_count);
    json_key_uint(json, "left_count", confirmation->left_count);
    json_key_text(json, "partial", confirmation->partial);
    compile_write(json, "base", &confirmation->base);
    compile_write(json, "changed", &confirmation->changed);
    json_key_text(json, "compiler", confirmation->compiler);
    json_key_text(json, "compiler_version", confirmation->compiler_version);
    json_key_text(json, "libtpu_version", confirmation->is_gpu ? NULL : confirmation->compiler_version);
    json_key_text(json, "topology", confirmation->topology);
    json_key_text(json, "topology_source", confirmation->topology_source);
    json_key_text(json, "plan", confirmation->plan);
    json_object_end(json);
    buf_free(&sentence);
}

/* ---- text ---- */

static void compile_text(struct buf *out, const char *which, const struct confirmation_compile *compile)
{
    char total[SIZE_TEXT_BYTES];
    if (!is_answered(compile))
        return;
    buf_format(out, "      %s: %s in %lld.%lld s\n", which,
               size_text(total, (uint64_t)confirmation_needed_bytes(compile)), (long long)compile->took_ms / 1000,
               (long long)compile->took_ms / 100 % 10);
}

/* Names of folders and of what lies there are somebody else's: they move no terminal's cursor. */
static void named_text(struct buf *out, const char *words, const char *name, const char *more, const char *other)
{
    buf_format(out, "      %s ", words);
    buf_printable(out, str_of(name));
    if (more != NULL) {
        buf_format(out, " %s ", more);
        buf_printable(out, str_of(other));
    }
    buf_char(out, '\n');
}

void confirmation_text(const struct confirmation *confirmation, struct buf *out)
{
    buf_text(out, "  ");
    confirmation_sentence(confirmation, out);
    buf_char(out, '\n');
    if (confirmation->compiler_version != NULL && confirmation->topology != NULL && confirmation->base.status != NULL)
        named_text(out, confirmation->is_gpu ? "by the CUDA plug-in" : "by libtpu", confirmation->compiler_version,
                   "for", confirmation->topology);
    compile_text(out, "unchanged", &confirmation->base);
    compile_text(out, "changed", &confirmation->changed);
    if (confirmation->plan != NULL)
        named_text(out, "its plan:", confirmation->plan, NULL, NULL);
}
