# SPDX-License-Identifier: Apache-2.0
"""Plain JAX, without a library or a scope: layers are told by nothing but their parameters. Each in two sizes: one that
leaves room on the chip, and one ("-full") that fills it, so that XLA has computed values again to make it fit."""
import jax
import jax.numpy as jnp

from catalog import Built, changed, f32, i32
from changed.steps import ALL_BF16

ROLES = [(".", "other")]


def adam(loss, averaged=False):
    """a step of training: state is one tuple of trees"""
    def train_step(state, *batch):
        params, mu, nu, *ema = state
        value, grads = jax.value_and_grad(loss)(params, *batch)
        mu = jax.tree.map(lambda m, g: (.9 * m + .1 * g).astype(m.dtype), mu, grads)
        nu = jax.tree.map(lambda v, g: (.999 * v + .001 * g * g).astype(v.dtype), nu, grads)
        params = jax.tree.map(lambda p, m, v: p - (1e-4 * m / (jnp.sqrt(v) + 1e-8)).astype(p.dtype), params, mu, nu)
        if averaged:
            ema = [jax.tree.map(lambda e, p: (.9999 * e + .0001 * p).astype(e.dtype), ema[0], params)]
        return (params, mu, nu, *ema), value
    return train_step


def built(loss, params, *batch, averaged=False):
    return Built(adam(loss, averaged), ((params,) * (4 if averaged else 3), *batch), ROLES, donate=(0,))


def norm(x, axes=-1):
    x = x - x.mean(axes, keepdims=True)
    return x * jax.lax.rsqrt(jnp.square(x).mean(axes, keepdims=True) + 1e-5)


