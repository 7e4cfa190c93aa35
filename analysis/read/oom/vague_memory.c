/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/vague_memory.h"

#include <ctype.h>

static const char *const of_host[] = {
#define OF_HOST(word) word,
#include "read/oom/vague_memory.def"
};
static const char *const of_gpu[] = {
#define OF_GPU(word) word,
#include "read/oom/vague_memory.def"
};
static const char *const of_device[] = {
#define OF_DEVICE(word) word,
#include "read/oom/vague_memory.def"
};
static const char *const of_ram[] = {
#define OF_RAM(word) word,
#include "read/oom/vague_memory.def"
};
#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

enum oom_memory oom_vague_memory_of(struct str line)
{
    if (oom_text_has_any(line, of_host, COUNT(of_host)))
        return OOM_MEMORY_host;
    if (oom_text_has_any(line, of_gpu, COUNT(of_gpu)))
        return OOM_MEMORY_gpu;
    if (oom_text_has_any(line, of_device, COUNT(of_device)))
        return OOM_MEMORY_device;
    return oom_text_has_any(line, of_ram, COUNT(of_ram)) ? OOM_MEMORY_host : OOM_MEMORY_not_known;
}

/* The next line of raw bytes that is not blank, behind `line` or before it; empty where the text ends. */
static struct str line_beside(const struct oom_text *text, struct str line, bool is_behind)
{
    size_t begin = (size_t)(line.data - text->raw), end = begin + line.length;
    while (!is_behind && begin > 0 && text->raw[begin - 1] != '\n')
        begin--;
    while (is_behind && end < text->raw_length && text->raw[end] != '\n')
        end++;
    if (is_behind) {
        while (end < text->raw_length && isspace((unsigned char)text->raw[end]))
            end++;
        for (begin = end; end < text->raw_length && text->raw[end] != '\n';)
            end++;
    } else {
        while (begin > 0 && isspace((unsigned char)text->raw[begin - 1]))
            begin--;
        for (end = begin; begin > 0 && text->raw[begin - 1] != '\n';)
            begin--;
    }
    return (struct str){text->raw + begin, end - begin};
}

enum oom_memory oom_vague_memory_around(const struct oom_text *text, struct str line)
{
    enum { LINES = 2, LONGEST = 200 };
    enum oom_memory own = oom_vague_memory_of(line);
    struct str beside[2] = {line, line};
    if (own != OOM_MEMORY_not_known && own != OOM_MEMORY_device)
        return own;
    for (size_t i = 0; i < 2 * LINES; i++) {
        struct str *next = &beside[i % 2];
        *next = line_beside(text, *next, i % 2 == 0);
        enum oom_memory memory = next->length < LONGEST ? oom_vague_memory_of(*next) : OOM_MEMORY_not_known;
        if (memory != OOM_MEMORY_not_known && (own == OOM_MEMORY_not_known || memory == OOM_MEMORY_gpu))
            return memory;
    }
    return own;
}
