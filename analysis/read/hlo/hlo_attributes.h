/* SPDX-License-Identifier: Apache-2.0
 * hlo_attributes.h: what an instruction says of the dimensions of its operands and its result.
 *
 * In:     the bytes of an HloInstructionProto.
 * Out:    its attributes as short lists; what is longer than SHAPE_RANK_MAX is cut and `is_cut` set: no array has more
 *         dimensions. Numbers are the file's, of any value: whoever uses one as an index checks it.
 * Memory: none; the struct is about 2 kB.
 * Source: hlo.proto, xla_data.proto. */
#pragma once

#include "read/hlo/shape.h"

struct hlo_list {
    int64_t items[SHAPE_RANK_MAX];
    uint32_t count;
};

struct hlo_window_dimension {
    int64_t size, stride, padding_low, padding_high, window_dilation, base_dilation;
    bool is_reversed;
};

struct hlo_slice_dimension {
    int64_t start, limit, stride;
};

struct hlo_pad_dimension {
    int64_t low, high, interior;
};

struct hlo_attributes {
    struct hlo_list dimensions, dynamic_slice_sizes, gather_slice_sizes;
    struct hlo_window_dimension window[SHAPE_RANK_MAX];
    struct hlo_slice_dimension slices[SHAPE_RANK_MAX];
    struct hlo_pad_dimension pads[SHAPE_RANK_MAX];
    uint32_t window_count, slice_count, pad_count;
    struct {
        struct hlo_list input_spatial, kernel_spatial, output_spatial;
        int64_t input_batch, input_feature, kernel_input_feature, kernel_output_feature, output_batch, output_feature;
    } convolution;
    struct {
        struct hlo_list lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
    } dot;
    struct {
        struct hlo_list offset, collapsed, operand_batching, indices_batching;
        int64_t index_vector;
    } gather;
    struct {
        struct hlo_list update_window, inserted_window, operand_batching, indices_batching;
        int64_t index_vector;
    } scatter;
    int64_t feature_group_count, batch_group_count; /* 1 if the file has none */
    bool is_cut;
};

void hlo_attributes_read(struct str instruction, struct hlo_attributes *out);
bool hlo_list_has(const struct hlo_list *list, int64_t item);
