/* SPDX-License-Identifier: Apache-2.0
 * What to write in JAX for a change: all arguments that it is of, as the function names them. */
#include "change.h"

#include "whatif/call.h"

#define SPEC(devices, least)                                                                                           \
    "mesh = jax.make_mesh((" devices                                                                                   \
    ",), (\"data\",), axis_types=(jax.sharding.AxisType.Auto,)); spec = lambda x: next(([None] * i + [\"data\"] for "  \
    "i, n in "                                                                                                         \
    "enumerate(x.shape) if n % " devices " == 0 and x.size >= " least "), []); "
#define PUT "jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec(x))))"

START_TEST(every_kind_has_its_line)
{
    static const char *const lines[][2] = {
        {"donate=all", "jax.jit(step, donate_argnames=(\"params\", \"opt_state\"))"},
        {"donate=*", "jax.jit(step, donate_argnames=(\"params\", \"opt_state\"))"},
        {"donate=1", "jax.jit(step, donate_argnums=(1,))"},
        {"donate=0,1", "jax.jit(step, donate_argnums=(0,1))"},
        {"cast=opt_state*.mu*:bf16", "optax.adamw(…, mu_dtype=jnp.bfloat16)"},
        {"cast=params*:float16",
         "params = jax.tree.map(lambda x: x.astype(jnp.float16) if jnp.issubdtype(x.dtype, jnp.floating) else x, "
         "params)"},
        {"cast=opt_state*:int8",
         "opt_state = jax.tree.map(lambda x: x.astype(jnp.int8) if jnp.issubdtype(x.dtype, jnp.floating) else x, "
         "opt_state)"},
        {"cast=layer_0:fp8", "x.astype(jnp.float8_e4m3fn) where layer_0 is computed"},
        {"checkpoint=*", "layer = jax.checkpoint(layer)  # of a scan: jax.lax.scan(jax.checkpoint(body), …)"},
        {"checkpoint=tanh", "layer = jax.checkpoint(layer)  # where jax.named_scope is tanh"},
        {"offload=opt_state*", "jax.device_put(opt_state, sharding.with_memory_kind(\"pinned_host\"))"},
        {"offload=layer_0",
         "jax.checkpoint(layer, policy=jax.checkpoint_policies.save_and_offload_only_these_names(…))"},
        {"shard=params*:4", SPEC("4", "2048") "params = jax.tree.map(lambda x: " PUT
                                              ", params); batch, opt_state = jax.device_put((batch, opt_state), "
                                              "jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))"},
        {"shard=layer_0:2", SPEC("2", "2048") "x = " PUT},
        {"unpad=*", "x = jnp.swapaxes(x, …)  # a long dimension last"},
    };
    open_program(step);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct change change = reads(lines[i][0]);
        ck_assert_str_eq(call_text(&start, &change), lines[i][1]);
    }
}
END_TEST

/* Numbers count static arguments, which a program does not show; *args have no name to give. */
START_TEST(donation_by_name)
{
    static const char *const program = "scheduled module=jit_step main { x = f32[8,8] parameter(0) \"%s\" !arg "
                                       "y = f32[8,8] tanh(x) !out ROOT t = (f32[8,8]) tuple(y) }";
    static const char *const lines[][2] = {
        {"state['w']", "jax.jit(step, donate_argnames=(\"state\",))"},
        {"state.mu['w']", "jax.jit(step, donate_argnames=(\"state\",))"},
        {"args[0]['w']", "jax.jit(step, donate_argnums=(0,))"},
        {"my-state['w']", "jax.jit(step, donate_argnums=(0,))"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct change change = reads("donate=all");
        open_program(arena_format(&arena, program, lines[i][0]));
        ck_assert_str_eq(call_text(&start, &change), lines[i][1]);
    }
}
END_TEST

/* Where no argument has a name, and the function has none that JAX gave it. */
START_TEST(lines_without_names)
{
    static const char *const lines[][2] = {
        {"donate=all", "jax.jit(main, donate_argnums=(…,))"},
        {"shard=*:2", SPEC("2", "64") "x = " PUT},
    };
    open_program("scheduled module=main main { x = f32[8,8] parameter(0) !arg ROOT y = f32[8,8] tanh(x) !out }");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct change change = reads(lines[i][0]);
        ck_assert_str_eq(call_text(&start, &change), lines[i][1]);
    }
}
END_TEST

