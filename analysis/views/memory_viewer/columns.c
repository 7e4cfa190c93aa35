/* SPDX-License-Identifier: Apache-2.0
 * columns.c: see columns.h. To add a column: its value, its row at the end, its name in the list of the CSV, and
 * its member in docs/openapi.yaml. */
#include "views/memory_viewer/columns.h"

#include "plan/code_path.h"
#include "plan/describe.h"
#include "plan/group_key.h"
#include "plan/pattern.h"
#include "read/hlo/shape.h"

/* What a row is about. */
struct buffer {
    const struct memory_viewer_columns_rows *rows;
    const struct plan *plan;
    const struct plan_space *space;
    const struct plan_row *row;
    const struct hlo_allocation *allocation;
};

static struct buffer buffer_of(const void *context, uint32_t at)
{
    const struct memory_viewer_columns_rows *rows = context;
    const struct plan *plan = rows->request->model;
    const struct plan_row *row = &rows->space->rows[at];
    return (struct buffer){rows, plan, rows->space, row, &plan->hlo.allocations[row->allocation_at]};
}

/* The details of the instruction that defines the buffer; empty for an allocation that names no buffer. */
static struct hlo_detail detail_of(const struct buffer *buffer)
{
    const struct hlo *hlo = &buffer->plan->hlo;
    uint32_t buffer_at = buffer->row->buffer_at;
    return buffer_at == PLAN_NONE ? (struct hlo_detail){.frame_at = HLO_NONE}
                                  : hlo_detail(hlo, hlo->buffers[buffer_at].instruction_at);
}

static struct describe_source place_of(const struct buffer *buffer)
{
    struct hlo_detail detail = describe_origin(buffer->plan, buffer->row);
    return describe_source(&buffer->plan->hlo, &detail);
}

struct memory_viewer_columns_rows memory_viewer_columns_of(const struct tool_request *request,
                                                           const struct plan_space *space)
{
    return (struct memory_viewer_columns_rows){request, space, arena_array(request->arena, struct marginal, 1)};
}

struct marginal *memory_viewer_columns_marginal(const struct memory_viewer_columns_rows *rows)
{
    if (rows->marginal->space == NULL)
        marginal_build(rows->marginal, rows->space, rows->request->arena);
    return rows->marginal;
}

/* ---- texts ---- */

struct str memory_viewer_columns_name(const struct memory_viewer_columns_rows *rows, uint32_t at)
{
    return views_row_name(rows->request->model, &rows->space->rows[at], rows->request->scratch);
}

struct str memory_viewer_columns_patterns(uint32_t patterns, struct buf *scratch)
{
    scratch->length = 0;
    for (int kind = 0; kind < PATTERN_COUNT; kind++)
        if (patterns & 1u << kind)
            buf_format(scratch, "%s%s", scratch->length > 0 ? ", " : "", pattern_name((enum pattern_kind)kind));
    return describe_str(scratch);
}

/* ---- whose memory it is ---- */

static enum plan_kind allocation_kind(const struct buffer *buffer) { return plan_kind_of(buffer->allocation); }

static const char *rule_of(const struct buffer *buffer)
{
    return category_rule_name((enum category_rule)buffer->row->choice.rule);
}

static const char *confidence_of(const struct buffer *buffer)
{
    return category_confidence_name(category_rule_confidence((enum category_rule)buffer->row->choice.rule));
}

struct memory_viewer_columns_whose memory_viewer_columns_whose_of(const struct memory_viewer_columns_rows *rows,
                                                                  uint32_t at)
{
    const struct buffer buffer = buffer_of(rows, at);
    return (struct memory_viewer_columns_whose){category_name((enum category)buffer.row->choice.category),
                                                plan_kind_name(allocation_kind(&buffer)), confidence_of(&buffer),
                                                rule_of(&buffer)};
}

