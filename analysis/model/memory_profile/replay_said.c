/* SPDX-License-Identifier: Apache-2.0
 * replay_said.c: how far a snapshot was replayed, and how sure a figure of other settings is, in words. */
#include "model/memory_profile/replay_program.h"
#include "model/memory_profile/replay_walk.h"

#include "base/size_text.h"

static const char *size_of(struct arena *arena, int64_t bytes, int64_t beside)
{
    char text[SIZE_TEXT_BYTES];
    uint64_t own = (uint64_t)(bytes < 0 ? -bytes : bytes), other = (uint64_t)(beside < 0 ? -beside : beside);
    return arena_text(arena, str_of(size_text_beside(text, own, other)));
}

static const char *count_of(struct arena *arena, uint64_t count)
{
    char text[COUNT_TEXT_BYTES];
    return arena_text(arena, str_of(size_text_count(text, count)));
}

/* "22.00 MiB", "nothing", "20.00 MiB back". */
static const char *asked_of(struct arena *arena, int64_t bytes, int64_t beside)
{
    return bytes == 0 ? "nothing"
                      : arena_format(arena, "%s%s", size_of(arena, bytes, beside), bytes < 0 ? " back" : "");
}

static const char *differing(const struct memory_profile_replay *replay, struct arena *arena)
{
    return arena_format(
        arena,
        "The replay follows the recording up to event %s: there the recorded allocator requested %s from the driver, "
        "the replay %s. The peak of reserved memory is %s as recorded, %s in the replay.",
        count_of(arena, replay->differs_at), asked_of(arena, replay->recorded_bytes, replay->made_bytes),
        asked_of(arena, replay->made_bytes, replay->recorded_bytes),
        size_of(arena, replay->reserved_bytes, replay->made_reserved_bytes),
        size_of(arena, replay->made_reserved_bytes, replay->reserved_bytes));
}

/* "1 block", "1,204 blocks" */
static const char *moved_of(const struct memory_profile_replay *replay, struct arena *arena)
{
    return arena_format(arena, "%s block%s", count_of(arena, replay->moved_count), replay->moved_count == 1 ? "" : "s");
}

const char *memory_profile_replay_sentence(const struct memory_profile_replay *replay, struct arena *arena)
{
    if (replay->why_not != NULL)
        return arena_format(arena, "Not replayed: %s.", replay->why_not);
    if (replay->is_unchecked)
        return arena_format(arena, "No segment was recorded: by the allocator's rules, segments take %s at the peak.",
                            size_of(arena, replay->reserved_bytes, 0));
    if (!replay->is_exact)
        return differing(replay, arena);
    const char *from = replay->is_whole ? "" : " from what was there when the recording began";
    if (replay->segment_count == 0 && replay->moved_count == 0)
        return arena_format(
            arena, "Replayed exactly%s: nothing was requested from the driver, in the recording and in the replay.",
            from);
    const char *segments =
        arena_format(arena, "%s segment%s that %s recorded", count_of(arena, replay->segment_count),
                     replay->segment_count == 1 ? "" : "s", replay->segment_count == 1 ? "was" : "were");
    if (replay->moved_count > 0)
        return arena_format(arena, "Replayed%s: the allocator's rules give the %s, and put %s at another address.",
                            from, segments, moved_of(replay, arena));
    return arena_format(arena, "Replayed exactly%s: the allocator's rules give the %s.", from, segments);
}

bool memory_profile_replay_is_sure(const struct memory_profile_replay *replay,
                                   const struct memory_profile_replay_change *change)
{
    return replay->is_exact && replay->moved_count == 0 && replay->is_whole && !change->is_split_changed &&
           change->other_bytes == change->reserved_bytes && change->other_allocated_bytes == change->allocated_bytes &&
           !change->is_other_failing;
}

