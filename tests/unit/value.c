/* SPDX-License-Identifier: Apache-2.0
 * Where values were made and what reads them, through what only hands them on; programs that make no sense, and
 * programs that are tangled on purpose, cost no more than others. */
#include "plan/value.h"

#include "program.h"

#define NAMED "\"jit(f)/op\""

static struct plan plan;
static struct buf file;
static struct value_walk walk;

static void begin(void) { arena_begin(); }

static void end(void)
{
    buf_free(&file);
    arena_end();
}

enum { STEPS = 100000 };

static void open_text(const char *text)
{
    program_read(text, &file, &plan);
    value_walk_init(&walk, plan.graph, STEPS, &arena);
}

static uint32_t at_of(const char *name)
{
    uint32_t at = 0;
    while (at < plan.hlo.instruction_count && !str_equal(hlo_instruction_name(&plan.hlo, at), str_of(name)))
        at++;
    ck_assert_msg(at < plan.hlo.instruction_count, "no %s", name);
    return at;
}

/* ---- back ---- */

static const struct {
    const char *program, *origin; /* of the value `v` */
    enum value_reach reach;
    uint32_t element;
} origins[] = {
    {"main { a = f32[8] tanh() b = f32[8] bitcast(a) ROOT v = f32[8] copy(b) }", "a", VALUE_ORIGIN, VALUE_WHOLE},
    {"main { a = f32[8] tanh() b = f32[8] bitcast(a) ROOT v = f32[8] copy(b) }", "v", VALUE_BUFFER, VALUE_WHOLE},
    {"main { a = f32[8] tanh() b = f32[2,4] reshape(a) " NAMED " ROOT v = f32[2,4] copy(b) }", "b", VALUE_ORIGIN,
     VALUE_WHOLE},
    {"main { a = f32[8] tanh() b = f32[2,4] reshape(a) " NAMED " ROOT v = f32[2,4] copy(b) }", "a", VALUE_BASE,
     VALUE_WHOLE},
    {"main { a = f32[8] tanh() t = (f32[8], f32[8]) tuple(a, a) ROOT v = f32[8] get-tuple-element(t) index=1 }", "a",
     VALUE_ORIGIN, VALUE_WHOLE},
    /* into a fusion, and out of it if the fusion passes it on */
    {"fused { p = f32[8] parameter(0) e = f32[8] tanh(p) ROOT t = (f32[8], f32[8]) tuple(e, p) }"
     "main { a = f32[8] tanh() ROOT v = (f32[8], f32[8]) fusion(a) calls=fused }",
     "e", VALUE_ORIGIN, 0},
    {"fused { p = f32[8] parameter(0) e = f32[8] tanh(p) ROOT t = (f32[8], f32[8]) tuple(e, p) }"
     "main { a = f32[8] tanh() ROOT v = (f32[8], f32[8]) fusion(a) calls=fused }",
     "a", VALUE_ORIGIN, 1},
    /* in the background */
    {"main { a = f32[8] tanh() s = (f32[8], f32[8], u32[]) copy-start(a) ROOT v = f32[8] copy-done(s) }", "a",
     VALUE_ORIGIN, VALUE_WHOLE},
    {"run { p = f32[8] parameter(0) ROOT e = f32[8] tanh(p) }"
     "main { a = f32[8] tanh() s = (f32[8], f32[8]) async-start(a) calls=run ROOT v = f32[8] async-done(s) }",
     "e", VALUE_ORIGIN, VALUE_WHOLE},
    {"run { p = f32[8] parameter(0) ROOT e = f32[8] tanh(p) }"
     "main { a = f32[8] tanh() ROOT v = (f32[8], f32[8]) async-start(a) calls=run }",
     "e", VALUE_ORIGIN, 1},
    {"run { p = f32[8] parameter(0) ROOT e = f32[8] tanh(p) }"
     "main { a = f32[8] tanh() ROOT v = (f32[8], f32[8]) async-start(a) calls=run }",
     "a", VALUE_ORIGIN, 0},
    {"main { a = f32[8] tanh() s = f32[8] all-gather-start(a) ROOT v = f32[8] all-gather-done(s) }", "s", VALUE_ORIGIN,
     VALUE_WHOLE},
    /* what a loop makes, what it keeps, and what it makes of room */
    {"body { s = (f32[8], f32[8]) parameter(0) x = f32[8] get-tuple-element(s) index=0"
     "       y = f32[8] get-tuple-element(s) index=1 e = f32[8] tanh(x) ROOT t = (f32[8], f32[8]) tuple(e, y) }"
     "main { a = f32[8] tanh() b = f32[8] tanh() i = (f32[8], f32[8]) tuple(a, b)"
     "       ROOT v = (f32[8], f32[8]) while(i) calls=body }",
     "e", VALUE_ORIGIN, 0},
    {"body { s = (f32[8], f32[8]) parameter(0) x = f32[8] get-tuple-element(s) index=0"
     "       y = f32[8] get-tuple-element(s) index=1 e = f32[8] tanh(x) ROOT t = (f32[8], f32[8]) tuple(e, y) }"
     "main { a = f32[8] tanh() b = f32[8] tanh() i = (f32[8], f32[8]) tuple(a, b)"
     "       ROOT v = (f32[8], f32[8]) while(i) calls=body }",
     "b", VALUE_ORIGIN, 1},
    {"body { s = (f32[8]) parameter(0) v = f32[8] get-tuple-element(s) index=0 e = f32[8] tanh(v)"
     "       ROOT t = (f32[8]) tuple(e) }"
     "main { a = f32[8] custom-call() target=AllocateBuffer i = (f32[8]) tuple(a) ROOT w = (f32[8]) while(i) "
     "calls=body }",
     "e", VALUE_ORIGIN, VALUE_WHOLE},
    /* into the branch that it belongs to */
    {"left { l = f32[8] parameter(0) ROOT le = f32[8] tanh(l) } right { v = f32[8] parameter(0) ROOT re = f32[8] "
     "tanh(v) }main { c = pred[] tanh() a = f32[8] tanh() b = f32[8] tanh()"
     "       ROOT d = f32[8] conditional(c, a, b) calls=left,right }",
     "b", VALUE_ORIGIN, VALUE_WHOLE},
};