/* A buffer that is written at a computed place keeps its rows whole, and stays whole without another dimension. */
START_TEST(what_is_cut_at_computed_places_is_not_split)
{
    open_program("scheduled main { b = f32[64,32] parameter(0) \"buffer\" !arg i = s32[] parameter(1) \"at\" !arg "
                 "n = f32[2,32] parameter(2) \"new\" !arg v = f32[64] parameter(3) \"v\" !arg z = s32[] constant() "
                 "u = f32[64,32] dynamic-update-slice(b, n, i, z) \"jit(f)/dynamic_update_slice\" !temp "
                 "ROOT y = f32[64,32] tanh(u) \"jit(f)/tanh\" !out }");
    saves("shard=*:2");
    ck_assert_ptr_nonnull(strstr(result.reason, "Dimensions of 64 are not split"));
    ck_assert_ptr_nonnull(strstr(result.call, "n % 2 == 0 and n not in {64} and"));
    ck_assert_uint_eq(changed.rows[0].divided_by, 2); /* along 32 */
    open_program("scheduled main { b = f32[4096] parameter(0) \"buffer\" !arg i = s32[] parameter(1) \"at\" !arg "
                 "n = f32[2] parameter(2) \"new\" !arg "
                 "u = f32[4096] dynamic-update-slice(b, n, i) \"jit(f)/dynamic_update_slice\" !temp "
                 "ROOT y = f32[4096] tanh(u) \"jit(f)/tanh\" !out }");
    saves("shard=*:2");
    ck_assert_uint_eq(changed.rows[0].divided_by, 1);
}
END_TEST

/* Data that is shuffled is needed whole by every device; of a table each has rows, and edges are its own. */
START_TEST(what_indices_point_into_is_not_split)
{
    static const char *const program =
        "scheduled main { n = f32[64,7] parameter(0) \"%s\" !arg k = s32[256] parameter(1) \"at\" !arg "
        "m = f32[256,7] gather(n, k) offset={1} collapsed={0} vector=1 \"jit(f)/gather\" !temp "
        "ROOT y = f32[256,7] tanh(m) \"jit(f)/tanh\" !out }";
    open_program(arena_format(&arena, program, "images"));
    saves("shard=*:2");
    ck_assert_ptr_nonnull(strstr(result.call, "n not in {64} and"));
    open_program(arena_format(&arena, program, "params['table']"));
    saves("shard=*:2");
    ck_assert_ptr_null(strstr(result.call, "not in"));
}
END_TEST

/* One of them alone would no longer match the others; scales have other rows. */
START_TEST(all_arguments_of_a_batch_are_cut)
{
    open_program(step);
    saves("batch=0.5");
    ck_assert_str_eq(result.call, "batch = batch[:16]");
    saves("sequence=0.5@batch:1");
    ck_assert_str_eq(result.call, "params['w'], opt_state, batch = params['w'][:32], jax.tree.map(lambda x: x[:32], "
                                  "opt_state), batch[:, :32]");
    open_program("scheduled module=main main { x = f32[8,8] parameter(0) !arg ROOT y = f32[8,8] tanh(x) !out }");
    saves("batch=2@0:0");
    ck_assert_str_eq(result.call, "jnp.repeat(x, 2, axis=0)");
    saves("sequence=0.5@0:1");
    ck_assert_str_eq(result.call, "x[:, :4]");
    open_program(
        "scheduled main { t = f32[8,64] parameter(0) \"frames\" !arg m = f32[64,8] parameter(1) \"mask\" !arg "
        "s = f32[16] parameter(2) \"scales\" !arg n = f32[8,64] transpose(m) dimensions={1,0} \"jit(f)/transpose\" "
        "!temp y = f32[8,64] multiply(t, n) \"jit(f)/mul\" !temp ROOT z = f32[8,64] negate(y) \"jit(f)/neg\" !out }");
    saves("batch=0.5@frames:0");
    ck_assert_str_eq(result.call, "frames, mask = frames[:4], mask[:, :4]");
}
END_TEST

