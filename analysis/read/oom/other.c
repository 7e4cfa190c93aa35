/* SPDX-License-Identifier: Apache-2.0
 * other.c: TensorFlow's own sentences, memory of the host, and status
 * words whose sentence is none that is known. */
#include "base/size_text.h"
#include "read/oom/cursor.h"
#include "read/oom/handlers.h"
#include "read/oom/read.h"

#include <ctype.h>

enum { NEAR = 64 << 10, SENTENCE = 400 };

/* ---- TensorFlow ---- */

static bool is_gpu_allocator(struct str name)
{
    static const char other[] = "device:XPU"; /* a plugin's device: its allocator may have any name */
    return memmem(name.data, name.length, other, sizeof(other) - 1) != NULL ||
           memmem(name.data, name.length, "GPU", 3) != NULL || memmem(name.data, name.length, "gpu", 3) != NULL ||
           memmem(name.data, name.length, "cuda", 4) != NULL;
}

struct tensor {
    size_t shape, shape_end, type, type_end, device, device_end, allocator, allocator_end;
};

/* "shape[32,256] and type float on /job:…/device:GPU:0 by allocator GPU_0_bfc" */
static bool tensor_take(const struct oom_text *text, size_t *at, struct tensor *tensor)
{
    size_t end = *at;
    tensor->shape = end;
    if (!oom_cursor_skip_to(text, &end, "]", 200))
        return false;
    tensor->shape_end = ++end;
    if (!oom_cursor_take(text, &end, "andtype"))
        return false;
    tensor->type = end;
    if (!oom_cursor_find(text, &end, "on/", 24))
        return false;
    tensor->type_end = end - strlen("on/");
    tensor->device = end - 1;
    if (!oom_cursor_find(text, &end, "byallocator", 160))
        return false;
    tensor->device_end = end - strlen("byallocator");
    tensor->allocator = end;
    while (end < text->length && (isalnum((unsigned char)text->bytes[end]) || text->bytes[end] == '_') &&
           (end == tensor->allocator || text->raw_of[end] == text->raw_of[end - 1] + 1))
        end++;
    tensor->allocator_end = end;
    *at = end;
    return true;
}

/* Of TensorFlow's types, by the names that its errors print; 0: of no fixed size. */
static uint64_t element_bytes(struct str type)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {{"float", 4}, {"half", 2},    {"bfloat16", 2}, {"double", 8},  {"int8", 1},      {"uint8", 1},
                 {"int16", 2}, {"uint16", 2},  {"int32", 4},    {"uint32", 4},  {"int64", 8},     {"uint64", 8},
                 {"bool", 1},  {"float32", 4}, {"float64", 8},  {"float16", 2}, {"complex64", 8}, {"complex128", 16}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (str_equal(type, str_of(types[i].name)))
            return types[i].bytes;
    return 0;
}

/* What the shape takes: "[128,3,8]" of floats. Stays as it is where a figure is known, or the product is none. */
static void needed_set(const struct oom_text *text, const struct tensor *tensor, struct oom_figure *needed)
{
    const struct str type = {text->bytes + tensor->type, tensor->type_end - tensor->type};
    uint64_t bytes = element_bytes(type), side = 0;
    size_t digits = 0;
    if (needed->is_known || bytes == 0 || text->bytes[tensor->shape] != '[')
        return;
    for (size_t at = tensor->shape + 1; at < tensor->shape_end; at++) {
        const char byte = text->bytes[at];
        if (isdigit((unsigned char)byte) && digits++ < 18)
            side = side * 10 + (uint64_t)(byte - '0');
        else if ((byte != ',' && byte != ']') || digits == 0 || __builtin_mul_overflow(bytes, side, &bytes))
            return;
        else
            side = digits = 0;
    }
    if (bytes == 0 || bytes > INT64_MAX)
        return;
    struct oom_text_range range = oom_text_range(text, tensor->shape + 1, tensor->shape_end - 1);
    *needed = (struct oom_figure){
        .is_known = true, .value = bytes, .at = text->raw_at + range.at, .length = (uint32_t)range.length};
}

/* The allocator's dump and this sentence tell of one failure when they name one allocator. */
static bool is_of_dump(const struct oom_reader *reader, size_t from, struct str allocator)
{
    const struct oom_draft *draft = &reader->draft;
    return oom_draft_takes(reader, OOM_FAMILY_gpu_bfc, from, NEAR) &&
           (draft->failure.device.text.data == NULL || str_equal(draft->failure.device.text, allocator)) &&
           draft->failure.lists[OOM_ALLOCATIONS].count == 0;
}

/* "shape[100,4096,32]" alone: the rest of the sentence was left out. */
static size_t shape_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t end = at;
    if (at + 1 >= text->length || text->bytes[at] != '[' || !isdigit((unsigned char)text->bytes[at + 1]) ||
        !oom_cursor_skip_to(text, &end, "]", 200))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_other, "tensor", from, end)->framework = OOM_FRAMEWORK_tensorflow;
    oom_draft_words(reader, &oom_draft_buffer(reader, OOM_ALLOCATIONS)->shape, at, end + 1);
    return oom_draft_reach(reader, end + 1);
}

