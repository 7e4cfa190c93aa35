/* SPDX-License-Identifier: Apache-2.0
 * around.c: see around.h. Lines are read without white space, colours and the difference of '/' and '\', as far as they
 * belong to no other failure. */
#include "read/oom/around.h"

#include "read/oom/prefix.h"
#include "read/oom/share.h"
#include "read/oom/signs.h"

#include <string.h>

/* How far lines count: a traceback before, the same behind where a program prints it last, a retraction soon after. */
enum {
    BEFORE = 12 << 10,
    BEHIND = 6 << 10,
    OWN = 2 << 10,
    SOON = 1 << 10,
    ROOM = BEFORE + BEHIND,
    DIRECTLY = 3 << 10, /* without white space */
    LONGEST_LINE = 400
};

struct row {
    int value;
    const char *word;
};

static const struct row program_words[] = {
#define PROGRAM_WORD(name, word) {OOM_PROGRAM_##name, word},
#include "read/oom/around.def"
};
static const struct row activity_words[] = {
#define ACTIVITY_WORD(name, word) {OOM_ACTIVITY_##name, word},
#include "read/oom/around.def"
};
static const struct row retractions[] = {
#define RETRACTION(word) {1, word},
#include "read/oom/given_up.def"
};
static const struct row retries[] = {
#define RETRY(word) {1, word},
#include "read/oom/given_up.def"
};
static const struct row lesses[] = {
#define LESS(word) {1, word},
#include "read/oom/given_up.def"
};
static const struct row lives[] = {
#define LIFE(word) {1, word},
#include "read/oom/given_up.def"
};
static const struct row deaths[] = {
#define DEATH(word) {1, word},
#include "read/oom/given_up.def"
};
static const struct row finals[] = {
#define FINAL(word) {1, word},
#include "read/oom/given_up.def"
};
static const struct row reasons[] = {
#define REASON(word) {1, word},
#include "read/oom/given_up.def"
};
static const struct row losses[] = {
#define LOSS_WORD(word) {1, word},
#include "read/oom/loss_words.def"
};
static const struct row loaders[] = {
#define LOADER_WORD(word) {1, word},
#include "read/oom/around_loaders.def"
};
static const struct row noises[] = {
#define NOISE(word) {1, word},
#include "read/oom/around.def"
};
static const struct row progresses[] = {
#define PROGRESS(word) {1, word},
#include "read/oom/given_up.def"
};

struct lines {
    char bytes[ROOM + 1];
    uint16_t raw_of[ROOM + 1]; /* for each of them: its place behind `at` */
    size_t length;
    uint64_t at; /* in the input */
};
_Static_assert(ROOM <= UINT16_MAX, "a place has 16 bits");

struct around {
    const struct source *source;
    char raw[ROOM];
    struct lines before, behind;
    struct arena *arena;
    struct err *err;
};

/* What of [from, to) can be seen. */
static void lines_read(struct around *around, uint64_t from, uint64_t to, struct lines *lines)
{
    size_t size = to > from ? (size_t)(to - from) : 0, got = 0;
    lines->length = 0, lines->at = from;
    while (got < size) {
        int64_t part = around->source->read(around->source->context, from + got, around->raw + got, size - got);
        if (part < 0)
            err_set(around->err, ERR_io, from + got, "the bytes cannot be read");
        if (part <= 0)
            break;
        got += (size_t)part;
    }
    bool is_begin = from == 0;
    for (size_t at = 0; at < got; at++) {
        struct str rest = {around->raw + at, got - at};
        size_t unseen = oom_prefix_escape_length(rest) + oom_prefix_drawn_length(rest);
        char c = around->raw[at] == '\\' ? '/' : around->raw[at];
        bool is_again = c == '/' && lines->length > 0 && lines->bytes[lines->length - 1] == '/';
        bool is_quote = is_begin && (c == '>' || c == '|');
        is_begin = c == '\n' || (is_begin && ((unsigned char)c <= ' ' || is_quote || unseen > 0));
        if (unseen > 0)
            at += unseen - 1;
        else if ((unsigned char)c > ' ' && !is_again && !is_quote) {
            lines->raw_of[lines->length] = (uint16_t)at;
            lines->bytes[lines->length++] = c;
        }
    }
    lines->bytes[lines->length] = '\0';
}

