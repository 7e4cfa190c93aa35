/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/shape.h"

#include "hlo.fields.h"
#include "wire/wire.h"

#include "base/hash.h"

/* Real shapes nest two or three deep and have under ten dimensions. */
enum { DEPTH_MAX = 64, DIMENSIONS_MAX = 128 };

struct element_type {
    const char *name;
    unsigned bytes; /* ByteWidth: of one element on its own; 0 = not an array element */
};

static const struct element_type element_types[] = {
    [PRIMITIVE_TYPE_INVALID] = {"invalid", 0},
    [PRIMITIVE_TYPE_PRED] = {"pred", 1},
    [PRIMITIVE_TYPE_S1] = {"s1", 1},
    [PRIMITIVE_TYPE_S2] = {"s2", 1},
    [PRIMITIVE_TYPE_S4] = {"s4", 1},
    [PRIMITIVE_TYPE_S8] = {"s8", 1},
    [PRIMITIVE_TYPE_S16] = {"s16", 2},
    [PRIMITIVE_TYPE_S32] = {"s32", 4},
    [PRIMITIVE_TYPE_S64] = {"s64", 8},
    [PRIMITIVE_TYPE_U1] = {"u1", 1},
    [PRIMITIVE_TYPE_U2] = {"u2", 1},
    [PRIMITIVE_TYPE_U4] = {"u4", 1},
    [PRIMITIVE_TYPE_U8] = {"u8", 1},
    [PRIMITIVE_TYPE_U16] = {"u16", 2},
    [PRIMITIVE_TYPE_U32] = {"u32", 4},
    [PRIMITIVE_TYPE_U64] = {"u64", 8},
    [PRIMITIVE_TYPE_F16] = {"f16", 2},
    [PRIMITIVE_TYPE_F32] = {"f32", 4},
    [PRIMITIVE_TYPE_F64] = {"f64", 8},
    [PRIMITIVE_TYPE_BF16] = {"bf16", 2},
    [PRIMITIVE_TYPE_C64] = {"c64", 8},
    [PRIMITIVE_TYPE_C128] = {"c128", 16},
    [PRIMITIVE_TYPE_F8E5M2] = {"f8e5m2", 1},
    [PRIMITIVE_TYPE_F8E4M3] = {"f8e4m3", 1},
    [PRIMITIVE_TYPE_F8E4M3FN] = {"f8e4m3fn", 1},
    [PRIMITIVE_TYPE_F8E4M3B11FNUZ] = {"f8e4m3b11fnuz", 1},
    [PRIMITIVE_TYPE_F8E3M4] = {"f8e3m4", 1},
    [PRIMITIVE_TYPE_F8E5M2FNUZ] = {"f8e5m2fnuz", 1},
    [PRIMITIVE_TYPE_F8E4M3FNUZ] = {"f8e4m3fnuz", 1},
    [PRIMITIVE_TYPE_F8E8M0FNU] = {"f8e8m0fnu", 1},
    [PRIMITIVE_TYPE_F4E2M1FN] = {"f4e2m1fn", 1},
    [PRIMITIVE_TYPE_F6E3M2FN] = {"f6e3m2fn", 1},
    [PRIMITIVE_TYPE_F6E2M3FN] = {"f6e2m3fn", 1},
    [PRIMITIVE_TYPE_TUPLE] = {"tuple", 0},
    [PRIMITIVE_TYPE_OPAQUE_TYPE] = {"opaque", 0},
    [PRIMITIVE_TYPE_TOKEN] = {"token", 0},
    [PRIMITIVE_TYPE_BUFFER] = {"buffer", 0},
};
enum { ELEMENT_TYPE_COUNT = sizeof(element_types) / sizeof(element_types[0]) };

struct head {
    uint64_t type;
    int64_t dimensions[DIMENSIONS_MAX];
    bool is_dynamic[DIMENSIONS_MAX];
    uint32_t dimension_count, tuple_count;
    struct str layout, first_element;
    bool has_layout, is_broken;
};