static size_t tensor_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct tensor tensor;
    if (!tensor_take(text, &at, &tensor))
        return shape_read(reader, from, at);
    struct str allocator = {text->bytes + tensor.allocator, tensor.allocator_end - tensor.allocator};
    struct str device = {text->bytes + tensor.device, tensor.device_end - tensor.device};
    bool is_gpu = is_gpu_allocator(allocator) || is_gpu_allocator(device);
    struct oom_failure *failure = &reader->draft.failure;
    if (is_of_dump(reader, from, allocator))
        reader->draft.is_weak = false;
    else
        failure = oom_draft_begin(reader, is_gpu ? OOM_FAMILY_gpu_bfc : OOM_FAMILY_cpu_alloc, "tensor", from, at);
    if (failure->device.text.data == NULL)
        oom_draft_name(reader, &failure->device, tensor.device, tensor.device_end);
    struct oom_buffer *buffer = oom_draft_buffer(reader, OOM_ALLOCATIONS);
    oom_draft_words(reader, &buffer->shape, tensor.shape, tensor.shape_end);
    oom_draft_words(reader, &buffer->allocation_type, tensor.type, tensor.type_end);
    needed_set(text, &tensor, &failure->figures[OOM_needed_bytes]);
    return oom_draft_reach(reader, at);
}

/* "OOM when allocating tensor of shape [1,399,532,3] and type float": where, it does not say. */
static size_t constant_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct tensor tensor = {.shape = at};
    if (!oom_cursor_skip_to(text, &at, "]", 200))
        return 0;
    tensor.shape_end = ++at;
    if (!oom_cursor_take(text, &at, "andtype") || !oom_cursor_take_word(text, &at, &tensor.type))
        return 0;
    tensor.type_end = at;
    struct oom_failure *failure = &reader->draft.failure;
    if (!oom_draft_takes(reader, OOM_FAMILY_gpu_bfc, from, NEAR))
        failure = oom_draft_begin(reader, OOM_FAMILY_other, "tensor", from, at);
    needed_set(text, &tensor, &failure->figures[OOM_needed_bytes]);
    return oom_draft_reach(reader, at);
}

/* The end of what stands together without white space from `at` on, at most `within` bytes. */
static size_t joined_end(const struct oom_text *text, size_t at, size_t within)
{
    size_t end = at;
    while (end < text->length && end - at < within && (end == at || text->raw_of[end] == text->raw_of[end - 1] + 1))
        end++;
    return end;
}

static bool is_near_draft(const struct oom_reader *reader, size_t at)
{
    static const enum oom_family families[] = {OOM_FAMILY_gpu_bfc, OOM_FAMILY_gpu_xla, OOM_FAMILY_cpu_alloc};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (oom_draft_takes(reader, families[i], at, NEAR))
            return true;
    return false;
}

/* "250.78MiB from NODE": a buffer that was alive. Only the copy of the text that came first fills the list. */
static bool node_take(struct oom_reader *reader, size_t *at, bool is_kept)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure size;
    size_t next = *at;
    if (!oom_cursor_take_size(text, &next, &size) || !oom_cursor_take(text, &next, "from"))
        return false;
    size_t end = joined_end(text, next, SENTENCE);
    if (is_kept) {
        struct oom_buffer *buffer = oom_draft_buffer(reader, OOM_ALLOCATIONS);
        buffer->size = size;
        oom_draft_name(reader, &buffer->op_name, next, end);
    }
    *at = end;
    return end > next;
}

/* report_tensor_allocations_upon_oom: "Current usage from device: D, allocator: A", a line a node, "Remaining N nodes
 * with X". */
static size_t nodes_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure count, rest;
    size_t next = at;
    if (!oom_cursor_find(text, &next, ",allocator:", 160))
        return 0;
    size_t allocator = next;
    next = joined_end(text, next, 80);
    if (!is_near_draft(reader, from)) {
        size_t look = next;
        if (!node_take(reader, &look, false))
            return 0;
        struct str name = {text->bytes + allocator, next - allocator};
        oom_draft_begin(reader, is_gpu_allocator(name) ? OOM_FAMILY_gpu_bfc : OOM_FAMILY_cpu_alloc, "usage", from,
                        next);
        oom_draft_name(reader, &reader->draft.failure.device, allocator, next);
    }
    bool is_kept = reader->draft.failure.lists[OOM_ALLOCATIONS].count <= 1;
    while (node_take(reader, &next, is_kept))
        continue;
    size_t last = next;
    if (oom_cursor_take(text, &last, "Remaining") && oom_cursor_take_number(text, &last, &count) &&
        oom_cursor_take(text, &last, "nodeswith") && oom_cursor_take_size(text, &last, &rest) && rest.is_known) {
        oom_draft_note_owned(reader, "remaining", "TensorFlow lists the largest nodes only; the other %llu hold %s.",
                             (unsigned long long)count.value, size_text((char[SIZE_TEXT_BYTES]){0}, rest.value));
        next = last;
    }
    return oom_draft_reach(reader, next);
}

