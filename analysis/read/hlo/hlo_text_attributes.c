/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_text_attributes.h"
#include "read/hlo/hlo.h"

#include "hlo.fields.h"
#include "wire/wire_write.h"

static struct text_cursor open(struct str value, struct err *err)
{
    return text_cursor_open(value, (struct str){"", 0}, err);
}

void hlo_text_unquote(struct str value, struct buf *out)
{
    bool is_quoted = value.length >= 2 && value.data[0] == '"' && value.data[value.length - 1] == '"';
    size_t end = value.length - is_quoted;
    if (!is_quoted) {
        buf_add(out, value.data, value.length);
        return;
    }
    for (size_t at = 1; at < end; at++) {
        if (value.data[at] == '\\' && at + 1 < end) {
            at++;
            buf_char(out, value.data[at] == 'n' ? '\n' : value.data[at] == 't' ? '\t' : value.data[at]);
        } else {
            buf_char(out, value.data[at]);
        }
    }
}

static void text_write(struct buf *out, uint32_t field, struct str value)
{
    size_t begin = wire_write_begin(out, field);
    hlo_text_unquote(value, out);
    wire_write_end(out, begin);
}

/* ---- lists of numbers ---- */

static void list_write(struct str value, struct buf *out, uint32_t field)
{
    struct err err = ERR_INIT;
    struct text_cursor cursor = open(value, &err);
    int64_t number;
    size_t begin = wire_write_begin(out, field);
    text_cursor_take(&cursor, "{");
    while (text_cursor_number(&cursor, &number)) {
        wire_write_varint(out, (uint64_t)number);
        text_cursor_take(&cursor, ",");
        text_cursor_blanks(&cursor);
    }
    wire_write_end(out, begin);
}

static void number_write(struct str value, struct buf *out, uint32_t field)
{
    struct err err = ERR_INIT;
    struct text_cursor cursor = open(value, &err);
    int64_t number;
    if (text_cursor_number(&cursor, &number))
        wire_write_number(out, field, (uint64_t)number);
}

enum form { LIST, NUMBER, TEXT };