START_TEST(a_value_has_an_origin)
{
    open_text(origins[_i].program);
    const struct value value = {at_of("v"), origins[_i].element};
    struct value origin = value_origin(&walk, value, origins[_i].reach, NULL);
    ck_assert_uint_eq(origin.at, at_of(origins[_i].origin));
    ck_assert_uint_lt(walk.steps_left, STEPS);
    ck_assert_uint_gt(walk.steps_left, STEPS - 20);
    struct value base = value_origin(&walk, value, VALUE_BASE, NULL), named_from;
    origin = value_origin(&walk, value, VALUE_ORIGIN, NULL);
    ck_assert_uint_eq(value_origin(&walk, origin, VALUE_BASE, NULL).at, base.at);
    value_namer(&walk, value, &named_from);
    ck_assert(named_from.at == origin.at && named_from.element == origin.element);
}
END_TEST

START_TEST(a_gather_on_the_way_is_told)
{
    bool is_gathered;
    open_text("main { a = f32[8,4] parameter(0) i = s32[2] tanh() g = f32[2,4] gather(a, i) " NAMED
              " ROOT v = f32[2,4] copy(g) }");
    struct value base = value_origin(&walk, (struct value){at_of("v"), VALUE_WHOLE}, VALUE_BASE, &is_gathered);
    ck_assert_uint_eq(base.at, at_of("a"));
    ck_assert(is_gathered);
    base = value_origin(&walk, (struct value){at_of("a"), VALUE_WHOLE}, VALUE_BASE, &is_gathered);
    ck_assert(!is_gathered);
}
END_TEST

START_TEST(a_nameless_value_is_named_after_the_nearest_one)
{
    open_text("main { a = f32[8] parameter(0) b = f32[8] tanh(a) " NAMED " c = f32[8] tanh(b) v = f32[8] add(c, c) }");
    ck_assert_uint_eq(value_namer(&walk, (struct value){at_of("v"), VALUE_WHOLE}, NULL), at_of("b"));
    ck_assert_uint_eq(value_namer(&walk, (struct value){HLO_NONE, VALUE_WHOLE}, NULL), HLO_NONE);
}
END_TEST

