/* SPDX-License-Identifier: Apache-2.0
 * notice_form.h: a notice (notice.h) as the body that Slack, Teams, Alertmanager or a receiver of CloudEvents takes.
 *
 * Nothing is decided here: sentences are those of the notice, which has them from the core. What others take as markup
 * stays text; what is longer than they take is cut between letters. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum notice_form {
#define NOTICE_FORM(constant, name, type) NOTICE_FORM_##constant,
#include "server/fleet/notify/notice_form.def"
#undef NOTICE_FORM
};

/* How long an alert is shown by a receiver that forgets alerts unless they are sent again (Alertmanager). */
enum { NOTICE_FORM_FAILURE_DAYS = 1, NOTICE_FORM_REGRESSION_DAYS = 7 };
/* What other receivers accept at most. Slack: UTF-16 code units of a header and a section. Teams: bytes of a
 * message. */
enum { NOTICE_FORM_SLACK_HEADER_MAX = 150, NOTICE_FORM_SLACK_SECTION_MAX = 3000, NOTICE_FORM_TEAMS_MAX = 28 * 1024 };

/* By its name; false: there is none of that name. */
bool notice_form_read(const char *name, enum notice_form *form);
/* "memviewd, slack, …" */
const char *notice_form_names(void);
/* The value of the header Content-Type. */
const char *notice_form_type(enum notice_form form);

/* Appends the body of a notice, which is one JSON object; `now_ns`: Unix time at which it is sent. False with `err`:
 * argument (it is no notice), memory. */
bool notice_form_write(enum notice_form form, const struct buf *notice, int64_t now_ns, struct buf *out,
                       struct err *err);