static const struct row {
    const char *key;
    enum form form;
    uint32_t outer, field; /* outer 0: of the instruction itself */
} ROWS[] = {
    {"dimensions", LIST, 0, HLO_INSTRUCTION_PROTO_DIMENSIONS},
    {"iota_dimension", LIST, 0, HLO_INSTRUCTION_PROTO_DIMENSIONS},
    {"dynamic_slice_sizes", LIST, 0, HLO_INSTRUCTION_PROTO_DYNAMIC_SLICE_SIZES},
    {"slice_sizes", LIST, 0, HLO_INSTRUCTION_PROTO_GATHER_SLICE_SIZES},
    {"index", NUMBER, 0, HLO_INSTRUCTION_PROTO_TUPLE_INDEX},
    {"feature_group_count", NUMBER, 0, HLO_INSTRUCTION_PROTO_FEATURE_GROUP_COUNT},
    {"batch_group_count", NUMBER, 0, HLO_INSTRUCTION_PROTO_BATCH_GROUP_COUNT},
    {"custom_call_target", TEXT, 0, HLO_INSTRUCTION_PROTO_CUSTOM_CALL_TARGET},
    {"direction", TEXT, 0, HLO_INSTRUCTION_PROTO_COMPARISON_DIRECTION},
    {"async_execution_thread", TEXT, 0, HLO_INSTRUCTION_PROTO_ASYNC_EXECUTION_THREAD},
    {"backend_config", TEXT, 0, HLO_INSTRUCTION_PROTO_BACKEND_CONFIG},
    {"lhs_contracting_dims", LIST, HLO_INSTRUCTION_PROTO_DOT_DIMENSION_NUMBERS,
     DOT_DIMENSION_NUMBERS_LHS_CONTRACTING_DIMENSIONS},
    {"rhs_contracting_dims", LIST, HLO_INSTRUCTION_PROTO_DOT_DIMENSION_NUMBERS,
     DOT_DIMENSION_NUMBERS_RHS_CONTRACTING_DIMENSIONS},
    {"lhs_batch_dims", LIST, HLO_INSTRUCTION_PROTO_DOT_DIMENSION_NUMBERS, DOT_DIMENSION_NUMBERS_LHS_BATCH_DIMENSIONS},
    {"rhs_batch_dims", LIST, HLO_INSTRUCTION_PROTO_DOT_DIMENSION_NUMBERS, DOT_DIMENSION_NUMBERS_RHS_BATCH_DIMENSIONS},
    {"offset_dims", LIST, HLO_INSTRUCTION_PROTO_GATHER_DIMENSION_NUMBERS, GATHER_DIMENSION_NUMBERS_OFFSET_DIMS},
    {"collapsed_slice_dims", LIST, HLO_INSTRUCTION_PROTO_GATHER_DIMENSION_NUMBERS,
     GATHER_DIMENSION_NUMBERS_COLLAPSED_SLICE_DIMS},
    {"start_index_map", LIST, HLO_INSTRUCTION_PROTO_GATHER_DIMENSION_NUMBERS, GATHER_DIMENSION_NUMBERS_START_INDEX_MAP},
    {"operand_batching_dims", LIST, HLO_INSTRUCTION_PROTO_GATHER_DIMENSION_NUMBERS,
     GATHER_DIMENSION_NUMBERS_OPERAND_BATCHING_DIMS},
    {"start_indices_batching_dims", LIST, HLO_INSTRUCTION_PROTO_GATHER_DIMENSION_NUMBERS,
     GATHER_DIMENSION_NUMBERS_START_INDICES_BATCHING_DIMS},
    {"update_window_dims", LIST, HLO_INSTRUCTION_PROTO_SCATTER_DIMENSION_NUMBERS,
     SCATTER_DIMENSION_NUMBERS_UPDATE_WINDOW_DIMS},
    {"inserted_window_dims", LIST, HLO_INSTRUCTION_PROTO_SCATTER_DIMENSION_NUMBERS,
     SCATTER_DIMENSION_NUMBERS_INSERTED_WINDOW_DIMS},
    {"scatter_dims_to_operand_dims", LIST, HLO_INSTRUCTION_PROTO_SCATTER_DIMENSION_NUMBERS,
     SCATTER_DIMENSION_NUMBERS_SCATTER_DIMS_TO_OPERAND_DIMS},
    {"input_batching_dims", LIST, HLO_INSTRUCTION_PROTO_SCATTER_DIMENSION_NUMBERS,
     SCATTER_DIMENSION_NUMBERS_INPUT_BATCHING_DIMS},
    {"scatter_indices_batching_dims", LIST, HLO_INSTRUCTION_PROTO_SCATTER_DIMENSION_NUMBERS,
     SCATTER_DIMENSION_NUMBERS_SCATTER_INDICES_BATCHING_DIMS},
};

static bool row_write(struct str key, struct str value, struct buf *out)
{
    for (size_t at = 0; at < sizeof(ROWS) / sizeof(ROWS[0]); at++) {
        const struct row *row = &ROWS[at];
        if (!str_equal(key, str_of(row->key)))
            continue;
        size_t begin = row->outer > 0 ? wire_write_begin(out, row->outer) : 0;
        if (row->form == LIST)
            list_write(value, out, row->field);
        else if (row->form == NUMBER)
            number_write(value, out, row->field);
        else
            text_write(out, row->field, value);
        if (row->outer > 0)
            wire_write_end(out, begin);
        return true;
    }
    return false;
}

/* ---- those with a form of their own ---- */