static void numbers_read(struct wire *wire, int64_t *into, uint32_t *count)
{
    uint64_t value;
    for (size_t at = 0; wire_packed(wire, &at, &value);)
        if (*count < DIMENSIONS_MAX)
            into[(*count)++] = (int64_t)value;
}

static struct head head_read(struct str shape)
{
    struct head head;
    head.type = 0;
    head.dimension_count = head.tuple_count = 0;
    head.layout = head.first_element = (struct str){"", 0};
    head.has_layout = false;
    memset(head.is_dynamic, 0, sizeof(head.is_dynamic));
    struct err err = ERR_INIT;
    struct wire wire = wire_open(shape, 0, &err);
    uint32_t dynamic_count = 0;
    while (wire_next(&wire)) {
        uint64_t value;
        switch (wire.number) {
        case SHAPE_PROTO_ELEMENT_TYPE: head.type = wire_uint(&wire); break;
        case SHAPE_PROTO_DIMENSIONS: numbers_read(&wire, head.dimensions, &head.dimension_count); break;
        case SHAPE_PROTO_TUPLE_SHAPES:
            if (head.tuple_count++ == 0)
                head.first_element = wire_text(&wire);
            break;
        case SHAPE_PROTO_LAYOUT:
            head.layout = wire_text(&wire);
            head.has_layout = true;
            break;
        case SHAPE_PROTO_IS_DYNAMIC_DIMENSION:
            for (size_t at = 0; wire_packed(&wire, &at, &value); dynamic_count++)
                if (dynamic_count < DIMENSIONS_MAX)
                    head.is_dynamic[dynamic_count] = value != 0;
            break;
        }
    }
    head.is_broken = err_is_set(&err);
    return head;
}

unsigned shape_type_bytes(uint64_t type) { return type < ELEMENT_TYPE_COUNT ? element_types[type].bytes : 0; }

bool shape_type_is_float(uint64_t type)
{
    const char *name = type < ELEMENT_TYPE_COUNT && element_types[type].name != NULL ? element_types[type].name : "";
    return shape_type_bytes(type) > 0 && (name[0] == 'f' || name[0] == 'b');
}

uint64_t shape_type_find(struct str name)
{
    for (uint64_t type = 0; type < ELEMENT_TYPE_COUNT; type++)
        if (shape_type_bytes(type) > 0 && str_equal(name, str_of(element_types[type].name)))
            return type;
    return PRIMITIVE_TYPE_INVALID;
}

static bool is_array(uint64_t type) { return shape_type_bytes(type) > 0; }

/* ---- layout text; the order of parts is XLA's ---- */

static void shape_joined(struct buf *out, const int64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_char(out, ',');
        buf_int(out, values[i]);
    }
}

static void tile_text(struct wire tile, struct buf *out)
{
    int64_t dimensions[DIMENSIONS_MAX];
    uint32_t count = 0;
    while (wire_next(&tile))
        if (tile.number == TILE_PROTO_DIMENSIONS)
            numbers_read(&tile, dimensions, &count);
    buf_char(out, '(');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_char(out, ',');
        if (dimensions[i] >= 0)
            buf_int(out, dimensions[i]);
        else if (dimensions[i] == INT64_MIN)
            buf_char(out, '*'); /* combined with the next */
        else
            buf_format(out, "Invalid value %lld", (long long)dimensions[i]);
    }
    buf_char(out, ')');
}

static void split_text(struct wire split, struct buf *out)
{
    int64_t dimension = 0, indices[DIMENSIONS_MAX];
    uint32_t count = 0;
    while (wire_next(&split)) {
        if (split.number == SPLIT_CONFIG_PROTO_DIMENSION)
            dimension = wire_int(&split);
        else if (split.number == SPLIT_CONFIG_PROTO_SPLIT_INDICES)
            numbers_read(&split, indices, &count);
    }
    buf_char(out, '(');
    buf_int(out, dimension);
    buf_char(out, ':');
    shape_joined(out, indices, count);
    buf_char(out, ')');
}

