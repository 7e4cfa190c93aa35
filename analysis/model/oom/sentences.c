/* SPDX-License-Identifier: Apache-2.0
 * sentences.c: what a failure means, in words. A size in a sentence knows where it stands in the text. */
#include "base/size_text.h"
#include "model/oom/meaning.h"

#include <string.h>

static const struct {
    const char *title, *heading, *who;
} families[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) {title, heading, who},
#include "read/oom/families.def"
};

/* ---- names ---- */

static const struct {
    enum oom_family family;
    const char *form, *title, *heading;
} of_forms[] = {
#define TITLE(family, form, title, heading) {OOM_FAMILY_##family, form, title, heading},
#include "read/oom/families.def"
};

static void titles_set(struct oom_meaning *meaning, struct arena *arena)
{
    const struct oom_failure *failure = meaning->failure;
    const struct str space = failure->memory_space.text, code = failure->error_code.text;
    bool has_space = space.data != NULL && !str_equal(space, STR("hbm")) &&
                     failure->memory_class != oom_family_memory(failure->family);
    const char *title = families[failure->family].title;
    meaning->heading = families[failure->family].heading;
    for (size_t i = 0; i < sizeof(of_forms) / sizeof(of_forms[0]); i++)
        if (failure->family == of_forms[i].family && oom_is_form(failure, of_forms[i].form)) {
            title = of_forms[i].title;
            meaning->heading = of_forms[i].heading;
        }
    meaning->title = arena_format(arena, "%s%s%s%s%.*s%s", title, has_space ? " in " : "",
                                  has_space ? oom_space_name(failure, arena) : "", code.data != NULL ? " (" : "",
                                  (int)(code.data != NULL ? code.length : 0), code.data != NULL ? code.data : "",
                                  code.data != NULL ? ")" : "");
}

static void say_who(struct oom_sentence *sentence, const struct oom_failure *failure)
{
    if (failure->module.text.data != NULL)
        oom_say_name(sentence, failure->module.text);
    else
        oom_say(sentence, families[failure->family].who);
}

/* ---- the first sentence ---- */

static void say_cores(struct oom_sentence *sentence, const struct oom_failure *failure)
{
    static const char *const keys[] = {"buffers.0.size_bytes", "buffers.1.size_bytes"};
    const struct oom_buffers *cores = &failure->lists[OOM_ALLOCATIONS];
    for (size_t i = 0; i < cores->count && i < 2; i++) {
        if (i > 0)
            oom_say(sentence, ", ");
        oom_say_name(sentence, cores->items[i].label.text.data != NULL ? cores->items[i].label.text : STR("part"));
        oom_say(sentence, " uses ");
        oom_say_part(sentence,
                     (struct oom_part){.kind = OOM_PART_SIZE, .bytes = cores->items[i].size.value, .key = keys[i]});
    }
}

/* A figure that stands beside another in a sentence: two that differ do not read alike. */
static void say_beside(struct oom_sentence *sentence, const struct oom_failure *failure, enum oom_figure_at at,
                       enum oom_figure_at other_at, const char *role, struct arena *arena)
{
    const struct oom_figure *figure = oom_figure(failure, at), *other = oom_figure(failure, other_at);
    char beside[SIZE_TEXT_BYTES], alone[SIZE_TEXT_BYTES];
    oom_say_figure(sentence, failure, at, role);
    if (other == NULL || sentence->count == OOM_SENTENCE_PARTS)
        return;
    size_text_beside(beside, figure->value, other->value);
    if (strcmp(beside, size_text(alone, figure->value)) != 0)
        sentence->parts[sentence->count - 1].text = str_of(arena_text(arena, str_of(beside)));
}

/* As the text rounds it, what is needed is what there is, and yet it is too much. */
static bool is_past_by_rounding(const struct oom_failure *failure)
{
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes),
                            *capacity = oom_figure(failure, OOM_capacity_bytes),
                            *exceeded = oom_figure(failure, OOM_exceeded_bytes);
    return oom_is_compile(failure) && needed != NULL && capacity != NULL && exceeded != NULL && exceeded->value > 0 &&
           needed->value == capacity->value;
}

