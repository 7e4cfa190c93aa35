/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/framework.h"

#include "read/oom/cursor.h"

/* How far around a sentence the words of a front end may stand: behind it only its own status goes on. */
enum { BEFORE = 4000, BEHIND = 400 };

static const enum oom_framework of_family[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) OOM_FRAMEWORK_##framework,
#include "read/oom/families.def"
};

/* Without white space; nothing that a message of another framework, or prose, would hold. */
#define WORDS(WORD)                                                                                                    \
    WORD("BadStatusOraccess", torch_xla)                                                                               \
    WORD("torch_xla/", torch_xla)                                                                                      \
    WORD("torch_xla.", torch_xla)                                                                                      \
    WORD("XRTExecute", torch_xla)                                                                                      \
    WORD("XRTCompile", torch_xla)                                                                                      \
    WORD("XlaRuntimeError:", jax)                                                                                      \
    WORD("JaxRuntimeError:", jax)                                                                                      \
    WORD("jax/_src/", jax)                                                                                             \
    WORD("jaxlib/", jax)                                                                                               \
    WORD("XLA_REACTANT", julia)                                                                                        \
    WORD("ReactantExtra", julia)                                                                                       \
    WORD("packages/Reactant", julia)                                                                                   \
    WORD(".julia/", julia)                                                                                             \
    WORD("tensorflow/python/", tensorflow)                                                                             \
    WORD("tensorflow.python.", tensorflow)                                                                             \
    WORD("{{function_node__inference", tensorflow)                                                                     \
    WORD("errors_impl.", tensorflow)                                                                                   \
    WORD("OP_REQUIRES", tensorflow)                                                                                    \
    WORD("byallocator", tensorflow)                                                                                    \
    WORD("ResourceExhaustedError", tensorflow)                                                                         \
    WORD("site-packages/torch/", torch)                                                                                \
    WORD("dist-packages/torch/", torch)                                                                                \
    WORD("torch/csrc/", torch)                                                                                         \
    WORD("c10d/", torch)                                                                                               \
    WORD("torch.distributed.", torch)                                                                                  \
    WORD("torch.cuda.", torch)                                                                                         \
    WORD("torch.AcceleratorError", torch)                                                                              \
    WORD("TORCH_USE_CUDA_DSA", torch)                                                                                  \
    WORD("CUDA_LAUNCH_BLOCKING", torch)                                                                                \
    WORD("torch.from_numpy(", torch)                                                                                   \
    WORD("[METAL]", mlx)                                                                                               \
    WORD("metal::malloc", mlx)                                                                                         \
    WORD("mlx/", mlx)                                                                                                  \
    WORD("mlx_lm", mlx)                                                                                                \
    WORD("vllm/", vllm)                                                                                                \
    WORD("sglang/", sglang)                                                                                            \
    WORD("ggml-cuda", ggml)                                                                                            \
    WORD("ggml_", ggml)                                                                                                \
    WORD("llama_model_load", ggml)
#define WORD(word, framework) word,
static const char *const words[] = {WORDS(WORD)};
#undef WORD
#define WORD(word, framework) OOM_FRAMEWORK_##framework,
static const enum oom_framework of_word[] = {WORDS(WORD)};
#undef WORD
enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };

/* Do several front ends print the sentences of a family of this framework? */
static bool is_shared(enum oom_framework framework)
{
    return framework == OOM_FRAMEWORK_xla || framework == OOM_FRAMEWORK_not_known;
}

enum oom_framework oom_framework_of(struct oom_seen *seen, const struct oom_text *text, size_t from, size_t to,
                                    enum oom_family family)
{
    enum oom_framework framework = of_family[family];
    size_t which, nearest = BEHIND + 1;
    if (!is_shared(framework))
        return framework;
    if (oom_seen_before(seen, text, from, BEFORE, words, WORD_COUNT, &which))
        return of_word[which];
    for (size_t i = 0; i < WORD_COUNT && nearest > 0; i++) {
        size_t end = to;
        if (oom_cursor_find(text, &end, words[i], nearest - 1)) {
            nearest = end - strlen(words[i]) - to;
            framework = of_word[i];
        }
    }
    return framework;
}

enum oom_framework oom_framework_of_type(enum oom_framework framework, struct str op_type)
{
    bool is_capital = op_type.length > 0 && op_type.data[0] >= 'A' && op_type.data[0] <= 'Z';
    return is_capital && is_shared(framework) ? OOM_FRAMEWORK_tensorflow : framework;
}

enum oom_memory oom_framework_memory(const struct oom_failure *failure)
{
    static const struct {
        const char *space;
        enum oom_memory memory;
    } spaces[] = {
#define SPACE(name, memory) {name, OOM_MEMORY_##memory},
#include "read/oom/families.def"
    };
    const struct str space = failure->memory_space.text;
    const enum oom_memory usual = oom_family_memory(failure->family);
    for (size_t i = 0; space.data != NULL && i < sizeof(spaces) / sizeof(spaces[0]); i++)
        if (str_equal(space, str_of(spaces[i].space)))
            return spaces[i].memory == OOM_MEMORY_host && usual == OOM_MEMORY_gpu &&
                           !str_equal(space, STR("host memory"))
                       ? OOM_MEMORY_page_locked /* a GPU's runtime takes no other memory of the host */
                       : spaces[i].memory;
    if (failure->family == OOM_FAMILY_vllm && failure->form != NULL && strcmp(failure->form, "start") == 0)
        return OOM_MEMORY_gpu; /* the share of the device, of which the cache is a part */
    bool is_of_core = failure->form != NULL && strcmp(failure->form, "sparse_core") == 0;
    return is_of_core ? OOM_MEMORY_on_chip : usual;
}
