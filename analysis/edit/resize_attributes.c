/* SPDX-License-Identifier: Apache-2.0
 * Sizes that instructions name beside their shapes. A part of a dimension (slice, pad) is either all of it but a fixed
 * rest (all tokens but the last) or a fixed share (the queries of queries, keys and values): the one that gives the new
 * size is it. */
#include "edit/resize.h"
#include "edit/shapes.h"

/* `value` × to / from; false where that is no whole number. */
static bool scale(int64_t *value, int64_t from, int64_t to)
{
    int64_t product;
    if (from <= 0 || __builtin_mul_overflow(*value, to, &product) || product % from != 0)
        return false;
    *value = product / from;
    return true;
}

static int64_t slice_size(const Xla__HloInstructionProto__SliceDimensions *slice)
{
    int64_t length = slice->limit - slice->start;
    return slice->stride < 1 || length < 0 ? -1 : length / slice->stride + (length % slice->stride > 0);
}

static bool slice_dimension(Xla__HloInstructionProto__SliceDimensions *slice, int64_t old_operand, int64_t operand,
                            int64_t wanted)
{
    const int64_t start = slice->start, limit = slice->limit;
    if (operand == old_operand)
        return slice_size(slice) == wanted;
    if (scale(&slice->start, old_operand, operand) && scale(&slice->limit, old_operand, operand) &&
        slice_size(slice) == wanted)
        return true;
    slice->start = start;
    slice->limit = limit + operand - old_operand;
    if (slice->limit <= operand && slice_size(slice) == wanted)
        return true;
    slice->limit = limit; /* the part before what changed */
    return slice->limit <= operand && slice_size(slice) == wanted;
}

static const char *resize_attributes_slice(const struct resize_asked *asked)
{
    for (size_t i = 0; i < asked->instruction->n_slice_dimensions; i++)
        if (!slice_dimension(asked->instruction->slice_dimensions[i], asked->old_operand->dimensions[i],
                             asked->operand->dimensions[i], asked->shape->dimensions[i]))
            return "what it cuts out of the new size is not known";
    return NULL;
}

static bool is_padded(const Xla__PaddingConfig__PaddingConfigDimension *pad, int64_t from, int64_t to)
{
    __int128 gaps = from > 0 ? from - 1 : 0;
    return (__int128)from + pad->edge_padding_low + pad->edge_padding_high + gaps * pad->interior_padding == to;
}

static bool pad_dimension(Xla__PaddingConfig__PaddingConfigDimension *pad, int64_t old_size, int64_t from, int64_t to)
{
    const int64_t low = pad->edge_padding_low, high = pad->edge_padding_high;
    if (is_padded(pad, from, to))
        return true;
    if (scale(&pad->edge_padding_low, old_size, to) && scale(&pad->edge_padding_high, old_size, to) &&
        is_padded(pad, from, to))
        return true;
    pad->edge_padding_low = low;
    pad->edge_padding_high = high;
    return false;
}

static const char *resize_attributes_pad(const struct resize_asked *asked)
{
    const Xla__PaddingConfig *config = asked->instruction->padding_config;
    for (size_t i = 0; i < config->n_dimensions; i++)
        if (!pad_dimension(config->dimensions[i], asked->old_shape->dimensions[i], asked->operand->dimensions[i],
                           asked->shape->dimensions[i]))
            return "what it pads to the new size is not known";
    return NULL;
}

static const char *dynamic_slice(const struct resize_asked *asked)
{
    memcpy(asked->instruction->dynamic_slice_sizes, asked->shape->dimensions,
           asked->shape->n_dimensions * sizeof *asked->shape->dimensions);
    return NULL;
}

static bool is_in(const int64_t *list, size_t count, size_t wanted)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == (int64_t)wanted)
            return true;
    return false;
}

/* A slice has the sizes that it has in the result. */
static const char *resize_attributes_gather(const struct resize_asked *asked)
{
    const Xla__GatherDimensionNumbers *by = asked->instruction->gather_dimension_numbers;
    size_t at = 0;
    for (size_t i = 0; i < asked->shape->n_dimensions; i++) {
        if (!is_in(by->offset_dims, by->n_offset_dims, i))
            continue;
        while (is_in(by->collapsed_slice_dims, by->n_collapsed_slice_dims, at) ||
               is_in(by->operand_batching_dims, by->n_operand_batching_dims, at))
            at++;
        if (at >= asked->instruction->n_gather_slice_sizes)
            return "its slices have other dimensions than its result";
        asked->instruction->gather_slice_sizes[at++] = asked->shape->dimensions[i];
    }
    return NULL;
}

/* A window as long as the dimension goes on being so: sums over all that came before are such. */
static const char *reduce_window(const struct resize_asked *asked)
{
    const Xla__Window *window = asked->instruction->window;
    if (shapes_is_tuple(asked->shape))
        return "windows over several arrays cannot be resized";
    for (size_t i = 0; i < window->n_dimensions; i++) {
        Xla__WindowDimension *along = window->dimensions[i];
        int64_t from = asked->old_operand->dimensions[i], to = asked->operand->dimensions[i];
        if (from == to || along->size != from)
            continue;
        along->size = to;
        along->padding_low = along->padding_low == from - 1 ? to - 1 : along->padding_low;
        along->padding_high = along->padding_high == from - 1 ? to - 1 : along->padding_high;
    }
    return NULL;
}

/* The window of a convolution is as large as its kernel, the second operand: the verifier checks that. A custom call's
 * code was made for its shapes. */
static const char *fixed(const struct resize_asked *asked)
{
    static const char *const free_targets[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                               "annotate_device_placement", "xla.sdy.FuncResultSharding"};
    for (size_t i = 0; i < sizeof free_targets / sizeof *free_targets; i++)
        if (strcmp(asked->instruction->custom_call_target, free_targets[i]) == 0)
            return NULL;
    return "a kernel is made for its sizes, and cannot be resized from outside";
}

static const struct {
    const char *opcode;
    const char *(*rule)(const struct resize_asked *asked);
} rules[] = {
    {"slice", resize_attributes_slice},   {"pad", resize_attributes_pad}, {"dynamic-slice", dynamic_slice},
    {"gather", resize_attributes_gather}, {"custom-call", fixed},         {"fft", fixed},
    {"reduce-window", reduce_window},
};

const char *resize_attributes(const struct resize_asked *asked)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (program_is(asked->instruction, rules[i].opcode))
            return rules[i].rule(asked);
    return NULL;
}