/* "the program needs 1.7 KiB more than the 1.00 MiB of SMEM that are available." */
static void say_excess(struct oom_sentence *sentence, const struct oom_failure *failure, struct arena *arena)
{
    const char *space = oom_space_name(failure, arena);
    say_who(sentence, failure);
    oom_say(sentence, " needs ");
    oom_say_figure(sentence, failure, OOM_exceeded_bytes, "main");
    oom_say(sentence, " more than the ");
    oom_say_figure(sentence, failure, OOM_capacity_bytes, NULL);
    oom_say(sentence, arena_format(arena, "%s%s that are available.", space[0] != '\0' ? " of " : "", space));
}

static void say_need(struct oom_sentence *sentence, const struct oom_failure *failure, struct arena *arena)
{
    if (oom_figure(failure, OOM_needed_bytes) != NULL) {
        say_who(sentence, failure);
        oom_say(sentence, oom_is_compile(failure) ? " needs " : " asks for ");
        say_beside(sentence, failure, OOM_needed_bytes, oom_limit_of(failure), "main", arena);
    } else if (oom_is_form(failure, "core_usage") && failure->lists[OOM_ALLOCATIONS].count > 0) {
        say_cores(sentence, failure);
    } else {
        say_who(sentence, failure);
        oom_say(sentence, " does not fit; the text gives no size");
    }
}

static void say_available(struct oom_sentence *sentence, const struct oom_failure *failure, struct arena *arena)
{
    static const char *const words[OOM_FIGURE_COUNT] = {[OOM_largest_free_bytes] = " in the largest hole.",
                                                        [OOM_available_bytes] = " can be reserved.",
                                                        [OOM_free_bytes] = " are free.",
                                                        [OOM_capacity_bytes] = " in all."};
    enum oom_figure_at limit = oom_limit_of(failure);
    if (limit == OOM_FIGURE_COUNT) {
        bool is_asked_later =
            failure->family != OOM_FAMILY_tpu_compile && oom_figure(failure, OOM_needed_bytes) != NULL;
        oom_say(sentence, is_asked_later ? "; how much is free is not in the text." : ".");
        return;
    }
    oom_say(sentence, "; ");
    say_beside(sentence, failure, limit, OOM_needed_bytes, NULL, arena);
    const char *space = oom_is_compile(failure) ? oom_space_name(failure, arena) : "";
    if (oom_is_compile(failure))
        oom_say(sentence, arena_format(arena, "%s%s are available.", space[0] != '\0' ? " of " : "", space));
    else
        oom_say(sentence, words[limit]);
}

/* Who was killed, what it held, and what of how much was in use. */
static void kill_answer(struct oom_meaning *meaning, struct arena *arena)
{
    const struct oom_failure *failure = meaning->failure;
    struct oom_sentence *answer = &meaning->answer;
    oom_say(answer, arena_format(arena, "%s: ", meaning->title));
    say_who(answer, failure);
    oom_say(answer, oom_is_form(failure, "evicted") ? " was evicted" : " was killed");
    if (oom_figure(failure, OOM_process_bytes) != NULL) {
        oom_say(answer, " when it held ");
        oom_say_figure(answer, failure, OOM_process_bytes, "main");
    }
    if (oom_figure(failure, OOM_total_bytes) != NULL && oom_figure(failure, OOM_capacity_bytes) != NULL) {
        oom_say(answer, "; ");
        say_beside(answer, failure, OOM_total_bytes, OOM_capacity_bytes, NULL, arena);
        oom_say(answer, " of ");
        say_beside(answer, failure, OOM_capacity_bytes, OOM_total_bytes, NULL, arena);
        oom_say(answer, " were in use");
    }
    if (failure->family == OOM_FAMILY_killed)
        oom_say(answer, oom_is_form(failure, "lmkd")
                            ? " while the system ended other programs to get memory back."
                            : "; the text does not say why. A host that runs out of memory kills so.");
    else if (oom_is_form(failure, "evicted"))
        oom_say(answer, ": the node ran low on memory.");
    else
        oom_say(answer, ".");
}