/* "{[0:512], [0:2048:2]}" */
static void slices_write(struct str value, struct buf *out)
{
    struct err err = ERR_INIT;
    struct text_cursor cursor = open(value, &err);
    text_cursor_take(&cursor, "{");
    while (text_cursor_take(&cursor, "[")) {
        int64_t start = 0, limit = 0, stride = 1;
        text_cursor_number(&cursor, &start);
        if (text_cursor_take(&cursor, ":"))
            text_cursor_number(&cursor, &limit);
        if (text_cursor_take(&cursor, ":"))
            text_cursor_number(&cursor, &stride);
        size_t begin = wire_write_begin(out, HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS);
        wire_write_number(out, HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_START, (uint64_t)start);
        wire_write_number(out, HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_LIMIT, (uint64_t)limit);
        wire_write_number(out, HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_STRIDE, (uint64_t)stride);
        wire_write_end(out, begin);
        if (!text_cursor_take(&cursor, "]"))
            return;
        text_cursor_take(&cursor, ",");
        text_cursor_blanks(&cursor);
    }
}

/* "0_0x1_1_0": low, high and what lies between, of each dimension. */
static void padding_write(struct str value, struct buf *out)
{
    struct err err = ERR_INIT;
    struct text_cursor cursor = open(value, &err);
    size_t begin = wire_write_begin(out, HLO_INSTRUCTION_PROTO_PADDING_CONFIG);
    do {
        int64_t numbers[3] = {0, 0, 0};
        for (int at = 0; at < 3 && text_cursor_number(&cursor, &numbers[at]);)
            if (++at < 3 && !text_cursor_take(&cursor, "_"))
                break;
        size_t inner = wire_write_begin(out, PADDING_CONFIG_DIMENSIONS);
        wire_write_number(out, PADDING_CONFIG_PADDING_CONFIG_DIMENSION_EDGE_PADDING_LOW, (uint64_t)numbers[0]);
        wire_write_number(out, PADDING_CONFIG_PADDING_CONFIG_DIMENSION_EDGE_PADDING_HIGH, (uint64_t)numbers[1]);
        wire_write_number(out, PADDING_CONFIG_PADDING_CONFIG_DIMENSION_INTERIOR_PADDING, (uint64_t)numbers[2]);
        wire_write_end(out, inner);
    } while (text_cursor_take(&cursor, "x"));
    wire_write_end(out, begin);
}

enum { WINDOW_MAX = 12 };

/* "3x3" or "1_1x0_0" behind a key: up to two numbers of each dimension. */
static int window_numbers(struct text_cursor *cursor, int64_t first[WINDOW_MAX], int64_t second[WINDOW_MAX])
{
    int count = 0;
    while (count < WINDOW_MAX && text_cursor_number(cursor, &first[count])) {
        if (text_cursor_take(cursor, "_"))
            text_cursor_number(cursor, &second[count]);
        count++;
        if (!text_cursor_take(cursor, "x"))
            break;
    }
    return count;
}

/* "{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=1x0}" */
static void window_write(struct str value, struct buf *out)
{
    static const char *const keys[] = {"size=", "stride=", "pad=", "rhs_dilate=", "lhs_dilate=", "rhs_reversal="};
    enum { SIZE, STRIDE, PAD, RHS_DILATE, LHS_DILATE, REVERSAL, KEYS };
    int64_t first[KEYS][WINDOW_MAX] = {{0}}, high[WINDOW_MAX] = {0}, unused[WINDOW_MAX];
    struct err err = ERR_INIT;
    struct text_cursor cursor = open(value, &err);
    int count = 0;
    for (int at = 0; at < WINDOW_MAX; at++)
        first[SIZE][at] = first[STRIDE][at] = first[RHS_DILATE][at] = first[LHS_DILATE][at] = 1;
    text_cursor_take(&cursor, "{");
    while (text_cursor_peek(&cursor) != '}' && text_cursor_peek(&cursor) != '\n') {
        for (int key = 0; key < KEYS; key++) {
            int met = text_cursor_take(&cursor, keys[key])
                          ? window_numbers(&cursor, first[key], key == PAD ? high : unused)
                          : 0;
            count = met > count ? met : count;
        }
        text_cursor_until(&cursor, " }");
        text_cursor_blanks(&cursor);
    }
    size_t begin = wire_write_begin(out, HLO_INSTRUCTION_PROTO_WINDOW);
    for (int at = 0; at < count; at++) {
        size_t inner = wire_write_begin(out, WINDOW_DIMENSIONS);
        wire_write_number(out, WINDOW_DIMENSION_SIZE, (uint64_t)first[SIZE][at]);
        wire_write_number(out, WINDOW_DIMENSION_STRIDE, (uint64_t)first[STRIDE][at]);
        wire_write_number(out, WINDOW_DIMENSION_PADDING_LOW, (uint64_t)first[PAD][at]);
        wire_write_number(out, WINDOW_DIMENSION_PADDING_HIGH, (uint64_t)high[at]);
        wire_write_number(out, WINDOW_DIMENSION_WINDOW_DILATION, (uint64_t)first[RHS_DILATE][at]);
        wire_write_number(out, WINDOW_DIMENSION_BASE_DILATION, (uint64_t)first[LHS_DILATE][at]);
        wire_write_number(out, WINDOW_DIMENSION_WINDOW_REVERSAL, first[REVERSAL][at] != 0);
        wire_write_end(out, inner);
    }
    wire_write_end(out, begin);
}

