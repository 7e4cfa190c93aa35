/* SPDX-License-Identifier: Apache-2.0
 * code_path.c: see code_path.h. What JAX puts around a person's scopes is known here and nowhere else. */
#include "plan/code_path.h"

#include "plan/describe.h"
#include "plan/jax_words.h"

#include <ctype.h>
#include <stdio.h>

static const char *const kind_names[] = {"scope", "layers", "op", "argument", "frame", "library", "group"};
static const char *const way_names[] = {"scope", "stack"};

const char *code_path_kind_name(enum code_path_kind kind) { return kind_names[kind]; }
const char *code_path_way_name(enum code_path_way way) { return way_names[way]; }

struct part {
    struct str text, index; /* index: "[3]" behind it */
    enum code_path_kind kind;
};

struct parts {
    struct part items[CODE_PATH_DEPTH_MAX];
    uint32_t count;
    uint32_t backward_at; /* how many parts there were before the last transpose(…), or UINT32_MAX */
};

static void parts_add(struct parts *parts, struct str text, enum code_path_kind kind)
{
    if (text.length == 0)
        return;
    if (parts->count < CODE_PATH_DEPTH_MAX)
        parts->items[parts->count++] = (struct part){text, {"", 0}, kind};
}

static bool str_has(struct str text, char c) { return text.length > 0 && memchr(text.data, c, text.length) != NULL; }

/* ---- op names ---- */

/* The next piece, up to a slash outside of brackets; false at the end. */
static bool piece_next(struct str *rest, bool is_balanced, struct str *piece)
{
    size_t at = 0;
    int depth = 0;
    if (rest->length == 0)
        return false;
    for (; at < rest->length; at++) {
        char c = rest->data[at];
        depth += is_balanced ? (c == '(') - (c == ')') : 0;
        if (c == '/' && depth == 0)
            break;
    }
    *piece = (struct str){rest->data, at};
    size_t taken = at < rest->length ? at + 1 : at;
    *rest = (struct str){rest->data + taken, rest->length - taken};
    return true;
}

static bool is_balanced(struct str text)
{
    int64_t depth = 0;
    for (size_t i = 0; i < text.length && depth >= 0; i++)
        depth += (text.data[i] == '(') - (text.data[i] == ')');
    return depth == 0;
}

/* What was written around a name. */
struct wrapped {
    struct str name;
    bool is_wrapped, is_function; /* jit(f) */
    bool is_forward, is_backward; /* jvp(…) or transpose(…) is the outermost of them */
};

static struct wrapped unwrap(struct str piece)
{
    struct wrapped wrapped = {.name = piece};
    for (;;) {
        struct str name = wrapped.name;
        const char *open =
            name.length > 1 && name.data[name.length - 1] == ')' ? memchr(name.data, '(', name.length) : NULL;
        if (open == NULL)
            return wrapped;
        struct str word = {name.data, (size_t)(open - name.data)};
        if (!jax_words_has(JAX_WRAPPER, word))
            return wrapped;
        wrapped.is_forward |= !wrapped.is_wrapped && str_equal(word, STR("jvp"));
        wrapped.is_backward |= !wrapped.is_wrapped && str_equal(word, STR("transpose"));
        wrapped.is_function = str_equal(word, STR("jit")) || str_equal(word, STR("pjit"));
        wrapped.is_wrapped = true;
        wrapped.name = (struct str){open + 1, name.length - word.length - 2};
    }
}

/* A function whose name the person would not know: of a library's inside, or without one. */
static bool is_unnamed_function(struct str name)
{
    return name.length == 0 || name.data[0] == '_' || name.data[0] == '<' || str_equal(name, STR("main"));
}

static bool is_branch(struct str text)
{
    return str_starts(text, STR("branch_")) && text.length > 11 && memcmp(text.data + text.length - 4, "_fun", 4) == 0;
}

/* "while/body", "while/cond", "cond/branch_0_fun", and the bodies that JAX names. */
static bool is_machinery(struct str before, struct str piece, struct str after)
{
    bool is_loop_part =
        str_equal(piece, STR("body")) || str_equal(piece, STR("cond")) || str_equal(piece, STR("body_fun"));
    if (str_equal(before, STR("while")) && is_loop_part)
        return true;
    if (str_equal(piece, STR("while")))
        return str_equal(after, STR("body")) || str_equal(after, STR("cond")) || str_equal(after, STR("body_fun"));
    if (str_equal(piece, STR("cond")))
        return is_branch(after);
    return (str_equal(before, STR("cond")) && is_branch(piece)) || jax_words_has(JAX_BODY, piece);
}