static void answer_set(struct oom_meaning *meaning, struct arena *arena)
{
    const struct oom_failure *failure = meaning->failure;
    struct oom_sentence *answer = &meaning->answer;
    enum oom_figure_at hole = oom_hole_of(failure);
    if (oom_is_kill(failure)) {
        kill_answer(meaning, arena);
        return;
    }
    if (meaning->cause != OOM_CAUSE_FRAGMENTATION || hole == OOM_FIGURE_COUNT) {
        oom_say(answer, arena_format(arena, "%s: ", meaning->title));
        if (is_past_by_rounding(failure)) {
            say_excess(answer, failure, arena);
            return;
        }
        say_need(answer, failure, arena);
        say_available(answer, failure, arena);
        return;
    }
    oom_say(answer, arena_format(arena, "%s: enough is free (", meaning->title));
    oom_say_figure(answer, failure, OOM_free_bytes, NULL);
    oom_say(answer, hole == OOM_available_bytes ? "), but what can be reserved in one piece is "
                                                : "), but the largest hole is ");
    oom_say_figure(answer, failure, hole, NULL);
    oom_say(answer, " and ");
    say_who(answer, failure);
    oom_say(answer, " asks for ");
    oom_say_figure(answer, failure, OOM_needed_bytes, "main");
    oom_say(answer, ": fragmentation, not shortage.");
}

/* ---- the second: over by how much, what is largest ---- */

static void say_largest(struct oom_sentence *sentence, const struct oom_failure *failure, struct arena *arena)
{
    const struct oom_group group = oom_group_largest(failure);
    size_t listed = failure->lists[OOM_ALLOCATIONS].count + failure->lists[OOM_ARGUMENTS_AND_OUTPUTS].count;
    if (group.count == 0 || (group.count == 1 && listed == 1 && group.buffer->shape.text.data == NULL))
        return;
    oom_say(sentence, group.count > 1 ? arena_format(arena, "Largest: %zu × ", group.count) : "Largest: ");
    oom_say_part(sentence, (struct oom_part){.kind = OOM_PART_SIZE,
                                             .bytes = group.buffer->size.value,
                                             .key = arena_format(
                                                 arena, "%s.%zu.size_bytes",
                                                 group.list == OOM_ALLOCATIONS ? "buffers" : "io_buffers", group.at)});
    if (group.buffer->shape.text.data != NULL) {
        oom_say(sentence, group.buffer->is_shape_of_result ? ", the stack of one kernel, whose result is " : " ");
        oom_say_name(sentence, oom_bare_shape(group.buffer->shape.text));
    }
    oom_say(sentence, ".");
}

static void more_set(struct oom_meaning *meaning, struct arena *arena)
{
    const struct oom_failure *failure = meaning->failure;
    struct oom_sentence *more = &meaning->more;
    if (meaning->is_over_known && meaning->cause != OOM_CAUSE_FRAGMENTATION && !is_past_by_rounding(failure)) {
        oom_say(more, oom_is_compile(failure) ? "Over by " : "Short by ");
        oom_say_part(more, (struct oom_part){.kind = OOM_PART_SIZE,
                                             .text = str_of(meaning->over_text),
                                             .bytes = meaning->over_bytes,
                                             .key = meaning->over_key,
                                             .role = "over"});
        oom_say(more, ". ");
    }
    if (!oom_is_form(failure, "core_usage"))
        say_largest(more, failure, arena);
}

/* ---- why ---- */

static void torch_cause_text(struct oom_meaning *meaning)
{
    struct oom_sentence *text = &meaning->cause_text;
    if (meaning->cause == OOM_CAUSE_UNPLACED) {
        oom_say(
            text,
            "Enough is free for the request, but the driver refused it: this process has a limit, another process was "
            "faster, or the driver cannot use all of the memory.");
        return;
    }
    oom_say(text, "Fragmentation: the allocator has reserved ");
    if (oom_figure(meaning->failure, OOM_unallocated_bytes) != NULL)
        oom_say_figure(text, meaning->failure, OOM_unallocated_bytes, NULL);
    else
        oom_say_size(text, oom_unallocated(meaning->failure));
    const struct oom_figure *needed = oom_figure(meaning->failure, OOM_needed_bytes),
                            *left = oom_figure(meaning->failure, OOM_free_bytes);
    bool is_enough_alone = needed == NULL || oom_unallocated(meaning->failure) >= needed->value;
    if (is_enough_alone || left == NULL) {
        oom_say(text, " that are not in use, more than was requested, but in pieces that are too small.");
        return;
    }
    oom_say(text, " that are not in use; together with the ");
    oom_say_figure(text, meaning->failure, OOM_free_bytes, NULL);
    oom_say(text, " free on the device this is enough for the request, but no piece is large enough.");
}

