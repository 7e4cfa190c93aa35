/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/torch_phase.h"

#include "arena.h"

/* The phase of a stack of "file!function" or, of C++, "!function", the innermost first. */
static enum torch_phase phase_of(const char *const *frames, uint32_t count)
{
    struct torch_frame made[16];
    uint32_t numbers[16];
    struct torch_stack stack = {0, count};
    struct torch_phases phases;
    ARENA_MUST_NOT_JUMP();
    for (uint32_t i = 0; i < count; i++) {
        const char *colon = strchr(frames[i], '!');
        made[i] = (struct torch_frame){.file = {frames[i], (size_t)(colon - frames[i])},
                                       .function = str_of(colon + 1),
                                       .is_python = colon > frames[i]};
        numbers[i] = i;
    }
    const struct torch_snapshot snapshot = {
        .frames = made, .frame_count = count, .stacks = &stack, .stack_count = 1, .stack_frames = numbers};
    torch_phases_find(&phases, &snapshot, &arena);
    return torch_phase_of(&phases, 0);
}

#define HOLDS(phase, ...)                                                                                              \
    do {                                                                                                               \
        static const char *const frames[] = {__VA_ARGS__};                                                             \
        ck_assert_int_eq(phase_of(frames, sizeof(frames) / sizeof(frames[0])), TORCH_PHASE_##phase);                   \
    } while (0)

#define TORCH "/usr/lib/python3/site-packages/torch/"
#define MODULE TORCH "nn/modules/module.py!_call_impl"
#define TRAIN "/home/me/train.py!main"

START_TEST(the_innermost_frame_that_is_known_decides)
{
    HOLDS(FORWARD, "/home/me/model.py!forward", MODULE, TRAIN);
    HOLDS(COLLECTIVE, TORCH "distributed/fsdp/_fully_shard/_fsdp_collectives.py!foreach_all_gather", MODULE, TRAIN);
    HOLDS(OPTIMIZER, "/home/me/lion.py!step", TORCH "optim/optimizer.py!wrapper", TRAIN);
    HOLDS(OPTIMIZER_STATE, TORCH "optim/adam.py!_init_group", TORCH "optim/adam.py!step",
          TORCH "optim/optimizer.py!wrapper", TRAIN);
    HOLDS(PARAMETER, TORCH "nn/modules/linear.py!__init__", "/home/me/model.py!__init__", TRAIN);
    HOLDS(PARAMETER, TORCH "nn/modules/module.py!convert", TORCH "nn/modules/module.py!_apply", TRAIN);
    HOLDS(ZERO_GRAD, TORCH "nn/modules/module.py!zero_grad", TRAIN);
    HOLDS(INPUT, TORCH "utils/data/_utils/pin_memory.py!pin_memory", TRAIN);
    HOLDS(WORKSPACE, "!at::cuda::(anonymous namespace)::getNewWorkspace()", MODULE, TRAIN);
}
END_TEST

START_TEST(a_module_inside_of_the_backward_pass_is_recomputed)
{
    HOLDS(RECOMPUTE, "/home/me/model.py!forward", MODULE, TORCH "utils/checkpoint.py!recompute_fn",
          TORCH "utils/checkpoint.py!unpack_hook", TORCH "autograd/graph.py!_engine_run_backward", TRAIN);
    HOLDS(FORWARD, "/home/me/model.py!forward", MODULE, TORCH "utils/checkpoint.py!checkpoint", MODULE, TRAIN);
}
END_TEST

START_TEST(the_engine_is_the_backward_pass_of_compiled_programs_too)
{
    HOLDS(BACKWARD, "/tmp/torchinductor_me/ab/cab.py!call", "/home/me/model.py!forward",
          TORCH "_functorch/_aot_autograd/runtime_wrappers.py!_backward_impl", "!torch::autograd::PyNode::apply()",
          "!torch::autograd::Engine::thread_main(std::shared_ptr<GraphTask> const&)");
    HOLDS(FORWARD, "/tmp/torchinductor_me/ab/cab.py!call", TORCH "_functorch/_aot_autograd/runtime_wrappers.py!forward",
          MODULE, TRAIN);
    HOLDS(BACKWARD, "!torch::autograd::generated::MulBackward0::apply()",
          "!torch::autograd::Engine::evaluate_function()");
}
END_TEST

START_TEST(paths_of_windows_are_read_alike)
{
    HOLDS(FORWARD, "D:\\me\\model.py!forward",
          "D:\\me\\.venv\\Lib\\site-packages\\torch\\nn\\modules\\module.py!_call_impl");
}
END_TEST

START_TEST(what_says_little_counts_only_where_nothing_says_more)
{
    HOLDS(MOVED, "!torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool)", TRAIN);
    HOLDS(FORWARD, "!torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool)", MODULE, TRAIN);
    HOLDS(NONE, "!torch::autograd::dispatch_to(at::Tensor const&, c10::ScalarType, bool, bool)", TRAIN);
    HOLDS(MADE, "/home/me/cache.py!__init__", TRAIN);
    HOLDS(NONE, TRAIN);
}
END_TEST

START_TEST(a_person_is_not_taken_for_a_library)
{
    HOLDS(NONE, "/home/me/optim/mine.py!step", TRAIN);
    HOLDS(NONE, "/home/me/nn/modules/mine.py!forward", TRAIN);
}
END_TEST

START_TEST(a_stack_without_frames_says_so) { ck_assert_int_eq(phase_of(NULL, 0), TORCH_PHASE_EMPTY); }
END_TEST

int main(void)
{
    Suite *suite = suite_create("torch_phase");
    TCase *tests = tcase_create("phases");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, the_innermost_frame_that_is_known_decides);
    tcase_add_test(tests, a_module_inside_of_the_backward_pass_is_recomputed);
    tcase_add_test(tests, the_engine_is_the_backward_pass_of_compiled_programs_too);
    tcase_add_test(tests, paths_of_windows_are_read_alike);
    tcase_add_test(tests, what_says_little_counts_only_where_nothing_says_more);
    tcase_add_test(tests, a_person_is_not_taken_for_a_library);
    tcase_add_test(tests, a_stack_without_frames_says_so);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
