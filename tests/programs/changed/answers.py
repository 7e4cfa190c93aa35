# SPDX-License-Identifier: Apache-2.0
"""Programs that only answer: prefill and a decode step with a key-value cache."""
import jax
import jax.numpy as jnp

from catalog import Built, bf16, changed, f32, i32
from changed.text import llama_layer, llama_weights, normal

ROLES = [(".", "other")]


@changed("prefill", "prefill of long prompts by layers unrolled, f32 weights",
         {"half-batch": ("batch=0.5", {"rows": 1}), "half-seq": ("sequence=0.5", {"length": 2048}),
          "params-bf16": ("cast=params*:bf16", {"casts": (("^params", "bfloat16"),)})})
def prefill(rows=2, length=4096, depth=4, width=2048):
    def read(params, prompt):
        x, cache = params["embed"][prompt], []
        for at, w in enumerate(params["layers"]):
            with jax.named_scope(f"layers_{at}"):
                y = normal(x, w["input_layernorm"])
                cache.append({name: y @ w[name] for name in ("k_proj", "v_proj")})
                x = llama_layer(w, x)
        return normal(x[:, -1], params["norm"]) @ params["lm_head"], cache
    one = jax.tree.map(lambda leaf: f32(*leaf.shape[1:]), llama_weights(1, width))
    params = {"embed": f32(32000, width), "layers": [dict(one) for _ in range(depth)], "norm": f32(width),
              "lm_head": f32(width, 32000)}
    return Built(read, (params, i32(rows, length)), ROLES)


@changed("decode", "a decode step, layers in a scan over a bf16 cache, donated",
         {"half-batch": ("batch=0.5@token:0", {"rows": 16}),
          "half-cache": ("sequence=0.5@cache['k']:2", {"length": 2048}),
          "cache-int8": ("cast=cache*:int8", {"kind": "int8"})})
@changed("decode-kept", "the same, not donated",
         {"donated": ("donate=all", {"donate": (0, 1, 2, 3)}), "donated-cache": ("donate=1", {"donate": (1,)})},
         donate=())
@changed("decode-unrolled", "the same, layers unrolled",
         {"half-batch": ("batch=0.5", {"rows": 16}), "cache-int8": ("cast=cache*:int8", {"kind": "int8"})},
         is_unrolled=True)
@changed("decode-wide", "the same with an f32 cache", {"cache-bf16": ("cast=cache*:bf16", {"kind": "bfloat16"})},
         kind="float32", rows=16)
def decode(rows=32, length=4096, kind="bfloat16", is_unrolled=False, depth=8):
    width, heads, groups, size = 2048, 16, 4, 128

    def layer(w, x, keys, values, at):
        y = normal(x, w["input_layernorm"])
        q = (y @ w["q_proj"]).reshape(-1, groups, heads // groups, size)
        new = [(y @ w[name]).reshape(-1, 1, groups, size) for name in ("k_proj", "v_proj")]
        if keys.dtype == jnp.int8:
            new = [jnp.round(part * 16) for part in new]
        keys, values = (jax.lax.dynamic_update_slice(old, part.astype(old.dtype), (0, at, 0, 0)) for old,
                        part in zip((keys, values), new, strict=True))
        k, v = ((part.astype(x.dtype) / 16 if part.dtype == jnp.int8 else part.astype(x.dtype))
                for part in (keys, values))
        scores = jnp.einsum("bgrd,bkgd->bgrk", q, k) / size ** 0.5
        scores = jax.nn.softmax(jnp.where(jnp.arange(keys.shape[1]) <= at, scores, -1e9))
        x = x + jnp.einsum("bgrk,bkgd->bgrd", scores, v).reshape(-1, width) @ w["o_proj"]
        y = normal(x, w["post_attention_layernorm"])
        return x + (jax.nn.silu(y @ w["gate_proj"]) * (y @ w["up_proj"])) @ w["down_proj"], keys, values

    def step(params, cache, token, at):
        x = params["embed"][token]
        if is_unrolled:
            fresh = []
            for w, part in zip(params["layers"], cache, strict=True):
                x, keys, values = layer(w, x, part["k"], part["v"], at)
                fresh.append({"k": keys, "v": values})
        else:
            def one(x, part):
                w, old = part
                x, keys, values = layer(w, x, old["k"], old["v"], at)
                return x, {"k": keys, "v": values}
            x, fresh = jax.lax.scan(one, x, (params["layers"], cache))
        return jnp.argmax(normal(x, params["norm"]) @ params["lm_head"], -1).astype(jnp.int32), fresh
    layers, part = llama_weights(depth, width, kind=bf16), jax.ShapeDtypeStruct((rows, length, groups, size),
            jnp.dtype(kind))
    if is_unrolled:
        layers = [jax.tree.map(lambda leaf: bf16(*leaf.shape[1:]), layers) for _ in range(depth)]
        cache = [{"k": part, "v": part} for _ in range(depth)]
    else:
        whole = jax.ShapeDtypeStruct((depth, *part.shape), part.dtype)
        cache = {"k": whole, "v": whole}
    params = {"embed": bf16(32000, width), "layers": layers, "norm": bf16(width), "lm_head": bf16(width, 32000)}
    return Built(step, (params, cache, i32(rows), i32()), ROLES, donate=(1,))