/* Whether the text lists them or what is left of the device is theirs. */
static void others_say(struct oom_sentence *text, const struct oom_failure *failure)
{
    if (failure->family == OOM_FAMILY_hami) {
        oom_say(text, "This container has reached its share of the GPU, which HAMi enforces; others have the rest.");
        return;
    }
    oom_say(text, "Other processes: what other processes hold on this device would have sufficed (");
    oom_say_size(text, oom_others(failure));
    oom_say(text,
            failure->figures[OOM_others_bytes].is_known ? ")." : ", though the text lists nobody: as in containers).");
}

static void cause_text_set(struct oom_meaning *meaning)
{
    struct oom_sentence *text = &meaning->cause_text;
    if (meaning->failure->family == OOM_FAMILY_torch_gpu &&
        (meaning->cause == OOM_CAUSE_FRAGMENTATION || meaning->cause == OOM_CAUSE_UNPLACED)) {
        torch_cause_text(meaning);
        return;
    }
    switch (meaning->cause) {
    case OOM_CAUSE_NOT_KNOWN: break;
    case OOM_CAUSE_OTHER_PROCESS: others_say(text, meaning->failure); break;
    case OOM_CAUSE_TOO_LARGE:
        oom_say(
            text,
            "One request is larger than the whole device: no setting helps, and freeing memory does not help either. ");
        oom_say_figure(text, meaning->failure, OOM_needed_bytes, NULL);
        oom_say(text, " are requested in one piece, ");
        if (oom_figure(meaning->failure, OOM_capacity_bytes) == NULL)
            oom_say(text, "more than any device has.");
        else {
            oom_say_figure(text, meaning->failure, OOM_capacity_bytes, NULL);
            oom_say(text, " are there in all.");
        }
        break;
    case OOM_CAUSE_LIMIT:
        if (oom_is_limit_of_buffer(meaning->failure)) {
            oom_say(text, "A single buffer may not be this large, whatever the device has: split it into pieces.");
            break;
        }
        if (oom_is_host(meaning->failure)) {
            oom_say(text, meaning->cause_line);
            break;
        }
        oom_say(text, meaning->failure->family == OOM_FAMILY_cupy
                          ? "A limit that was set for this pool is reached: "
                          : "A limit that was set for this process is reached: ");
        oom_say_figure(text, meaning->failure, OOM_capacity_bytes, NULL);
        oom_say(text, " are allowed");
        if (oom_figure(meaning->failure, OOM_free_bytes) != NULL) {
            oom_say(text, ", and ");
            oom_say_figure(text, meaning->failure, OOM_free_bytes, NULL);
            oom_say(text, " of the device are free");
        }
        oom_say(text, ".");
        break;
    case OOM_CAUSE_HOST:
        oom_say(text, meaning->failure->memory_class == OOM_MEMORY_shared_memory
                          ? "Shared memory (/dev/shm) ran out; its size is set separately from the host's memory."
                      : meaning->failure->memory_class == OOM_MEMORY_page_locked
                          ? "Pinned host memory, which the device reads and writes directly, ran out."
                          : meaning->cause_line);
        break;
    case OOM_CAUSE_SHORTAGE:
        if (oom_figure(meaning->failure, OOM_free_bytes) == NULL) {
            bool is_torch = oom_figure(meaning->failure, OOM_allocated_bytes) != NULL;
            oom_say(text, is_torch ? "Shortage: PyTorch has " : "Shortage: ");
            oom_say_figure(text, meaning->failure, is_torch ? OOM_allocated_bytes : OOM_total_bytes, NULL);
            oom_say(text, " of ");
            oom_say_figure(text, meaning->failure, OOM_capacity_bytes, NULL);
            oom_say(text, is_torch ? " allocated;" : " are in use;");
            oom_say(text, " less is left than was requested.");
            break;
        }
        oom_say(text, "Shortage: less is free in all (");
        oom_say_figure(text, meaning->failure, OOM_free_bytes, NULL);
        oom_say(text, ") than was requested, even if it were in one piece.");
        break;
    case OOM_CAUSE_FRAGMENTATION:
        oom_say(
            text,
            "Fragmentation: the free memory is in pieces, and no piece is large enough. Early allocations that stay "
            "alive split it.");
        break;
    case OOM_CAUSE_UNPLACED:
        oom_say(text,
                "Enough is free in total, but it is in pieces that are too small. The text does not say how large the "
                "largest hole is.");
        break;
    }
}