/* `word` in [from, to); a '#' at its end stands for a digit. */
static const char *found_within(const struct lines *lines, size_t from, size_t to, const char *word)
{
    const char *at = lines->bytes + from, *end = lines->bytes + to;
    size_t length = strcspn(word, "#");
    while ((at = memmem(at, (size_t)(end - at), word, length)) != NULL) {
        if (word[length] == '\0' || (at + length < end && at[length] >= '0' && at[length] <= '9'))
            return at;
        at++;
    }
    return NULL;
}

static const char *found(const struct lines *lines, size_t within, const char *word)
{
    return found_within(lines, 0, lines->length < within ? lines->length : within, word);
}

/* The least value of a row whose word stands in `lines`; 0: none does. */
static int around_least(const struct lines *lines, const struct row *rows, size_t count)
{
    int value = 0;
    for (size_t i = 0; i < count; i++)
        if ((value == 0 || rows[i].value < value) && found(lines, ROOM, rows[i].word) != NULL)
            value = rows[i].value;
    return value;
}

static const char *first_of(const struct lines *lines, size_t within, const struct row *rows, size_t count)
{
    const char *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *word = found(lines, within, rows[i].word);
        first = word != NULL && (first == NULL || word < first) ? word : first;
    }
    return first;
}

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* ---- whose program, doing what ---- */

static int of_both(const struct around *around, const struct row *rows, size_t count)
{
    int before = around_least(&around->before, rows, count), behind = around_least(&around->behind, rows, count);
    return before == 0 || (behind > 0 && behind < before) ? behind : before;
}

/* What lines [from, to) say that it was doing. */
struct around_doing {
    enum oom_activity activity;
    const struct lines *lines;
    size_t at; /* where the word stands */
};

/* The least activity with a word in them. */
static struct around_doing doing_least(const struct lines *lines, size_t from, size_t to)
{
    struct around_doing doing = {OOM_ACTIVITY_not_known, lines, 0};
    for (size_t i = 0; i < COUNT(activity_words); i++) {
        const struct row *row = &activity_words[i];
        const char *word = doing.activity == OOM_ACTIVITY_not_known || row->value < (int)doing.activity
                               ? found_within(lines, from, to, row->word)
                               : NULL;
        if (word != NULL)
            doing = (struct around_doing){(enum oom_activity)row->value, lines, (size_t)(word - lines->bytes)};
    }
    return doing;
}

/* Models make logits of full width, and some a loss, whoever calls them: a frame before that evaluates or generates
 * tells that nothing is trained. */
static struct around_doing doing_of(const struct lines *lines, size_t from, size_t to)
{
    struct around_doing doing = doing_least(lines, from, to);
    size_t before = doing.at;
    for (size_t i = 0; i < COUNT(activity_words) && doing.activity == OOM_ACTIVITY_loss; i++) {
        const struct row *row = &activity_words[i];
        bool is_caller = row->value == OOM_ACTIVITY_evaluation || row->value == OOM_ACTIVITY_generation;
        const char *word = is_caller && before > from ? found_within(lines, from, before, row->word) : NULL;
        if (word != NULL)
            doing = (struct around_doing){(enum oom_activity)row->value, lines, (size_t)(word - lines->bytes)};
    }
    return doing;
}

/* Where the last traceback before `to` begins; `to` when there is none. */
static size_t traceback_begin(const struct lines *lines, size_t to)
{
    static const char head[] = "Traceback(mostrecentcalllast";
    size_t begin = to;
    for (const char *at = lines->bytes;
         (at = memmem(at, (size_t)(lines->bytes + to - at), head, sizeof(head) - 1)) != NULL; at++)
        begin = (size_t)(at - lines->bytes);
    return begin;
}

/* A traceback stands before its error; of ranks whose lines are mixed, the one before it counts as well. Without one,
 * what stands directly before does. */
static struct around_doing doing_before(const struct lines *lines)
{
    enum { TRACEBACKS = 3 };
    struct around_doing doing = {OOM_ACTIVITY_not_known, lines, 0};
    size_t to = lines->length, from = traceback_begin(lines, to);
    if (from == to)
        return doing_of(lines, to > DIRECTLY ? to - DIRECTLY : 0, to);
    for (size_t i = 0; i < TRACEBACKS && from < to && doing.activity == OOM_ACTIVITY_not_known; i++) {
        doing = doing_of(lines, from, lines->length);
        to = from;
        from = traceback_begin(lines, to);
    }
    return doing;
}

