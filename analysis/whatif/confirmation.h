/* SPDX-License-Identifier: Apache-2.0
 * confirmation.h: what came of asking the compiler about changes: first the unchanged program, then the changed one.
 *
 * Its word counts as confirmed only where the unchanged program compiles to the figures of the dump (confirmed.h). Of
 * a GPU its temporaries may differ by a thousandth of the total, since nothing is autotuned without one. Whatever else
 * happens, the prediction remains, and a sentence says what happened. Units: bytes of the default memory space (HBM);
 * −1 where a figure is not known. Texts are borrowed. */
#pragma once

#include "base/json.h"
#include "exchange/confirmation.h"
#include "whatif/confirmed.h"

/* What a compile says is needed, whether it fits or not; −1: it says nothing. */
int64_t confirmation_needed_bytes(const struct confirmation_compile *compile);
enum confirmation_state confirmation_state(const struct confirmation *confirmation);
/* Both compiled, the unchanged program to the figures of the dump: confirmed or refuted. */
bool confirmation_is_of_dump(const struct confirmation *confirmation);
/* "confirmed", "refuted", "partial", "different", "unanswered". */
const char *confirmation_state_name(enum confirmation_state state);
/* A few sentences of one line. */
void confirmation_sentence(const struct confirmation *confirmation, struct buf *out);
/* An object, as the next value of `json`: schema Confirmed in docs/openapi.yaml. */
void confirmation_write(const struct confirmation *confirmation, struct json *json);
/* The same for a terminal. */
void confirmation_text(const struct confirmation *confirmation, struct buf *out);
