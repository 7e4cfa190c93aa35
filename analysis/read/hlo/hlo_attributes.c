/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_attributes.h"

#include "hlo.fields.h"
#include "wire/wire.h"

static void list_read(struct wire *wire, struct hlo_list *list, bool *is_cut)
{
    uint64_t value;
    for (size_t at = 0; wire_packed(wire, &at, &value);) {
        if (list->count < SHAPE_RANK_MAX)
            list->items[list->count++] = (int64_t)value;
        else
            *is_cut = true;
    }
}

static void window_read(struct wire window, struct hlo_attributes *out)
{
    while (wire_next(&window)) {
        if (window.number != WINDOW_DIMENSIONS)
            continue;
        if (out->window_count == SHAPE_RANK_MAX) {
            out->is_cut = true;
            return;
        }
        struct hlo_window_dimension *dimension = &out->window[out->window_count++];
        *dimension = (struct hlo_window_dimension){0};
        for (struct wire wire = wire_message(&window); wire_next(&wire);)
            switch (wire.number) {
            case WINDOW_DIMENSION_SIZE: dimension->size = wire_int(&wire); break;
            case WINDOW_DIMENSION_STRIDE: dimension->stride = wire_int(&wire); break;
            case WINDOW_DIMENSION_PADDING_LOW: dimension->padding_low = wire_int(&wire); break;
            case WINDOW_DIMENSION_PADDING_HIGH: dimension->padding_high = wire_int(&wire); break;
            case WINDOW_DIMENSION_WINDOW_DILATION: dimension->window_dilation = wire_int(&wire); break;
            case WINDOW_DIMENSION_BASE_DILATION: dimension->base_dilation = wire_int(&wire); break;
            case WINDOW_DIMENSION_WINDOW_REVERSAL: dimension->is_reversed = wire_bool(&wire); break;
            }
    }
}

static void slice_read(struct wire wire, struct hlo_attributes *out)
{
    if (out->slice_count == SHAPE_RANK_MAX) {
        out->is_cut = true;
        return;
    }
    struct hlo_slice_dimension *dimension = &out->slices[out->slice_count++];
    *dimension = (struct hlo_slice_dimension){0};
    while (wire_next(&wire))
        switch (wire.number) {
        case HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_START: dimension->start = wire_int(&wire); break;
        case HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_LIMIT: dimension->limit = wire_int(&wire); break;
        case HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_STRIDE: dimension->stride = wire_int(&wire); break;
        }
}

static void padding_read(struct wire padding, struct hlo_attributes *out)
{
    while (wire_next(&padding)) {
        if (padding.number != PADDING_CONFIG_DIMENSIONS)
            continue;
        if (out->pad_count == SHAPE_RANK_MAX) {
            out->is_cut = true;
            return;
        }
        struct hlo_pad_dimension *dimension = &out->pads[out->pad_count++];
        *dimension = (struct hlo_pad_dimension){0};
        for (struct wire wire = wire_message(&padding); wire_next(&wire);)
            switch (wire.number) {
            case PADDING_CONFIG_PADDING_CONFIG_DIMENSION_EDGE_PADDING_LOW: dimension->low = wire_int(&wire); break;
            case PADDING_CONFIG_PADDING_CONFIG_DIMENSION_EDGE_PADDING_HIGH: dimension->high = wire_int(&wire); break;
            case PADDING_CONFIG_PADDING_CONFIG_DIMENSION_INTERIOR_PADDING: dimension->interior = wire_int(&wire); break;
            }
    }
}

static void convolution_read(struct wire wire, struct hlo_attributes *out)
{
    while (wire_next(&wire))
        switch (wire.number) {
        case CONVOLUTION_DIMENSION_NUMBERS_INPUT_BATCH_DIMENSION: out->convolution.input_batch = wire_int(&wire); break;
        case CONVOLUTION_DIMENSION_NUMBERS_INPUT_FEATURE_DIMENSION:
            out->convolution.input_feature = wire_int(&wire);
            break;
        case CONVOLUTION_DIMENSION_NUMBERS_KERNEL_INPUT_FEATURE_DIMENSION:
            out->convolution.kernel_input_feature = wire_int(&wire);
            break;
        case CONVOLUTION_DIMENSION_NUMBERS_KERNEL_OUTPUT_FEATURE_DIMENSION:
            out->convolution.kernel_output_feature = wire_int(&wire);
            break;
        case CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_BATCH_DIMENSION:
            out->convolution.output_batch = wire_int(&wire);
            break;
        case CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_FEATURE_DIMENSION:
            out->convolution.output_feature = wire_int(&wire);
            break;
        case CONVOLUTION_DIMENSION_NUMBERS_INPUT_SPATIAL_DIMENSIONS:
            list_read(&wire, &out->convolution.input_spatial, &out->is_cut);
            break;
        case CONVOLUTION_DIMENSION_NUMBERS_KERNEL_SPATIAL_DIMENSIONS:
            list_read(&wire, &out->convolution.kernel_spatial, &out->is_cut);
            break;
        case CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_SPATIAL_DIMENSIONS:
            list_read(&wire, &out->convolution.output_spatial, &out->is_cut);
            break;
        }
}

