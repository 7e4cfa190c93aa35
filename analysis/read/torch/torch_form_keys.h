/* SPDX-License-Identifier: Apache-2.0
 * torch_form_keys.h: is a JSON object a trace of torch.profiler, whatever the order of its keys?
 *
 * It is where it has `schemaVersion` and `traceEvents` or `deviceProperties`; or where its events, which may be
 * gigabytes before the other keys, are of categories that Kineto alone writes. Other writers of Chrome traces have
 * `traceEvents`, too.
 * Cost:   what comes before the keys that decide, at most 64 MiB of it, and the first MiB of the events. */
#pragma once

#include "base/source.h"

#include <stdbool.h>

bool torch_form_keys_are_of_trace(const struct source *source);