def attention(p, x, heads):
    b, s, d = x.shape
    q, k, v = (h.reshape(b, s, heads, d // heads) for h in jnp.split(norm(x) @ p["qkv"], 3, -1))
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / (d // heads) ** .5, -1)
    return jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(b, s, d) @ p["out"]


def vit_block(p, x):
    x = x + attention(p, x, 12)
    return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


@changed("plain-vit", "patches, blocks in a list, Adam by tree.map",
         {"half-batch": ("batch=0.5", {"rows": 32}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("plain-vit-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 96}), "remat": ("checkpoint=*", {"rows": 192, "is_remat": True})},
         rows=192)
def vit(rows=64, is_remat=False):
    width = 768
    block = jax.checkpoint(vit_block) if is_remat else vit_block

    def loss(p, images, labels):
        b = images.shape[0]
        x = images.reshape(b, 14, 16, 14, 16, 3).swapaxes(2, 3).reshape(b, 196, 768) @ p["patch"] + p["position"]
        for layer in p["blocks"]:
            x = block(layer, x)
        logits = norm(x).mean(1) @ p["head"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1).mean()
    layer = {"qkv": f32(width, 3 * width), "out": f32(width, width), "up": f32(width, 4 * width),
             "down": f32(4 * width, width)}
    params = {"patch": f32(768, width), "position": f32(196, width), "head": f32(width, 1000),
              "blocks": [dict(layer) for _ in range(12)]}
    return built(loss, params, f32(rows, 224, 224, 3), i32(rows))


def mixer_block(p, x):
    y = norm(x).swapaxes(1, 2)
    x = x + (jax.nn.gelu(y @ p["t1"]) @ p["t2"]).swapaxes(1, 2)
    return x + jax.nn.gelu(norm(x) @ p["c1"]) @ p["c2"]


@changed("plain-mixer", "two products over tokens, two over channels; layers are keys of one dict",
         {"half-batch": ("batch=0.5", {"rows": 64}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("plain-mixer-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 160}), "remat": ("checkpoint=*", {"rows": 320, "is_remat": True})},
         rows=320)
def mixer(rows=128, is_remat=False):
    width, tokens = 512, 256
    block = jax.checkpoint(mixer_block) if is_remat else mixer_block

    def loss(p, x, labels):
        x = x @ p["embed"]
        for at in range(8):
            x = block(p[f"layer{at}"], x)
        logits = norm(x).mean(1) @ p["classes"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1).mean()
    layer = {"t1": f32(tokens, 256), "t2": f32(256, tokens), "c1": f32(width, 2048), "c2": f32(2048, width)}
    params = {"embed": f32(192, width), "classes": f32(width, 1000), **{f"layer{at}": dict(layer) for at in range(8)}}
    return built(loss, params, f32(rows, tokens, 192), i32(rows))


def state_space(p, x):
    """a selective state space layer: every row of time has its own decay"""
    b, s, d = x.shape
    u, gate = jnp.split(norm(x) @ p["into"], 2, -1)
    u = jax.nn.silu(u)
    dt = jax.nn.softplus(u @ p["rate"])
    left, right = jnp.split(u @ p["mix"], 2, -1)
    decay = jnp.exp(-dt[..., None] * jnp.exp(p["a"]))
    inputs = (dt * u)[..., None] * left[:, :, None]
    _, h = jax.lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (decay, inputs), axis=1)
    y = (h * right[:, :, None]).sum(-1)
    return x + (y * jax.nn.silu(gate)) @ p["outof"]


@changed("plain-mamba", "state space layers by associative scans",
         {"half-batch": ("batch=0.5", {"rows": 2}), "half-seq": ("sequence=0.5", {"length": 512}),
          "remat": ("checkpoint=*", {"is_remat": True})})
@changed("plain-mamba-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 8, "length": 1024}),
          "half-seq": ("sequence=0.5", {"rows": 16, "length": 512}),
          "remat": ("checkpoint=*", {"rows": 16, "is_remat": True})}, rows=16)
def mamba(rows=4, length=1024, is_remat=False):
    width, inner, states, depth, vocab = 512, 1024, 8, 4, 8192
    block = jax.checkpoint(state_space) if is_remat else state_space

    def loss(p, tokens):
        x = p["embed"][tokens[:, :-1]]
        for layer in p["layers"]:
            x = block(layer, x)
        logits = jax.nn.log_softmax(norm(x) @ p["embed"].T)
        return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()
    layer = {"into": f32(width, 2 * inner), "rate": f32(inner, inner), "mix": f32(inner, 2 * states),
             "a": f32(inner, states), "outof": f32(inner, width)}
    params = {"embed": f32(vocab, width), "layers": [dict(layer) for _ in range(depth)]}
    return built(loss, params, i32(rows, length + 1))


@changed("plain-nerf", "a field of light: eight layers over rays and samples",
         {"half-batch": ("batch=0.5", {"rays": 2048}), "remat": ("checkpoint=*", {"is_remat": True})})
@changed("plain-nerf-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rays": 16384}), "remat": ("checkpoint=*", {"rays": 32768, "is_remat": True})},
         rays=32768)
def nerf(rays=4096, samples=96, is_remat=False):
    width = 256

    def dense(w, x):
        return jax.nn.relu(x @ w["w"] + w["b"])
    layer_of = jax.checkpoint(dense) if is_remat else dense

    def loss(p, origins, directions, colours):
        depth = jnp.linspace(2., 6., samples)
        points = origins[:, None] + directions[:, None] * depth[:, None]
        waves = jnp.concatenate([f(points * 2. ** n) for n in range(10) for f in (jnp.sin, jnp.cos)], -1)
        x = waves @ p["w_in"]
        for at in range(8):
            x = layer_of(p["hidden"][at], x)
        out = x @ p["w_out"]
        weights = 1 - jnp.exp(-jax.nn.softplus(out[..., 3]) * (4. / samples))
        seen = weights * jnp.cumprod(1 - weights + 1e-10, -1)
        return jnp.square((seen[..., None] * jax.nn.sigmoid(out[..., :3])).sum(1) - colours).mean()
    params = {"w_in": f32(60, width), "w_out": f32(width, 4),
              "hidden": [{"w": f32(width, width), "b": f32(width)} for _ in range(8)]}
    return built(loss, params, f32(rays, 3), f32(rays, 3), f32(rays, 3))


def messages(p, nodes, edges, senders, receivers):
    both = jnp.concatenate([nodes[senders], nodes[receivers], edges], -1)
    edges = edges + jax.nn.relu(both @ p["e1"]) @ p["e2"]
    gathered = jax.ops.segment_sum(edges, receivers, nodes.shape[0])
    return nodes + jax.nn.relu(jnp.concatenate([nodes, gathered], -1) @ p["n1"]) @ p["n2"], edges


@changed("plain-graph", "messages along edges, six rounds",
         {"remat": ("checkpoint=*", {"is_remat": True})})
@changed("plain-graph-full", "the same, fills the chip",
         {"remat": ("checkpoint=*", {"edges": 600000, "is_remat": True})}, edges=600000)
def graph(edges=100000, nodes=20000, is_remat=False):
    width = 128
    round_of = jax.checkpoint(messages) if is_remat else messages

    def loss(p, x, e, senders, receivers, y):
        x, e = x @ p["nodes_in"], e @ p["edges_in"]
        for layer in p["rounds"]:
            x, e = round_of(layer, x, e, senders, receivers)
        return jnp.square(x @ p["outof"] - y).mean()
    layer = {"e1": f32(3 * width, width), "e2": f32(width, width), "n1": f32(2 * width, width), "n2": f32(width, width)}
    params = {"nodes_in": f32(16, width), "edges_in": f32(8, width), "outof": f32(width, 3),
              "rounds": [dict(layer) for _ in range(6)]}
    return built(loss, params, f32(nodes, 16), f32(edges, 8), i32(edges), i32(edges), f32(nodes, 3))


def conv(p, x, stride=1):
    return jax.lax.conv_general_dilated(x, p["w"], (stride, stride), "SAME",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC")) + p["b"]


def residual(p, x, time):
    h = conv(p["c1"], jax.nn.silu(norm(x, (1, 2)))) + (time @ p["t"])[:, None, None]
    h = conv(p["c2"], jax.nn.silu(norm(h, (1, 2))))
    return h + (conv(p["s"], x) if "s" in p else x)


def filters(into, out, size=3):
    return {"w": f32(size, size, into, out), "b": f32(out)}


def residual_params(into, out):
    return {"c1": filters(into, out), "c2": filters(out, out), "t": f32(256, out),
            **({"s": filters(into, out, 1)} if into != out else {})}


@changed("plain-unet", "diffusion, skips, averaged weights",
         {"half-batch": ("batch=0.5", {"rows": 12}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("plain-unet-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 48}), "remat": ("checkpoint=*", {"rows": 96, "is_remat": True})},
         rows=96)
def unet(rows=24, is_remat=False):
    block = jax.checkpoint(residual) if is_remat else residual

    def loss(p, images, noise, time):
        x = conv(p["in"], images + noise)
        skips = []
        for level in p["down"]:
            x = block(level["a"], x, time)
            skips.append(x)
            x = conv(level["pool"], x, 2)
        x = block(p["middle"], x, time)
        for level in p["up"]:
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = block(level, jnp.concatenate([x, skips.pop()], -1), time)
        return jnp.square(conv(p["out"], jax.nn.silu(norm(x, (1, 2)))) - noise).mean()
    params = {"in": filters(3, 128), "out": filters(128, 3), "middle": residual_params(256, 256),
              "down": [{"a": residual_params(128, 128), "pool": filters(128, 128)},
                       {"a": residual_params(128, 256), "pool": filters(256, 256)}],
              "up": [residual_params(512, 256), residual_params(384, 128)]}
    return built(loss, params, f32(rows, 128, 128, 3), f32(rows, 128, 128, 3), f32(rows, 256), averaged=True)