const char *memory_profile_replay_reason(const struct memory_profile_replay *replay,
                                         const struct memory_profile_replay_change *change, struct arena *arena)
{
    if (replay->is_unchecked)
        return "No segment was recorded to compare the allocator's rules with.";
    if (!replay->is_exact)
        return arena_format(arena, "With the recorded settings the replay reserves %s; %s were recorded.",
                            size_of(arena, replay->made_reserved_bytes, replay->reserved_bytes),
                            size_of(arena, replay->reserved_bytes, replay->made_reserved_bytes));
    if (replay->moved_count > 0)
        return arena_format(arena, "With the recorded settings the replay puts %s at another address than recorded.",
                            moved_of(replay, arena));
    if (!replay->is_whole)
        return "Memory was held already when the recording began: where it would be then is not known.";
    if (change->other_bytes != change->reserved_bytes || change->is_other_failing)
        return arena_format(arena,
                            "The replay takes the lowest of equal holes, and the driver decides where new segments "
                            "are: with these in the opposite order it is %s%s.",
                            size_of(arena, change->other_bytes, change->reserved_bytes),
                            change->is_other_failing ? ", and other requests fail" : "");
    if (change->other_allocated_bytes != change->allocated_bytes)
        return arena_format(arena,
                            "Reserved memory is the same wherever the driver puts segments; blocks hold %s or %s.",
                            size_of(arena, change->allocated_bytes, change->other_allocated_bytes),
                            size_of(arena, change->other_allocated_bytes, change->allocated_bytes));
    if (change->is_split_changed)
        return "The same requests and frees, by the allocator's rules. For one recorded run with max_split_size they "
               "gave 1.2 % more than it took, probably because its device was full.";
    return "The same requests and frees, by the allocator's rules; with the recorded settings they give the recorded "
           "segments.";
}

/* ---- of a request that failed ---- */

const char *memory_profile_replay_request_word(const struct memory_profile_replay_change *change,
                                               uint32_t recorded_count)
{
    if (change->failed_at != PROFILE_NONE)
        return recorded_count > 0 ? "another fails" : "one fails";
    if (recorded_count == 0)
        return NULL;
    return change->is_last_left_out ? "not made" : change->is_last_placed ? "gets its memory" : "fails";
}

const char *memory_profile_replay_request_clause(const struct memory_profile_replay_change *change)
{
    return change->is_last_left_out ? "is not made any more"
           : change->is_last_placed ? "gets its memory"
                                    : "fails all the same";
}

/* ---- of a changed program ---- */

static const char *const SIDES[] = {
    [REPLAY_AT_MOST] = "So the job takes at most this.",
    [REPLAY_AT_LEAST] = "So the job takes at least this.",
    [REPLAY_AT_MOST | REPLAY_AT_LEAST] = "So the job may take more or less.",
};

/* How the unchanged program differs in the replay from what was recorded; "". */
static const char *unchanged_of(const struct memory_profile_replay *replay,
                                const struct memory_profile_replay_change *unchanged, struct arena *arena)
{
    if (unchanged->failed_at != PROFILE_NONE)
        return " The unchanged program, replayed in the same way, fails earlier than it did.";
    if (unchanged->reserved_bytes != replay->reserved_bytes)
        return arena_format(arena, " The unchanged program, replayed in the same way, reserves %s; %s were recorded.",
                            size_text_in(arena, (uint64_t)unchanged->reserved_bytes),
                            size_text_in(arena, (uint64_t)replay->reserved_bytes));
    if (!replay->is_exact || replay->moved_count > 0)
        return arena_format(arena, " %s", memory_profile_replay_reason(replay, unchanged, arena));
    return "";
}

const char *memory_profile_replay_reason_of_program(const struct memory_profile_replay *replay,
                                                    const struct memory_profile_replay_change *unchanged,
                                                    const char *change_reason, uint8_t bounds, struct arena *arena)
{
    const char *change =
        change_reason == NULL ? "The requests of the changed program, by the allocator's rules." : change_reason;
    return arena_format(
        arena, "%s%s%s%s%s%s", change, unchanged_of(replay, unchanged, arena),
        replay->is_whole ? "" : " The recording begins late: what the process took before it is not known.",
        replay->ground->pool->failure_count == 0 ? ""
                                                 : " What the program requests after the failed request is not known.",
        bounds == 0 ? "" : " ", bounds == 0 ? "" : SIDES[bounds]);
}
