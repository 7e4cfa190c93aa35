/* SPDX-License-Identifier: Apache-2.0 */
#include "read/kind.h"

#include "read/hlo/hlo_parts.h"
#include "read/torch/torch_form.h"

/* How many fields of a message are examined: enough to pass the leading planes of a trace, and little to read. Only the
 * first few fields with one number count. No known message has numbers from `NUMBERS_KNOWN` on: newer writers may put
 * such fields anywhere, so many are passed. */
enum {
    FIELDS_SEEN = 48,
    OF_ONE_NUMBER = 2,
    NUMBERS_KNOWN = 16,
    UNKNOWN_PASSED = 4096,
    TEXT_SEEN = 4096,
    NAME_SEEN = 64,
    BEGIN_SEEN = 64,
    LOOKS_MAX = 64
};

/* ---- what messages look like ---- */

enum message {
    MESSAGE_NONE,
    HLO_PROTO,
    MODULE,
    COMPUTATION,
    INSTRUCTION,
    SNAPSHOT,
    ASSIGNMENT,
    BUFFER,
    DEFINITION,
    ALLOCATION,
    SPACE,
    PLANE,
    LINE,
    NAMED,
    PROFILE,
    VALUE_TYPE,
    SAMPLE,
    MAPPING,
    LOCATION,
    FUNCTION,
    REPORT,
    REPORT_SPACE,
    REPORT_ROW,
};

/* By message and number of the field: n a number, l numbers, packed or not, d a double, t a text, b other bytes, a dot
 * nothing that is known, a capital letter a message of the second table. */
static const char *const schemas[] = {
    [MESSAGE_NONE] = ".",
    [HLO_PROTO] = ".M.A",
    [MODULE] = ".ttCbnnbb",
    [COMPUTATION] = ".tI.bnnnt",
    [INSTRUCTION] = ".ttb...b",
    [SNAPSHOT] = ".Hbbt",
    [ASSIGNMENT] = ".BbObb",
    [BUFFER] = ".nnDn",
    [DEFINITION] = "..tln",
    [ALLOCATION] = ".nnn.nnnnblnnn",
    [SPACE] = ".Pttt",
    [PLANE] = ".ntLEEb",
    [LINE] = ".ntnb....nnt",
    [NAMED] = ".nb",
    [PROFILE] = ".VSGYUtnnnnbnlnn",
    [VALUE_TYPE] = ".nn",
    [SAMPLE] = ".llb",
    [MAPPING] = ".nnnnnnnnnn",
    [LOCATION] = ".nnnbn",
    [FUNCTION] = ".nnnnn",
    [REPORT] = ".R",
    [REPORT_SPACE] = ".nnK",
    [REPORT_ROW] = ".nnndtt",
};

static const uint8_t message_of_letter['Z' + 1] = {
    ['M'] = MODULE,   ['C'] = COMPUTATION, ['I'] = INSTRUCTION, ['H'] = HLO_PROTO, ['A'] = ASSIGNMENT,
    ['B'] = BUFFER,   ['D'] = DEFINITION,  ['O'] = ALLOCATION,  ['P'] = PLANE,     ['L'] = LINE,
    ['E'] = NAMED,    ['V'] = VALUE_TYPE,  ['S'] = SAMPLE,      ['G'] = MAPPING,   ['Y'] = LOCATION,
    ['U'] = FUNCTION, ['K'] = REPORT_ROW,  ['R'] = REPORT_SPACE};

/* If several are equally likely, the first counts. */
static const struct {
    enum kind kind;
    enum message message;
} candidates[] = {{KIND_XSPACE, SPACE},
                  {KIND_HLO_PROTO, HLO_PROTO},
                  {KIND_HLO_MODULE, MODULE},
                  {KIND_HLO_SNAPSHOT, SNAPSHOT},
                  {KIND_PPROF, PROFILE},
                  {KIND_BUFFER_ASSIGNMENT, ASSIGNMENT},
                  {KIND_MEMORY_USAGE_REPORT, REPORT}};

/* ---- how much a file is like each ---- */

/* The leading fields of one message. */
struct look {
    struct stream_scope scope;
    struct stream_field fields[FIELDS_SEEN];
    size_t count;
    bool is_broken; /* damage among them */
};

