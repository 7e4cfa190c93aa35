/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/torch_trace_stacks.h"

void torch_trace_stacks_init(struct torch_trace_stacks *stacks, struct arena *arena, struct arena *scratch)
{
    stacks->arena = arena;
    stacks->scratch = scratch;
    torch_spans_init(&stacks->spans, scratch);
    table_init(&stacks->names, scratch, 2);
    table_init(&stacks->whats, scratch, 1);
    chunks_init(&stacks->frames, scratch, sizeof(struct torch_frame));
    chunks_init(&stacks->kinds, scratch, 1);
    intern_init(&stacks->texts, arena);
}

/* ---- names ---- */

/* Python's own modules: the profiler removes the folders of sys.path from every file, so only the names distinguish
 * them from the user's. */
static bool is_of_python(struct str file)
{
    static const char *const BEGINS[] = {"_",
                                         "abc.py",
                                         "argparse.py",
                                         "ast.py",
                                         "asyncio/",
                                         "bdb.py",
                                         "codecs.py",
                                         "collections/",
                                         "concurrent/",
                                         "contextlib.py",
                                         "copy.py",
                                         "ctypes/",
                                         "dataclasses.py",
                                         "enum.py",
                                         "functools.py",
                                         "heapq.py",
                                         "importlib/",
                                         "inspect.py",
                                         "json/",
                                         "logging/",
                                         "multiprocessing/",
                                         "operator.py",
                                         "os.py",
                                         "pathlib.py",
                                         "pickle.py",
                                         "queue.py",
                                         "random.py",
                                         "re/",
                                         "runpy.py",
                                         "selectors.py",
                                         "socket.py",
                                         "subprocess.py",
                                         "tempfile.py",
                                         "threading.py",
                                         "traceback.py",
                                         "types.py",
                                         "typing.py",
                                         "unittest/",
                                         "warnings.py",
                                         "weakref.py"};
    for (size_t i = 0; i < sizeof(BEGINS) / sizeof(BEGINS[0]); i++)
        if (str_starts(file, str_of(BEGINS[i])))
            return true;
    return false;
}

/* A file below a folder of sys.path has lost what tells whose it is. */
static enum library torch_trace_stacks_whose(struct arena *scratch, struct str file)
{
    const struct str none = {"", 0};
    if (file.length == 0 || file.data[0] == '/' || file.data[0] == '<' || (file.length > 1 && file.data[1] == ':'))
        return library_of(file, none);
    const char *installed = arena_format(scratch, "/site-packages/%.*s", (int)file.length, file.data);
    enum library as_installed = library_of(str_of(installed), none);
    return is_of_python(file) || as_installed == LIBRARY_MACHINERY ? LIBRARY_MACHINERY : library_of(file, none);
}

/* "train.py(17): step" */
static struct torch_frame python_frame(struct torch_trace_stacks *stacks, struct str text)
{
    for (size_t at = 0; at + 3 <= text.length; at++) {
        size_t end = at + 1;
        uint64_t line = 0;
        while (text.data[at] == '(' && end < text.length && text.data[end] >= '0' && text.data[end] <= '9' &&
               end < at + 10)
            line = line * 10 + (uint64_t)(text.data[end++] - '0');
        if (end == at + 1 || end + 3 > text.length || memcmp(text.data + end, "): ", 3) != 0)
            continue;
        struct torch_frame frame = {.function = {text.data + end + 3, text.length - end - 3},
                                    .file = {text.data, at},
                                    .line = (uint32_t)line,
                                    .is_python = true};
        frame.whose = torch_trace_stacks_whose(stacks->scratch, frame.file);
        return frame;
    }
    return (struct torch_frame){.function = text, .whose = LIBRARY_MACHINERY};
}

static uint32_t name_number(struct torch_trace_stacks *stacks, struct torch_span_name name)
{
    const uint64_t key[2] = {name.text_key, name.kind};
    uint32_t number = table_number(&stacks->names, key);
    if (number < stacks->frames.count)
        return number;
    struct str kept = {arena_text(stacks->arena, name.text), name.text.length};
    bool is_python = name.kind == TORCH_SPAN_PYTHON;
    struct torch_frame other = {.function = kept, .whose = LIBRARY_MACHINERY};
    CHUNKS_ADD(&stacks->frames, struct torch_frame, is_python ? python_frame(stacks, kept) : other);
    CHUNKS_ADD(&stacks->kinds, uint8_t, name.kind);
    return number;
}

void torch_trace_stacks_span(struct torch_trace_stacks *stacks, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                             struct torch_span_name name)
{
    torch_spans_add(&stacks->spans, thread, begin_ns, end_ns, name_number(stacks, name));
}

