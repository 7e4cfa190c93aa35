/* SPDX-License-Identifier: Apache-2.0
 * gpu.c: XLA on GPUs: the status texts of its allocators, and the buffer assignment
 * that is printed behind them. */
#include "read/oom/cursor.h"
#include "read/oom/entry.h"
#include "read/oom/handlers.h"
#include "read/oom/patterns.h"

#include "base/size_text.h"

enum {
    NEAR = 16 << 10,
    PAYLOAD = 400,
    SENTENCE = 100,
    TUNING = 400,
    COMPILED = 8 << 10,
    LONGEST_MANGLED = 4096,
    BEFORE_SEGMENT = 400
};

/* Kernels are tried on the device while the program is compiled, each with buffers of its own. */
static void tuning_note(struct oom_reader *reader, size_t at)
{
    size_t begin;
    if (oom_cursor_find_before(&reader->text, at, "Failedtogetconfigsfor", TUNING, &begin))
        oom_draft_note(reader, "autotuning",
                       "XLA requested it while it compiled the program, to try kernels for its instructions "
                       "(autotuning): the program itself was not running yet.");
}

/* What the compiler said of a program shortly before, and went on. */
static void compile_note(struct oom_reader *reader, size_t at)
{
    char first[SIZE_TEXT_BYTES], second[SIZE_TEXT_BYTES];
    const struct oom_compiled *arguments = &reader->arguments, *planned = &reader->planned;
    const uint64_t here = reader->text.raw_at + reader->text.raw_of[at > 0 ? at - 1 : 0];
    if (arguments->is_known && here >= arguments->at && here - arguments->at <= COMPILED)
        oom_draft_note_owned(reader, "arguments_over_limit",
                             "For a program compiled earlier, arguments and results alone take %s; XLA planned "
                             "for a limit of %s.",
                             size_text(first, arguments->bytes), size_text(second, arguments->limit_bytes));
    if (planned->is_known && here >= planned->at && here - planned->at <= COMPILED)
        oom_draft_note_owned(reader, "temporaries_over_limit",
                             "For a program compiled earlier, XLA tried to keep the temporaries within %s, but "
                             "reached %s.",
                             size_text(first, planned->limit_bytes), size_text(second, planned->bytes));
}

static void compiled_set(struct oom_reader *reader, size_t at, struct oom_figure bytes, struct oom_figure limit,
                         struct oom_compiled *compiled)
{
    if (bytes.is_known && limit.is_known && limit.value > 0)
        *compiled = (struct oom_compiled){.is_known = true,
                                          .bytes = bytes.value,
                                          .limit_bytes = limit.value,
                                          .at = reader->text.raw_at + reader->text.raw_of[at - 1]};
}

/* "The byte size of input/output arguments (1234) exceeds the base limit (1200)." */
static size_t arguments_read(struct oom_reader *reader, size_t from, size_t at)
{
    struct oom_figure bytes, limit;
    (void)from;
    if (!oom_cursor_take_number(&reader->text, &at, &bytes) ||
        !oom_cursor_take(&reader->text, &at, ")exceedsthebaselimit(") ||
        !oom_cursor_take_number(&reader->text, &at, &limit))
        return 0;
    compiled_set(reader, at, bytes, limit, &reader->arguments);
    oom_report_outside(reader);
    return at;
}

/* "Can't reduce memory use below 22.40GiB (…) by rematerialization; only reduced to 41.70TiB (…)": a warning of a
 * compile that goes on. The limit is what the device has less the program's arguments and results. */
static size_t warning_read(struct oom_reader *reader, size_t from, size_t at)
{
    struct oom_figure bytes, limit;
    size_t next = at;
    (void)from;
    oom_report_outside(reader);
    if (oom_cursor_take_size(&reader->text, &next, &limit) &&
        oom_cursor_find(&reader->text, &next, "onlyreducedto", SENTENCE) &&
        oom_cursor_take_size(&reader->text, &next, &bytes))
        compiled_set(reader, next, bytes, limit, &reader->planned);
    return at;
}

