/* SPDX-License-Identifier: Apache-2.0
 * device_fit.h: would it fit on a device of the table, whether or not it was made for it: which size is needed, which
 * of the device's figures it is held against, and in which word that ends.
 *
 * memory_fit.h says the rest: this adds what a dump or a recording leaves open.
 * Units:  bytes.
 * Memory: the arena. */
#pragma once

#include "exchange/device_fit.h"
#include "plan/memory_fit.h"
#include "read/device.h"

/* What the job needs. If a request failed, the job needs at least this much, because what it would have allocated later
 * is not known. */
int64_t device_fit_needed_bytes(const struct device_fit_job *job);
bool device_fit_is_least(const struct device_fit_job *job);
/* "needs 102.22 GiB (by this dump's plan)." */
const char *device_fit_sentence(const struct device_fit_job *job, struct arena *arena);
/* What figures of other devices are worth; static storage. */
const char *device_fit_note(const struct device_fit_job *job);
/* Would a compiler's word be worth more than the plan: not of the device whose plan it is, nor of a predicted split. */
bool device_fit_may_compile(const struct device_fit_job *job, const char *device_name);

/* On one device. */
struct device_fit {
    const struct device *device;
    const char *source;     /* of needed_bytes: "compiled", "own plan", "plan", "replay" */
    struct memory_fit fit;  /* with needed_bytes */
    int64_t headroom_bytes; /* what the device has beyond it, below 0 where it is over */
    bool is_fitting;
    const char *word;   /* that of `fit`, or "perhaps": as far as the recording goes it fits */
    int64_t room_bytes; /* that changes would have to keep to; -1: none are asked for */
};

/* `compiled_bytes`: what a compiler for that device gives it; -1: there is no such figure. */
void device_fit_judge(const struct device_fit_job *job, const struct device *device, int64_t compiled_bytes,
                      struct arena *arena, struct device_fit *out);