/* Copies the line in which the word stands, without what is no letter at its ends. */
static void activity_line_set(const struct around *around, const struct around_doing *doing,
                              struct oom_failure *failure)
{
    char line[LONGEST_LINE];
    uint64_t at = doing->lines->at + doing->lines->raw_of[doing->at],
             from = at > LONGEST_LINE / 2 ? at - LONGEST_LINE / 2 : 0;
    int64_t got = around->source->read(around->source->context, from, line, sizeof(line));
    size_t length = got > 0 ? (size_t)got : 0, begin = (size_t)(at - from), end = begin;
    if (begin >= length)
        return;
    while (begin > 0 && line[begin - 1] != '\n')
        begin--;
    while (end < length && line[end] != '\n' && line[end] != '\r')
        end++;
    while (begin < end && (unsigned char)line[begin] <= ' ')
        begin++;
    for (size_t i = begin; i < end; i++)
        line[i] = (unsigned char)line[i] < ' ' || line[i] == 0x7f ? ' ' : line[i];
    failure->activity_line =
        (struct oom_words){.text = str_of(arena_text(around->arena, (struct str){line + begin, end - begin})),
                           .at = from + begin,
                           .length = (uint32_t)(end - begin)};
}

/* Unless the program prints its traceback behind the error. */
static void activity_set(const struct around *around, struct oom_failure *failure)
{
    struct around_doing doing = doing_before(&around->before);
    if (doing.activity == OOM_ACTIVITY_not_known || doing.activity >= OOM_ACTIVITY_forward) {
        struct around_doing behind = doing_of(&around->behind, 0, around->behind.length);
        if (behind.activity != OOM_ACTIVITY_not_known &&
            (doing.activity == OOM_ACTIVITY_not_known || behind.activity < doing.activity))
            doing = behind;
    }
    if (failure->activity != OOM_ACTIVITY_not_known || doing.activity == OOM_ACTIVITY_not_known)
        return;
    failure->activity = doing.activity;
    activity_line_set(around, &doing, failure);
}

static void whose_set(const struct around *around, struct oom_failure *failure)
{
    static const struct {
        enum oom_framework framework;
        enum oom_program program;
    } own[] = {{OOM_FRAMEWORK_vllm, OOM_PROGRAM_vllm},
               {OOM_FRAMEWORK_sglang, OOM_PROGRAM_sglang},
               {OOM_FRAMEWORK_tgi, OOM_PROGRAM_tgi},
               {OOM_FRAMEWORK_ollama, OOM_PROGRAM_ollama}};
    static const struct {
        enum oom_family family;
        const char *form;
        enum oom_activity activity;
    } said[] = {{OOM_FAMILY_vllm, "no_blocks", OOM_ACTIVITY_kv_cache},
                {OOM_FAMILY_vllm, "request", OOM_ACTIVITY_kv_cache},
                {OOM_FAMILY_vllm, "tokens", OOM_ACTIVITY_kv_cache},
                {OOM_FAMILY_vllm, "start", OOM_ACTIVITY_init},
                {OOM_FAMILY_vllm, "warm_up", OOM_ACTIVITY_profile_run},
                {OOM_FAMILY_gpu_driver, "wake_up", OOM_ACTIVITY_wake_up},
                {OOM_FAMILY_gpu_driver, "resume", OOM_ACTIVITY_wake_up},
                {OOM_FAMILY_sglang, "start", OOM_ACTIVITY_kv_cache},
                {OOM_FAMILY_tgi, "total", OOM_ACTIVITY_profile_run},
                {OOM_FAMILY_tgi, "prefill", OOM_ACTIVITY_profile_run},
                {OOM_FAMILY_torch_gpu, "dispatch", OOM_ACTIVITY_load},
                {OOM_FAMILY_sglang, "unbalanced", OOM_ACTIVITY_init},
                {OOM_FAMILY_ollama, "system_memory", OOM_ACTIVITY_load}};
    failure->program = (enum oom_program)of_both(around, program_words, COUNT(program_words));
    for (size_t i = 0; i < COUNT(own); i++)
        if (failure->framework == own[i].framework)
            failure->program = own[i].program;
    activity_set(around, failure);
    const enum oom_activity seen = failure->activity;
    if (failure->family == OOM_FAMILY_tpu_compile)
        failure->activity = OOM_ACTIVITY_compile;
    for (size_t i = 0; i < COUNT(said) && failure->form != NULL; i++)
        if (failure->family == said[i].family && strcmp(failure->form, said[i].form) == 0)
            failure->activity = said[i].activity;
    if (failure->activity != seen)
        failure->activity_line = (struct oom_words){.text = {NULL, 0}};
}

