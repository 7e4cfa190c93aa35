/* SPDX-License-Identifier: Apache-2.0
 * torch_form.h: what an allocator snapshot of PyTorch is kept in, by its first bytes.
 *
 * torch.cuda.memory._dump_snapshot writes a pickle; people write the same dict as JSON; and torch.cuda._memory_viz puts
 * the pickle, as base64, into a page that a browser shows. What torch.profiler writes is another thing, with events
 * alone. */
#pragma once

#include "base/source.h"
#include "base/str.h"

enum torch_form {
    TORCH_FORM_NONE,
    TORCH_FORM_PICKLE,
    TORCH_FORM_OTHER_PICKLE, /* any other */
    TORCH_FORM_CHECKPOINT,   /* of torch.save before PyTorch 1.6; later ones are zip archives */
    TORCH_FORM_JSON,
    TORCH_FORM_PAGE,
    TORCH_FORM_TRACE, /* of torch.profiler: torch_trace.h */
};

/* How many bytes are looked at. */
enum { TORCH_FORM_SEEN = 4096 };

enum torch_form torch_form_of(struct str begin);
/* The form of a plain source; TORCH_FORM_NONE if it cannot be read. */
enum torch_form torch_form_read(const struct source *source);
/* Where the base64 text of a page begins, at most TORCH_FORM_SEEN; 0: none is there. */
size_t torch_form_page_at(struct str begin);
