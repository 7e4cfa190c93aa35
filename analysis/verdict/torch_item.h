/* SPDX-License-Identifier: Apache-2.0
 * torch_item.h: a piece of advice for an allocator snapshot of PyTorch while it is made; for torch_*.c alone. */
#pragma once

#include "verdict/advice.h"

struct torch_item {
    enum verdict_advice_kind kind;
    enum category category; /* that it is about; CATEGORY_COUNT: of none */
    int64_t saves_bytes;
    enum verdict_confidence confidence;
    const char *title, *call, *reason, *evidence;
    const char *change;      /* as memviewd whatif takes it; NULL: there is none */
    int64_t allocated_bytes; /* blocks behind it, where lands_at_bytes is a replay's */
};

/* Adds it, landing at `lands_at_bytes`; -1: not known. NULL: it saves too little. */
struct verdict_advice *torch_advice_land(struct advice *advice, const struct torch_item *item, int64_t lands_at_bytes);
/* The same with the figures of its change's replay, where there are any. NULL: it is too little, or would not help. */
struct verdict_advice *torch_advice_add(struct advice *advice, const struct torch_item *item);
/* "Saved activations hold 9.85 GiB of 14.22 GiB", then `more`, and a full stop; in the arena. */
const char *torch_advice_holds(const struct advice *advice, enum category category, const char *more);