static void dot_read(struct wire wire, struct hlo_attributes *out)
{
    while (wire_next(&wire))
        switch (wire.number) {
        case DOT_DIMENSION_NUMBERS_LHS_CONTRACTING_DIMENSIONS:
            list_read(&wire, &out->dot.lhs_contracting, &out->is_cut);
            break;
        case DOT_DIMENSION_NUMBERS_RHS_CONTRACTING_DIMENSIONS:
            list_read(&wire, &out->dot.rhs_contracting, &out->is_cut);
            break;
        case DOT_DIMENSION_NUMBERS_LHS_BATCH_DIMENSIONS: list_read(&wire, &out->dot.lhs_batch, &out->is_cut); break;
        case DOT_DIMENSION_NUMBERS_RHS_BATCH_DIMENSIONS: list_read(&wire, &out->dot.rhs_batch, &out->is_cut); break;
        }
}

static void gather_read(struct wire wire, struct hlo_attributes *out)
{
    while (wire_next(&wire))
        switch (wire.number) {
        case GATHER_DIMENSION_NUMBERS_OFFSET_DIMS: list_read(&wire, &out->gather.offset, &out->is_cut); break;
        case GATHER_DIMENSION_NUMBERS_COLLAPSED_SLICE_DIMS:
            list_read(&wire, &out->gather.collapsed, &out->is_cut);
            break;
        case GATHER_DIMENSION_NUMBERS_OPERAND_BATCHING_DIMS:
            list_read(&wire, &out->gather.operand_batching, &out->is_cut);
            break;
        case GATHER_DIMENSION_NUMBERS_START_INDICES_BATCHING_DIMS:
            list_read(&wire, &out->gather.indices_batching, &out->is_cut);
            break;
        case GATHER_DIMENSION_NUMBERS_INDEX_VECTOR_DIM: out->gather.index_vector = wire_int(&wire); break;
        }
}

static void scatter_read(struct wire wire, struct hlo_attributes *out)
{
    while (wire_next(&wire))
        switch (wire.number) {
        case SCATTER_DIMENSION_NUMBERS_UPDATE_WINDOW_DIMS:
            list_read(&wire, &out->scatter.update_window, &out->is_cut);
            break;
        case SCATTER_DIMENSION_NUMBERS_INSERTED_WINDOW_DIMS:
            list_read(&wire, &out->scatter.inserted_window, &out->is_cut);
            break;
        case SCATTER_DIMENSION_NUMBERS_INPUT_BATCHING_DIMS:
            list_read(&wire, &out->scatter.operand_batching, &out->is_cut);
            break;
        case SCATTER_DIMENSION_NUMBERS_SCATTER_INDICES_BATCHING_DIMS:
            list_read(&wire, &out->scatter.indices_batching, &out->is_cut);
            break;
        case SCATTER_DIMENSION_NUMBERS_INDEX_VECTOR_DIM: out->scatter.index_vector = wire_int(&wire); break;
        }
}

void hlo_attributes_read(struct str instruction, struct hlo_attributes *out)
{
    struct err err = ERR_INIT;
    struct wire wire = wire_open(instruction, 0, &err);
    memset(out, 0, sizeof(*out));
    out->feature_group_count = out->batch_group_count = 1;
    while (wire_next(&wire))
        switch (wire.number) {
        case HLO_INSTRUCTION_PROTO_DIMENSIONS: list_read(&wire, &out->dimensions, &out->is_cut); break;
        case HLO_INSTRUCTION_PROTO_DYNAMIC_SLICE_SIZES:
            list_read(&wire, &out->dynamic_slice_sizes, &out->is_cut);
            break;
        case HLO_INSTRUCTION_PROTO_GATHER_SLICE_SIZES: list_read(&wire, &out->gather_slice_sizes, &out->is_cut); break;
        case HLO_INSTRUCTION_PROTO_WINDOW: window_read(wire_message(&wire), out); break;
        case HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS: slice_read(wire_message(&wire), out); break;
        case HLO_INSTRUCTION_PROTO_PADDING_CONFIG: padding_read(wire_message(&wire), out); break;
        case HLO_INSTRUCTION_PROTO_CONVOLUTION_DIMENSION_NUMBERS: convolution_read(wire_message(&wire), out); break;
        case HLO_INSTRUCTION_PROTO_DOT_DIMENSION_NUMBERS: dot_read(wire_message(&wire), out); break;
        case HLO_INSTRUCTION_PROTO_GATHER_DIMENSION_NUMBERS: gather_read(wire_message(&wire), out); break;
        case HLO_INSTRUCTION_PROTO_SCATTER_DIMENSION_NUMBERS: scatter_read(wire_message(&wire), out); break;
        case HLO_INSTRUCTION_PROTO_FEATURE_GROUP_COUNT: out->feature_group_count = wire_int(&wire); break;
        case HLO_INSTRUCTION_PROTO_BATCH_GROUP_COUNT: out->batch_group_count = wire_int(&wire); break;
        }
}

bool hlo_list_has(const struct hlo_list *list, int64_t item)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == item)
            return true;
    return false;
}