/* ---- forward ---- */

struct met {
    char names[200];
    bool is_result;
};

static bool reader_met(void *context, uint32_t reader_at, uint32_t operand)
{
    struct met *met = context;
    size_t length = strlen(met->names);
    met->is_result |= reader_at == HLO_NONE;
    if (reader_at == HLO_NONE)
        return true;
    struct str name = hlo_instruction_name(&plan.hlo, reader_at);
    snprintf(met->names + length, sizeof(met->names) - length, "%.*s:%u ", (int)name.length, name.data, operand);
    return true;
}

static const struct {
    const char *program, *readers; /* of the value `v` */
    bool is_result;
} readings[] = {
    {"main { v = f32[8] parameter(0) b = f32[8] bitcast(v) c = f32[8] copy(b) d = f32[8] add(b, c) }", "d:0 d:1 ",
     false},
    {"main { v = f32[8] parameter(0) ROOT t = (f32[8]) tuple(v) }", "", true},
    {"main { v = f32[8] parameter(0) t = (f32[8], f32[8]) tuple(v, b) a = f32[8] get-tuple-element(t) index=1"
     "       c = f32[8] get-tuple-element(t) index=0 d = f32[8] tanh(c) e = f32[8] tanh(a) }",
     "d:0 ", false},
    {"fused { p = f32[8] parameter(0) q = f32[8] parameter(1) ROOT e = f32[8] multiply(p, q) }"
     "main { v = f32[8] parameter(0) u = f32[8] tanh() f = f32[8] fusion(u, v) calls=fused }",
     "e:1 ", false},
    /* a fusion that hands its operand on */
    {"fused { ROOT p = f32[8] parameter(0) }"
     "main { v = f32[8] parameter(0) f = f32[8] fusion(v) calls=fused d = f32[8] tanh(f) }",
     "d:0 ", false},
    /* what runs a computation that is not there reads it itself */
    {"main { v = f32[8] parameter(0) f = f32[8] fusion(v) calls=nothing g = f32[8] fusion(v) }", "f:0 g:0 ", false},
    {"body { s = (f32[8]) parameter(0) x = f32[8] get-tuple-element(s) index=0 e = f32[8] tanh(x)"
     "       ROOT t = (f32[8]) tuple(x) }"
     "main { v = f32[8] parameter(0) i = (f32[8]) tuple(v) w = (f32[8]) while(i) calls=body"
     "       o = f32[8] get-tuple-element(w) index=0 d = f32[8] tanh(o) }",
     "e:0 d:0 ", false},
    {"left { l = f32[8] parameter(0) le = f32[8] tanh(l) } right { r = f32[8] parameter(0) re = f32[8] tanh(r) }"
     "main { v = f32[8] parameter(0) c = pred[] tanh() a = f32[8] tanh()"
     "       d = f32[8] conditional(c, a, v) calls=left,right }",
     "re:0 ", false},
};

START_TEST(a_value_has_readers)
{
    struct met met = {.is_result = false};
    open_text(readings[_i].program);
    value_each_reader(&walk, (struct value){at_of("v"), VALUE_WHOLE}, reader_met, &met);
    ck_assert_str_eq(met.names, readings[_i].readers);
    ck_assert(met.is_result == readings[_i].is_result);
    ck_assert(!walk.is_cut);
}
END_TEST

/* A loop that makes a new value from its input is reported; one that passes it on is not. */
START_TEST(a_loop_that_changes_its_state_is_told)
{
    struct met met = {.is_result = false};
    open_text(
        "body { s = (f32[8], f32[8]) parameter(0) x = f32[8] get-tuple-element(s) index=0"
        "       y = f32[8] get-tuple-element(s) index=1 e = f32[8] tanh(x) ROOT t = (f32[8], f32[8]) tuple(e, y) }"
        "main { v = f32[8] parameter(0) u = f32[8] parameter(1) i = (f32[8], f32[8]) tuple(v, u)"
        "       w = (f32[8], f32[8]) while(i) calls=body }");
    value_each_reader(&walk, (struct value){at_of("v"), VALUE_WHOLE}, reader_met, &met);
    ck_assert_uint_eq(walk.loop.at, at_of("w"));
    ck_assert_uint_eq(walk.loop.element, 0);
    value_each_reader(&walk, (struct value){at_of("u"), VALUE_WHOLE}, reader_met, &met);
    ck_assert_uint_eq(walk.loop.at, HLO_NONE);
}
END_TEST