static void scopes_split(struct str text, struct parts *parts)
{
    bool has_pairs = is_balanced(text), is_first = true;
    struct str before = {"", 0}, piece, after = {"", 0}, rest = text;
    bool has_piece = piece_next(&rest, has_pairs, &piece);
    for (; has_piece; before = piece, piece = after, is_first = false) {
        bool is_last = !piece_next(&rest, has_pairs, &after);
        has_piece = !is_last;
        struct wrapped wrapped = unwrap(piece);
        if (is_last && !wrapped.is_wrapped) {
            parts_add(parts, piece, CODE_PATH_OP);
            return;
        }
        /* A checkpointed region repeats the scopes of the forward pass: "transpose(jvp(a))/b/jvp(a)/b/checkpoint/c". */
        if (wrapped.is_forward && parts->backward_at != UINT32_MAX)
            parts->count = parts->backward_at;
        if (wrapped.is_forward || wrapped.is_backward)
            parts->backward_at = wrapped.is_backward ? parts->count : UINT32_MAX;
        bool is_program = is_first && wrapped.is_function;
        if (is_program || (wrapped.is_function && is_unnamed_function(wrapped.name)) ||
            (!wrapped.is_wrapped && is_machinery(before, piece, after)))
            continue;
        struct str inside = wrapped.name, scope;
        while (piece_next(&inside, has_pairs, &scope))
            parts_add(parts, scope, CODE_PATH_SCOPE);
    }
}

/* ---- arguments ---- */

static size_t name_length(struct str path)
{
    size_t length = 0;
    while (length < path.length && path.data[length] != '.' && path.data[length] != '[')
        length++;
    return length;
}

/* The length of the brackets at the beginning of `path`, with them; `inside`: the text between them. */
static size_t bracket_length(struct str path, struct str *inside)
{
    bool is_key = path.length > 1 && (path.data[1] == '\'' || path.data[1] == '"');
    size_t from = is_key ? 2 : 1;
    const char *end =
        path.length > from ? memchr(path.data + from, is_key ? path.data[1] : ']', path.length - from) : NULL;
    size_t length =
        end == NULL ? path.length : (size_t)(end - path.data) + (is_key && end + 1 < path.data + path.length ? 2 : 1);
    *inside =
        (struct str){path.data + (from < path.length ? from : path.length),
                     end == NULL ? (path.length > from ? path.length - from : 0) : (size_t)(end - path.data) - from};
    return length;
}

/* "state.params['layers'][0].kernel" as state, params, layers[0], kernel; a slash in a key parts it too. */
static void argument_split(struct str path, struct parts *parts)
{
    while (path.length > 0) {
        struct str inside, piece;
        size_t length;
        if (path.data[0] == '.') {
            length = 1;
        } else if (path.data[0] != '[') {
            length = name_length(path);
            parts_add(parts, (struct str){path.data, length}, CODE_PATH_ARGUMENT);
        } else {
            length = bracket_length(path, &inside);
            bool is_key = length > 1 && (path.data[1] == '\'' || path.data[1] == '"');
            struct part *last = parts->count > 1 ? &parts->items[parts->count - 1] : NULL;
            while (is_key && piece_next(&inside, false, &piece))
                parts_add(parts, piece, CODE_PATH_ARGUMENT);
            if (!is_key && last != NULL &&
                (last->index.length == 0 || last->index.data + last->index.length == path.data))
                last->index =
                    (struct str){last->index.length > 0 ? last->index.data : path.data, last->index.length + length};
            else if (!is_key)
                parts_add(parts, inside, CODE_PATH_ARGUMENT);
        }
        path = (struct str){path.data + length, path.length - length};
    }
}

/* JAX names an argument by its path in the tree: a name, keys and indices, no scopes. */
static bool is_argument_path(struct str name)
{
    struct str front = {name.data, name_length(name)};
    return front.length > 0 && front.length < name.length && !str_has(front, '/') && !str_has(front, '(');
}

/* ---- folding ---- */

/* A word after which a number means one of many alike: "layer3", "blocks", "h". */
static bool means_layer(const char *text, size_t length)
{
    static const char *const words[] = {"layer", "block", "stage"};
    size_t from = length;
    while (from > 0 && isalpha((unsigned char)text[from - 1]))
        from--;
    struct str word = {text + from, length - from};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t own = strlen(words[i]);
        if (word.length >= own &&
            str_equal_any_case((struct str){word.data + word.length - own, own}, str_of(words[i])))
            return true;
    }
    return (word.length > 1 && word.data[word.length - 1] == 's') || str_equal(word, STR("h")) ||
           str_equal(word, STR("cache"));
}

