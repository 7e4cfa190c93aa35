# SPDX-License-Identifier: Apache-2.0
"""Graphs by segment sums, tables of a recommender, a mixture of experts, two towers, adapters, a physics-informed
net."""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from catalog import Built, changed, f32, i32
from changed.steps import ALL_BF16, masked_loss, trained, updated
from changed.text import llama_layer, llama_weights, normal

ROLES = [(".", "other")]


@changed("graph", "message passing with gathers and segment sums, Adam, donated",
         {"half-edges": ("batch=0.5@senders:0", {"edges": 262144}),
          "half-nodes": ("batch=0.5@nodes:0", {"nodes": 32768}),
          "remat": ("checkpoint=*", {"is_remat": True}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def graph(nodes=65536, edges=524288, is_remat=False):
    optimizer = optax.adam(1e-3)

    def pass_on(w, h, senders, receivers):
        message = jax.nn.relu(h[senders] @ w["from"] + h[receivers] @ w["to"] + w["bias"])
        total = jax.ops.segment_sum(message, receivers, h.shape[0])
        return h + jax.nn.relu(jnp.concatenate([h, total], -1) @ w["update"])

    def loss(params, nodes, senders, receivers, labels):
        h = nodes @ params["encode"]
        for at, w in enumerate(params["rounds"]):
            with jax.named_scope(f"round_{at}"):
                h = (jax.checkpoint(pass_on) if is_remat else pass_on)(w, h, senders, receivers)
        return masked_loss(h @ params["decode"], labels)
    one = {"from": f32(256, 256), "to": f32(256, 256), "bias": f32(256), "update": f32(512, 256)}
    params = {"encode": f32(100, 256), "rounds": [dict(one) for _ in range(4)], "decode": f32(256, 47)}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(nodes, 100), i32(edges), i32(edges), i32(nodes)),
                 ROLES, donate=(0, 1))


@changed("recommender", "tables of a recommender, crossed features, Adagrad, donated",
         {"half-batch": ("batch=0.5", {"rows": 8192}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "tables-bf16": ("cast=params*tables*:bf16", {"casts": ((r"^params.*tables", "bfloat16"),)}),
          "slots-bf16": ("cast=opt*:bf16", {"casts": ((r"^opt", "bfloat16"),)})})
@changed("recommender-kept", "the same, not donated",
         {"donated": ("donate=0", {"donate": (0,)}), "donated-all": ("donate=all", {"donate": (0, 1)})}, donate=())
def recommender(rows=16384):
    optimizer = optax.adagrad(1e-2)

    def net(params, dense, ids):
        x = dense
        for w in params["bottom"]:
            x = jax.nn.relu(x @ w["w"] + w["b"])
        found = [x] + [table[ids[:, at]] for at, table in enumerate(params["tables"])]
        features = jnp.stack(found, 1)
        crossed = jnp.einsum("bid,bjd->bij", features, features).reshape(x.shape[0], -1)
        x = jnp.concatenate([x, crossed], -1)
        for w in params["top"][:-1]:
            x = jax.nn.relu(x @ w["w"] + w["b"])
        return (x @ params["top"][-1]["w"] + params["top"][-1]["b"])[:, 0]

    def loss(params, dense, ids, clicked):
        return optax.sigmoid_binary_cross_entropy(net(params, dense, ids).astype(jnp.float32), clicked).mean()

    def mlp(*widths):
        return [{"w": f32(a, b), "b": f32(b)} for a, b in zip(widths, widths[1:], strict=False)]
    params = {"tables": [f32(120000, 128) for _ in range(8)], "bottom": mlp(13, 512, 256, 128),
              "top": mlp(128 + 81, 2048, 2048, 1024, 1)}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, 13), i32(rows, 8), f32(rows)), ROLES,
                 donate=(0, 1))


def routed(w, x, capacity):
    b, s, width = x.shape
    gate = jax.nn.softmax((x @ w["router"]).astype(jnp.float32)).astype(x.dtype)
    best, which = jax.lax.top_k(gate, 2)
    chosen = jax.nn.one_hot(which, 8, dtype=x.dtype)
    place = ((jnp.cumsum(chosen.reshape(b, 2 * s, 8), 1) - 1) * chosen.reshape(b, 2 * s, 8)).sum(-1).reshape(b, s, 2)
    send = jnp.einsum("bske,bskc->bsec", chosen, jax.nn.one_hot(place, capacity, dtype=x.dtype))
    weight = jnp.einsum("bske,bsk->bse", chosen, best)[..., None] * send
    inner = jnp.einsum("bsec,bsd->ebcd", send, x)
    inner = jnp.einsum("ebcf,efd->ebcd", jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", inner, w["expert_in"])),
                       w["expert_out"])
    return x + jnp.einsum("bsec,ebcd->bsd", weight, inner)