/* Writes one of the three parts of "b01f_01io->b01f": the places of its two letters and its digits. */
static void labels_write(struct text_cursor *cursor, const char letters[2], const uint32_t fields[2], uint32_t spatial,
                         struct buf *out)
{
    struct str part = text_cursor_until(cursor, "_-");
    int64_t place[10];
    memset(place, 0xff, sizeof(place));
    for (size_t at = 0; at < part.length; at++) {
        for (int letter = 0; letter < 2; letter++)
            if (part.data[at] == letters[letter])
                wire_write_number(out, fields[letter], at);
        if (part.data[at] >= '0' && part.data[at] <= '9')
            place[part.data[at] - '0'] = (int64_t)at;
    }
    size_t begin = wire_write_begin(out, spatial);
    for (int digit = 0; digit < 10 && place[digit] >= 0; digit++)
        wire_write_varint(out, (uint64_t)place[digit]);
    wire_write_end(out, begin);
}

static void convolution_write(struct str value, struct buf *out)
{
    static const uint32_t input[] = {CONVOLUTION_DIMENSION_NUMBERS_INPUT_BATCH_DIMENSION,
                                     CONVOLUTION_DIMENSION_NUMBERS_INPUT_FEATURE_DIMENSION};
    static const uint32_t kernel[] = {CONVOLUTION_DIMENSION_NUMBERS_KERNEL_INPUT_FEATURE_DIMENSION,
                                      CONVOLUTION_DIMENSION_NUMBERS_KERNEL_OUTPUT_FEATURE_DIMENSION};
    static const uint32_t output[] = {CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_BATCH_DIMENSION,
                                      CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_FEATURE_DIMENSION};
    struct err err = ERR_INIT;
    struct text_cursor cursor = open(value, &err);
    size_t begin = wire_write_begin(out, HLO_INSTRUCTION_PROTO_CONVOLUTION_DIMENSION_NUMBERS);
    labels_write(&cursor, "bf", input, CONVOLUTION_DIMENSION_NUMBERS_INPUT_SPATIAL_DIMENSIONS, out);
    text_cursor_take(&cursor, "_");
    labels_write(&cursor, "io", kernel, CONVOLUTION_DIMENSION_NUMBERS_KERNEL_SPATIAL_DIMENSIONS, out);
    text_cursor_take(&cursor, "->");
    labels_write(&cursor, "bf", output, CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_SPATIAL_DIMENSIONS, out);
    wire_write_end(out, begin);
}

/* Reads only whether every device holds the whole array, and into how many parts dimensions are cut:
 * "{devices=[2,1]<=[2]}". */