/* A text in a room of its own; what does not fit is left out. */
struct room {
    char data[CODE_PATH_TEXT_MAX];
    size_t length;
};

static void room_add(struct room *room, struct str text)
{
    size_t left = sizeof(room->data) - room->length, taken = text.length < left ? text.length : left;
    memcpy(room->data + room->length, text.data, taken);
    room->length += taken;
}

static struct str room_text(const struct room *room) { return (struct str){room->data, room->length}; }

/* Numbers behind "_", "." or "-", and behind a word that means a layer, become {i}. True if there was one. */
static bool fold_numbers(struct str text, struct room *out)
{
    bool is_folded = false;
    for (size_t at = 0, digits; at < text.length; at += digits > 0 ? digits : 1) {
        digits = str_digits(text, at);
        bool is_apart = at > 0 && text.data[at - 1] != '\0' && strchr("_.-", text.data[at - 1]) != NULL;
        bool is_end = at + digits == text.length || strchr("_.-", text.data[at + digits]) != NULL;
        bool is_layer = digits > 0 && at > 0 && is_end && (is_apart || means_layer(text.data, at));
        room_add(out, is_layer ? STR("{i}") : (struct str){text.data + at, digits > 0 ? digits : 1});
        is_folded |= is_layer;
    }
    return is_folded;
}

/* "[3]" behind a word that means a layer. */
static bool fold_index(struct str index, struct room *out)
{
    for (size_t at = 0, digits; at < index.length; at += digits > 0 ? digits : 1) {
        digits = str_digits(index, at);
        room_add(out, digits > 0 ? STR("{i}") : (struct str){index.data + at, 1});
    }
    return true;
}

static void part_visit(const struct parts *parts, uint32_t at, code_path_visitor *visit, void *context)
{
    const struct part *part = &parts->items[at];
    struct room text = {.length = 0}, own = {.length = 0};
    bool is_number = part->text.length > 0 && str_digits(part->text, 0) == part->text.length, is_folded = false;
    room_add(&own, part->text);
    room_add(&own, part->index);
    if (part->kind != CODE_PATH_SCOPE && part->kind != CODE_PATH_ARGUMENT)
        room_add(&text, room_text(&own));
    else if (is_number && at > 0 && means_layer(parts->items[at - 1].text.data, parts->items[at - 1].text.length)) {
        room_add(&text, STR("{i}"));
        is_folded = true;
    } else {
        is_folded = fold_numbers(part->text, &text);
        if (part->index.length > 0 && means_layer(part->text.data, part->text.length))
            is_folded |= fold_index(part->index, &text);
        else
            room_add(&text, part->index);
    }
    const struct code_path_piece piece = {
        is_folded ? CODE_PATH_LAYERS : part->kind, room_text(&text), room_text(&own), {"", 0}, {"", 0}, -1};
    visit(context, &piece);
}

/* ---- stacks ---- */

static void frame_visit(const struct hlo_frame *frame, enum code_path_kind kind, code_path_visitor *visit,
                        void *context)
{
    struct room text = {.length = 0};
    char line[32];
    size_t most = CODE_PATH_TEXT_MAX / 2, file_length = frame->file.length < most ? frame->file.length : most;
    snprintf(line, sizeof(line), ":%d ", frame->line);
    room_add(&text, (struct str){frame->file.data + frame->file.length - file_length, file_length});
    room_add(&text, str_of(line));
    room_add(&text, frame->function);
    const struct code_path_piece piece = {kind,        room_text(&text), room_text(&text),
                                          frame->file, frame->function,  frame->line};
    visit(context, &piece);
}

/* Visits the user's frames from the outermost inwards, then those of libraries. A package that may be the user's counts
 * as such if there are no others. False without any frame. */
static bool stack_visit(const struct hlo *hlo, const struct hlo_detail *detail, code_path_visitor *visit, void *context)
{
    uint32_t frames[CODE_PATH_DEPTH_MAX], count = 0;
    enum library best = LIBRARY_MACHINERY;
    for (uint32_t at = detail->frame_at; count < CODE_PATH_DEPTH_MAX && at < hlo->frame_count;
         at = hlo->frames[at].parent_at) {
        best = hlo->frames[at].library < best ? hlo->frames[at].library : best;
        frames[count++] = at;
    }
    for (int is_library = 0; is_library < 2; is_library++)
        for (uint32_t i = count; i-- > 0;) {
            const struct hlo_frame *frame = &hlo->frames[frames[i]];
            if ((frame->library > best || frame->library == LIBRARY_MACHINERY) == (is_library == 1))
                frame_visit(frame, is_library == 1 ? CODE_PATH_LIBRARY : CODE_PATH_FRAME, visit, context);
        }
    if (count == 0 && detail->source_file.length > 0) {
        enum library library = library_of(detail->source_file, hlo->libraries);
        const struct hlo_frame frame = {.file = detail->source_file, .function = {"", 0}, .line = detail->source_line};
        frame_visit(&frame, library == LIBRARY_MACHINERY ? CODE_PATH_LIBRARY : CODE_PATH_FRAME, visit, context);
        return true;
    }
    return count > 0;
}