@changed("experts", "a mixture of eight experts, two for each token, AdamW, donated",
         {"half-batch": ("batch=0.5", {"rows": 4}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "remat-named": ("checkpoint=moe_*", {"is_remat": True}),
          "experts-bf16": ("cast=params*expert*:bf16", {"casts": (("^params.*expert_", "bfloat16"),)}),
          "nu-bf16": ("cast=opt*.nu*:bf16", {"casts": ((r"^opt.*\.nu\b", "bfloat16"),)})})
def experts(rows=8, is_remat=False):
    optimizer, width, vocab = optax.adamw(1e-3), 768, 32000

    def loss(params, tokens):
        x = params["embed"][tokens[:, :-1]]
        for at, w in enumerate(params["layers"]):
            with jax.named_scope(f"moe_{at}"):
                def layer(w, x):
                    mixed = jnp.tanh(jnp.cumsum(x @ w["mix"], 1) / 32)
                    return routed(w, x + mixed, 320)
                x = (jax.checkpoint(layer) if is_remat else layer)(w, x)
        return masked_loss(x @ params["embed"].T, tokens[:, 1:])
    one = {"router": f32(width, 8), "mix": f32(width, width), "expert_in": f32(8, width, 3072),
           "expert_out": f32(8, 3072, width)}
    params = {"embed": f32(vocab, width), "layers": [dict(one) for _ in range(4)]}
    return Built(trained(loss, optimizer), (params, jax.eval_shape(optimizer.init, params), i32(rows, 1025)), ROLES,
                 donate=(0, 1))


def tower(name, widths):
    def net(x):
        with hk.experimental.name_scope(name):
            for at, width in enumerate(widths):
                y = jax.nn.gelu(hk.Linear(width, name=f"linear_{at}")(x))
                x = y + x if x.shape == y.shape else y
            return hk.Linear(512, name="project")(x)
    return hk.without_apply_rng(hk.transform(net))


@changed("towers", "two Haiku towers, each row against all others, Adam, donated",
         {"half-batch": ("batch=0.5", {"rows": 8192}), "quarter-batch": ("batch=0.25", {"rows": 4096}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def towers(rows=16384):
    optimizer = optax.adam(1e-3)
    picture, words = tower("picture", (2048,) * 6), tower("words", (1024,) * 4)

    def loss(params, pixels, texts):
        a, b = picture.apply(params["picture"], pixels), words.apply(params["words"], texts)
        a, b = (x / jnp.linalg.norm(x, axis=-1, keepdims=True) for x in (a, b))
        match = a @ b.T * jnp.exp(params["scale"])
        same = jnp.arange(match.shape[0])
        return (masked_loss(match, same) + masked_loss(match.T, same)) / 2
    params = {"picture": jax.eval_shape(picture.init, jax.random.key(0), f32(1, 2048)),
              "words": jax.eval_shape(words.init, jax.random.key(0), f32(1, 768)),
              "scale": f32()}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, 2048), f32(rows, 768)), ROLES,
                 donate=(0, 1))


@changed("adapters", "adapters of rank 16 beside frozen f32 weights, AdamW on them, donated",
         {"half-batch": ("batch=0.5", {"rows": 4}), "half-seq": ("sequence=0.5", {"length": 512}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "frozen-bf16": ("cast=frozen*:bf16", {"casts": (("^frozen", "bfloat16"),)})})
def adapters(rows=8, length=1024, is_remat=False):
    width, depth, optimizer = 1536, 6, optax.adamw(1e-4)

    def layer(w, pair, x):
        w = {name: leaf.astype(jnp.float32) for name, leaf in w.items()}
        for name, (a, b) in pair.items():
            w[name] = w[name] + a @ b
        return llama_layer(w, x, heads=12, groups=12)

    def tune(frozen, lora, opt, tokens):
        def loss(lora):
            x = frozen["embed"][tokens[:, :-1]].astype(jnp.float32)
            for at in range(depth):
                with jax.named_scope(f"layer_{at}"):
                    x = (jax.checkpoint(layer) if is_remat else layer)(frozen["layers"][at], lora[at], x)
            return masked_loss(normal(x, frozen["norm"]) @ frozen["lm_head"], tokens[:, 1:])
        value, grads = jax.value_and_grad(loss)(lora)
        return *updated(optimizer, grads, opt, lora), value
    one = jax.tree.map(lambda leaf: f32(*leaf.shape[1:]), llama_weights(1, width, groups=12, heads=12))
    frozen = {"embed": f32(32000, width), "layers": [dict(one) for _ in range(depth)], "norm": f32(width),
              "lm_head": f32(width, 32000)}
    lora = [{name: (f32(width, 16), f32(16, width)) for name in ("q_proj", "v_proj")} for _ in range(depth)]
    return Built(tune, (frozen, lora, jax.eval_shape(optimizer.init, lora), i32(rows, length + 1)), ROLES,
                 donate=(1, 2))


@changed("physics", "a net whose second derivatives are in the loss (jvp of jvp), Adam, donated",
         {"half-batch": ("batch=0.5", {"rows": 32768}),
          "half-inner": ("batch=0.5@inner:0", {"rows": 32768, "edge": 16384}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "remat": ("checkpoint=*", {"is_remat": True})})
def physics(rows=65536, edge=None, is_remat=False):
    optimizer = optax.adam(1e-3)

    def dense(w, x):
        return jnp.tanh(x @ w["w"] + w["b"])

    def net(params, x):
        for at, w in enumerate(params[:-1]):
            with jax.named_scope(f"dense_{at}"):
                x = (jax.checkpoint(dense) if is_remat else dense)(w, x)
        return (x @ params[-1]["w"] + params[-1]["b"])[..., 0]

    def loss(params, inner, border, value):
        def along(at):
            one = jnp.tile(jnp.eye(3, dtype=inner.dtype)[at], (inner.shape[0], 1))
            first = lambda x: jax.jvp(lambda x: net(params, x), (x,), (one,))[1]  # noqa: E731
            return jax.jvp(first, (inner,), (one,))
        residual = along(0)[1] + along(1)[1] - along(2)[0]
        return jnp.square(residual).mean() + jnp.square(net(params, border) - value).mean()
    widths = (3, 256, 256, 256, 256, 256, 1)
    params = [{"w": f32(a, b), "b": f32(b)} for a, b in zip(widths, widths[1:], strict=False)]
    edge = edge or rows // 4
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, 3), f32(edge, 3), f32(edge)), ROLES,
                 donate=(0, 1))