void memory_viewer_columns_whose_join(struct memory_viewer_columns_whose *whose,
                                      const struct memory_viewer_columns_whose *other)
{
    /* the names are static, each of them once */
    whose->category = whose->category == other->category ? whose->category : NULL;
    whose->kind = whose->kind == other->kind ? whose->kind : NULL;
    whose->confidence = whose->confidence == other->confidence ? whose->confidence : NULL;
    whose->rule = whose->rule == other->rule ? whose->rule : NULL;
}

void memory_viewer_columns_whose_write(struct json *json, const struct memory_viewer_columns_whose *whose)
{
    json_key_text(json, "category", whose->category);
    json_key_text(json, "kind", whose->kind);
    json_key_text(json, "confidence", whose->confidence);
    json_key_text(json, "rule", whose->rule);
}

static bool is_category(struct str typed)
{
    enum category category;
    return category_find(typed, &category);
}

static bool is_pattern(struct str typed)
{
    for (int kind = 0; kind < PATTERN_COUNT; kind++)
        if (str_equal_any_case(typed, str_of(pattern_name((enum pattern_kind)kind))))
            return true;
    return false;
}

static bool is_id(struct str typed)
{
    size_t digits = 0;
    while (digits < typed.length && typed.data[digits] >= '0' && typed.data[digits] <= '9')
        digits++;
    return digits == typed.length && digits > 0;
}

struct str memory_viewer_columns_source(const struct memory_viewer_columns_rows *rows, uint32_t at)
{
    struct buf *scratch = rows->request->scratch;
    struct buffer buffer = buffer_of(rows, at);
    struct describe_source place = place_of(&buffer);
    scratch->length = 0;
    buf_add(scratch, place.file.data, place.file.length);
    if (place.file.length > 0)
        buf_format(scratch, ":%lld", (long long)place.line);
    return describe_str(scratch);
}

static struct str id_text(const struct buffer *buffer)
{
    struct buf *scratch = buffer->rows->request->scratch;
    scratch->length = 0;
    if (buffer->row->buffer_at != PLAN_NONE)
        buf_format(scratch, "%lld", (long long)buffer->plan->hlo.buffers[buffer->row->buffer_at].id);
    return describe_str(scratch);
}

static struct str shape_message(const struct buffer *buffer)
{
    uint32_t buffer_at = buffer->row->buffer_at;
    struct str shape = buffer_at == PLAN_NONE ? (struct str){"", 0} : buffer->plan->shapes[buffer_at];
    arena_work(buffer->rows->request->arena, shape.length);
    return shape;
}

static struct str shape_words(const struct buffer *buffer)
{
    struct buf *scratch = buffer->rows->request->scratch;
    scratch->length = 0;
    shape_text(shape_message(buffer), true, scratch);
    return describe_str(scratch);
}

static struct str group_text(const struct buffer *buffer)
{
    const struct tool_request *request = buffer->rows->request;
    const struct group_key key = group_key_of(buffer->plan, buffer->row, request->scratch, request->arena);
    char text[GROUP_KEY_TEXT_BYTES];
    group_key_text(&key, text);
    request->scratch->length = 0;
    buf_text(request->scratch, text);
    return describe_str(request->scratch);
}

static struct str code_text(const struct buffer *buffer, enum code_path_way way)
{
    struct buf *scratch = buffer->rows->request->scratch;
    scratch->length = 0;
    arena_work(buffer->rows->request->arena, code_path_work(buffer->plan, buffer->row));
    code_path_text(buffer->plan, buffer->row, way, scratch);
    return describe_str(scratch);
}

static struct str layers_text(const struct buffer *buffer)
{
    struct buf *scratch = buffer->rows->request->scratch;
    scratch->length = 0;
    arena_work(buffer->rows->request->arena, code_path_work(buffer->plan, buffer->row));
    code_path_layers_text(buffer->plan, buffer->row, scratch);
    return describe_str(scratch);
}

/* ---- numbers ---- */

static bool has_size(const struct buffer *buffer) { return buffer->row->unpadded_bytes != SHAPE_UNKNOWN_SIZE; }

static struct table_value percent(int64_t part, int64_t whole)
{
    return table_real(whole > 0 ? 100.0 * (double)part / (double)whole : 0);
}

