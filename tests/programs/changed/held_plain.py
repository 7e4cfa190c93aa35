# SPDX-License-Identifier: Apache-2.0
"""Families that the models of whatif were not tuned on: plain JAX without a scope. Those named "-full" fill the
chip."""
import jax
import jax.numpy as jnp

from catalog import Built, changed, f32, i32
from changed.steps import ALL_BF16

ROLES = [(".", "other")]


def like(new, old):
    return jax.tree.map(lambda n, o: n.astype(o.dtype), new, old)


def adam_tree(params, grads, mu, nu, rate=1e-4):
    mu = like(jax.tree.map(lambda m, g: .9 * m + .1 * g, mu, grads), mu)
    nu = like(jax.tree.map(lambda v, g: .99 * v + .01 * g * g, nu, grads), nu)
    return like(jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, mu, nu), params), mu, nu


def rms(x):
    return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6)


# Proximal policy optimization of a language model: four transformers in one step, two of them frozen.

def causal_block(p, x):
    b, s, d = x.shape
    q, k, v = (jnp.reshape(rms(x) @ p[name], (b, s, d // 64, 64)) for name in ("wq", "wk", "wv"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e9)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v).reshape(b, s, d) @ p["wo"]
    return x + jax.nn.relu(rms(x) @ p["w1"]) @ p["w2"]


def causal_weights(depth, width, vocabulary, length, out):
    block = {"w1": f32(width, 4 * width), "w2": f32(4 * width, width),
             **{name: f32(width, width) for name in ("wq", "wk", "wv", "wo")}}
    return {"embed": f32(vocabulary, width), "position": f32(length, width),
            "blocks": [dict(block) for _ in range(depth)], "head": f32(width, out)}


FROZEN = ((r"^(reference|reward_model)", "bfloat16"),)


@changed("held-ppo", "PPO of a language model: policy and value learn, reference and reward model are frozen; Adam by "
                     "tree.map",
         {"half-batch": ("batch=0.5", {"rows": 8}), "remat": ("checkpoint=*", {"is_remat": True}),
          "frozen-bf16": (["cast=reference*:bf16", "cast=reward_model*:bf16"], {"casts": FROZEN}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})}, rows=16)
@changed("held-ppo-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 16}), "remat": ("checkpoint=*", {"is_remat": True}),
          "frozen-bf16": (["cast=reference*:bf16", "cast=reward_model*:bf16"], {"casts": FROZEN})}, rows=32, width=1024,
         depth=8)
def ppo(rows=16, length=512, width=512, depth=6, vocabulary=16384, is_remat=False):
    block = jax.checkpoint(causal_block) if is_remat else causal_block

    def body(p, tokens):
        x = p["embed"][tokens] + p["position"]
        for layer in p["blocks"]:
            x = block(layer, x)
        return rms(x)

    def log_probs(p, tokens):
        logits = (body(p, tokens) @ p["head"])[:, :-1].astype(jnp.float32)
        return jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1)[..., 0]

    def ppo_step(policy, value, mu, nu, reference, reward_model, tokens, old_log_probs, mask):
        shift = old_log_probs[:, 1:] - log_probs(reference, tokens)
        score = (body(reward_model, tokens)[:, -1] @ reward_model["head"])[:, 0]
        rewards = (-.05 * shift * mask[:, 1:]).at[:, -1].add(score)
        values = (body(value, tokens) @ value["head"])[..., 0]

        def back(carry, now):
            reward, here, after = now
            carry = reward + .99 * after - here + .99 * .95 * carry
            return carry, carry
        steps = [part.astype(jnp.float32).T for part in (rewards, values[:, :-1], values[:, 1:])]
        _, advantages = jax.lax.scan(back, jnp.zeros(tokens.shape[0]), tuple(steps), reverse=True)
        advantages, returns = advantages.T, advantages.T + values[:, :-1]

        def loss(both):
            ratio = jnp.exp(log_probs(both[0], tokens) - old_log_probs[:, 1:])
            gain = jnp.minimum(ratio * advantages, jnp.clip(ratio, .8, 1.2) * advantages)
            error = jnp.square((body(both[1], tokens) @ both[1]["head"])[:, :-1, 0] - returns)
            return ((.5 * error - gain) * mask[:, 1:]).sum() / mask.sum()
        grads = jax.grad(loss)((policy, value))
        (policy, value), mu, nu = adam_tree((policy, value), grads, mu, nu)
        return policy, value, mu, nu, score.mean()
    speaking, judging = causal_weights(depth, width, vocabulary, length, vocabulary), causal_weights(depth, width,
            vocabulary, length, 1)
    both = (speaking, judging)
    return Built(ppo_step,
                 (speaking, judging, both, both, speaking, judging, i32(rows, length), f32(rows, length),
                  f32(rows, length)), ROLES, donate=(0, 1, 2, 3))


