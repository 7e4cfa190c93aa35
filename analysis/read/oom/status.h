/* SPDX-License-Identifier: Apache-2.0
 * status.h: codes by which an interface says that memory ran out, by name or by number: the rows of status.def. */
#pragma once

#include "read/oom/oom.h"

struct oom_status {
    enum oom_family family;
    enum oom_memory memory;
    const char *form; /* of the sentence; static */
    struct str word;  /* the name of the code, or of the function that returned it */
    bool is_name;
    bool is_value; /* a number as it was returned, in whatever statement it stands */
};

/* May one of the codes, functions or interfaces begin where `text` does? */
bool oom_status_begins(struct str text);

/* The code that the word which begins at byte `at` of `line` is, or that `line` gives for the function or the interface
 * that it is; false when there is none. `line` is one line of the input. */
bool oom_status_read(struct str line, size_t at, struct oom_status *status);

/* Functions and interfaces, one of which stands in every line with a number that is read; NULL past the end. */
const char *oom_status_sign(size_t at);
/* Parts of names of codes, in small letters without '_', one of which is in each that is read; NULL past the end. */
const char *oom_status_part(size_t at);

/* Adds the first letters of its words. */
void oom_status_firsts(bool firsts[256]);