/* Steps in which a row is alive, from and to; all of them when it lives for the whole program. */
static int64_t first_step(const struct buffer *buffer) { return buffer->row->is_indefinite ? 0 : buffer->row->born; }

static int64_t end_step(const struct buffer *buffer)
{
    bool is_whole = buffer->row->is_indefinite || buffer->row->dies > buffer->space->step_count;
    return is_whole ? buffer->space->step_count : buffer->row->dies;
}

static struct marginal_saving saving_of(const struct buffer *buffer)
{
    uint32_t at = (uint32_t)(buffer->row - buffer->space->rows);
    return marginal_of_row(memory_viewer_columns_marginal(buffer->rows), at);
}

static struct table_value next_peak_of(const struct buffer *buffer)
{
    uint32_t step = saving_of(buffer).next_peak_step;
    return table_integer_if(step != PLAN_NONE, step);
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct buffer buffer = buffer_of(context, row), expression)
#define IF_SIZED(value) (has_size(&buffer) ? (value) : table_unknown())
#define IF_MOVED(value) (buffer.row->is_indefinite ? table_unknown() : (value))

VALUE(id, table_text(id_text(&buffer)))
VALUE(name, table_text(memory_viewer_columns_name(buffer.rows, row)))
VALUE(opcode, table_text(detail_of(&buffer).opcode))
VALUE(shape, table_text(shape_words(&buffer)))
VALUE(dtype, table_text(str_of(shape_element_type(shape_message(&buffer)))))
VALUE(size, table_integer(buffer.row->bytes))
VALUE(size_percent, percent(buffer.row->bytes, buffer.space->peak_bytes))
VALUE(unpadded, IF_SIZED(table_integer(buffer.row->unpadded_bytes)))
VALUE(padding, IF_SIZED(table_integer(views_padding(buffer.row))))
VALUE(padding_percent, IF_SIZED(percent(views_padding(buffer.row), buffer.row->bytes)))
VALUE(expansion, has_size(&buffer) && buffer.row->unpadded_bytes > 0
                     ? table_real((double)buffer.row->bytes / (double)buffer.row->unpadded_bytes)
                     : table_unknown())
VALUE(saves, table_integer(saving_of(&buffer).bytes))
VALUE(saves_percent, percent(saving_of(&buffer).bytes, buffer.space->peak_bytes))
VALUE(next_peak, next_peak_of(&buffer))
VALUE(category, table_text(str_of(category_name((enum category)buffer.row->choice.category))))
VALUE(category_word, table_text(str_of(category_words((enum category)buffer.row->choice.category))))
VALUE(kind, table_text(str_of(plan_kind_name(allocation_kind(&buffer)))))
VALUE(kind_word, table_text(str_of(plan_kind_word(allocation_kind(&buffer)))))
VALUE(confidence, table_text(str_of(confidence_of(&buffer))))
VALUE(rule, table_text(str_of(rule_of(&buffer))))
VALUE(patterns, table_text(memory_viewer_columns_patterns(buffer.row->patterns, buffer.rows->request->scratch)))
VALUE(group, table_text(group_text(&buffer)))
VALUE(op_name, table_text(detail_of(&buffer).op_name))
VALUE(code_scope, table_text(code_text(&buffer, CODE_PATH_BY_SCOPE)))
VALUE(code_stack, table_text(code_text(&buffer, CODE_PATH_BY_STACK)))
VALUE(code_layers, table_text(layers_text(&buffer)))
VALUE(source, table_text(memory_viewer_columns_source(buffer.rows, row)))
VALUE(file, table_text(place_of(&buffer).file))
VALUE(line, table_integer_if(place_of(&buffer).file.length > 0 && place_of(&buffer).line > 0, place_of(&buffer).line))
VALUE(born, IF_MOVED(table_integer(buffer.row->born)))
VALUE(dies, IF_MOVED(table_integer_if(buffer.row->dies < buffer.space->step_count, buffer.row->dies)))
VALUE(lives, table_integer(end_step(&buffer) - first_step(&buffer)))
VALUE(alive_first, table_integer(first_step(&buffer)))
VALUE(alive_end, table_integer(buffer.space->step_count == 0 ? 1 : end_step(&buffer)))
VALUE(position, table_integer_if(views_schedule_position(buffer.plan, buffer.row->buffer_at) >= 0,
                                 views_schedule_position(buffer.plan, buffer.row->buffer_at)))