void torch_trace_stacks_hold(struct torch_trace_stacks *stacks, struct torch_moment *moments, size_t count)
{
    torch_spans_hold(&stacks->spans, moments, count);
}

uint32_t torch_trace_stacks_what(struct torch_trace_stacks *stacks, uint32_t stack)
{
    const uint64_t key = stack;
    return table_number(&stacks->whats, &key);
}

/* ---- stacks ---- */

/* What the spans around a moment say besides the stack that they are. */
struct around {
    uint32_t count;
    uint32_t operator, annotation; /* of the frames: the outermost, the innermost; UINT32_MAX: none */
};

/* From the innermost span outwards; `frames` NULL: what they say alone. */
static struct around torch_trace_stacks_walk(const struct torch_trace_stacks *stacks, uint32_t node, uint32_t *frames)
{
    struct around around = {0, UINT32_MAX, UINT32_MAX};
    for (; node > 0; around.count++) {
        struct torch_span_node one = torch_spans_node(&stacks->spans, node - 1);
        enum torch_span_kind kind = CHUNKS_AT(&stacks->kinds, uint8_t, one.what);
        around.operator= kind == TORCH_SPAN_OPERATOR ? one.what : around.operator;
        if (kind == TORCH_SPAN_ANNOTATION && around.annotation == UINT32_MAX)
            around.annotation = one.what;
        if (frames != NULL)
            frames[around.count] = one.what;
        node = one.around;
    }
    arena_work(stacks->scratch, around.count);
    return around;
}

static uint32_t text_of(struct torch_trace_stacks *stacks, uint32_t frame)
{
    if (frame == UINT32_MAX)
        return MEMORY_NO_TEXT;
    struct str name = CHUNKS_AT(&stacks->frames, struct torch_frame, frame).function;
    return name.length == 0 ? MEMORY_NO_TEXT : intern_number(&stacks->texts, name);
}

/* The op is the user's own line, else the outermost operator. The region is what the program named, else that
 * operator. */
static struct memory_what what_of(struct torch_trace_stacks *stacks, const struct torch_snapshot *snapshot,
                                  uint32_t stack, struct around around)
{
    struct memory_what what = {.op = text_of(stacks, around.operator),
                               .region = text_of(stacks, around.annotation),
                               .shape = MEMORY_NO_TEXT,
                               .guess = MEMORY_NO_TEXT,
                               .stack = stack};
    uint32_t own = torch_snapshot_own_frame(snapshot, stack);
    if (own != UINT32_MAX && snapshot->frames[own].is_python) {
        what.region = what.region == MEMORY_NO_TEXT ? what.op : what.region;
        what.op = intern_number(&stacks->texts, torch_snapshot_frame_words(&snapshot->frames[own], stacks->scratch));
    }
    return what;
}

void torch_trace_stacks_take(struct torch_trace_stacks *stacks, struct torch_snapshot *snapshot,
                             struct memory_events *out)
{
    const size_t count = table_count(&stacks->whats);
    uint64_t frame_count = 0;
    struct memory_what *whats = arena_array(stacks->arena, struct memory_what, count + 1);
    snapshot->stacks = arena_array(stacks->arena, struct torch_stack, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct around around = torch_trace_stacks_walk(stacks, (uint32_t)*table_key(&stacks->whats, i), NULL);
        snapshot->stacks[i] = (struct torch_stack){(uint32_t)frame_count, around.count};
        frame_count += around.count;
        if (frame_count > UINT32_MAX / 2) {
            err_set(stacks->arena->err, ERR_limit, ERR_NO_OFFSET, "more frames than can be counted");
            arena_give_up(stacks->arena);
        }
    }
    snapshot->frames = chunks_copy(&stacks->frames, stacks->arena);
    snapshot->frame_count = stacks->frames.count;
    snapshot->stack_frames = arena_array(stacks->arena, uint32_t, frame_count + 1);
    snapshot->stack_count = count;
    for (size_t i = 0; i < count; i++) {
        struct torch_stack stack = snapshot->stacks[i];
        struct around around = torch_trace_stacks_walk(stacks, (uint32_t)*table_key(&stacks->whats, i),
                                                       snapshot->stack_frames + stack.first);
        whats[i] = what_of(stacks, snapshot, stack.count > 0 ? (uint32_t)i : TORCH_NO_STACK, around);
    }
    out->whats = whats;
    out->what_count = count;
    out->texts = stacks->texts.items;
    out->text_count = stacks->texts.map.count;
}
