/* SPDX-License-Identifier: Apache-2.0
 * choice.h: which subjects a request for a view is about. What a name or an id in it means, and what is taken without
 * one, decide snapshot.h, modules.h and subjects.h, for the command line too.
 *
 * Two modules: a= and b=, each a reference SESSION/HOST/MODULE/SPACE/STEP, of which all but the session may be empty or
 * missing (choice_two.c). A module: session=, host=, module= (its id; else the largest). A trace: session=, host= (else
 * the worst). Profiles: profile= and base=, each the id of one of the session=, the hash of an
 * uploaded one or a moment of an allocator snapshot (choice_moments.c), as many as wanted; without profile= those of a
 * series, else the last, of snapshots the peak. A text:
 * session=, file= (its name; else the first with a failure), or local=, the hash of an uploaded one. */
#pragma once

#include "server/api/api.h"
#include "server/store/capacity.h"
#include "server/store/subjects.h"

/* What a reference names, of two: a module, or a device profile. */
struct choice_half {
    struct api_subject about;
    struct modules modules;
    char *text;            /* the reference, cut into its parts */
    const char *module_id; /* in it, or that of a profile; NULL: the largest module, the last profile */
};

struct choice {
    const struct server *server;
    enum analysis_subject_kind kind;
    struct api_subject about;        /* without a session when none was named */
    struct modules modules;          /* of a module: the first entry is it */
    struct subjects_place place;     /* of a module, a trace or a text on disk */
    bool has_fit;                    /* of a module: the view says whether it fits */
    struct capacity capacity_chosen; /* by the request; 0 bytes: none is */
    /* of profiles and of an uploaded text */
    struct subject *subjects;
    struct analysis_use *uses;
    struct err *errs;
    const char **files; /* named in errors */
    size_t count, capacity;
    char **texts; /* that uses borrow */
    size_t text_count, text_capacity;
    char *key;                      /* tells them and their roles from all others; NULL with a place */
    struct choice_half halves[2];   /* of two */
    struct analysis_param given[4]; /* what the references say beside that: the core's parameters */
    size_t given_count;
    const char *file;    /* named in errors, or NULL */
    const char *part_id; /* of the module, the host or the text on disk: a name in the session */
};

/* Fills `choice` (zeroed), or the refusal; choice_close in any case. */
struct response *choice_open(struct choice *choice, const struct server *server, const struct request *request,
                             const struct analysis_view *view);
void choice_close(struct choice *choice);
/* Makes room for one more item in `subjects`, `uses`, `errs` and `files`, and returns its index. */
size_t choice_add(struct choice *choice);
/* Is the id that of a moment of one of the session's snapshots? */
bool choice_is_moment(const struct snapshot_session *session, const char *id);
/* Adds what was live at it to `uses`; the subject may be one that could not be read. NULL, or the refusal. */
struct response *choice_add_moment(struct choice *choice, const struct snapshot_session *session, const char *id,
                                   bool is_base);
/* Adds what is looked at where no moment is named, of the session that it is about: the peak of the worst snapshot; as
 * a series the peaks of all, or one over time. */
void choice_add_moments(struct choice *choice, const struct snapshot_session *session, bool is_series);
/* Fills `choice` with what a= and b= name, or the refusal. */
struct response *choice_two_open(struct choice *choice, const struct request *request);
/* What the view says of the choice, with the other parameters of the request; a reference of its own. NULL, and the
 * refusal. */
struct body *choice_answer(const struct choice *choice, const struct request *request, const struct analysis_view *view,
                           struct response **refusal);