struct layout {
    int64_t minor_to_major[DIMENSIONS_MAX];
    uint32_t minor_to_major_count, tile_count, split_count;
    int64_t tail_alignment, element_bits, memory_space, prefix_bytes;
    uint64_t index_type, pointer_type;
    struct str physical_shape;
    bool has_physical_shape;
};

static struct layout layout_read(struct str bytes)
{
    struct layout layout;
    memset(&layout, 0, sizeof(layout));
    struct err err = ERR_INIT;
    struct wire wire = wire_open(bytes, 0, &err);
    while (wire_next(&wire)) {
        switch (wire.number) {
        case LAYOUT_PROTO_MINOR_TO_MAJOR:
            numbers_read(&wire, layout.minor_to_major, &layout.minor_to_major_count);
            break;
        case LAYOUT_PROTO_TILES: layout.tile_count++; break;
        case LAYOUT_PROTO_SPLIT_CONFIGS: layout.split_count++; break;
        case LAYOUT_PROTO_TAIL_PADDING_ALIGNMENT_IN_ELEMENTS: layout.tail_alignment = wire_int(&wire); break;
        case LAYOUT_PROTO_ELEMENT_SIZE_IN_BITS: layout.element_bits = wire_int(&wire); break;
        case LAYOUT_PROTO_MEMORY_SPACE: layout.memory_space = wire_int(&wire); break;
        case LAYOUT_PROTO_DYNAMIC_SHAPE_METADATA_PREFIX_BYTES: layout.prefix_bytes = wire_int(&wire); break;
        case LAYOUT_PROTO_INDEX_PRIMITIVE_TYPE: layout.index_type = wire_uint(&wire); break;
        case LAYOUT_PROTO_POINTER_PRIMITIVE_TYPE: layout.pointer_type = wire_uint(&wire); break;
        case LAYOUT_PROTO_PHYSICAL_SHAPE:
            layout.physical_shape = wire_text(&wire);
            layout.has_physical_shape = true;
            break;
        }
    }
    return layout;
}

/* A part of the layout that is one number: its letter, and the number in brackets. */
static void number_text(struct buf *out, char letter, int64_t value)
{
    buf_char(out, letter);
    buf_char(out, '(');
    buf_int(out, value);
    buf_char(out, ')');
}

static const char *integral_name(uint64_t type)
{
    const char *name = type < ELEMENT_TYPE_COUNT && element_types[type].name != NULL ? element_types[type].name : "";
    return name[0] == 's' || name[0] == 'u' ? name : "invalid";
}

static void append(struct str shape, bool with_layout, unsigned depth, struct buf *out);

static void layout_text(struct str bytes, unsigned depth, struct buf *out)
{
    struct layout layout = layout_read(bytes);
    buf_char(out, '{');
    shape_joined(out, layout.minor_to_major, layout.minor_to_major_count);
    size_t before = out->length;
    buf_char(out, ':');
    struct err err = ERR_INIT;
    struct wire wire = wire_open(bytes, 0, &err);
    if (layout.tile_count > 0)
        buf_char(out, 'T');
    while (wire_next(&wire))
        if (wire.number == LAYOUT_PROTO_TILES)
            tile_text(wire_message(&wire), out);
    if (layout.tail_alignment != 0 && layout.tail_alignment != 1)
        number_text(out, 'L', layout.tail_alignment);
    if (layout.index_type != PRIMITIVE_TYPE_INVALID)
        buf_format(out, "#(%s)", integral_name(layout.index_type));
    if (layout.pointer_type != PRIMITIVE_TYPE_INVALID)
        buf_format(out, "*(%s)", integral_name(layout.pointer_type));
    if (layout.element_bits != 0)
        number_text(out, 'E', layout.element_bits);
    if (layout.memory_space != 0)
        number_text(out, 'S', layout.memory_space);
    if (layout.split_count > 0)
        buf_text(out, "SC");
    wire = wire_open(bytes, 0, &err);
    while (wire_next(&wire))
        if (wire.number == LAYOUT_PROTO_SPLIT_CONFIGS)
            split_text(wire_message(&wire), out);
    if (layout.has_physical_shape) {
        buf_text(out, "P(");
        append(layout.physical_shape, true, depth + 1, out);
        buf_char(out, ')');
    }
    if (layout.prefix_bytes > 0)
        number_text(out, 'M', layout.prefix_bytes);
    if (out->length == before + 1) /* no part printed: no colon either */
        out->length = before;
    buf_char(out, '}');
}