/* "failed to allocate memory [Op:AddV2]": of an operation that runs on its own. */
static size_t eager_read(struct oom_reader *reader, size_t from, size_t at)
{
    size_t end = at;
    if (!oom_cursor_skip_to(&reader->text, &end, "]", 80))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_other, "eager", from, end)->framework = OOM_FRAMEWORK_tensorflow;
    oom_draft_name(reader, &oom_draft_buffer(reader, OOM_ALLOCATIONS)->op_name, at, end);
    return oom_draft_reach(reader, end + 1);
}

/* ---- NumPy ---- */

/* One of the usual types, wherever a line was broken. */
static bool type_take(const struct oom_text *text, size_t *at)
{
    static const char *const types[] = {"float64", "float32",    "float16",   "int64",  "int32",
                                        "int16",   "int8",       "uint64",    "uint32", "uint16",
                                        "uint8",   "complex128", "complex64", "bool",   "object"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (oom_cursor_take(text, at, types[i]))
            return true;
    return false;
}

/* "(501, 550174) and data type float64" */
size_t oom_other_array(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    size_t shape = at, end = at, type;
    if (!oom_cursor_take(text, &end, "(") || !oom_cursor_skip_to(text, &end, ")", 200))
        return at;
    size_t shape_end = ++end;
    struct oom_buffer *buffer = oom_draft_buffer(reader, OOM_ALLOCATIONS);
    buffer->size = failure->figures[OOM_needed_bytes];
    oom_draft_shape(reader, &buffer->shape, shape, shape_end);
    if (!oom_cursor_take(text, &end, "anddatatype"))
        return shape_end;
    type = end;
    if (!type_take(text, &end))
        end = joined_end(text, type, 40);
    oom_draft_name(reader, &buffer->allocation_type, type, end);
    return end;
}

/* ---- a counter that went below zero ---- */

size_t oom_other_wrapped(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    static const enum oom_figure_at counters[] = {OOM_needed_bytes, OOM_total_bytes};
    const uint64_t below_zero = (uint64_t)1 << 63;
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        struct oom_figure *figure = &failure->figures[counters[i]];
        if (!figure->is_known || figure->value < below_zero)
            continue;
        figure->is_known = false;
        failure->form = "wrapped";
        oom_draft_note_owned(reader, "wrapped",
                             "The size that the text states, %llu bytes, is not a real size: a counter or a "
                             "shape went below zero.",
                             (unsigned long long)figure->value);
    }
    return at;
}

/* ---- a status whose sentence is not known ---- */

static const struct {
    const char *code;
    enum oom_family family;
} codes[] = {
    {"E1000:", OOM_FAMILY_tpu_compile}, {"E1001:", OOM_FAMILY_tpu_compile}, {"E1002:", OOM_FAMILY_tpu_compile},
    {"E3000:", OOM_FAMILY_tpu_compile}, {"E0100:", OOM_FAMILY_tpu_buffer},  {"E0101:", OOM_FAMILY_tpu_program_load},
};

static bool mentions_memory(const struct oom_text *text, size_t at, size_t within)
{
    static const char *const words[] = {"outofmemory",    "OutofMemory",  "Outofmemory", "OOM",
                                        "allocatememory", "devicememory", "hbm",         "HBM"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t next = at;
        if (oom_cursor_find(text, &next, words[i], within))
            return true;
    }
    return false;
}

/* In a document: "`RESOURCE_EXHAUSTED:`", "`Resource exhausted: OOM when …`". */
static bool is_mentioned(const struct oom_text *text, size_t from, size_t at)
{
    size_t raw = text->raw_of[at > 0 ? at - 1 : 0] + 1, begin = text->raw_of[from];
    return (raw < text->raw_length && text->raw[raw] == '`') || (begin > 0 && text->raw[begin - 1] == '`');
}

/* Codes outlive their sentences: one alone still tells the family. */
static size_t status_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t next = at;
    if (oom_read_head_within(reader, at, SENTENCE) || is_mentioned(text, from, at))
        return 0;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (oom_cursor_find(text, &next, codes[i].code, 4)) {
            oom_draft_begin(reader, codes[i].family, NULL, next - 6, next);
            return oom_draft_reach(reader, next);
        }
    if (!mentions_memory(text, at, SENTENCE / 2))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_other, NULL, at, at);
    return oom_draft_reach(reader, at);
}

const struct oom_handler oom_other_handlers[] = {
    {"OOMwhenallocatingtensorwithshape", tensor_read, true},
    {"OOMwhenallocatingtensorofshape", constant_read, true},
    {"Currentusagefromdevice:", nodes_read, false},
    {"failedtoallocatememory[Op:", eager_read, true},
    {"RESOURCE_EXHAUSTED:", status_read, false},
    {"Resourceexhausted:", status_read, false},
    {NULL, NULL, false},
};
