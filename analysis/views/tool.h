/* SPDX-License-Identifier: Apache-2.0
 * tool.h: what a tool is: views, each a name, its parameters and a function.
 *
 * To add a view: a function in the tool's folder and a row in its table of
 * views. To add a tool: a folder, a table, and a row in tools.def. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/note.h"

#include "plan/memory_fit.h"

#include <stdbool.h>

struct tool_param {
    const char *name;
    const char *value;
};

/* What there is of a memory space of the module. */
struct tool_capacity {
    int64_t space;
    struct memory_capacity capacity;
};

struct table_lines;
struct csv_cell;
struct person_rules;
struct groundwork;

struct tool_request {
    const void *model;                   /* what the question is about, as the tool's `model` says */
    const struct groundwork *groundwork; /* of a module, for predictions (whatif/groundwork.h); or NULL */
    const struct tool_param *params;
    size_t param_count;
    struct arena *arena;         /* for this answer alone */
    struct buf *scratch;         /* for one text at a time; the maker of the request frees it */
    struct buf *out;             /* the answer */
    const struct csv_cell *lead; /* cells before those of each row of a table of lines (table.h); NULL: none */
    size_t lead_count;
    bool is_headless;          /* such a table has no line of heads */
    struct table_lines **rest; /* where a long table is left, to be written later (table.h); NULL: not at all */
    struct notes *notes;
    const struct tool_capacity *capacities; /* each space once; others are not known */
    size_t capacity_count;
    struct person_rules *person_rules; /* that changed the model's categories (plan/person_rules.h); NULL: none */
};

struct tool_view {
    const char *name;
    const char *const *param_names; /* ends with NULL */
    /* Writes the bare `data` (or, if is_bare, the whole answer). False: see err. */
    bool (*answer)(const struct tool_request *request, struct json *json, struct err *err);
    bool is_bare;                        /* the answer is not wrapped in {"tool", "view", …} */
    const char *const *repeatable_names; /* parameters that may come more than once; ends with NULL; may be NULL */
};

/* The subject of a tool's views, to which `model` of the request points: struct plan, memory_profile, profile_set,
 * oom_report, module_set, compare_programs or fleet. For two profiles it is a profile_set; the first is the base. */
enum tool_model {
    TOOL_OF_MODULE,
    TOOL_OF_TRACE,
    TOOL_OF_PROFILES,
    TOOL_OF_TEXT,
    TOOL_OF_MODULES,
    TOOL_OF_TWO_MODULES,
    TOOL_OF_TWO_PROFILES,
    TOOL_OF_FLEET,
};

struct tool {
    const char *name, *title;
    enum tool_model model;
    const struct tool_view *views;
    size_t view_count;
};

/* The text of a parameter, or NULL. */
const char *tool_param_text(const struct tool_request *request, const char *name);
/* A whole number in [least, most]; `default_value` when the parameter is absent. False with an `argument` report
 * otherwise. */
bool tool_param_number(const struct tool_request *request, const char *name, int64_t min, int64_t max,
                       int64_t default_value, int64_t *value, struct err *err);

/* The parameter `format`: "json", as without it, or "text" for a terminal. */
bool tool_param_format(const struct tool_request *request, bool *is_text, struct err *err);

/* Adds a note to the answer, unless `count` is 0. The texts must live as long as the request. */
void tool_note(const struct tool_request *request, const char *code, uint64_t count, const char *text);

#define TOOL(name) extern const struct tool tool_##name;
#include "views/tools.def"
#undef TOOL