/* ---- shape text ---- */

static void tuple_text(struct str shape, bool with_layout, unsigned depth, struct buf *out)
{
    struct err err = ERR_INIT;
    struct wire wire = wire_open(shape, 0, &err);
    uint32_t at = 0;
    buf_char(out, '(');
    while (wire_next(&wire)) {
        if (wire.number != SHAPE_PROTO_TUPLE_SHAPES)
            continue;
        if (at > 0)
            buf_text(out, ", ");
        if (at > 0 && at % 5 == 0)
            buf_format(out, "/*index=%u*/", at);
        append(wire_text(&wire), with_layout, depth + 1, out);
        at++;
    }
    buf_char(out, ')');
}

static void dimensions_text(const struct head *head, struct buf *out)
{
    buf_char(out, '[');
    for (uint32_t i = 0; i < head->dimension_count; i++) {
        if (i > 0)
            buf_char(out, ',');
        if (head->dimensions[i] == INT64_MIN) {
            buf_char(out, '?');
            continue;
        }
        if (head->is_dynamic[i])
            buf_text(out, "<=");
        buf_int(out, head->dimensions[i]);
    }
    buf_char(out, ']');
}

static void append(struct str shape, bool with_layout, unsigned depth, struct buf *out)
{
    struct head head = head_read(shape);
    if (depth > DEPTH_MAX) {
        buf_text(out, "…");
        return;
    }
    if (head.type == PRIMITIVE_TYPE_TUPLE) {
        tuple_text(shape, with_layout, depth, out);
        return;
    }
    if (head.type == PRIMITIVE_TYPE_BUFFER) {
        buf_text(out, "b(");
        append(head.first_element, with_layout, depth + 1, out);
        buf_char(out, ')');
        return;
    }
    if (head.type < ELEMENT_TYPE_COUNT && element_types[head.type].name != NULL)
        buf_text(out, element_types[head.type].name);
    else
        buf_format(out, "type %llu", (unsigned long long)head.type);
    dimensions_text(&head, out);
    if (!with_layout || !head.has_layout || !is_array(head.type))
        return;
    size_t before = out->length;
    layout_text(head.layout, depth, out);
    if (head.dimension_count == 0 && out->length == before + 2) /* a scalar's "{}" is left out */
        out->length = before;
}

void shape_text(struct str shape, bool with_layout, struct buf *out) { append(shape, with_layout, 0, out); }

void shape_layout_text(struct str shape, struct buf *out)
{
    struct head head = head_read(shape);
    if (head.has_layout)
        layout_text(head.layout, 0, out);
}

/* ---- sizes ---- */

static int64_t layout_element_bits(struct str layout)
{
    struct err err = ERR_INIT;
    struct wire wire = wire_open(layout, 0, &err);
    int64_t bits = 0;
    while (wire_next(&wire))
        if (wire.number == LAYOUT_PROTO_ELEMENT_SIZE_IN_BITS)
            bits = wire_int(&wire);
    return bits;
}

static int64_t array_bytes(const struct head *head)
{
    uint64_t elements = 1, bytes;
    for (uint32_t i = 0; i < head->dimension_count; i++)
        if (head->dimensions[i] < 0 || __builtin_mul_overflow(elements, (uint64_t)head->dimensions[i], &elements))
            return SHAPE_UNKNOWN_SIZE;
    int64_t bits = head->has_layout ? layout_element_bits(head->layout) : 0;
    if (bits < 0)
        return SHAPE_UNKNOWN_SIZE;
    if (bits > 0) {
        if (__builtin_mul_overflow(elements, (uint64_t)bits, &elements))
            return SHAPE_UNKNOWN_SIZE;
        bytes = elements / 8 + (elements % 8 != 0);
    } else if (__builtin_mul_overflow(elements, (uint64_t)element_types[head->type].bytes, &bytes)) {
        return SHAPE_UNKNOWN_SIZE;
    }
    return bytes > INT64_MAX ? SHAPE_UNKNOWN_SIZE : (int64_t)bytes;
}

