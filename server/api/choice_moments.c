/* SPDX-License-Identifier: Apache-2.0
 * choice_moments.c: what was live at a moment of an allocator snapshot, in the place of a device profile. Its id is
 * HOST@MOMENT or HOST@MOMENT@MEMORY: "0f3c9a1b2d4e@12.5ms@GPU 1". */
#include "server/api/choice.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool choice_is_moment(const struct snapshot_session *session, const char *id)
{
    return session && session->allocator_count > 0 && id && strchr(id, '@');
}

/* A text that lives as long as the choice. */
static char *choice_moments_keep(struct choice *choice, char *text)
{
    choice->texts = memory_grow(choice->texts, &choice->text_capacity, choice->text_count + 1, sizeof(*choice->texts));
    return choice->texts[choice->text_count++] = text;
}

/* Cuts at the next '@', in place; what is behind it, or NULL. */
static char *choice_moments_cut(char *text)
{
    char *at = strchr(text, '@');
    if (at)
        *at++ = '\0';
    return at;
}

static void add_of(struct choice *choice, const struct snapshot_session *session, const struct snapshot_host *host,
                   const struct analysis_use *wanted)
{
    size_t at = choice_add(choice);
    struct subject *subject = &choice->subjects[at];
    const struct subjects_place place = subjects_trace(session, host);
    subjects_open(choice->server->store, &place, subject, &choice->errs[at]);
    choice->uses[at] = *wanted;
    choice->uses[at].subject = subject->core;
    choice->uses[at].name = host->name;
    choice->uses[at].size_bytes = subject->core ? subject->size_bytes : host->file->identity.size_bytes;
    choice->uses[at].modified_at_ms = subject->modified_at_ms;
    choice->uses[at].code = choice->errs[at].code;
    choice->files[at] = host->file->path;
}

struct response *choice_add_moment(struct choice *choice, const struct snapshot_session *session, const char *id,
                                   bool is_base)
{
    char *text = choice_moments_keep(choice, memory_text(id)), *moment = choice_moments_cut(text),
         *memory = moment ? choice_moments_cut(moment) : NULL;
    const struct snapshot_host *host = snapshot_host(session, text);
    if (!host || !host->is_allocator)
        return response_problem(404, "notfound", "the session has no allocator snapshot of the id before \"@\"");
    const struct analysis_use wanted = {.id = id, .moment = moment, .memory = memory, .is_base = is_base};
    add_of(choice, session, host, &wanted);
    return NULL;
}

static void add_host(struct choice *choice, const struct snapshot_session *session, const struct snapshot_host *host,
                     const char *moment)
{
    const struct analysis_use wanted = {.id = choice_moments_keep(choice, memory_format("%s@%s", host->id, moment)),
                                        .moment = choice_moments_keep(choice, memory_text(moment))};
    add_of(choice, session, host, &wanted);
}

/* One snapshot over time; where it cannot be read, its peak says why. */
static void add_over_time(struct choice *choice, const struct snapshot_session *session,
                          const struct snapshot_host *host)
{
    const struct subjects_place place = subjects_trace(session, host);
    struct analysis_moment moment;
    struct subject trace = {0};
    struct err err = ERR_INIT;
    size_t count = 0;
    bool is_open = subjects_open(choice->server->store, &place, &trace, &err);
    while (is_open && analysis_trace_series_at(trace.core, 0, count, &moment)) {
        add_host(choice, session, host, moment.text);
        count++;
    }
    subjects_close(&trace);
    if (count == 0)
        add_host(choice, session, host, "peak");
}

void choice_add_moments(struct choice *choice, const struct snapshot_session *session, bool is_series)
{
    assert(session->allocator_count > 0);
    const struct snapshot_host *one = subjects_allocator(choice->server->store, session);
    if (!is_series)
        add_host(choice, session, one, "peak");
    else if (session->allocator_count == 1)
        add_over_time(choice, session, one);
    for (size_t at = 0; is_series && session->allocator_count > 1 && at < session->host_count; at++)
        if (session->hosts[at].is_allocator)
            add_host(choice, session, &session->hosts[at], "peak");
}
