/* SPDX-License-Identifier: Apache-2.0
 * hlo_aliases.h: which values share a buffer, and which arguments are donated.
 * Source: BufferAssignmentProto.buffer_aliases and HloModuleProto.input_output_alias. */
#pragma once

#include "read/hlo/hlo.h"

/* Shape indices are distinguished up to this depth; real ones have one to three numbers. */
enum { HLO_ALIASES_DEPTH_MAX = 6 };

/* Key of a value for a map: its instruction and shape index. A mix: two values
 * may in principle share one, and the later would then not be found. */
uint64_t hlo_aliases_place_key(uint32_t instruction_at, const int64_t *index, uint32_t depth);

/* True if entry parameter `number` is donated at the shape index of `buffer`. The arena's work is charged. */
bool hlo_aliases_parameter_is_donated(const struct hlo *hlo, struct arena *arena, int64_t number,
                                      const struct hlo_buffer *buffer);

/* Calls back for each result that lives in an argument's memory: the result's place in the program's tuple (0 of a
 * program that gives one value) and the number of the entry parameter. */
void hlo_aliases_each(const struct hlo *hlo, void (*visit)(void *context, uint64_t result, int64_t parameter_number),
                      void *context);

/* Calls back for each argument that was donated and that no result fits. */
void hlo_aliases_each_donor(const struct hlo *hlo, void (*visit)(void *context, int64_t parameter_number),
                            void *context);

/* Joins values of one buffer: `groups` has an entry per logical buffer, its own
 * place at first; `by_place` maps place keys to logical buffers. */
void hlo_aliases_join(const struct hlo *hlo, const struct map *by_place, uint32_t *groups);
/* The member that represents the group of `at`. */
uint32_t hlo_aliases_group(uint32_t *groups, uint32_t at);