int64_t shape_bytes(struct str shape)
{
    for (unsigned depth = 0; depth <= DEPTH_MAX; depth++) {
        struct head head = head_read(shape);
        if (head.is_broken || head.dimension_count == DIMENSIONS_MAX)
            return SHAPE_UNKNOWN_SIZE;
        switch (head.type) {
        case PRIMITIVE_TYPE_TUPLE: return 8 * (int64_t)head.tuple_count;
        case PRIMITIVE_TYPE_TOKEN: return 0;
        case PRIMITIVE_TYPE_OPAQUE_TYPE: return 8;
        case PRIMITIVE_TYPE_BUFFER: shape = head.first_element; continue;
        default: return is_array(head.type) ? array_bytes(&head) : SHAPE_UNKNOWN_SIZE;
        }
    }
    return SHAPE_UNKNOWN_SIZE;
}

const char *shape_element_type(struct str shape)
{
    struct head head = head_read(shape);
    return head.type < ELEMENT_TYPE_COUNT && element_types[head.type].name != NULL ? element_types[head.type].name : "";
}

bool shape_has_tiles(struct str shape)
{
    for (unsigned depth = 0; depth <= DEPTH_MAX; depth++) {
        struct head head = head_read(shape);
        if (head.has_layout && layout_read(head.layout).tile_count > 0)
            return true;
        if (head.tuple_count == 0)
            return false;
        shape = head.first_element;
    }
    return false;
}

/* ---- arrays without their layout ---- */

bool shape_array_read(struct str shape, struct shape_array *out)
{
    struct head head = head_read(shape);
    *out = (struct shape_array){.type = head.type};
    if (head.is_broken || !is_array(head.type) || head.dimension_count > SHAPE_RANK_MAX)
        return false;
    out->rank = head.dimension_count;
    memcpy(out->dimensions, head.dimensions, head.dimension_count * sizeof(*head.dimensions));
    return true;
}

bool shape_array_read_first(struct str shape, struct shape_array *out)
{
    struct err err = ERR_INIT;
    struct wire wire = wire_open(shape, 0, &err);
    if (shape_array_read(shape, out))
        return true;
    while (wire_next(&wire))
        if (wire.number == SHAPE_PROTO_TUPLE_SHAPES)
            return shape_array_read(wire_text(&wire), out);
    return false;
}

uint64_t shape_array_hash(const struct shape_array *array)
{
    uint64_t hash = hash_number(array->type, array->rank);
    for (uint32_t i = 0; i < array->rank; i++)
        hash = hash_number((uint64_t)array->dimensions[i], hash);
    return hash;
}

uint64_t shape_array_hash_any_order(const struct shape_array *array)
{
    int64_t sorted[SHAPE_RANK_MAX];
    uint32_t count = 0;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < array->rank; i++) { /* a few: each moves down to its place */
        if (array->dimensions[i] == 1)
            continue;
        uint32_t at = count++;
        for (; at > 0 && sorted[at - 1] > array->dimensions[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = array->dimensions[i];
    }
    for (uint32_t i = 0; i < count; i++)
        hash = hash_number((uint64_t)sorted[i], hash);
    return hash;
}

bool shape_array_is_integer(const struct shape_array *array)
{
    const char *name = element_types[array->type].name;
    return name[0] == 's' || name[0] == 'u' || name[0] == 'p';
}

int64_t shape_array_elements(const struct shape_array *array)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < array->rank; i++)
        if (array->dimensions[i] < 0 || __builtin_mul_overflow(count, array->dimensions[i], &count))
            return INT64_MAX;
    return count;
}
