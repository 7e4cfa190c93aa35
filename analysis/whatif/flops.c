/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/flops.h"

#include "base/sum.h"
#include "read/hlo/hlo_attributes.h"

/* ---- how often computations run ---- */

/* The longest dimension that an instruction takes one of, or sets one of. */
static int64_t scanned_size(const struct dimensions *dimensions, uint32_t at)
{
    const struct graph *graph = dimensions->graph;
    if (graph_op(graph, at) != GRAPH_SLICE && graph_op(graph, at) != GRAPH_UPDATE) /* most are neither */
        return 0;
    struct str opcode = hlo_instruction_opcode(graph->hlo, at);
    bool is_update = str_equal(opcode, STR("dynamic-update-slice"));
    if (!is_update && !str_equal(opcode, STR("dynamic-slice")))
        return 0;
    uint32_t whole_at = graph_operand(graph, at, 0), part_at = is_update ? graph_operand(graph, at, 1) : at;
    int64_t longest = 0;
    for (uint32_t nth = 0; whole_at != HLO_NONE && part_at != HLO_NONE; nth++) {
        uint32_t whole = dimensions_of(dimensions, whole_at, nth), part = dimensions_of(dimensions, part_at, nth);
        if (whole == HLO_NONE || part == HLO_NONE)
            break;
        if (dimensions->leaves.sizes[part] == 1 && dimensions->leaves.sizes[whole] > longest)
            longest = dimensions->leaves.sizes[whole];
    }
    return longest;
}

void flops_build(const struct dimensions *dimensions, struct arena *arena, struct flops *out)
{
    const struct graph *graph = dimensions->graph;
    const struct hlo *hlo = graph->hlo;
    double *trips = arena_array(arena, double, (size_t)hlo->computation_count + 1);
    *out = (struct flops){dimensions, arena, arena_array(arena, double, (size_t)hlo->computation_count + 1)};
    for (uint32_t at = 0; at < hlo->instruction_count; at++) {
        int64_t size = scanned_size(dimensions, at);
        uint32_t body = size > 0 ? graph_loop_body_around(graph, at) : HLO_NONE;
        if (body != HLO_NONE && (double)size > trips[body])
            trips[body] = (double)size;
    }
    for (uint32_t i = hlo->computation_count; i-- > 0;) { /* callers come after what they call */
        uint32_t caller_at = graph->caller_of[i];
        double around = caller_at == HLO_NONE ? 1 : out->runs[hlo->instructions[caller_at].computation_at];
        out->runs[i] = (around > 0 ? around : 1) * (trips[i] > 1 ? trips[i] : 1);
    }
}

/* ---- one instruction ---- */

static double elements_of(const struct leaves *leaves, uint32_t at)
{
    const struct leaf *leaf = &leaves->items[leaves->first[at]];
    double elements = 1;
    for (uint32_t i = 0; i < leaf->rank; i++)
        elements *= (double)leaves->sizes[leaf->first + i];
    return elements;
}

static double size_at(const struct dimensions *dimensions, uint32_t at, int64_t nth)
{
    uint32_t dimension =
        at == HLO_NONE || nth < 0 || nth > SHAPE_RANK_MAX ? HLO_NONE : dimensions_of(dimensions, at, (uint32_t)nth);
    return dimension == HLO_NONE ? 1 : (double)dimensions->leaves.sizes[dimension];
}

/* Pairs of a place in the result and one in the window that meet an element of the operand, no padding and no hole of
 * its dilation: as XLA's cost analysis counts them. */
enum { PAIR_MAX = 1 << 20 };

static double pairs_of(const struct flops *flops, const struct hlo_window_dimension *window, double in_size,
                       double out_size)
{
    double count = 0, stride = window->stride > 0 ? (double)window->stride : 1;
    int64_t hole = window->base_dilation > 1 ? window->base_dilation : 1;
    if (out_size * (double)window->size > (double)PAIR_MAX || window->size < 0)
        return out_size * (double)window->size;
    arena_work(flops->arena, (uint64_t)(out_size * (double)window->size));
    for (double out = 0; out < out_size; out++)
        for (int64_t in_window = 0; in_window < window->size; in_window++) {
            double at = out * stride - (double)window->padding_low +
                        (double)in_window * (window->window_dilation > 1 ? (double)window->window_dilation : 1);
            double whole = at / (double)hole;
            count += at >= 0 && whole <= in_size - 1 && whole == (double)sum_of_real(whole);
        }
    return count;
}

static double flops_of_convolution(const struct flops *flops, uint32_t at, const struct hlo_attributes *attributes)
{
    const struct dimensions *dimensions = flops->dimensions;
    uint32_t lhs = graph_operand(dimensions->graph, at, 0), rhs = graph_operand(dimensions->graph, at, 1);
    const struct hlo_list *in = &attributes->convolution.input_spatial, *out = &attributes->convolution.output_spatial;
    double sum = 2 * elements_of(&dimensions->leaves, at) *
                 size_at(dimensions, rhs, attributes->convolution.kernel_input_feature);
    for (uint32_t i = 0; i < attributes->window_count && i < in->count && i < out->count; i++) {
        double out_size = size_at(dimensions, at, out->items[i]);
        sum *=
            out_size > 0
                ? pairs_of(flops, &attributes->window[i], size_at(dimensions, lhs, in->items[i]), out_size) / out_size
                : 0;
    }
    return sum;
}

double flops_of(const struct flops *flops, uint32_t at)
{
    const struct dimensions *dimensions = flops->dimensions;
    const struct graph *graph = dimensions->graph;
    struct hlo_attributes attributes;
    if (graph_op(graph, at) != GRAPH_DOT || leaves_count(&dimensions->leaves, at) != 1)
        return 0;
    double runs = flops->runs[graph->hlo->instructions[at].computation_at], summed = 1;
    hlo_attributes_read(hlo_instruction_bytes(graph->hlo, at), &attributes);
    if (str_equal(hlo_instruction_opcode(graph->hlo, at), STR("convolution")))
        return runs * flops_of_convolution(flops, at, &attributes);
    for (uint32_t i = 0; i < attributes.dot.lhs_contracting.count; i++)
        summed *= size_at(dimensions, graph_operand(graph, at, 0), attributes.dot.lhs_contracting.items[i]);
    return 2 * elements_of(&dimensions->leaves, at) * summed * runs;
}
