/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/equal.h"

static bool figures_agree(const struct oom_figure *a, const struct oom_figure *b)
{
    return !a->is_known || !b->is_known || a->value == b->value;
}

static bool words_agree(const struct oom_words *a, const struct oom_words *b)
{
    return a->text.data == NULL || b->text.data == NULL || str_equal(a->text, b->text);
}

/* Is one the beginning of the other? Spaces do not count: copies may be wrapped differently. */
static bool words_begin_alike(const struct oom_words *a, const struct oom_words *b)
{
    struct str x = a->text, y = b->text;
    for (size_t i = 0, j = 0; i < x.length && j < y.length; i++, j++) {
        while (i < x.length && x.data[i] == ' ')
            i++;
        while (j < y.length && y.data[j] == ' ')
            j++;
        if (i < x.length && j < y.length && x.data[i] != y.data[j])
            return false;
    }
    return true;
}

static bool buffers_agree(const struct oom_buffer *a, const struct oom_buffer *b)
{
    return figures_agree(&a->size, &b->size) && figures_agree(&a->unpadded, &b->unpadded) &&
           words_begin_alike(&a->shape, &b->shape) && words_begin_alike(&a->label, &b->label);
}

/* One list is the beginning of the other; the last entry of a cut one may be half. */
static bool lists_agree(const struct oom_buffers *a, const struct oom_buffers *b)
{
    size_t count = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < count; i++)
        if (!buffers_agree(&a->items[i], &b->items[i]))
            return false;
    return true;
}

bool oom_equal_failures(const struct oom_failure *a, const struct oom_failure *b)
{
    if (a->family != b->family || a->form != b->form || !words_agree(&a->error_code, &b->error_code) ||
        !words_agree(&a->memory_space, &b->memory_space) || !words_agree(&a->module, &b->module))
        return false;
    bool has_common = false;
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++) {
        if (!figures_agree(&a->figures[i], &b->figures[i]))
            return false;
        has_common |= a->figures[i].is_known && b->figures[i].is_known;
    }
    for (size_t i = 0; i < OOM_LIST_COUNT; i++)
        if (!lists_agree(&a->lists[i], &b->lists[i]))
            return false;
    if (!figures_agree(&a->asked_tokens, &b->asked_tokens) || !figures_agree(&a->held_tokens, &b->held_tokens))
        return false;
    return has_common || oom_equal_richness(a) == oom_equal_richness(b);
}

static bool is_request(uint64_t rounded, const struct oom_figure *needed)
{
    return rounded >= needed->value && rounded - needed->value < 1024;
}

bool oom_equal_requests(const struct oom_failure *a, uint64_t a_rounded, const struct oom_failure *b,
                        uint64_t b_rounded)
{
    const struct oom_figure *x = &a->figures[OOM_needed_bytes], *y = &b->figures[OOM_needed_bytes];
    bool is_gpu = (a->family == OOM_FAMILY_gpu_xla || a->family == OOM_FAMILY_gpu_bfc) &&
                  (b->family == OOM_FAMILY_gpu_xla || b->family == OOM_FAMILY_gpu_bfc);
    if (!is_gpu || !x->is_known || !y->is_known)
        return false;
    uint64_t apart = x->value > y->value ? x->value - y->value : y->value - x->value;
    return apart <= x->half_unit + y->half_unit || (a_rounded > 0 && is_request(a_rounded, y)) ||
           (b_rounded > 0 && is_request(b_rounded, x));
}

static size_t words_count(const struct oom_words *words) { return words->text.data != NULL; }

size_t oom_equal_richness(const struct oom_failure *failure)
{
    size_t count = words_count(&failure->error_code) + words_count(&failure->memory_space) +
                   words_count(&failure->module) + words_count(&failure->device);
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        count += failure->figures[i].is_known;
    for (size_t list = 0; list < OOM_LIST_COUNT; list++)
        for (size_t i = 0; i < failure->lists[list].count; i++) {
            const struct oom_buffer *buffer = &failure->lists[list].items[i];
            count += (size_t)1 + buffer->unpadded.is_known + buffer->padding.is_known + words_count(&buffer->shape) +
                     words_count(&buffer->op_name) + words_count(&buffer->label) +
                     words_count(&buffer->allocation_type);
        }
    return count;
}