/* A mask of tokens by tokens on both sides; an element of a tuple is not assigned to. */
START_TEST(every_dimension_that_changes_is_cut)
{
    open_program("scheduled main { x = f32[4,64] parameter(0) \"x\" !arg m = f32[64,64] parameter(1) \"mask\" !arg "
                 "s = f32[64,64] dot(x, x) lhs={0} rhs={0} \"jit(f)/dot_general\" !temp "
                 "ROOT y = f32[64,64] add(s, m) \"jit(f)/add\" !out }");
    saves("sequence=0.5@x:1");
    ck_assert_str_eq(result.call, "x, mask = x[:, :32], mask[:32, :32]");
    open_program("scheduled main { a = f32[4,64] parameter(0) \"args[0]\" !arg b = f32[4,32] parameter(1) \"args[1]\" "
                 "!arg ROOT y = f32[4,64] tanh(a) \"jit(f)/tanh\" !out }");
    saves("sequence=0.5@args[0]:1");
    ck_assert_str_eq(result.call, "args[0][:, :32]");
}
END_TEST

/* All that is cast is named, and of a tree the part: whole numbers stay by the condition. */
START_TEST(all_arguments_that_are_cast_are_named)
{
    open_program("scheduled main { y = f32[8,64] parameter(0) \"y\" !arg c = s32[] parameter(1) \"count\" !arg "
                 "v = f32[8,64] parameter(2) \"vel\" !arg b = bf16[8,64] parameter(3) \"half\" !arg "
                 "z = f32[8,64] add(y, v) \"jit(f)/add\" !out ROOT t = (f32[8,64]) tuple(z) }");
    saves("cast=*:bf16");
    ck_assert_str_eq(result.call, "y, vel = jax.tree.map(lambda x: x.astype(jnp.bfloat16) if jnp.issubdtype(x.dtype, "
                                  "jnp.floating) else x, (y, vel))");
    open_program(step);
    saves("cast=*.nu*:bf16");
    ck_assert_str_eq(result.call,
                     "opt_state = jax.tree_util.tree_map_with_path(lambda path, x: x.astype(jnp.bfloat16) if "
                     "\".nu\" in jax.tree_util.keystr(path) and jnp.issubdtype(x.dtype, jnp.floating) else x, "
                     "opt_state)");
}
END_TEST

#define CARRY_STATE "(s32[], f32[8,64], f32[8,64])"
/* `program` with that buffer (%s) in what a scan's carry begins with says how those zeros are cast; with the other it
 * has nothing to say. */
static void advises_the_carry(const char *program, const char *zeros, const char *given)
{
    open_program(arena_format(&arena, program, zeros));
    saves("cast=*:bf16");
    ck_assert_ptr_nonnull(strstr(result.call, "# and what a scan's carry begins with: jnp.zeros(…, jnp.bfloat16)"));
    open_program(arena_format(&arena, program, given));
    saves("cast=*:bf16");
    ck_assert_ptr_null(strchr(result.call, '#'));
}

/* What a scan carries has one type throughout: what begins as zeros has to be cast by hand. */
START_TEST(what_a_scan_begins_with_is_cast_too)
{
    static const char *const program =
        "scheduled body { p = " CARRY_STATE " parameter(0) i = s32[] get-tuple-element(p) index=0 "
        "a = f32[8,64] get-tuple-element(p) index=1 b = f32[8,64] get-tuple-element(p) index=2 "
        "c = f32[8,64] add(a, b) ROOT t = " CARRY_STATE " tuple(i, c, b) } "
        "condition { q = " CARRY_STATE " parameter(0) ROOT r = pred[] constant() } "
        "main { w = f32[8,64] parameter(0) \"w\" !arg k = s32[] constant() o = f32[] constant() "
        "z = f32[8,64] broadcast(o) !temp s = " CARRY_STATE " tuple(k, %s, w) "
        "l = " CARRY_STATE " while(s) calls=body,condition \"jit(f)/while\" "
        "x = f32[8,64] get-tuple-element(l) index=1 ROOT y = f32[8,64] exponential(x) \"jit(f)/exp\" !out }";
    advises_the_carry(program, "z", "w");
}
END_TEST

