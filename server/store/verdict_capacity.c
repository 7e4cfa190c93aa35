/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/verdict_capacity.h"

/* The chip that files beside the program name, or its trace; of a dump whose program was not found that of any. */
static bool chip_find(const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    const struct snapshot_session *session = parts->entry ? parts->module_session : wanted->session;
    const struct modules_file *file = parts->entry ? parts->entry->file : NULL;
    if (file)
        return capacity_of_device(session, file->group, file->opened.contents, &parts->chip) && parts->chip.is_named;
    for (size_t at = 0; session && at < session->group_count; at++)
        if (capacity_of_device(session, &session->groups[at], NULL, &parts->chip))
            return true;
    return false;
}

static void lost_note(struct verdict_parts *parts, const struct dump_beside_lost *lost)
{
    if (lost->file[0])
        verdict_parts_unread_name(parts, lost->file, &lost->err);
}

void verdict_capacity_find(const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    const struct modules_file *file = parts->entry ? parts->entry->file : NULL;
    struct analysis_oom_facts facts = {.capacity_bytes = -1};
    if (wanted->failure)
        analysis_oom_facts(wanted->failure, &facts);
    if (chip_find(wanted, parts))
        parts->core.around.device = parts->chip.chip;
    lost_note(parts, &parts->chip.lost);
    if (file && facts.capacity_bytes < 0 &&
        capacity_find(NULL, parts->module_session, file->group, file->opened.contents, &parts->capacity))
        parts->core.around.capacity = capacity_core(&parts->capacity);
    lost_note(parts, &parts->capacity.lost);
}

void verdict_capacity_choose(struct verdict_parts *parts, const struct capacity *chosen)
{
    capacity_take(&parts->capacity, chosen);
    parts->core.around.capacity = capacity_core(&parts->capacity);
}
