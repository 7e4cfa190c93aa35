/* SPDX-License-Identifier: Apache-2.0
 * share.h: the part of a device that a server of language models was told to take. */
#pragma once

#include <stddef.h>

/* In per cent, of the last setting in `bytes`, which hold no white space; 0: none is there. */
unsigned oom_share_last_percent(const char *bytes, size_t length);
/* Of the first. */
unsigned oom_share_first_percent(const char *bytes, size_t length);
