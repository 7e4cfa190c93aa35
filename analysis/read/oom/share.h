/* SPDX-License-Identifier: Apache-2.0
 * share.h: the part of a device that a server of language models was told to take. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* In per cent, of the last setting in `bytes`, which hold no white space; 0: none is there. `raw_of`: the
 * place of each byte in the text with its white space. */
unsigned oom_share_last_percent(const char *bytes, const uint16_t *raw_of, size_t length);
/* Of the first. */
unsigned oom_share_first_percent(const char *bytes, const uint16_t *raw_of, size_t length);
