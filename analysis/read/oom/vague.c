/* SPDX-License-Identifier: Apache-2.0
 * vague.c: see vague.h. A word of lack is no failure: source code, documentation, advice, names of tests and messages
 * about what was avoided hold it as well. Its line has to be one of an error, and no word of these others may stand in
 * it. */
#include "read/oom/vague.h"

#include "read/oom/cursor.h"
#include "read/oom/prefix.h"
#include "read/oom/read.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_LINE = 600, HEAD_WITHIN = 500, LONGEST_NAME = 40 };

/* Of lack, without white space. */
static const char *const lacks[] = {
    "outofmemory",        "Outofmemory",
    "OutofMemory",        "OutOfMemory",
    "OUT_OF_MEMORY",      "OUT_OF_DEVICE_MEM",
    "OutOfDeviceMemory",  "OUT_OF_HOST_MEM",
    "OutofGPUmemory",     "outofdevicememory",
    "outofGPUmemory",     "insufficientmemory",
    "Insufficientmemory", "InsufficientMemory",
    "notenoughmemory",    "Notenoughmemory",
    "notenoughGPUmemory", "failedtoallocate",
    "Failedtoallocate",   "failedtoalloc",
    "Failedtoalloc",      "allocationfailure",
    "allocationfailed",   "Allocationfailed",
    "AllocationFailure",  "bad_alloc",
    "cannotallocate",     "Cannotallocate",
    "couldnotallocate",   "Couldnotallocate",
    "InsufficientVRAM",   "insufficientVRAM",
    "unabletoallocate",   "Unabletoallocate",
    "ALLOCATION_FAILURE", "runsoutofmemory",
    "ranoutofmemory",     "CUDA_ERROR_OUT_OF_MEMORY",
};
/* Of an error, in the line as it is. */
static const char *const marks[] = {"rror:",     "ERROR",    "[E]",    "FATAL",     "fatal",    "Exception",
                                    "exception", "panic",    "Failed", "failed",    "terminat", "abort",
                                    "Abort",     "rror (",   "rror [", "rror code", "rrno",     " E ",
                                    "critical",  "CRITICAL", "status", "returned",  "error ",   "Error "};
/* Of what is none: advice, notes, source code, what goes on. */
static const char *const others[] = {
    "WARN",       "arning",
    "[W]",        " may ",
    " might ",    " could cause",
    "can cause",  " can run",
    " if ",       "If ",
    " when ",     "avoid",
    "prevent",    "onsider",
    "ry reduc",   "ry setting",
    "nstead of",  " fix",
    "Fix",        "handl",
    "test_",      "::",
    "//",         "/*",
    "def ",       "assert",
    "raise ",     "except ",
    "catch",      "throw ",
    "return ",    "case ",
    "const ",     "define ",
    "printf",     "#",
    "retry",      "retrying",
    "skipp",      "Skipp",
    "fallback",   "alling back",
    "INFO",       "DEBUG",
    "[I]",        "in case",
    "due to",     "PASSED",
    "issue",      "likely",
    "should",     "docs",
    "https://",   "== ",
    "!= ",        "e.g.",
    "i.e.",       "attempting to recover",
    "attempt to", "|",
    "elp",        "no longer",
    "caused by",  "how to",
    "What ",      "ssue",
    "unless",     "would",
    "never",      "so that",
    "TODO",       "logger.",
    "')",         "\")",
    "log(",       "std::cerr",
    "Killed",     "oom-k",
    "OOM killer", "pinned memory",
};