/* A loop for TPUs begins with buffers that its first turn fills; what it stacks has a dimension more. */
START_TEST(what_a_first_turn_fills_is_cast_too)
{
    static const char *const program =
        "scheduled body { p = (s32[], f32[8,64], f32[4,8,64]) parameter(0) i = s32[] get-tuple-element(p) index=0 "
        "a = f32[8,64] get-tuple-element(p) index=1 b = f32[4,8,64] get-tuple-element(p) index=2 "
        "c = f32[8,64] tanh(a) ROOT t = (s32[], f32[8,64], f32[4,8,64]) tuple(i, c, b) } "
        "condition { q = (s32[], f32[8,64], f32[4,8,64]) parameter(0) ROOT r = pred[] constant() } "
        "main { w = f32[8,64] parameter(0) \"w\" !arg v = f32[4,8,64] parameter(1) \"v\" !arg k = s32[] constant() "
        "z = f32[8,64] custom-call() !temp e = f32[4,8,64] custom-call() !temp "
        "s = (s32[], f32[8,64], f32[4,8,64]) tuple(k, %s) "
        "l = (s32[], f32[8,64], f32[4,8,64]) while(s) calls=body,condition \"jit(f)/while\" "
        "x = f32[8,64] get-tuple-element(l) index=1 ROOT y = f32[8,64] exponential(x) \"jit(f)/exp\" !out }";
    advises_the_carry(program, "z, v", "w, e");
}
END_TEST

/* Equinox hands over lists of its own, which the person has no names for. */
START_TEST(equinox_has_its_own_words)
{
    open_program("scheduled module=jit_f main { x = f32[8,64] parameter(0) \"dynamic_nodonate['rest'][0]\" !arg "
                 "ROOT y = f32[8,64] tanh(x) !out }");
    struct change change = reads("donate=all");
    ck_assert_str_eq(call_text(&start, &change), "@eqx.filter_jit(donate=\"all\")  # in place of @eqx.filter_jit");
    change = reads("checkpoint=*");
    ck_assert_ptr_nonnull(strstr(call_text(&start, &change), "eqx.filter_checkpoint(layer)"));
    static const char *const changes[] = {"cast=*:bf16", "shard=*:2"};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        change = reads(changes[i]);
        ck_assert_ptr_null(strstr(call_text(&start, &change), "dynamic_nodonate"));
    }
    saves("batch=0.5@0:0");
    ck_assert_str_eq(result.call, "x = x[:4]  # each array of the batch");
}
END_TEST

/* Modules are wrapped by what their own library has for it; frames say which that is. */
START_TEST(a_layer_is_wrapped_by_its_library)
{
    static const char *const rows[][2] = {{"/venv/flax/linen/linear.py", "@nn.remat  # "},
                                          {"/venv/flax/nnx/nn/linear.py", "x = jax.checkpoint(layer)(x)"},
                                          {"/venv/haiku/_src/basic.py", "x = hk.remat(layer)(x)"},
                                          {"/venv/equinox/nn/_linear.py", "layer = eqx.filter_checkpoint(layer)"},
                                          {"/venv/flax/training/train_state.py", "layer = jax.checkpoint(layer)"}};
    static struct hlo_frame frames[2];
    struct change change;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        open_program(step);
        change = reads("checkpoint=*");
        frames[0].file = STR("/home/u/train.py");
        frames[1].file = str_of(rows[i][0]);
        plan.hlo.frames = frames;
        plan.hlo.frame_count = 2;
        ck_assert_ptr_nonnull(strstr(call_text(&start, &change), rows[i][1]));
    }
}
END_TEST

