/* SPDX-License-Identifier: Apache-2.0
 * serving.c: servers of language models, which count what does not fit in tokens. */
#include "base/size_text.h"
#include "read/oom/cursor.h"
#include "read/oom/handlers.h"

enum { SENTENCE = 200, SLEEP_BEFORE = 3500 };

/* "model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV cache (3664)" */
static size_t tokens_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure asked, held;
    size_t end = at;
    if (!oom_cursor_take_number(text, &end, &asked) ||
        !oom_cursor_find(text, &end, "numberoftokensthatcanbestoredinKVcache(", SENTENCE) ||
        !oom_cursor_take_number(text, &end, &held) || !asked.is_known || !held.is_known)
        return 0;
    struct oom_failure *failure = oom_draft_begin(reader, OOM_FAMILY_vllm, "tokens", from, end);
    failure->asked_tokens = asked;
    failure->held_tokens = held;
    oom_draft_note_owned(reader, "tokens",
                         "One request may be %llu tokens long; %llu fit in the KV cache. The text gives no bytes.",
                         (unsigned long long)asked.value, (unsigned long long)held.value);
    return oom_draft_reach(reader, end);
}

/* "Based on the available memory, the estimated maximum model length is 34736." */
size_t oom_serving_length(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure length;
    size_t end = at;
    if (!oom_cursor_find(text, &end, "estimatedmaximummodellengthis", SENTENCE) ||
        !oom_cursor_take_number(text, &end, &length) || !length.is_known)
        return at;
    failure->held_tokens = length;
    oom_draft_note_owned(reader, "tokens", "vLLM estimates that a model length of %llu tokens would fit.",
                         (unsigned long long)length.value);
    return end;
}

/* "Sleep mode freed 35.43 GiB memory, 7.66 GiB memory is still in use.": what waking up takes back; of what others hold
 * on the device the second is a part. Weights come before the cache. */
size_t oom_serving_sleep(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure freed, used;
    char first[SIZE_TEXT_BYTES], second[SIZE_TEXT_BYTES];
    size_t begin, next;
    failure->framework = OOM_FRAMEWORK_vllm;
    oom_draft_note(reader, "wake_up",
                   "Waking up takes back weights first and then the KV cache; the text does not say which of them "
                   "found no memory.");
    if (!oom_cursor_find_before(text, at, "Sleepmodefreed", SLEEP_BEFORE, &begin))
        return at;
    next = begin + strlen("Sleepmodefreed");
    if (oom_cursor_take_size(text, &next, &freed) && oom_cursor_take(text, &next, "memory,") &&
        oom_cursor_take_size(text, &next, &used) && freed.is_known && used.is_known)
        oom_draft_note_owned(reader, "sleep",
                             "When it fell asleep, vLLM freed %s, which waking up takes back; %s of the device were "
                             "still in use then.",
                             size_text(first, freed.value), size_text(second, used.value));
    return at;
}

/* "Not enough memory to handle 4096 prefill tokens.", "… to handle 16000 total tokens with 2 prefill tokens." */
size_t oom_serving_tokens(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    struct oom_figure asked;
    size_t number;
    if (!oom_cursor_find_before(&reader->text, at, "tohandle", SENTENCE, &number))
        return at;
    number += strlen("tohandle");
    if (oom_cursor_take_number(&reader->text, &number, &asked) && asked.is_known)
        failure->asked_tokens = asked;
    return at;
}

const struct oom_handler oom_serving_handlers[] = {
    {"model'smaxseqlen(", tokens_read, true},
    {NULL, NULL, false},
};
