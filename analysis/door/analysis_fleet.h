/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_fleet.h: a part of analysis.h, and included by it: what many jobs took over their commits
 * (model/fleet/fleet.h).
 *
 * A fleet is made, given records, built, and then asked views of the tool "fleet": immutable from there on, but for
 * what is said of its steps. Memory: what is handed in is copied; analysis_fleet_free. Errors: limit, memory,
 * exhausted. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "exchange/fleet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fleet;          /* model/fleet/fleet.h */
struct analysis_fleet; /* opaque */

/* The names of the categories are those of each record's category_bytes. NULL: see err. */
struct analysis_fleet *analysis_fleet_new(const char *const *category_names, size_t category_count, struct err *err);
void analysis_fleet_free(struct analysis_fleet *fleet);

bool analysis_fleet_add(struct analysis_fleet *fleet, const struct fleet_record *record, struct err *err);
/* To be shown as a note of the summary; `count` 0: nothing. `code` is static. */
bool analysis_fleet_note(struct analysis_fleet *fleet, const char *code, uint64_t count, const char *text,
                         struct err *err);
/* Records without a job that are known by their number alone; they count with those that were added. Before it is
 * built. */
void analysis_fleet_unlabelled(struct analysis_fleet *fleet, uint64_t count);
/* Each host is to have series of its own. Before it is built. */
void analysis_fleet_by_host(struct analysis_fleet *fleet);
/* Its hosts are asked for: those of one commit are compared whatever their batch is, for a host that compiled another
 * one is odd. Before the first record is added. */
void analysis_fleet_of_hosts(struct analysis_fleet *fleet);
/* `source`, `is_catalog`, `file_count`, `read_count`: see model/fleet/fleet.h. Once, behind the last record. */
bool analysis_fleet_build(struct analysis_fleet *fleet, const char *source, bool is_catalog, uint64_t file_count,
                          uint64_t read_count, struct err *err);

/* Its steps, and the records on both sides of one; before[…] and after[…] live as long as the fleet. */
size_t analysis_fleet_step_count(const struct analysis_fleet *fleet);
void analysis_fleet_step(const struct analysis_fleet *fleet, size_t at, const struct fleet_record **before,
                         const struct fleet_record **after);
/* The figures of a step. `is_regression`: it goes up and lasts, so users are notified. */
const struct level_step *analysis_fleet_step_level(const struct analysis_fleet *fleet, size_t at, bool *is_regression);
/* What a comparison of the two plans says, or why there is none; each may be NULL. Before the first view is asked. */
bool analysis_fleet_step_explain(struct analysis_fleet *fleet, size_t at, const char *sentence, const char *unknown,
                                 struct err *err);
/* Appends the step as the view "regressions" has it: one JSON object. */
bool analysis_fleet_step_write(struct analysis_fleet *fleet, size_t at, struct buf *out, struct err *err);

/* Sets reason and off_bytes of each host (model/fleet/odd_hosts.h). `scratch` has room for twice `count`. */
void analysis_odd_hosts_judge(struct odd_host *hosts, size_t count, int64_t *scratch);
/* "another limit", "another program", "another plan"; NULL: it is like most. */
const char *analysis_odd_hosts_reason(enum odd_host_reason reason);
/* Appends "64 hosts; h17 differs: another limit, 15.75 GiB." or "64 hosts." of judged ones. `noun`: what each is. */
void analysis_odd_hosts_say(const struct odd_host *hosts, size_t count, const char *noun, struct buf *out);

uint64_t analysis_fleet_memory_bytes(const struct analysis_fleet *fleet);
/* For door/analysis_answer.c: the model of the views. */
const struct fleet *analysis_fleet_model(const struct analysis_fleet *fleet);
