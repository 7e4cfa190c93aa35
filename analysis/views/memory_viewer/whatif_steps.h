/* SPDX-License-Identifier: Apache-2.0
 * whatif_steps.h: one change of the view "whatif" and what came of it: behind others, or alone. */
#pragma once

#include "base/json.h"
#include "whatif/change.h"

struct whatif_step {
    const char *text;
    struct change change; /* kind: CHANGE_COUNT where the text names none */
    struct change_result result;
    struct variant_sums sums;
    int64_t saving_bytes;
    const char *refusal; /* why it does not apply; NULL: it does */
};

/* Steps in the arena of the variant that they begin with. */
struct whatif_steps {
    struct whatif_step *steps;
    uint32_t count;
};

/* Changes the variant and says what that saves of `before_bytes` in all. False with an `argument` report. */
bool whatif_steps_apply(struct variant *variant, int64_t before_bytes, struct whatif_step *step, struct err *err);
/* The same where one that does not apply leaves the variant as it is and has its refusal. */
void whatif_steps_try(struct variant *variant, const struct variant_sums *before, struct whatif_step *step);

/* What each usual change would save alone, largest saving first, and those that do not apply last. Without `glob` the
 * changes that are tried for a fit; with it (GLOB of whatif/change.h) those that can be made to what it names. Behind
 * them in the same order are the `asked_count` texts of `asked`, as far as they are others. */
void whatif_steps_alone(const struct variant *start, const struct variant_sums *before, const char *glob,
                        const char *const *asked, uint32_t asked_count, struct whatif_steps *out);

/* One object. `room_bytes`: memory_fit_room; < 0: not known. */
void whatif_steps_write(struct json *json, const struct whatif_step *step, int64_t room_bytes);
/* Writes the member `key`: would `total_bytes` fit? Writes none if the capacity is not known. */
void whatif_steps_write_fits(struct json *json, const char *key, int64_t room_bytes, int64_t total_bytes);