static bool has_word(struct str line, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(line.data, line.length, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

/* What of a line is no quote's bar or side of a frame. */
static struct str unframed(struct str line)
{
    size_t drawn = 0;
    for (; line.length > 0 && (line.data[0] == ' ' || line.data[0] == '|' || line.data[0] == '>' ||
                               (drawn = oom_prefix_drawn_length(line)) > 0);
         drawn = 0)
        line = (struct str){line.data + (drawn > 0 ? drawn : 1), line.length - (drawn > 0 ? drawn : 1)};
    while (line.length > 0 && (line.data[line.length - 1] == ' ' || line.data[line.length - 1] == '|'))
        line.length--;
    return line;
}

/* The line of the input around `at`, at most LONGEST_LINE bytes; longer ones are no message. */
static struct str line_of(const struct oom_text *text, size_t at, size_t *clean_end)
{
    size_t raw = text->raw_of[at], begin = raw, end = raw;
    while (begin > 0 && text->raw[begin - 1] != '\n' && raw - begin < LONGEST_LINE)
        begin--;
    while (end < text->raw_length && text->raw[end] != '\n' && end - raw < LONGEST_LINE)
        end++;
    *clean_end = oom_text_at(text, end);
    return unframed((struct str){text->raw + begin, end - begin});
}

/* A quoted sentence is source code, unless the whole line is a message in JSON. */
static bool is_quoted(const struct oom_text *text, size_t at)
{
    size_t raw = text->raw_of[at];
    bool is_in_name = text->bytes[at] == 'a' || text->bytes[at] == 'A'; /* of an allocator */
    if (is_in_name && raw > 0 && text->raw[raw - 1] == '_')
        return false;
    return raw > 0 && (text->raw[raw - 1] == '"' || text->raw[raw - 1] == '\'' || text->raw[raw - 1] == '`' ||
                       text->raw[raw - 1] == '_' || text->raw[raw - 1] == '.');
}

/* A conversion of printf, or a place that a formatter fills: "%zu", "{}", "${name}"; "84 %" is none. */
static bool has_place_to_fill(struct str line)
{
    static const char *const places[] = {"{}", "{0}", "{:", "${", "$(", "\\n\""};
    for (size_t i = 0; i + 1 < line.length; i++)
        if (line.data[i] == '%' && (i == 0 || !isdigit((unsigned char)line.data[i - 1])) &&
            strchr("dsuzlfgxipc.*", line.data[i + 1]) != NULL)
            return true;
    return has_word(line, places, sizeof(places) / sizeof(places[0]));
}

/* A line of source code: it ends as statements and blocks do, or has places to fill. */
static bool is_code(struct str line)
{
    size_t length = line.length;
    while (length > 0 && isspace((unsigned char)line.data[length - 1]))
        length--;
    return has_place_to_fill(line) || (length > 0 && strchr(";{\\", line.data[length - 1]) != NULL);
}

static bool is_of_error(const struct oom_text *text, size_t at, struct str line)
{
    return line.length < LONGEST_LINE && !is_quoted(text, at) && !is_code(line) &&
           has_word(line, marks, sizeof(marks) / sizeof(marks[0])) &&
           !has_word(line, others, sizeof(others) / sizeof(others[0]));
}

/* "size = 0xc0fb4000" in [from, to). */
static bool hexadecimal_find(const struct oom_text *text, size_t from, size_t to, struct oom_figure *figure)
{
    size_t at = from;
    if (!oom_cursor_find(text, &at, "size=", to > from ? to - from : 0) || at >= to ||
        !oom_cursor_take_amount(text, &at, 'x', figure))
        return false;
    return figure->is_known && at <= to && figure->value >= 1024;
}

/* The first size with a unit in [from, to), or a number of bytes of five digits and more. */
static void size_find(const struct oom_text *text, size_t from, size_t to, struct oom_figure *figure)
{
    if (hexadecimal_find(text, from, to, figure))
        return;
    for (size_t at = from; at < to; at++) {
        struct oom_figure found;
        size_t end = at;
        bool is_begin = isdigit((unsigned char)text->bytes[at]) &&
                        (at == 0 || !(isalnum((unsigned char)text->bytes[at - 1]) &&
                                      text->raw_of[at] == text->raw_of[at - 1] + 1)) &&
                        (at == 0 || strchr("._-:/0123456789", text->bytes[at - 1]) == NULL);
        if (!is_begin || !oom_cursor_take_size(text, &end, &found) || !found.is_known || end > to || found.value < 1024)
            continue;
        *figure = found;
        return;
    }
}

static enum oom_memory memory_of(struct str line)
{
    static const char *const of_host[] = {"host", "Host", "HOST", "RAM", "system memory", "CPU", "cpu", "swap"};
    static const char *const of_gpu[] = {"CUDA",   "cuda", "cuMem", "HIP",   "hipE",  "hipM",    "ROCm",
                                         "rocm",   "ROCM", "GPU",   "gpu",   "vram",  "VRAM",    "nvinfer",
                                         "cuBLAS", "NCCL", "RCCL",  "Metal", "cuDNN", "rocblas", "hipblas"};
    static const char *const of_device[] = {"device", "Device", "DEVICE",     "NPU",        "TPU",
                                            "XPU",    "dev_id", "MEM_OBJECT", "accelerator"};
    static const char *const of_arrays[] = {"ArrayMemoryError", "numpy"};
    if (has_word(line, of_arrays, sizeof(of_arrays) / sizeof(of_arrays[0])))
        return OOM_MEMORY_host;
    if (has_word(line, of_gpu, sizeof(of_gpu) / sizeof(of_gpu[0])))
        return OOM_MEMORY_gpu;
    if (has_word(line, of_device, sizeof(of_device) / sizeof(of_device[0])))
        return OOM_MEMORY_device;
    return has_word(line, of_host, sizeof(of_host) / sizeof(of_host[0])) ? OOM_MEMORY_host : OOM_MEMORY_not_known;
}

/* "bm_alloc_gmem failed", "dma_alloc_coherent() failed": a function whose name says that it allocates. */
static bool is_allocator_failed(const struct oom_text *text, size_t at, size_t *end)
{
    size_t next = at;
    if (!oom_cursor_take(text, &next, "alloc") && !oom_cursor_take(text, &next, "Alloc"))
        return false;
    while (next < text->length && next - at < LONGEST_NAME &&
           (isalnum((unsigned char)text->bytes[next]) || strchr("_()", text->bytes[next]) != NULL) &&
           text->raw_of[next] == text->raw_of[next - 1] + 1)
        next++;
    *end = next;
    return oom_cursor_take(text, end, "failed") && text->bytes[next - 1] != '(';
}

static const char *lack_at(const struct oom_text *text, size_t at, size_t *end)
{
    if (is_allocator_failed(text, at, end))
        return "alloc";
    for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
        *end = at;
        if (lacks[i][0] == text->bytes[at] && oom_cursor_take(text, end, lacks[i]))
            return lacks[i];
    }
    return NULL;
}

/* Whose words these are, though nothing else of its sentence stands there. */
static enum oom_family family_of(struct str line)
{
    static const char *const of_torch[] = {"CUDA out of memory",         "HIP out of memory",  "XPU out of memory",
                                           "NPU out of memory",          "MUSA out of memory", "torch.OutOfMemoryError",
                                           "torch.cuda.OutOfMemoryError"};
    static const char *const of_driver[] = {"CUDA error: out of memory", "HIP error: out of memory"};
    if (has_word(line, of_driver, sizeof(of_driver) / sizeof(of_driver[0])))
        return OOM_FAMILY_gpu_driver;
    if (has_word(line, of_torch, sizeof(of_torch) / sizeof(of_torch[0])))
        return OOM_FAMILY_torch_gpu;
    return OOM_FAMILY_unknown_runtime;
}

size_t oom_vague_read(struct oom_reader *reader, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t end, line_end;
    if (lack_at(text, at, &end) == NULL)
        return 0;
    struct str line = line_of(text, at, &line_end);
    uint64_t line_at = text->raw_at + (uint64_t)(line.data - text->raw);
    if (!is_of_error(text, at, line) || reader->tail_at > line_at || oom_read_head_within(reader, end, HEAD_WITHIN))
        return 0;
    enum oom_family family = family_of(line);
    bool is_known = family != OOM_FAMILY_unknown_runtime;
    struct oom_failure *failure = oom_draft_begin(reader, family, is_known ? "bare" : "line", at, end);
    size_find(text, oom_text_at(text, (size_t)(line.data - text->raw)), line_end, &failure->figures[OOM_needed_bytes]);
    if (is_known)
        return oom_draft_reach(reader, line_end > end ? line_end : end);
    enum oom_memory memory = memory_of(line);
    failure->memory_class = memory;
    if (memory == OOM_MEMORY_host)
        failure->memory_space.text = STR("host");
    if (memory == OOM_MEMORY_device)
        failure->memory_space.text = STR("device");
    if (memory == OOM_MEMORY_gpu)
        failure->memory_space.text = STR("GPU memory");
    oom_draft_note_owned(reader, "line", "memviewd does not know this runtime. The line: %.*s", (int)line.length,
                         line.data);
    return oom_draft_reach(reader, line_end > end ? line_end : end);
}

void oom_vague_firsts(bool firsts[256])
{
    firsts['a'] = firsts['A'] = true;
    for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
        firsts[(unsigned char)lacks[i][0]] = true;
}
