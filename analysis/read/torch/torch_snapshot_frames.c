/* SPDX-License-Identifier: Apache-2.0
 * torch_snapshot_frames.c: what a stack of a snapshot says in a few words. */
#include "read/torch/torch_snapshot.h"

/* The allocator's own frames, and those that took the stack, in every stack that has frames of C++. */
static bool is_of_allocator(struct str function)
{
    static const char *const BEGINS[] = {"torch::unwind::", "torch::CapturedTraceback::", "torch::cuda::(anonymous",
                                         "c10::", "at::detail::empty"};
    for (size_t i = 0; i < sizeof(BEGINS) / sizeof(BEGINS[0]); i++)
        if (str_starts(function, str_of(BEGINS[i])))
            return true;
    return false;
}

/* The frame of a stack without Python, like those of autograd's threads: the innermost node of the backward pass, else
 * the innermost frame of autograd, else the innermost frame outside of the allocator. */
static uint32_t native_frame(const struct torch_snapshot *snapshot, const struct torch_stack *stack)
{
    uint32_t of_autograd = UINT32_MAX, other = UINT32_MAX;
    const uint32_t *frames = snapshot->stack_frames + stack->first;
    for (uint32_t i = 0; i < stack->count; i++) {
        struct str function = snapshot->frames[frames[i]].function;
        if (str_starts(function, STR("torch::autograd::generated::")) && str_contains(function, STR("::apply(")))
            return frames[i];
        if (of_autograd == UINT32_MAX && str_starts(function, STR("torch::autograd::")) &&
            !str_starts(function, STR("torch::autograd::VariableType::")))
            of_autograd = frames[i];
        if (other == UINT32_MAX && !is_of_allocator(function))
            other = frames[i];
    }
    return of_autograd != UINT32_MAX ? of_autograd : other != UINT32_MAX ? other : frames[0];
}

/* "torch::autograd::generated::AddmmBackward0::apply(std::vector<…> &&)" is AddmmBackward0, as PyTorch's grad_fn prints
 * it; of another function its name without arguments. */
static struct str native_words(struct str function)
{
    const struct str generated = STR("torch::autograd::generated::"), apply = STR("::apply("),
                     anonymous = STR("(anonymous namespace)");
    size_t end = 0;
    while (end < function.length && function.data[end] != '(') {
        end++;
        if (str_starts((struct str){function.data + end, function.length - end}, anonymous))
            end += anonymous.length;
    }
    size_t apply_end = end + 1 < function.length ? end + 1 : function.length;
    if (str_starts(function, generated) && str_ends((struct str){function.data, apply_end}, apply))
        return (struct str){function.data + generated.length, apply_end - apply.length - generated.length};
    return end > 0 ? (struct str){function.data, end} : function;
}

uint32_t torch_snapshot_own_frame(const struct torch_snapshot *snapshot, uint32_t stack)
{
    uint32_t of_python = UINT32_MAX;
    if (stack >= snapshot->stack_count)
        return UINT32_MAX;
    const struct torch_stack *found = &snapshot->stacks[stack];
    const uint32_t *frames = snapshot->stack_frames + found->first;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct torch_frame *frame = &snapshot->frames[frames[i]];
        if (frame->is_python && frame->whose == LIBRARY_USER)
            return frames[i];
        of_python = of_python == UINT32_MAX && frame->is_python ? frames[i] : of_python;
    }
    return of_python != UINT32_MAX ? of_python : native_frame(snapshot, found);
}

uint32_t torch_snapshot_line_frame(const struct torch_snapshot *snapshot, uint32_t stack)
{
    if (stack >= snapshot->stack_count)
        return UINT32_MAX;
    const struct torch_stack *found = &snapshot->stacks[stack];
    for (uint32_t i = 0; i < found->count; i++) {
        uint32_t at = snapshot->stack_frames[found->first + i];
        if (snapshot->frames[at].is_python && snapshot->frames[at].whose != LIBRARY_MACHINERY)
            return at;
    }
    return torch_snapshot_own_frame(snapshot, stack);
}

/* Python on Windows writes backslashes. */
static bool path_contains(struct str path, struct str piece)
{
    for (size_t i = 0; i + piece.length <= path.length; i++) {
        size_t same = 0;
        while (same < piece.length && (path.data[i + same] == '\\' ? '/' : path.data[i + same]) == piece.data[same])
            same++;
        if (same == piece.length)
            return true;
    }
    return false;
}

bool torch_snapshot_frame_is(const struct torch_frame *frame, const char *file, const char *function)
{
    if ((file != NULL) != frame->is_python)
        return false;
    bool is_function = function[0] == '=' ? str_equal(frame->function, str_of(function + 1))
                                          : str_contains(frame->function, str_of(function));
    return is_function && (file == NULL || path_contains(frame->file, str_of(file)));
}

struct str torch_snapshot_frame_file(const struct torch_frame *frame)
{
    size_t from = frame->file.length;
    while (from > 0 && frame->file.data[from - 1] != '/' && frame->file.data[from - 1] != '\\')
        from--;
    return from == 0 ? frame->file : (struct str){frame->file.data + from, frame->file.length - from};
}

struct str torch_snapshot_frame_words(const struct torch_frame *frame, struct arena *arena)
{
    const struct str file = torch_snapshot_frame_file(frame);
    if (!frame->is_python)
        return native_words(frame->function);
    if (frame->line == 0)
        return frame->function;
    return str_of(arena_format(arena, "%.*s:%u %.*s", (int)file.length, file.data, frame->line,
                               (int)frame->function.length, frame->function.data));
}
