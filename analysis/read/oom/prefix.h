/* SPDX-License-Identifier: Apache-2.0
 * prefix.h: what loggers put before a line.
 *
 * glog, TensorFlow, Ray, Kubernetes (CRI, kubectl logs --prefix), Docker compose,
 * syslog, torchrun and mpirun ranks, Python's logging, pytest and quoted mail. */
#pragma once

#include "base/str.h"

/* Length of the prefixes at the start of `line` (which may hold further lines),
 * with white space before and after them; 0 when there is none. */
size_t oom_prefix_length(struct str line);

/* Length of a terminal's escape sequence at the start of `text`, or 0. */
size_t oom_prefix_escape_length(struct str text);

/* Length of a sign that only draws at the start of `text` (U+2500 to U+259F: frames, bars of quotes and of progress),
 * or 0. */
size_t oom_prefix_drawn_length(struct str text);