struct looker {
    struct stream *stream;
    struct look *looks[LOOKS_MAX]; /* each scope is looked at once, for all candidates */
    size_t count;
};

static const struct look *kind_look(struct looker *looker, struct stream_scope scope)
{
    struct stream *stream = looker->stream;
    for (size_t i = 0; i < looker->count; i++)
        if (looker->looks[i]->scope.at == scope.at && looker->looks[i]->scope.end == scope.end)
            return looker->looks[i];
    struct look *look = arena_array(stream->arena, struct look, 1);
    struct err *outer = stream->err, err = ERR_INIT;
    look->scope = scope;
    stream->err = &err;
    size_t unknown_count = 0;
    while (look->count < FIELDS_SEEN && stream_next(stream, &scope, &look->fields[look->count])) {
        bool is_unknown = look->fields[look->count].number >= NUMBERS_KNOWN;
        unknown_count += is_unknown;
        look->count += !is_unknown || unknown_count <= OF_ONE_NUMBER || unknown_count > UNKNOWN_PASSED;
    }
    look->is_broken = err_is_set(&err);
    stream->err = outer;
    if (err.code == ERR_io)
        err_set(outer, ERR_io, err.offset_bytes, "%s", err.text);
    if (looker->count < LOOKS_MAX)
        looker->looks[looker->count++] = look;
    return look;
}

/* Printable, as a name is; a message begins with a control byte, its tag. */
static bool is_name(struct stream *stream, struct stream_scope payload)
{
    struct str text = stream_peek(stream, payload, NAME_SEEN);
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] < 0x20)
            return false;
    return text.length > 0;
}

enum { FITS = 2, FITS_BY_LENGTH = 1, UNKNOWN_FIELD = -1, WRONG_TYPE = -3, BROKEN = -8 };

static int likeness(struct looker *looker, struct stream_scope scope, enum message message);

/* A field of a number that the message does not have says little: other writers add some. */
static int likeness_of_field(struct looker *looker, const struct stream_field *field, enum message message)
{
    const char *schema = schemas[message];
    char wanted = field->number < strlen(schema) ? schema[field->number] : '.';
    bool is_bytes = field->type == WIRE_BYTES;
    /* Where the file ends inside a field, its length says nothing: what is in it has to. */
    int by_length = field->is_clipped ? 0 : FITS_BY_LENGTH;
    switch (wanted) {
    case '.': return UNKNOWN_FIELD;
    case 'n': return field->type == WIRE_VARINT ? FITS : WRONG_TYPE;
    case 'd': return field->type == WIRE_FIXED64 ? FITS : WRONG_TYPE;
    case 'l': return is_bytes ? by_length : field->type == WIRE_VARINT ? FITS_BY_LENGTH : WRONG_TYPE;
    case 't': return !is_bytes ? WRONG_TYPE : is_name(looker->stream, field->payload) ? FITS : by_length;
    case 'b': return is_bytes ? by_length : WRONG_TYPE;
    default: break;
    }
    if (!is_bytes)
        return WRONG_TYPE;
    int inside = likeness(looker, field->payload, (enum message)message_of_letter[(unsigned char)wanted]);
    return (field->is_clipped && inside <= 0 ? 0 : FITS) + inside;
}

/* As deep as the schemas nest. */
static int likeness(struct looker *looker, struct stream_scope scope, enum message message)
{
    const struct look *seen = kind_look(looker, scope);
    int sum = seen->is_broken ? BROKEN : 0;
    for (size_t i = 0; i < seen->count; i++) {
        int before = 0;
        for (size_t j = 0; j < i && before < OF_ONE_NUMBER; j++)
            before += seen->fields[j].number == seen->fields[i].number;
        if (before < OF_ONE_NUMBER)
            sum += likeness_of_field(looker, &seen->fields[i], message);
    }
    return sum;
}

/* What a file has to have at all: a module its computations or both its names, all others their first field. */
static bool may_be(struct looker *looker, enum message message)
{
    const struct look *top = kind_look(looker, stream_whole(looker->stream));
    uint32_t found = 0, named = 0;
    for (size_t i = 0; i < top->count; i++)
        if (top->fields[i].type == WIRE_BYTES && top->fields[i].number <= 3) {
            uint32_t bit = UINT32_C(1) << top->fields[i].number;
            found |= bit;
            named |= is_name(looker->stream, top->fields[i].payload) ? bit : 0;
        }
    return message == MODULE ? (found & 8) != 0 || (named & 6) == 6 : (found & 2) != 0;
}