/* Only on a GPU is the call fused; elsewhere it goes through blocks of queries. Only what is masked may be causal. */
START_TEST(attention_stores_no_scores)
{
    static const char *const program =
        "scheduled main { q = f32[2,64,8] parameter(0) \"q\" !arg k = f32[2,64,8] parameter(1) \"k\" !arg "
        "s = f32[2,64,64] dot(q, k) \"jit(f)/bqd,bkd->bqk/dot_general\" !temp m = pred[2,64,64] constant() "
        "h = f32[2,64,64] %s \"jit(f)/h\" !temp ROOT y = f32[2,64,64] exponential(h) \"jit(f)/exp\" !out }";
    struct change change;
    for (int is_masked = 0; is_masked < 2; is_masked++) {
        open_program(arena_format(&arena, program, is_masked ? "select(m, s, s)" : "tanh(s)"));
        for (uint32_t i = 0; i < plan.spaces[0].row_count; i++)
            if (start.rows[i].bytes == INT64_C(4) * 2 * 64 * 64)
                plan.spaces[0].rows[i].patterns |= 1U << PATTERN_ATTENTION_SCORES;
        change = reads("without=attention_scores");
        plan.platform = SPACE_PLATFORM_TPU;
        const char *text = call_text(&start, &change);
        ck_assert_ptr_nonnull(strstr(text, "batch_size=128).swapaxes(0, 1)"));
        ck_assert_int_eq(strstr(text, "mask=jnp.arange(k.shape[1])[None] <= i") != NULL, is_masked);
        ck_assert_ptr_null(strstr(text, "jax.checkpoint(")); /* nothing is computed again */
        plan.platform = SPACE_PLATFORM_GPU;
        text = call_text(&start, &change);
        ck_assert_ptr_nonnull(strstr(text, "implementation=\"cudnn\")"));
        ck_assert_int_eq(strstr(text, "is_causal=True") != NULL, is_masked);
    }
}
END_TEST

/* The number of the title is that of the line: 16 of 31. */
START_TEST(the_number_is_that_of_the_title)
{
    open_program("scheduled main { u = s32[31,64] parameter(0) \"u\" !arg ROOT y = s32[31,64] negate(u) !out }");
    saves("batch=0.5");
    ck_assert_str_eq(result.call, "u = u[:16]");
    ck_assert_int_eq(changed.rows[0].bytes, 16 * 64 * 4);
}
END_TEST

/* Its update is computed as before, whatever it is stored in. */
START_TEST(of_an_optimizers_state_only_what_is_stored_is_smaller)
{
    open_program(
        "scheduled main { w = f32[64,64] parameter(0) \"params['w']\" !arg m = f32[64,64] parameter(1) "
        "\"opt_state[0].mu['w']\" !arg k = f32[1,64] parameter(2) \"x\" !arg i = s32[] constant() d = f32[64,64] "
        "dynamic-update-slice(m, k, i, i) \"jit(f)/dus\" !temp e = f32[64,64] tanh(d) \"jit(f)/tanh\" !temp n = "
        "f32[64,64] add(m, e) \"jit(f)/add\" !out y = f32[64,64] subtract(w, e) \"jit(f)/sub\" !out ROOT t = "
        "(f32[64,64], f32[64,64]) tuple(y, n) }");
    ck_assert_int_eq(saves("cast=mu:bf16"), 2 * 64 * 64 * 2); /* as it was, as it becomes */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("call");
    TCase *tests = tcase_create("call");
    tcase_add_checked_fixture(tests, arena_begin, close_program);
    tcase_add_test(tests, every_kind_has_its_line);
    tcase_add_test(tests, donation_by_name);
    tcase_add_test(tests, lines_without_names);
    tcase_add_test(tests, what_is_cut_at_computed_places_is_not_split);
    tcase_add_test(tests, what_indices_point_into_is_not_split);
    tcase_add_test(tests, all_arguments_of_a_batch_are_cut);
    tcase_add_test(tests, every_dimension_that_changes_is_cut);
    tcase_add_test(tests, all_arguments_that_are_cast_are_named);
    tcase_add_test(tests, what_a_scan_begins_with_is_cast_too);
    tcase_add_test(tests, what_a_first_turn_fills_is_cast_too);
    tcase_add_test(tests, equinox_has_its_own_words);
    tcase_add_test(tests, a_layer_is_wrapped_by_its_library);
    tcase_add_test(tests, attention_stores_no_scores);
    tcase_add_test(tests, the_number_is_that_of_the_title);
    tcase_add_test(tests, of_an_optimizers_state_only_what_is_stored_is_smaller);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
