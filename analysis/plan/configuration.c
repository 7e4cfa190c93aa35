/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/configuration.h"

#include "plan/category.h"
#include "read/hlo/hlo_sharding.h"
#include "read/hlo/shape.h"

#include <inttypes.h>
#include <string.h>

#define BATCH ", batch "
/* The longest name of an axis, and the most axes of a mesh, which has a few. */
enum { NAME_MAX_BYTES = 40, AXES_MAX = 16 };
/* More than all these names and the numbers of a shape need. */
enum { TEXT_MAX_BYTES = 4096 };

/* ---- the mesh ---- */

/* `"data"=4` at the beginning of `left`, which goes on behind it. */
static bool axis_take(struct str *left, struct str *name, uint64_t *size)
{
    if (left->length == 0)
        return false;
    const char *open = memchr(left->data, '"', left->length), *end = left->data + left->length;
    const char *close = open != NULL ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    *size = 0;
    if (close == NULL)
        return false;
    *name = (struct str){open + 1, (size_t)(close - open - 1)};
    const char *at = close + 1;
    if (at < end && *at == '=')
        at++;
    while (at < end && *at >= '0' && *at <= '9' && *size <= HLO_DEVICES_MAX)
        *size = *size * 10 + (uint64_t)(*at++ - '0');
    *left = (struct str){at, (size_t)(end - at)};
    return true;
}

/* `{mesh = #sdy.mesh<["data"=4, "model"=2]>}`; JAX names one without axes where there is none. */
static void mesh_write(struct str meshes, struct buf *out)
{
    struct str left = meshes, name;
    uint64_t size;
    for (int at = 0; at < AXES_MAX && axis_take(&left, &name, &size); at++) {
        buf_text(out, at == 0 ? ", mesh " : " ");
        buf_printable_cut(out, name, NAME_MAX_BYTES);
        buf_format(out, "=%" PRIu64, size);
    }
}

/* ---- the batch ---- */

/* The array passed to the function; each device has a part. */
static bool batch_read(const struct plan *plan, const struct plan_argument *argument, struct shape_array *out)
{
    if (argument->choice.category != CATEGORY_BATCH || !shape_array_read(argument->shape, out))
        return false;
    for (uint32_t nth = 0; nth < out->rank && argument->instruction_at != HLO_NONE; nth++) {
        int64_t parts = hlo_sharding_parts(&plan->hlo, argument->instruction_at, argument->number, nth);
        if (__builtin_mul_overflow(out->dimensions[nth], parts, &out->dimensions[nth]))
            return false;
    }
    return out->rank > 0;
}

static void batch_write(const struct plan *plan, struct buf *out)
{
    struct shape_array largest = {.rank = 0};
    int64_t most = -1;
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct shape_array batch;
        if (!batch_read(plan, &plan->arguments[i], &batch))
            continue;
        int64_t elements = shape_array_elements(&batch);
        if (elements > most) {
            most = elements;
            largest = batch;
        }
    }
    for (uint32_t nth = 0; nth < largest.rank; nth++)
        buf_format(out, "%s%" PRId64, nth == 0 ? BATCH : "x", largest.dimensions[nth]);
}

const char *configuration_text(const struct plan *plan, struct arena *arena)
{
    if (!plan->hlo.has_module)
        return NULL;
    /* A full arena jumps away: nothing is allocated from it while the buf holds memory. */
    char *text = arena_raw(arena, TEXT_MAX_BYTES + 1);
    struct buf out = {.limit_bytes = TEXT_MAX_BYTES};
    buf_format(&out, "%" PRIu64 " device%s", plan->hlo.device_count, plan->hlo.device_count == 1 ? "" : "s");
    mesh_write(plan->hlo.meshes, &out);
    batch_write(plan, &out);
    bool is_whole = !out.failed;
    if (is_whole)
        memcpy(text, out.data, out.length);
    text[is_whole ? out.length : 0] = '\0';
    buf_free(&out);
    return is_whole ? text : NULL;
}

struct str configuration_without_batch(const char *configuration)
{
    const char *batch = strstr(configuration, BATCH);
    return (struct str){configuration, batch != NULL ? (size_t)(batch - configuration) : strlen(configuration)};
}