VALUE(parameter, table_integer_if(buffer.allocation->is_parameter &&buffer.allocation->parameter_number >= 0,
                                  buffer.allocation->parameter_number))
VALUE(allocation, table_integer(buffer.allocation->index))
VALUE(offset, table_integer(buffer.row->offset_bytes))
/* What lives for the whole program has no offset beside the others: each has an allocation of its own. */
VALUE(covers_first, IF_MOVED(table_integer(buffer.row->offset_bytes)))
VALUE(covers_end, IF_MOVED(table_real((double)buffer.row->offset_bytes + (double)buffer.row->bytes)))

/* ---- members of a row that are no cells ---- */

static void id_write(struct json *json, const void *context, uint32_t row)
{
    views_row_id(json, buffer_of(context, row).plan, buffer_of(context, row).row);
}

static void allocation_write(struct json *json, const void *context, uint32_t row)
{
    struct buffer buffer = buffer_of(context, row);
    json_object_begin(json);
    json_key_id(json, "index", buffer.allocation->index);
    json_key_int(json, "size_bytes", buffer.allocation->size_bytes);
    json_key_int(json, "offset_bytes", buffer.row->offset_bytes);
    json_key_bool(json, "is_reused_as_output", buffer.allocation->is_parameter && buffer.allocation->is_live_out);
    json_object_end(json);
}

static void indefinite_write(struct json *json, const void *context, uint32_t row)
{
    json_bool(json, buffer_of(context, row).row->is_indefinite);
}