# MAML: inner steps unrolled, second derivatives, many tasks by vmap.

@changed("held-maml", "MAML: three inner steps unrolled, tasks by vmap, not donated",
         {"half-batch": ("batch=0.5", {"tasks": 4}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "donated": ("donate=all", {"donate": (0, 1)})})
def maml(tasks=8, shots=25, inner=3, is_remat=False):
    def network(p, x):
        for w, scale, shift in zip(p["kernels"], p["scales"], p["shifts"], strict=True):
            x = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = (x - x.mean((0, 1, 2))) * jax.lax.rsqrt(x.var((0, 1, 2)) + 1e-3) * scale + shift
            x = jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x.reshape(x.shape[0], -1) @ p["out"]

    def cost(p, x, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(network(p, x)), y[:, None], -1).mean()

    def adapt(p, x, y):
        return jax.tree.map(lambda w, g: w - .01 * g, p, jax.grad(cost)(p, x, y))
    adapt = jax.checkpoint(adapt) if is_remat else adapt

    def meta_step(params, momentum, support, support_labels, query, query_labels):
        def one(p, x, y, x2, y2):
            for _ in range(inner):
                p = adapt(p, x, y)
            return cost(p, x2, y2)

        def outer(p):
            return jax.vmap(one, (None, 0, 0, 0, 0))(p, support, support_labels, query, query_labels).mean()
        value, grads = jax.value_and_grad(outer)(params)
        momentum = like(jax.tree.map(lambda m, g: .9 * m + g, momentum, grads), momentum)
        return like(jax.tree.map(lambda p, m: p - 1e-3 * m, params, momentum), params), momentum, value
    params = {"kernels": [f32(3, 3, 3 if not at else 64, 64) for at in range(4)], "scales": [f32(64)] * 4,
              "shifts": [f32(64)] * 4, "out": f32(1600, 5)}
    images, labels = f32(tasks, shots, 84, 84, 3), i32(tasks, shots)
    return Built(meta_step, (params, params, images, labels, images, labels), ROLES)


# Segmentation of volumes by residual 3-D convolutions, without skips over scales.

def volume_block(p, x, rate):
    for name in ("a", "b"):
        y = jax.nn.leaky_relu((x - x.mean((1, 2, 3), keepdims=True)) * jax.lax.rsqrt(x.var((1, 2, 3),
                keepdims=True) + 1e-5), .01)
        y = jax.lax.conv_general_dilated(y, p[name], (1, 1, 1), "SAME", rhs_dilation=(rate,) * 3,
                                         dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
        x = x + y
    return x


@changed("held-volume", "segmentation of volumes by dilated 3-D convolutions, SGD with momentum, donated",
         {"half-batch": ("batch=0.5", {"rows": 2}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})}, rows=4, side=48)
@changed("held-volume-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 2}), "remat": ("checkpoint=*", {"is_remat": True})}, rows=4, side=56)
def volume(rows=4, side=64, width=48, depth=6, is_remat=False):
    block = jax.checkpoint(volume_block, static_argnums=2) if is_remat else volume_block

    def train_step(params, momentum, scan, mask):
        def loss(p):
            x = jax.lax.conv_general_dilated(scan, p["stem"], (1, 1, 1), "SAME",
                                             dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
            for at in range(depth):
                x = block(p[f"res{at}"], x, 1 << at % 3)
            odds = jax.nn.softmax(x @ p["head"])
            truth = jax.nn.one_hot(mask, 4, dtype=odds.dtype)
            return 1 - (2 * (odds * truth).sum((1, 2, 3)) / ((odds + truth).sum((1, 2, 3)) + 1)).mean()
        grads = jax.grad(loss)(params)
        momentum = like(jax.tree.map(lambda m, g: .99 * m + g, momentum, grads), momentum)
        return like(jax.tree.map(lambda p, m: p - .01 * m, params, momentum), params), momentum
    params = {"stem": f32(3, 3, 3, 1, width), "head": f32(width, 4),
              **{f"res{at}": {"a": f32(3, 3, 3, width, width), "b": f32(3, 3, 3, width, width)} for at in range(depth)}}
    return Built(train_step, (params, params, f32(rows, side, side, side, 1), i32(rows, side, side, side)), ROLES,
                 donate=(0, 1))


# RWKV: mixing over time with a decay per channel, in a scan over chunks; layers in a scan; Lion.

def rwkv_layer(p, x, size=64):
    b, s, d = x.shape
    heads = d // size
    y = rms(x)
    past = jnp.pad(y, ((0, 0), (1, 0), (0, 0)))[:, :-1]
    r, k, v, g = (((y * p["mix"][at] + past * (1 - p["mix"][at])) @ p[name]) for at,
                  name in enumerate(("r", "k", "v", "g")))
    r, k, v = (part.reshape(b, s // 64, 64, heads, size).transpose(1, 0, 3, 2, 4) for part in (r, k, v))
    decay = jnp.exp(-jnp.exp(p["decay"]))  # of each head
    at = jnp.arange(64)
    within = jnp.where(at[:, None] >= at, decay[:, None, None] ** jnp.maximum(at[:, None] - at, 0), 0)

    def chunk(state, now):
        r, k, v = now
        out = jnp.einsum("bhqk,bhkd->bhqd", jnp.einsum("bhqd,bhkd->bhqk", r, k) * within, v)
        out = out + jnp.einsum("bhqd,bhde->bhqe", r * (decay[:, None] ** (at + 1))[..., None], state)
        state = state * (decay ** 64)[:, None, None] + jnp.einsum("bhkd,bhke->bhde",
                                                                  k * (decay[:, None] ** (63 - at))[..., None], v)
        return state, out
    _, out = jax.lax.scan(chunk, jnp.zeros((b, heads, size, size), x.dtype), (r, k, v))
    out = rms(out.transpose(1, 0, 3, 2, 4)).reshape(b, s, d)
    x = x + (out * jax.nn.silu(g)) @ p["o"]
    y = rms(x)
    past = jnp.pad(y, ((0, 0), (1, 0), (0, 0)))[:, :-1]
    mixed = y * p["mix"][4] + past * (1 - p["mix"][4])
    return x + jax.nn.sigmoid(mixed @ p["gate"]) * (jnp.square(jax.nn.relu(mixed @ p["up"])) @ p["down"])


@changed("held-rwkv", "RWKV: decayed linear attention by chunks, layers in a scan, Lion by tree.map",
         {"half-batch": ("batch=0.5", {"rows": 4}), "half-seq": ("sequence=0.5", {"length": 512}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "momentum-bf16": ("cast=momentum*:bf16", {"casts": (("^momentum", "bfloat16"),)})})
@changed("held-rwkv-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 6}), "half-seq": ("sequence=0.5", {"length": 512}),
          "remat": ("checkpoint=*", {"is_remat": True})}, rows=12)
def rwkv(rows=8, length=1024, width=1024, depth=6, is_remat=False):
    layer = jax.checkpoint(rwkv_layer) if is_remat else rwkv_layer

    def lion_step(params, momentum, tokens):
        def loss(p):
            x, _ = jax.lax.scan(lambda x, w: (layer(w, x), None), p["embed"][tokens[:, :-1]], p["layers"])
            logits = (rms(x) @ p["head"]).astype(jnp.float32)
            return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1).mean()
        value, grads = jax.value_and_grad(loss)(params)
        fresh = jax.tree.map(lambda p, m, g: p - 1e-4 * (jnp.sign(.9 * m + .1 * g) + .1 * p), params, momentum, grads)
        return like(fresh, params), like(jax.tree.map(lambda m, g: .99 * m + .01 * g, momentum, grads), momentum), value
    layers = {"mix": f32(depth, 5, width), "decay": f32(depth, width // 64),
              **{name: f32(depth, width, width) for name in ("r", "k", "v", "g", "o", "gate")},
              "up": f32(depth, width, 4 * width), "down": f32(depth, 4 * width, width)}
    params = {"embed": f32(16384, width), "layers": layers, "head": f32(width, 16384)}
    return Built(lion_step, (params, params, i32(rows, length + 1)), ROLES, donate=(0, 1))


# A solver of flow with a learned correction, differentiated through its time steps.

@changed("held-flow", "flow on a grid with a learned correction, unrolled over time in a scan, Adam by tree.map",
         {"half-batch": ("batch=0.5@truth:1", {"rows": 2}), "half-steps": ("sequence=0.5@truth:0", {"steps": 16}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("held-flow-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5@truth:1", {"rows": 4}), "half-steps": ("sequence=0.5@truth:0", {"steps": 16}),
          "remat": ("checkpoint=*", {"is_remat": True})}, rows=8)
def flow(rows=4, steps=32, side=128, width=32, is_remat=False):
    def gradient(f):
        return (jnp.roll(f, -1, 2) - jnp.roll(f, 1, 2)) / 2, (jnp.roll(f, -1, 3) - jnp.roll(f, 1, 3)) / 2

    def laplace(f):
        return jnp.roll(f, 1, 2) + jnp.roll(f, -1, 2) + jnp.roll(f, 1, 3) + jnp.roll(f, -1, 3) - 4 * f

    def advance(p, state):
        u, v, h = (state[:, at:at + 1] for at in range(3))
        out = []
        for f, force in ((u, gradient(h)[0]), (v, gradient(h)[1]), (h, gradient(u)[0] + gradient(v)[1])):
            dx, dy = gradient(f)
            out.append(f + .01 * (.05 * laplace(f) - u * dx - v * dy - force))
        state = jnp.concatenate(out, 1)
        y = state
        for at, w in enumerate(p):
            y = jax.lax.conv_general_dilated(jnp.pad(y, ((0, 0), (0, 0), (2, 2), (2, 2)), mode="wrap"), w, (1, 1),
                                             "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"))
            y = jnp.tanh(y) if at < len(p) - 1 else y
        return state + .01 * y
    advance = jax.checkpoint(advance) if is_remat else advance

    def train_step(params, mu, nu, begin, truth):
        def loss(p):
            def one(state, want):
                state = advance(p, state)
                return state, jnp.square(state - want).mean()
            _, errors = jax.lax.scan(one, begin, truth)
            return errors.mean()
        value, grads = jax.value_and_grad(loss)(params)
        return *adam_tree(params, grads, mu, nu), value
    params = [f32(width, 3, 5, 5), f32(width, width, 5, 5), f32(width, width, 5, 5), f32(3, width, 5, 5)]
    return Built(train_step, (params, params, params, f32(rows, 3, side, side), f32(steps, rows, 3, side, side)), ROLES,
                 donate=(0, 1, 2))


# Serving: a prompt is read and 64 tokens are said, in one program.

@changed("held-serve", "prefill and 64 decode steps in one program; the cache is handed in and given back",
         {"half-batch": ("batch=0.5", {"rows": 4}), "donated": ("donate=all", {"donate": (0, 1, 2)}),
          "donated-cache": ("donate=1", {"donate": (1,)}),
          "params-bf16": ("cast=params*:bf16", {"casts": (("^params", "bfloat16"),)}),
          "cache-bf16": ("cast=cache*:bf16", {"casts": (("^cache", "bfloat16"),)})})
def serve(rows=8, length=1024, width=1024, depth=8, heads=8):
    size, room = 128, length + 64

    def split(x):
        return x.reshape(*x.shape[:-1], heads, size)

    def layer(w, x, old, at):
        y = rms(x)
        q = split(y @ w["q"])
        k, v = (jax.lax.dynamic_update_slice(old[name], split(y @ w[name]).astype(old[name].dtype), (0, at, 0, 0))
                for name in ("k", "v"))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k.astype(x.dtype)) / size ** .5
        seen = jnp.arange(room) <= at + jnp.arange(x.shape[1])[:, None]
        scores = jax.nn.softmax(jnp.where(seen, scores, -1e9).astype(jnp.float32)).astype(x.dtype)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, v.astype(x.dtype)).reshape(*x.shape[:2], width) @ w["o"]
        return x + jax.nn.gelu(rms(x) @ w["up"]) @ w["down"], {"k": k, "v": v}

    def forward(params, cache, tokens, at):
        x, fresh = params["embed"][tokens], []
        for w, old in zip(params["layers"], cache, strict=True):
            x, new = layer(w, x, old, at)
            fresh.append(new)
        return jnp.argmax(rms(x[:, -1]) @ params["embed"].T, -1).astype(jnp.int32), fresh

    def generate(params, cache, prompt):
        token, cache = forward(params, cache, prompt, 0)

        def one(carry, at):
            token, cache = carry
            token, cache = forward(params, cache, token[:, None], at)
            return (token, cache), token
        (_, cache), said = jax.lax.scan(one, (token, cache), jnp.arange(length, room, dtype=jnp.int32))
        return said.T, cache
    w = {"q": f32(width, width), "k": f32(width, width), "v": f32(width, width), "o": f32(width, width),
         "up": f32(width, 4 * width), "down": f32(4 * width, width)}
    part = {"k": f32(rows, room, heads, size), "v": f32(rows, room, heads, size)}
    return Built(generate,
                 ({"embed": f32(32000, width), "layers": [dict(w) for _ in range(depth)]},
                  [dict(part) for _ in range(depth)], i32(rows, length)), ROLES)


# Clouds of points: each layer looks for the nearest neighbours and gathers them.

@changed("held-points", "point clouds: nearest neighbours by top_k in every layer, edges gathered, not donated",
         {"half-batch": ("batch=0.5", {"rows": 4}), "half-points": ("sequence=0.5", {"points": 512}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "donated": ("donate=all", {"donate": (0, 1)})})
def points_net(rows=8, points=1024, near=20, is_remat=False):
    def edges(p, x):
        square = jnp.square(x).sum(-1)
        apart = square[:, :, None] + square[:, None] - 2 * jnp.einsum("bnc,bmc->bnm", x, x)
        _, at = jax.lax.top_k(-jax.lax.stop_gradient(apart), near)
        others = jax.vmap(lambda one, rows: one[rows])(x, at)
        here = jnp.broadcast_to(x[:, :, None], others.shape)
        return jax.nn.leaky_relu(rms(jnp.concatenate([here, others - here], -1) @ p), .2).max(2)
    edges = jax.checkpoint(edges) if is_remat else edges

    def train_step(params, momentum, cloud, label):
        def loss(p):
            x, kept = cloud, []
            for w in p["edges"]:
                x = edges(w, x)
                kept.append(x)
            x = jax.nn.leaky_relu(jnp.concatenate(kept, -1) @ p["join"], .2).max(1)
            return -jnp.take_along_axis(jax.nn.log_softmax(jax.nn.relu(x @ p["hidden"]) @ p["classes"]), label[:, None],
                                        -1).mean()
        grads = jax.grad(loss)(params)
        momentum = like(jax.tree.map(lambda m, g: .9 * m + g, momentum, grads), momentum)
        return like(jax.tree.map(lambda p, m: p - .1 * m, params, momentum), params), momentum
    params = {"edges": [f32(6, 64), f32(128, 64), f32(128, 128), f32(256, 256)], "join": f32(512, 1024),
              "hidden": f32(1024, 512), "classes": f32(512, 40)}
    return Built(train_step, (params, params, f32(rows, points, 3), i32(rows)), ROLES)