/* ---- what is said of it ---- */

/* Do its frames show that gradients are off, as a decorator or as what the loops of Trainer and Lightning do? */
static bool has_no_gradients(const struct lines *lines)
{
    static const struct row words[] = {{1, "no_grad()"},       {1, "inference_mode("},    {1, "decorate_context"},
                                       {1, "prediction_step"}, {1, "evaluation_loop.py"}, {1, "validation_step"}};
    return first_of(lines, ROOM, words, COUNT(words)) != NULL;
}

/* Of the lines before the text itself, which may propose them. */
static uint32_t signs_of(const struct lines *lines, uint64_t text_at)
{
    size_t length = lines->length;
    while (length > 0 && lines->at + lines->raw_of[length - 1] >= text_at)
        length--;
    return oom_signs_find(lines->bytes, lines->raw_of, length);
}

/* Does a line near a kill say why it was, and not for memory? */
static bool has_other_reason(const struct around *around, const struct oom_failure *failure)
{
    enum { NEAR = 1 << 10 };
    const struct lines *before = &around->before;
    bool has = false;
    if (failure->family != OOM_FAMILY_killed)
        return false;
    for (size_t i = 0; i < COUNT(reasons) && !has; i++)
        has = found_within(before, before->length > NEAR ? before->length - NEAR : 0, before->length,
                           reasons[i].word) != NULL ||
              found(&around->behind, NEAR, reasons[i].word) != NULL;
    return has;
}

/* ---- taken back ---- */

static bool is_tried(const struct oom_failure *failure)
{
    return failure->family == OOM_FAMILY_triton || failure->family == OOM_FAMILY_gpu_kernel;
}

/* ggml takes ordinary memory where there is no pinned memory. */
static bool is_optional(const struct oom_failure *failure)
{
    return failure->family == OOM_FAMILY_ggml && failure->form != NULL && strcmp(failure->form, "pinned") == 0;
}

/* Is it tried again with less? At once, or in words that say so: what else is tried again later is another thing. */
static bool is_tried_again(const struct lines *behind)
{
    enum { AT_ONCE = 12, WORDS = 48 };
    size_t length = behind->length < SOON ? behind->length : SOON;
    for (size_t i = 0; i < COUNT(retries); i++) {
        const char *from = behind->bytes, *word;
        while ((word = memmem(from, (size_t)(behind->bytes + length - from), retries[i].word,
                              strlen(retries[i].word))) != NULL) {
            size_t left = (size_t)(behind->bytes + behind->length - word);
            if (word < behind->bytes + AT_ONCE)
                return true;
            for (size_t k = 0; k < COUNT(lesses); k++)
                if (memmem(word, left < WORDS ? left : WORDS, lesses[k].word, strlen(lesses[k].word)) != NULL)
                    return true;
            from = word + 1;
        }
    }
    return false;
}

static void retraction_set(struct around *around, struct oom_failure *failure)
{
    const struct lines *behind = &around->behind;
    const char *death = first_of(behind, ROOM, deaths, COUNT(deaths));
    const char *life = first_of(behind, ROOM, lives, COUNT(lives));
    if (life == NULL && is_tried(failure))
        life = first_of(behind, ROOM, progresses, COUNT(progresses));
    bool has_lived_on = life != NULL && (death == NULL || life < death);
    bool is_over = first_of(behind, ROOM, finals, COUNT(finals)) != NULL;
    failure->is_given_up =
        has_lived_on || (is_optional(failure) && death == NULL) ||
        (!is_over && (first_of(behind, SOON, retractions, COUNT(retractions)) != NULL || is_tried_again(behind)));
}