/* In the order of a row's members. */
const struct table_column memory_viewer_columns[] = {
    {COLUMN_TEXT("id", id), .is_value = is_id, .write = id_write, .json = "id", .csv = "id",
     .help = "number of the buffer"},
    {COLUMN_TEXT("name", name), .is_searched = true, .json = "name", .csv = "name", .title = "Name",
     .help = "name of the buffer; * matches any text"},
    {COLUMN_TEXT("op", opcode), .aliases = "opcode", .json = "opcode", .csv = "opcode", .title = "Opcode",
     .help = "opcode of the instruction"},
    {COLUMN_SHAPE("shape", shape), .is_searched = true, .json = "shape", .csv = "shape", .title = "Shape",
     .help = "shape:[*,2048] · [...,128] · bf16[…]"},
    {COLUMN_TEXT("dtype", dtype), .json = "dtype", .csv = "dtype", .title = "Dtype", .help = "element type"},
    {COLUMN_NUMBER("size", size, "bytes"), .is_main = true, .aliases = "bytes", .json = "bytes", .csv = "size_bytes",
     .title = "Size", .help = "size:>64MiB · 1GiB..2GiB · >10%"},
    {COLUMN_NUMBER("size%", size_percent, "percent")},
    {COLUMN_NUMBER("unpadded", unpadded, "bytes"), .json = "unpadded_bytes", .csv = "unpadded_bytes",
     .title = "Unpadded", .help = "bytes without padding"},
    {COLUMN_NUMBER("pad", padding, "bytes"), .aliases = "padding", .json = "padding_bytes", .csv = "padding_bytes",
     .title = "Padding", .help = "padding: pad:>1MiB · >10%"},
    {COLUMN_NUMBER("pad%", padding_percent, "percent")},
    {COLUMN_NUMBER("", expansion, "factor"), .json = "expansion"},
    {COLUMN_NUMBER("saves", saves, "bytes"), .json = "saves_bytes", .csv = "saves_bytes", .title = "Saves",
     .help = "what the peak falls by without it: saves:>64MiB · >1%"},
    {COLUMN_NUMBER("saves%", saves_percent, "percent")},
    {COLUMN_NUMBER("next_peak", next_peak, "step"), .aliases = "next_peak_step", .json = "next_peak_step",
     .csv = "next_peak_step", .title = "Next peak", .help = "step of the peak that is left without it"},
    {COLUMN_TEXT("cat", category), .aliases = "category", .word = category_word, .is_value = is_category,
     .json = "category", .csv = "category", .title = "Category",
     .help = "whose memory: cat:saved_activation · cat:parameter,optimizer_state"},
    {COLUMN_TEXT("confidence", confidence), .json = "confidence", .csv = "confidence", .title = "Confidence",
     .help = "how sure the category is: exact, rule, guess"},
    {COLUMN_TEXT("rule", rule), .json = "rule", .csv = "rule", .title = "Rule", .help = "what decided the category"},
    {COLUMN_TEXT("kind", kind), .word = kind_word, .json = "kind", .csv = "kind", .title = "Kind",
     .help = "of the allocation: argument, output, constant, temporary"},
    {COLUMN_TEXT("pattern", patterns), .is_value = is_pattern, .is_list = true, .json = "patterns", .csv = "patterns",
     .title = "Pattern", .help = "pattern:attention_scores · what has a name, as the view whose lists it"},
    {COLUMN_TEXT("group", group), .json = "group", .help = "group:KEY, as groups by=whose name them"},
    {COLUMN_TEXT("", NULL), .write = allocation_write, .json = "allocation"},
    {COLUMN_TEXT("scope", op_name), .is_searched = true, .json = "op_name", .csv = "op_name", .title = "Op scope",
     .help = "op name of the framework"},
    {COLUMN_TEXT("", file), .json = "source_file"},
    {COLUMN_NUMBER("", line, NULL), .json = "source_line"},
    {COLUMN_TEXT("line", source), .aliases = "source", .is_searched = true, .csv = "source", .title = "Source",
     .help = "source file and line"},
    {COLUMN_TEXT("", NULL), .write = indefinite_write, .json = "is_indefinite"},
    {COLUMN_NUMBER("born", born, "step"), .json = "born_step", .csv = "born_step", .title = "Born",
     .help = "first step: born:<100"},
    {COLUMN_NUMBER("dies", dies, "step"), .json = "dies_step", .csv = "dies_step", .title = "Dies",
     .help = "last step"},
    {COLUMN_NUMBER("lives", lives, "step"), .help = "number of steps: lives:>1000"},
    {COLUMN_NUMBER("", position, "step"), .json = "defined_schedule_position"},
    {COLUMN_NUMBER("", parameter, NULL), .json = "parameter_number"},
    {COLUMN_NUMBER("alloc", allocation, NULL), .aliases = "allocation", .csv = "allocation_index",
     .title = "Allocation", .help = "number of its allocation"},
    {COLUMN_NUMBER("offset", offset, "bytes"), .csv = "allocation_offset_bytes", .title = "Offset",
     .help = "place in its allocation"},
    {COLUMN_TEXT("in", code_scope), .help = "place in the code: in:layer_{i}/mlp/*"},
    {COLUMN_TEXT("layer", code_layers), .help = "one of numbered layers: layer:\"/layer_3/\""},
    {COLUMN_TEXT("stack", code_stack), .help = "frames from the outermost inwards"},
    {COLUMN_SPAN("alive", alive_first), .help = "live at a step: alive:1536 · 100..200"},
    {COLUMN_NUMBER("", alive_end, "step")},
    {COLUMN_SPAN("covers", covers_first), .help = "offsets that it takes: covers:1GiB..2GiB"},
    {COLUMN_NUMBER("", covers_end, "bytes")},
    {.name = NULL},
};

const char memory_viewer_columns_csv[] =
    "id name op cat confidence rule kind pattern shape dtype size unpadded pad saves next_peak born dies alloc offset "
    "line scope";
const char memory_viewer_columns_csv_without_paths[] =
    "id name op cat confidence rule kind pattern shape dtype size unpadded pad saves next_peak born dies alloc offset "
    "scope";
