/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/torch_values.h"

#include "read/torch/json_read.h"
#include "wire/base64.h"

bool torch_values_read(const struct source *source, pickle_take *take, void *context, struct arena *arena,
                       struct torch_values *out, struct err *err)
{
    char *begin = arena_raw(arena, TORCH_FORM_SEEN);
    struct base64 *page = arena_array(arena, struct base64, 1);
    int64_t length = source->read(source->context, 0, begin, TORCH_FORM_SEEN);
    if (length < 0)
        return err_set(err, ERR_io, 0, "the file cannot be read");
    struct str seen = {begin, (size_t)length};
    out->form = torch_form_of(seen);
    if (out->form == TORCH_FORM_CHECKPOINT)
        return err_set(err, ERR_unsupported, 0,
                       "a checkpoint or model of PyTorch (torch.save): it holds weights, and no allocator snapshot");
    if (out->form == TORCH_FORM_JSON)
        return json_read(source, take, context, arena, &out->pickle, &out->root, NULL, err);
    if (out->form == TORCH_FORM_PAGE) {
        base64_open(page, source, torch_form_page_at(seen));
        source = &page->source;
    }
    return pickle_read(source, take, context, arena, &out->pickle, &out->root, err);
}
