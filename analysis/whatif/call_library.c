/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/call_library.h"

#include "whatif/call.h"

static const struct call_library_names names[CALL_LIBRARY_COUNT] = {
    [CALL_JAX] = {NULL, "jax.checkpoint", "import jax", "jax.checkpoint",
                  "layer = jax.checkpoint(layer)  # of a scan: jax.lax.scan(jax.checkpoint(body), …)"},
    [CALL_LINEN] = {"flax.linen.Module", "flax.linen.remat", NULL, NULL,
                    "@nn.remat  # flax.linen's, above @nn.compact and def __call__ of the layer; of nn.scan: "
                    "nn.scan(nn.remat(Layer), …)"},
    [CALL_NNX] = {"flax.nnx.Module", "flax.nnx.remat", NULL, NULL,
                  "x = jax.checkpoint(layer)(x)  # where the layers are called; with Dropout or BatchNorm inside: "
                  "@nnx.remat above def __call__ of the layer"},
    [CALL_EQUINOX] = {"equinox.Module", "equinox.filter_checkpoint", NULL, NULL,
                      "layer = eqx.filter_checkpoint(layer)  # of a scan: jax.lax.scan(jax.checkpoint(body), …)"},
    [CALL_HAIKU] = {NULL, "haiku.remat", "import haiku as hk", "hk.remat",
                    "x = hk.remat(layer)(x)  # where the layers are called, inside of hk.transform; what is no array: "
                    "functools.partial(layer, stride=stride)"},
};

const struct call_library_names *call_library_names(enum call_library library) { return &names[library]; }

enum call_library call_library_of(const struct plan *plan, struct arena *arena)
{
    static const struct {
        const char *folder;
        enum call_library library;
    } folders[] = {{"/flax/linen/", CALL_LINEN},
                   {"/flax/nnx/", CALL_NNX},
                   {"/haiku/_src/", CALL_HAIKU},
                   {"/equinox/", CALL_EQUINOX}};
    enum { FOLDERS = sizeof(folders) / sizeof(folders[0]) };
    size_t best = call_is_of_equinox(plan) ? FOLDERS - 1 : FOLDERS;
    arena_work(arena, plan->hlo.frame_count);
    for (uint32_t i = 0; i < plan->hlo.frame_count && best > 0; i++)
        for (size_t k = 0; k < best; k++)
            if (str_contains(plan->hlo.frames[i].file, str_of(folders[k].folder)))
                best = k;
    return best < FOLDERS ? folders[best].library : CALL_JAX;
}