/* Lines up to a retraction are about what was given up. */
static void given_up_leave_out(struct lines *lines)
{
    size_t from = 0;
    for (size_t i = 0; i < COUNT(retractions) + COUNT(retries); i++) {
        const char *given = i < COUNT(retractions) ? retractions[i].word : retries[i - COUNT(retractions)].word, *word;
        while ((word = memmem(lines->bytes + from, lines->length - from, given, strlen(given))) != NULL)
            from = (size_t)(word - lines->bytes) + strlen(given);
    }
    lines->length -= from;
    memmove(lines->bytes, lines->bytes + from, lines->length + 1);
    memmove(lines->raw_of, lines->raw_of + from, lines->length * sizeof(lines->raw_of[0]));
}

static void noise_leave_out(struct lines *lines)
{
    for (size_t i = 0; i < COUNT(noises); i++) {
        char *from = lines->bytes, *word;
        size_t length = strlen(noises[i].word);
        while ((word = memmem(from, (size_t)(lines->bytes + lines->length - from), noises[i].word, length)) != NULL) {
            memset(word, '\n', length); /* a byte of no word */
            from = word + length;
        }
    }
}

/* Where the failure ends that stands before `failure` and nearest to it; `least_at` when none does behind that. */
static uint64_t before_from(const struct oom_failure *failures, size_t count, const struct oom_failure *failure)
{
    uint64_t least_at = failure->begin_at > BEFORE ? failure->begin_at - BEFORE : 0;
    for (size_t i = 0; i < count; i++)
        if (failures[i].end_at <= failure->begin_at && failures[i].end_at > least_at)
            least_at = failures[i].end_at;
    return least_at;
}

/* Where the next failure begins behind `at`, or as far as lines count. */
static uint64_t behind_to(const struct oom_failure *failures, size_t count, uint64_t at)
{
    uint64_t to = at + BEHIND;
    for (size_t i = 0; i < count; i++)
        if (failures[i].begin_at >= at && failures[i].begin_at < to)
            to = failures[i].begin_at;
    return to;
}

bool oom_around_read(const struct source *source, struct arena *arena, struct oom_failure *failures, size_t count,
                     struct err *err)
{
    struct around *around = count > 0 ? arena_array(arena, struct around, 1) : NULL;
    for (size_t i = 0; i < count && !err_is_set(err); i++) {
        struct oom_failure *failure = &failures[i];
        around->source = source;
        around->arena = arena;
        around->err = err;
        uint64_t own_to = failure->end_at < failure->begin_at + OWN ? failure->end_at : failure->begin_at + OWN;
        uint64_t from = before_from(failures, count, failure);
        lines_read(around, from, own_to, &around->before);
        given_up_leave_out(&around->before);
        lines_read(around, failure->end_at, behind_to(failures, count, failure->end_at), &around->behind);
        noise_leave_out(&around->before);
        noise_leave_out(&around->behind);
        whose_set(around, failure);
        failure->share_percent =
            oom_share_first_percent(around->behind.bytes, around->behind.raw_of, around->behind.length);
        if (failure->share_percent == 0)
            failure->share_percent =
                oom_share_last_percent(around->before.bytes, around->before.raw_of, around->before.length);
        failure->has_other_reason = has_other_reason(around, failure);
        failure->signs = signs_of(&around->before, failure->begin_at);
        failure->has_loader = first_of(&around->before, ROOM, loaders, COUNT(loaders)) != NULL ||
                              first_of(&around->behind, ROOM, loaders, COUNT(loaders)) != NULL;
        failure->has_no_gradients = has_no_gradients(&around->before);
        failure->has_loss = first_of(&around->before, ROOM, losses, COUNT(losses)) != NULL;
    }
    return !err_is_set(err);
}

bool oom_around_judge(const struct source *source, struct arena *arena, struct oom_failure *failures, size_t count,
                      struct err *err)
{
    struct around *around = count > 0 ? arena_array(arena, struct around, 1) : NULL;
    for (size_t i = 0; i < count && !err_is_set(err); i++) {
        uint64_t last = failures[i].last_end_at > failures[i].end_at ? failures[i].last_end_at : failures[i].end_at;
        around->source = source;
        around->arena = arena;
        around->err = err;
        lines_read(around, last, behind_to(failures, count, last), &around->behind);
        retraction_set(around, &failures[i]);
        int program = around_least(&around->behind, program_words, COUNT(program_words));
        if (program > 0 && (failures[i].program == OOM_PROGRAM_not_known || program < (int)failures[i].program))
            failures[i].program = (enum oom_program)program;
    }
    return !err_is_set(err);
}