/* ---- programs that make no sense ---- */

static const char *const nonsense[] = {
    /* no root, no operands, ids that name nothing */
    "main { a = f32[8] parameter(0) !arg b = f32[8] copy() !temp c = f32[8] add(x, y) !temp d = f32[8] tuple() !temp }",
    "main { a = f32[8] copy-done() !temp b = f32[8] async-start() !temp c = f32[8] while() !temp d = f32[8] call() "
    "!temp e = f32[8] conditional() !temp f = f32[8] fusion() calls=x !temp g = f32[8] broadcast() !temp"
    " h = f32[8] dot() " NAMED " !temp i = f32[8] reduce() \"jit(f)/reduce_max\" !temp j = f32[8] gather(z) !temp }",
    /* numbers of parameters and elements that nothing has */
    "main { a = f32[8] parameter(-1) !arg b = f32[8] parameter(-9223372036854775808) !arg"
    " c = f32[8] parameter(4294967295) !arg d = f32[8] parameter(2147483647) !arg e = f32[8] parameter(0) !arg"
    " f = f32[8] parameter(0) !arg t = (f32[8]) tuple(a) g = f32[8] get-tuple-element(t) index=4294967295 !temp"
    " h = f32[8] get-tuple-element(t) index=-1 !temp i = f32[8] get-tuple-element(a) index=7 !temp ROOT r = f32[8] "
    "add(g, h) }",
    "fused { p = f32[8] parameter(77) ROOT r = f32[8] copy(p) } main { a = f32[8] fusion(a) calls=fused !temp }",
    /* what reads itself, and computations that run themselves */
    "main { a = f32[8] copy(a) !temp b = f32[8] add(c, c) !temp c = f32[8] add(b, b) !temp t = (f32[8]) tuple(t) "
    "!temp{0} g = f32[8] get-tuple-element(g) index=0 !temp ROOT r = f32[8] copy(r) !out }",
    "main { ROOT a = f32[8] fusion(a) calls=main !temp b = f32[8] call(a) calls=main !temp"
    " c = f32[8] while(b) calls=main,main !temp d = f32[8] conditional(c, d) calls=main,main !temp"
    " e = f32[8] async-start(e) calls=main !temp f = f32[8] async-done(e) !temp }",
    "one { p = (f32[8]) parameter(0) x = f32[8] get-tuple-element(p) index=0 w = (f32[8]) while(p) calls=two,one"
    "      ROOT t = (f32[8]) tuple(x) } two { q = (f32[8]) parameter(0) v = (f32[8]) while(q) calls=one,two"
    "      y = f32[8] get-tuple-element(v) index=0 ROOT u = (f32[8]) tuple(y) }"
    "main { a = f32[8] custom-call() target=AllocateBuffer !temp i = (f32[8]) tuple(a) l = (f32[8]) while(i) "
    "calls=one,two      o = f32[8] get-tuple-element(l) index=0 !temp ROOT r = f32[8] copy(o) !out }",
    "fused { p = f32[8] parameter(0) f = f32[8] fusion(p) calls=fused ROOT t = (f32[8]) tuple(f) }"
    "main { a = f32[8] parameter(0) !arg b = (f32[8]) fusion(a) calls=fused !temp{0} }",
    /* a root of another computation */
    "fused { p = f32[8] parameter(0) ROOT a = f32[8] tanh(p) } main { a = f32[8] fusion(b) calls=fused !temp b = "
    "f32[8] copy(a) !temp }",
    "devices=0 alias=99:5 alias=0:-1 donor=-1 donor=4294967295 main { ROOT a = f32[8] parameter(0) !arg }",
    "main { a = f32[] all-gather(b) !temp b = pred[0] convert(a) !temp c = f32[0,0] dot(a, b) !temp ROOT d = bf16[] "
    "reduce(c) !out }",
};