/* No control bytes, and UTF-8 but for a stray byte here and there, as logs have. */
static bool is_text(struct stream *stream)
{
    struct str text = stream_peek(stream, stream_whole(stream), TEXT_SEEN);
    size_t stray_count = 0, length;
    for (size_t i = 0; i < text.length; i += length) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B)
            return false;
        length = str_utf8_length(text.data + i, text.length - i);
        if (length == 0) {
            stray_count++;
            length = 1;
        }
    }
    return text.length > 0 && stray_count <= text.length / 32;
}

static enum kind kind_of_message(struct stream *stream, const struct err *err)
{
    struct looker looker = {.stream = stream};
    enum kind kind = KIND_UNKNOWN;
    int most = FITS; /* one field of the right type is not enough */
    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]) && !err_is_set(err); i++) {
        enum message message = candidates[i].message;
        const struct look *top = kind_look(&looker, stream_whole(stream));
        /* damage after the first fields costs what follows it, not the kind */
        int sum = likeness(&looker, stream_whole(stream), message) - (top->is_broken ? BROKEN - UNKNOWN_FIELD : 0);
        if (sum > most && may_be(&looker, message)) {
            most = sum;
            kind = candidates[i].kind;
        }
    }
    return err_is_set(err) ? KIND_UNKNOWN : kind;
}

/* A message that begins with a long name: what looks like an empty line is its tag, and its fields go on to the end. */
static bool is_message_of_text(struct stream *stream)
{
    struct looker looker = {.stream = stream};
    if (stream_peek(stream, stream_whole(stream), 1).data[0] != '\n')
        return false;
    const struct look *top = kind_look(&looker, stream_whole(stream));
    return !top->is_broken && top->count > 0 && !top->fields[top->count - 1].is_clipped;
}

static enum kind kind_seen(struct stream *stream, const struct err *err)
{
    if (stream->source->size_bytes == 0)
        return KIND_EMPTY;
    if (hlo_parts_is_text(stream_peek(stream, stream_whole(stream), BEGIN_SEEN)))
        return KIND_HLO_PARTS;
    switch (torch_form_read(stream->source)) {
    case TORCH_FORM_PICKLE:
    case TORCH_FORM_JSON:
    case TORCH_FORM_TRACE:
    case TORCH_FORM_PAGE: return KIND_TORCH_SNAPSHOT;
    case TORCH_FORM_CHECKPOINT:
    case TORCH_FORM_OTHER_PICKLE: return KIND_PICKLE;
    case TORCH_FORM_NONE: break;
    }
    if (stream_peek(stream, stream_whole(stream), 1).length == 0)
        return err_is_set(err) ? KIND_UNKNOWN : KIND_EMPTY;
    if (!is_text(stream))
        return kind_of_message(stream, err);
    enum kind kind = is_message_of_text(stream) ? kind_of_message(stream, err) : KIND_UNKNOWN;
    return kind == KIND_UNKNOWN ? KIND_TEXT : kind;
}

enum kind kind_of(const struct source *source, struct arena *arena, struct err *err)
{
    struct stream stream;
    stream_open(&stream, source, arena, err);
    enum kind kind = kind_seen(&stream, err);
    stream_close(&stream);
    return kind;
}

const char *kind_name(enum kind kind)
{
    switch (kind) {
    case KIND_UNKNOWN: return "unknown";
    case KIND_EMPTY: return "empty";
    case KIND_XSPACE: return "xspace";
    case KIND_HLO_PROTO: return "hlo_proto";
    case KIND_HLO_MODULE: return "hlo_module";
    case KIND_HLO_SNAPSHOT: return "hlo_snapshot";
    case KIND_PPROF: return "pprof";
    case KIND_MEMORY_USAGE_REPORT: return "memory_usage_report";
    case KIND_BUFFER_ASSIGNMENT: return "buffer_assignment";
    case KIND_HLO_PARTS: return "hlo_parts";
    case KIND_TORCH_SNAPSHOT: return "torch_snapshot";
    case KIND_PICKLE: return "pickle";
    case KIND_TEXT: return "text";
    }
    return "unknown";
}