/* "[executable_name='jit_f']" in the status' payloads, which come in any order. */
size_t oom_gpu_payload(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    size_t next = at, from, status = at;
    bool has_other = oom_cursor_find(text, &status, "RESOURCE_EXHAUSTED", PAYLOAD);
    tuning_note(reader, at);
    compile_note(reader, at);
    if (!oom_cursor_find(text, &next, "executable_name='", PAYLOAD) || (has_other && next > status))
        return at;
    from = next;
    if (!oom_cursor_skip_to(text, &next, "'", PAYLOAD))
        return at;
    oom_draft_name(reader, &failure->module, from, next);
    return next + 1;
}

size_t oom_gpu_echo(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    (void)failure;
    reader->draft.is_weak = true;
    return at;
}

/* The kernel that ptxas refused: its name, mangled or not, stands before the sentence. */
size_t oom_gpu_entry(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    static const char sentence[] = "'usestoomuchshareddata";
    size_t end, name;
    if (oom_cursor_find_before(&reader->text, at, sentence, SENTENCE, &end) &&
        oom_cursor_find_before(&reader->text, end, "'", LONGEST_MANGLED, &name))
        oom_draft_name(reader, &failure->module, name + 1, end);
    return at;
}

/* ---- the buffer assignment ---- */

static size_t assignment_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    if (!oom_draft_takes(reader, OOM_FAMILY_gpu_xla, from, NEAR))
        oom_draft_begin(reader, OOM_FAMILY_gpu_xla, "assignment", from, at);
    reader->draft.is_weak = false;
    struct oom_failure *failure = &reader->draft.failure;
    if (failure->lists[OOM_ALLOCATIONS].count > 0)
        return oom_draft_reach(reader, at);
    at = oom_pattern_add(reader, at, OOM_LINE_gpu_assignment);
    size_t next = at;
    if (oom_cursor_find(text, &next, "Peakbuffers:", 200))
        at = oom_entry_list(reader, next, OOM_ALLOCATIONS);
    return oom_draft_reach(reader, oom_gpu_payload(reader, at, failure));
}

/* ---- NCCL ---- */

/* "NCCL WARN Error while creating shared memory segment nccl-shm-recv-1 (size 9637888)": the line before it says why. A
 * folder that may not be written is no lack of memory. */
static size_t segment_read(struct oom_reader *reader, size_t from, size_t at)
{
    static const char *const others[] = {"Permissiondenied", "Operationnotpermitted", "Nosuchfileordirectory",
                                         "Readonlyfilesystem", "Read-onlyfilesystem"};
    const struct oom_text *text = &reader->text;
    size_t call, size = at;
    bool has_call = oom_cursor_find_before(text, from, "Calltoshm_openfailed:", BEFORE_SEGMENT, &call);
    for (size_t i = 0; has_call && i < sizeof(others) / sizeof(others[0]); i++) {
        size_t reason = call;
        if (oom_cursor_find(text, &reason, others[i], 48))
            return 0;
    }
    struct oom_figure needed = {.is_known = false};
    if (oom_cursor_find(text, &size, "(size", 80) && oom_cursor_take_amount(text, &size, 'B', &needed))
        at = size;
    struct oom_failure *failure = oom_draft_begin(reader, OOM_FAMILY_nccl, "shared_memory", from, at);
    failure->figures[OOM_needed_bytes] = needed;
    failure->memory_space.text = STR("shared memory");
    return oom_draft_reach(reader, at);
}

const struct oom_handler oom_gpu_handlers[] = {
    {"NCCLWARNErrorwhilecreatingsharedmemorysegment", segment_read, true},
    {"BufferAssignmentOOMDebugging", assignment_read, true},
    {"bytesizeofinput/outputarguments(", arguments_read, false},
    {"reducememoryusebelow", warning_read, false},
    {NULL, NULL, false},
};