START_TEST(programs_without_sense_have_verdicts)
{
    open_text(nonsense[_i]);
    const struct plan_space *space = plan_space_find(&plan, 0);
    int64_t sum = 0;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        sum += space->category_bytes[i];
    ck_assert_int_eq(sum, space->peak_bytes);
    for (uint32_t at = 0; at < plan.hlo.instruction_count; at++)
        for (uint32_t element = 0; element < 3; element++) {
            struct met met = {.is_result = false};
            struct value value = {at, element == 2 ? VALUE_WHOLE : element};
            for (int reach = VALUE_ORIGIN; reach <= VALUE_BUFFER; reach++)
                value_origin(&walk, value, (enum value_reach)reach, NULL);
            value_namer(&walk, value, NULL);
            value_each_reader(&walk, value, reader_met, &met);
        }
}
END_TEST

/* ---- programs that are tangled on purpose ---- */

/* A loop within a loop within …, `depth` deep; the innermost hands its state on. */
static void put_loops(struct buf *text, int depth)
{
    buf_format(
        text,
        "b0 { p0 = (f32[8]) parameter(0) x0 = f32[8] get-tuple-element(p0) index=0 ROOT r0 = (f32[8]) tuple(x0) }");
    for (int i = 1; i < depth; i++)
        buf_format(text,
                   "b%d { p%d = (f32[8]) parameter(0) w%d = (f32[8]) while(p%d) calls=b%d x%d = f32[8] "
                   "get-tuple-element(w%d) index=0 ROOT r%d = (f32[8]) tuple(x%d) }",
                   i, i, i, i, i - 1, i, i, i, i);
}

START_TEST(loops_in_loops_take_few_steps)
{
    enum { DEPTH = 40 };
    struct buf text = BUF_INIT;
    put_loops(&text, DEPTH);
    buf_format(
        &text,
        "main { a = f32[8] custom-call() target=AllocateBuffer i = (f32[8]) tuple(a) l = (f32[8]) while(i) calls=b%d"
        " ROOT v = f32[8] get-tuple-element(l) index=0 !out }",
        DEPTH - 1);
    buf_char(&text, '\0');
    open_text(text.data);
    value_origin(&walk, (struct value){at_of("x0"), VALUE_WHOLE}, VALUE_ORIGIN, NULL);
    value_origin(&walk, (struct value){at_of("v"), VALUE_WHOLE}, VALUE_ORIGIN, NULL);
    ck_assert_uint_ge(walk.steps_left, STEPS - 2 * VALUE_BACK_STEPS_MAX);
    buf_free(&text);
}
END_TEST

/* Each copy reads the one before, and what reads them all has no name. */
START_TEST(walks_end_when_their_steps_are_used_up)
{
    enum { COPIES = 200 };
    struct buf text = BUF_INIT;
    struct met met = {.is_result = false};
    buf_text(&text, "main { c0 = f32[8] tanh() ");
    for (int i = 1; i < COPIES; i++)
        buf_format(&text, "c%d = f32[8] copy(c%d) ", i, i - 1);
    buf_text(&text, "v = f32[8] add(");
    for (int i = 0; i < 1000; i++)
        buf_format(&text, "c%d ", COPIES - 1);
    buf_text(&text, ") }");
    buf_char(&text, '\0');
    open_text(text.data);
    const struct value value = {at_of("v"), VALUE_WHOLE};
    value_namer(&walk, value, NULL);
    uint64_t taken = STEPS - walk.steps_left;
    ck_assert_uint_gt(taken, COPIES);
    ck_assert_uint_lt(taken, (uint64_t)COPIES * 100);
    for (uint64_t i = 0; i < STEPS / taken + 1; i++)
        value_namer(&walk, value, NULL);
    ck_assert_uint_eq(walk.steps_left, 0);
    ck_assert_uint_eq(value_origin(&walk, value, VALUE_ORIGIN, NULL).at, value.at);
    value_each_reader(&walk, (struct value){at_of("c0"), VALUE_WHOLE}, reader_met, &met);
    ck_assert(walk.is_cut);
    buf_free(&text);
}
END_TEST