static void sharding_write(struct str value, struct buf *out)
{
    uint64_t type = OP_SHARDING_TYPE_OTHER;
    if (str_starts(value, STR("{replicated")))
        type = OP_SHARDING_TYPE_REPLICATED;
    else if (str_starts(value, STR("{maximal")))
        type = OP_SHARDING_TYPE_MAXIMAL;
    else if (str_starts(value, STR("{{")))
        type = OP_SHARDING_TYPE_TUPLE;
    size_t begin = wire_write_begin(out, HLO_INSTRUCTION_PROTO_SHARDING);
    wire_write_number(out, OP_SHARDING_TYPE, type);
    struct str tiles = STR("{devices=[");
    size_t at = str_starts(value, tiles) ? tiles.length : value.length;
    for (uint64_t parts = 0; at < value.length; at++) {
        unsigned digit = (unsigned)(value.data[at] - '0');
        if (digit < 10 && parts < HLO_DEVICES_MAX) {
            parts = parts * 10 + digit;
            continue;
        }
        wire_write_number(out, OP_SHARDING_TILE_ASSIGNMENT_DIMENSIONS, parts);
        parts = 0;
        if (value.data[at] != ',')
            break;
    }
    wire_write_end(out, begin);
}

/* "{op_type="…" op_name="…" source_file="…" source_line=12 stack_frame_id=3}" */
static void metadata_write(struct str value, struct buf *out)
{
    static const struct {
        const char *key;
        uint32_t field;
        bool is_number;
    } keys[] = {{"op_type", OP_METADATA_OP_TYPE, false},
                {"op_name", OP_METADATA_OP_NAME, false},
                {"source_file", OP_METADATA_SOURCE_FILE, false},
                {"source_line", OP_METADATA_SOURCE_LINE, true},
                {"size_of_generated_code_in_bytes", OP_METADATA_SIZE_OF_GENERATED_CODE_IN_BYTES, true},
                {"deduplicated_name", OP_METADATA_DEDUPLICATED_NAME, false},
                {"stack_frame_id", OP_METADATA_STACK_FRAME_ID, true},
                {"scheduling_name", OP_METADATA_SCHEDULING_NAME, false}};
    struct err err = ERR_INIT;
    struct text_cursor cursor = open(value, &err);
    size_t begin = wire_write_begin(out, HLO_INSTRUCTION_PROTO_METADATA);
    text_cursor_take(&cursor, "{");
    while (cursor.at < cursor.end && *cursor.at != '}') {
        struct str key = text_cursor_until(&cursor, "= }"), inner = {"", 0};
        if (!text_cursor_take(&cursor, "=") || !text_cursor_balanced(&cursor, " ", &inner))
            break;
        for (size_t at = 0; at < sizeof(keys) / sizeof(keys[0]); at++) {
            if (!str_equal(key, str_of(keys[at].key)))
                continue;
            if (keys[at].is_number)
                number_write(inner, out, keys[at].field);
            else
                text_write(out, keys[at].field, inner);
        }
        text_cursor_blanks(&cursor);
    }
    wire_write_end(out, begin);
}

void hlo_text_attribute_write(struct str opcode, struct str key, struct str value, struct buf *out)
{
    bool is_scatter = str_equal(opcode, STR("scatter"));
    if (row_write(key, value, out))
        return;
    if (str_equal(key, STR("metadata"))) {
        metadata_write(value, out);
    } else if (str_equal(key, STR("sharding"))) {
        sharding_write(value, out);
    } else if (str_equal(key, STR("slice"))) {
        slices_write(value, out);
    } else if (str_equal(key, STR("padding"))) {
        padding_write(value, out);
    } else if (str_equal(key, STR("window"))) {
        window_write(value, out);
    } else if (str_equal(key, STR("dim_labels"))) {
        convolution_write(value, out);
    } else if (str_equal(key, STR("index_vector_dim"))) {
        size_t begin = wire_write_begin(out, is_scatter ? HLO_INSTRUCTION_PROTO_SCATTER_DIMENSION_NUMBERS
                                                        : HLO_INSTRUCTION_PROTO_GATHER_DIMENSION_NUMBERS);
        number_write(value, out,
                     is_scatter ? SCATTER_DIMENSION_NUMBERS_INDEX_VECTOR_DIM
                                : GATHER_DIMENSION_NUMBERS_INDEX_VECTOR_DIM);
        wire_write_end(out, begin);
    }
}
