/* SPDX-License-Identifier: Apache-2.0 */
#include "input/oom/framework.h"

#include "input/oom/cursor.h"

/* How far around a sentence the words of a front end may stand: behind it only its own status goes on. */
enum { BEFORE = 3000, BEHIND = 400 };

static const enum oom_framework of_family[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) OOM_FRAMEWORK_##framework,
#include "input/oom/families.def"
};

/* Without white space; nothing that a message of another framework, or prose, would hold. */
static const struct {
    const char *word;
    enum oom_framework framework;
} words[] = {
    {"BadStatusOraccess", OOM_FRAMEWORK_torch_xla},   {"torch_xla/", OOM_FRAMEWORK_torch_xla},
    {"torch_xla.", OOM_FRAMEWORK_torch_xla},          {"XRTExecute", OOM_FRAMEWORK_torch_xla},
    {"XRTCompile", OOM_FRAMEWORK_torch_xla},          {"XlaRuntimeError:", OOM_FRAMEWORK_jax},
    {"JaxRuntimeError:", OOM_FRAMEWORK_jax},          {"jax/_src/", OOM_FRAMEWORK_jax},
    {"tensorflow/python/", OOM_FRAMEWORK_tensorflow}, {"tensorflow.python.", OOM_FRAMEWORK_tensorflow},
    {"errors_impl.", OOM_FRAMEWORK_tensorflow},       {"OP_REQUIRES", OOM_FRAMEWORK_tensorflow},
    {"byallocator", OOM_FRAMEWORK_tensorflow},
};
enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };

/* Do several front ends print the sentences of a family of this framework? */
static bool is_shared(enum oom_framework framework)
{
    return framework == OOM_FRAMEWORK_xla || framework == OOM_FRAMEWORK_not_known;
}

enum oom_framework oom_framework_of(const struct oom_text *text, size_t from, size_t to, enum oom_family family)
{
    enum oom_framework framework = of_family[family];
    size_t nearest = BEFORE + 1;
    if (!is_shared(framework))
        return framework;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        size_t found;
        if (oom_cursor_find_before(text, from, words[i].word, nearest - 1, &found)) {
            nearest = from - found - strlen(words[i].word);
            framework = words[i].framework;
        }
        if (nearest == 0)
            return framework;
    }
    if (nearest <= BEFORE)
        return framework;
    nearest = BEHIND + 1;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        size_t end = to;
        if (oom_cursor_find(text, &end, words[i].word, nearest - 1)) {
            nearest = end - strlen(words[i].word) - to;
            framework = words[i].framework;
        }
        if (nearest == 0)
            break;
    }
    return framework;
}

enum oom_memory oom_framework_memory(const struct oom_failure *failure)
{
    static const struct {
        const char *space;
        enum oom_memory memory;
    } spaces[] = {
#define SPACE(name, memory) {name, OOM_MEMORY_##memory},
#include "input/oom/families.def"
    };
    const struct str space = failure->memory_space.text;
    const enum oom_memory usual = oom_family_memory(failure->family);
    for (size_t i = 0; space.data != NULL && i < sizeof(spaces) / sizeof(spaces[0]); i++)
        if (str_equal(space, str_of(spaces[i].space)))
            return spaces[i].memory == OOM_MEMORY_host && usual == OOM_MEMORY_gpu
                       ? OOM_MEMORY_page_locked /* a GPU's runtime takes no other memory of the host */
                       : spaces[i].memory;
    return usual;
}