enum { MANY = 100000, LONG = 1 << 20 };

static void put_instruction(struct buf *computation, uint64_t id, const char *opcode, struct str op_name,
                            const uint64_t *operands, uint64_t count)
{
    struct buf one = BUF_INIT, shape = BUF_INIT, metadata = BUF_INIT;
    put_number(&shape, SHAPE_PROTO_ELEMENT_TYPE, PRIMITIVE_TYPE_F32);
    put_number(&shape, SHAPE_PROTO_DIMENSIONS, 64);
    put_bytes(&one, HLO_INSTRUCTION_PROTO_NAME, opcode, strlen(opcode));
    put_bytes(&one, HLO_INSTRUCTION_PROTO_OPCODE, opcode, strlen(opcode));
    put_message(&one, HLO_INSTRUCTION_PROTO_SHAPE, &shape);
    put_number(&one, HLO_INSTRUCTION_PROTO_ID, id);
    put_bytes(&metadata, OP_METADATA_OP_NAME, op_name.data, op_name.length);
    put_message(&one, HLO_INSTRUCTION_PROTO_METADATA, &metadata);
    for (uint64_t i = 0; i < count; i++)
        put_number(&one, HLO_INSTRUCTION_PROTO_OPERAND_IDS, operands[i]);
    put_message(computation, HLO_COMPUTATION_PROTO_INSTRUCTIONS, &one);
}

/* `count` buffers that all hold the value of one instruction, live at once. */
static void put_buffers(struct buf *assignment, uint64_t instruction, uint64_t count)
{
    struct buf allocation = BUF_INIT, trace = BUF_INIT;
    for (uint64_t id = 1; id <= count; id++) {
        struct buf buffer = BUF_INIT, place = BUF_INIT, assigned = BUF_INIT, event = BUF_INIT;
        put_number(&place, LOGICAL_BUFFER_PROTO_LOCATION_INSTRUCTION_ID, instruction);
        put_number(&buffer, LOGICAL_BUFFER_PROTO_ID, id);
        put_number(&buffer, LOGICAL_BUFFER_PROTO_SIZE, 256);
        put_message(&buffer, LOGICAL_BUFFER_PROTO_DEFINED_AT, &place);
        put_message(assignment, BUFFER_ASSIGNMENT_PROTO_LOGICAL_BUFFERS, &buffer);
        put_number(&assigned, BUFFER_ALLOCATION_PROTO_ASSIGNED_LOGICAL_BUFFER_ID, id);
        put_message(&allocation, BUFFER_ALLOCATION_PROTO_ASSIGNED, &assigned);
        put_number(&event, HEAP_SIMULATOR_TRACE_EVENT_BUFFER_ID, id);
        put_message(&trace, HEAP_SIMULATOR_TRACE_EVENTS, &event);
    }
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_SIZE, count * 256);
    put_message(assignment, BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS, &allocation);
    put_message(assignment, BUFFER_ASSIGNMENT_PROTO_HEAP_SIMULATOR_TRACES, &trace);
}

/* Plans a program of one computation whose buffers are all those of an instruction; what a file of that size may cost
 * is the bound. */
static void plan_made(struct buf *computation, uint64_t instruction)
{
    struct buf module = BUF_INIT, assignment = BUF_INIT;
    put_number(computation, HLO_COMPUTATION_PROTO_ID, 1);
    put_message(&module, HLO_MODULE_PROTO_COMPUTATIONS, computation);
    put_number(&module, HLO_MODULE_PROTO_ENTRY_COMPUTATION_ID, 1);
    put_buffers(&assignment, instruction, MANY);
    file = (struct buf)BUF_INIT;
    put_message(&file, HLO_PROTO_HLO_MODULE, &module);
    put_message(&file, HLO_PROTO_BUFFER_ASSIGNMENT, &assignment);
    arena_allot_work(&arena, ((uint64_t)1 << 27) + 64 * file.length); /* as door/analysis.c does */
    program_plan(&file, &plan);
}

