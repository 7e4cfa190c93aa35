/* SPDX-License-Identifier: Apache-2.0
 * hlo_frames.h: StackFrameIndexProto as an array of frames.
 * Ids in the file are 1-based; one that names nothing leaves its part empty. */
#pragma once

#include "read/hlo/hlo.h"
#include "wire/wire.h"

void hlo_frames_count(struct wire index, uint32_t *frame_count);
/* Adds the frames of `index` behind *frame_count. */
/* `libraries`: as of library_of. */
void hlo_frames_place(struct wire index, struct str libraries, struct arena *arena, struct hlo_frame *frames,
                      uint32_t *frame_count);