/* Who yields to whom on a TPU. What helps is said by the advice of verdict/. */
static const char *advice_of(const struct oom_failure *failure)
{
    if (failure->family == OOM_FAMILY_tpu_program_load)
        return "Arrays have priority over programs: if an array does not fit, the runtime evicts loaded programs, but "
               "it never evicts arrays for a program. So a program that ran before can fail to load later, when arrays "
               "fill its place.";
    if (failure->family == OOM_FAMILY_tpu_buffer)
        return "Arrays have priority over programs: the runtime evicted all the programs that it could before it gave "
               "up, so arrays hold the rest.";
    return NULL;
}

/* Which line says what it was doing. Of the path of a frame the end tells more. */
static const char *by_line(const struct oom_failure *failure, struct arena *arena)
{
    enum { LONGEST = 100 };
    struct str line = failure->activity_line.text;
    const char *before = "", *behind = "";
    if (line.data == NULL)
        return "";
    if (line.length > LONGEST && memcmp(line.data, "File", 4) == 0) {
        size_t from = line.length - LONGEST;
        while (from < line.length && ((unsigned char)line.data[from] & 0xc0) == 0x80)
            from++;
        line = (struct str){line.data + from, line.length - from};
        before = "…";
    } else if (line.length > LONGEST) {
        line.length = str_cut(line, LONGEST);
        behind = "…";
    }
    return arena_format(arena, ", by the line \"%s%.*s%s\"", before, (int)line.length, line.data, behind);
}

/* Whose program it is and what it was doing, as far as the lines around tell. */
static const char *whose_of(const struct oom_failure *failure, struct arena *arena)
{
    const char *program = oom_program_title(failure->program), *phrase = oom_activity_phrase(failure->activity);
    const char *library = oom_framework_title(failure->framework);
    if (phrase != NULL)
        return arena_format(arena, "%s was %s%s.",
                            program != NULL   ? program
                            : library != NULL ? library
                                              : "The program",
                            phrase, by_line(failure, arena));
    return program != NULL ? arena_format(arena, "The program is %s.", program) : NULL;
}

static void sureness_set(struct oom_meaning *meaning)
{
    bool is_rounded = false;
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        is_rounded |= meaning->failure->figures[i].is_known && meaning->failure->figures[i].half_unit > 0;
    meaning->sureness = is_rounded ? "as printed" : "exact";
    meaning->sureness_of = is_rounded ? "in the error text, rounded there" : "error text";
    meaning->sureness_reason =
        is_rounded ? "The compiler or runtime printed these figures, each rounded to the last digit shown."
                   : "The text states these figures itself.";
}

void oom_sentences_set(struct oom_meaning *meaning, struct arena *arena)
{
    titles_set(meaning, arena);
    meaning->fits = meaning->failure->family == OOM_FAMILY_killed
                        ? "It was killed; the text does not say whether because of memory."
                    : oom_is_kill(meaning->failure)    ? "No, it was killed to get memory back."
                    : oom_is_compile(meaning->failure) ? "No, it does not fit."
                                                       : "No, there was no place.";
    answer_set(meaning, arena);
    more_set(meaning, arena);
    cause_text_set(meaning);
    meaning->whose = whose_of(meaning->failure, arena);
    meaning->advice = advice_of(meaning->failure);
    sureness_set(meaning);
}