/* Each of very many buffers is of a nameless value that a long way lies behind. */
START_TEST(buffers_of_a_nameless_value_are_many)
{
    enum { COPIES = 390 };
    struct buf computation = BUF_INIT;
    uint64_t operands[64];
    const struct str nameless = {"", 0};
    put_instruction(&computation, 1, "tanh", nameless, NULL, 0);
    for (uint64_t id = 2; id <= COPIES; id++)
        put_instruction(&computation, id, "copy", nameless, (uint64_t[]){id - 1}, 1);
    for (uint64_t id = COPIES + 1; id <= COPIES + 64; id++) {
        for (int i = 0; i < 64; i++)
            operands[i] = i == 0 && id > COPIES + 1 ? id - 1 : COPIES;
        put_instruction(&computation, id, "add", nameless, operands, 64);
    }
    plan_made(&computation, COPIES + 64);
    ck_assert_uint_eq(plan_space_find(&plan, 0)->row_count, MANY);
}
END_TEST

/* An op name of a MiB, which rules look for words in, names very many buffers and reads very many arguments. */
START_TEST(a_long_name_is_met_very_often)
{
    static const char *const opcodes[] = {"broadcast", "dynamic-update-slice", "all-gather", "custom-call"};
    char *name = malloc(LONG);
    uint64_t *operands = calloc(MANY, sizeof(*operands));
    struct buf computation = BUF_INIT;
    memset(name, 't', LONG);
    memcpy(name, "jit(f)/", 7);
    for (uint64_t id = 1; id < MANY; id++) {
        put_instruction(&computation, id, "parameter", STR("a"), NULL, 0);
        operands[id - 1] = id;
    }
    put_instruction(&computation, MANY, opcodes[_i], (struct str){name, LONG}, operands, MANY - 1);
    plan_made(&computation, MANY);
    free(name);
    free(operands);
}
END_TEST

/* What the plan notes of itself under that code; 0: nothing. */
static uint64_t note_count(const char *code)
{
    for (uint32_t i = 0; i < plan.note_count; i++)
        if (strcmp(plan.notes[i].code, code) == 0)
            return plan.notes[i].count;
    return 0;
}

/* A tuple with very many elements, each taken out again. */
START_TEST(a_tuple_has_very_many_elements)
{
    struct buf computation = BUF_INIT;
    uint64_t *operands = calloc(MANY, sizeof(*operands));
    for (uint64_t i = 0; i < MANY; i++)
        operands[i] = 1 + i % 100;
    for (uint64_t id = 1; id <= 100; id++)
        put_instruction(&computation, id, "parameter", STR("a"), NULL, 0);
    put_instruction(&computation, 101, "tuple", (struct str){"", 0}, operands, MANY);
    for (uint64_t id = 102; id < MANY; id++)
        put_instruction(&computation, id, "get-tuple-element", (struct str){"", 0}, (uint64_t[]){101}, 1);
    plan_made(&computation, 101);
    ck_assert_uint_gt(plan.untold_count, 0);
    ck_assert_uint_eq(note_count("untold_readers"), plan.untold_count);
    free(operands);
}
END_TEST

#define COUNT_OF(items) ((int)(sizeof(items) / sizeof((items)[0])))

int main(void)
{
    Suite *suite = suite_create("value");
    TCase *tests = tcase_create("value");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_loop_test(tests, a_value_has_an_origin, 0, COUNT_OF(origins));
    tcase_add_test(tests, a_gather_on_the_way_is_told);
    tcase_add_test(tests, a_nameless_value_is_named_after_the_nearest_one);
    tcase_add_loop_test(tests, a_value_has_readers, 0, COUNT_OF(readings));
    tcase_add_test(tests, a_loop_that_changes_its_state_is_told);
    tcase_add_loop_test(tests, programs_without_sense_have_verdicts, 0, COUNT_OF(nonsense));
    tcase_add_test(tests, loops_in_loops_take_few_steps);
    tcase_add_test(tests, walks_end_when_their_steps_are_used_up);
    tcase_add_test(tests, buffers_of_a_nameless_value_are_many);
    tcase_add_loop_test(tests, a_long_name_is_met_very_often, 0, 4);
    tcase_add_test(tests, a_tuple_has_very_many_elements);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