/* ---- the whole path ---- */

static struct hlo_detail detail_of(const struct plan *plan, const struct plan_row *row)
{
    uint32_t at = row->named_by != HLO_NONE || row->buffer_at == PLAN_NONE
                      ? row->named_by
                      : plan->hlo.buffers[row->buffer_at].instruction_at;
    if (at == HLO_NONE)
        return (struct hlo_detail){.frame_at = HLO_NONE, .opcode = STR("allocation")};
    return hlo_detail(&plan->hlo, at);
}

static bool is_entry_parameter(const struct plan *plan, const struct plan_row *row, const struct hlo_detail *detail)
{
    return str_equal(detail->opcode, STR("parameter")) && row->named_by != HLO_NONE &&
           plan->hlo.instructions[row->named_by].computation_at == plan->hlo.entry_at;
}

void code_path_walk(const struct plan *plan, const struct plan_row *row, enum code_path_way way,
                    code_path_visitor *visit, void *context)
{
    static const struct str groups[] = {STR("(no scope)"), STR("(no source)")};
    struct parts parts = {.count = 0, .backward_at = UINT32_MAX};
    struct hlo_detail detail = detail_of(plan, row);
    bool is_parameter = is_entry_parameter(plan, row, &detail);
    char number[40];
    if (is_parameter || is_argument_path(detail.op_name)) {
        parts_add(&parts, STR("(arguments)"), CODE_PATH_GROUP);
        argument_split(detail.op_name, &parts);
        snprintf(number, sizeof(number), "argument %lld", (long long)detail.parameter_number);
        if (parts.count == 1)
            parts_add(&parts, str_of(number), CODE_PATH_ARGUMENT);
        if (row->buffer_at != PLAN_NONE && plan->hlo.buffers[row->buffer_at].instruction_at != row->named_by)
            parts_add(&parts, hlo_instruction_opcode(&plan->hlo, plan->hlo.buffers[row->buffer_at].instruction_at),
                      CODE_PATH_OP); /* a copy of it */
        else if (!is_parameter)
            parts_add(&parts, detail.opcode, CODE_PATH_OP);
    } else if (way == CODE_PATH_BY_STACK) {
        struct hlo_detail origin = describe_origin(plan, row);
        if (stack_visit(&plan->hlo, &origin, visit, context))
            return;
    } else if (way == CODE_PATH_BY_SCOPE && detail.op_name.length > 0) {
        scopes_split(detail.op_name, &parts);
    }
    if (parts.count == 0) {
        parts_add(&parts, groups[way], CODE_PATH_GROUP);
        parts_add(&parts, detail.opcode, CODE_PATH_OP);
    }
    for (uint32_t i = 0; i < parts.count; i++)
        part_visit(&parts, i, visit, context);
}

uint64_t code_path_work(const struct plan *plan, const struct plan_row *row)
{
    return 64 + (row->named_by == HLO_NONE ? 0 : plan->hlo.instructions[row->named_by].length);
}

struct written {
    struct buf *out;
    enum code_path_way way;
};

static void piece_text(void *context, const struct code_path_piece *piece)
{
    const struct written *written = context;
    buf_add(written->out, piece->text.data, piece->text.length);
    buf_text(written->out, written->way == CODE_PATH_BY_STACK ? " > " : "/");
}

void code_path_text(const struct plan *plan, const struct plan_row *row, enum code_path_way way, struct buf *out)
{
    struct written written = {out, way};
    code_path_walk(plan, row, way, piece_text, &written);
}

static void piece_layer(void *context, const struct code_path_piece *piece)
{
    struct buf *out = context;
    if (piece->kind != CODE_PATH_LAYERS)
        return;
    if (out->length == 0)
        buf_char(out, '/');
    buf_add(out, piece->own.data, piece->own.length);
    buf_char(out, '/');
}

void code_path_layers_text(const struct plan *plan, const struct plan_row *row, struct buf *out)
{
    code_path_walk(plan, row, CODE_PATH_BY_SCOPE, piece_layer, out);
}
