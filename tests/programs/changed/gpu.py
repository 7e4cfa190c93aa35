# SPDX-License-Identifier: Apache-2.0
"""Families for GPUs (`--gpu`): what XLA packs into the memory of results, attention by vmap over heads, convolutions as
calls of cuDNN, scans, tables, optimizers with much state. The models of whatif were mended by these."""
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from catalog import Built, changed, f32, i32, key
from changed.steps import ALL_BF16, masked_loss, trained, updated

ROLES = [(".", "other")]
STATE = r"^opt"


def like(new, old):
    return jax.tree.map(lambda n, o: n.astype(o.dtype), new, old)


def layer_norm(x, scale):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6) * scale


# A decoder whose attention is written for one sequence and mapped over the batch.

def causal_attention(p, x):
    s, d = x.shape
    q, k, v = (jnp.reshape(x @ p[name], (s, d // 64, 64)) for name in ("q", "k", "v"))
    scores = jnp.einsum("shd,thd->hst", q, k) / 8
    scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e30)
    return jnp.einsum("hst,thd->shd", jax.nn.softmax(scores), v).reshape(s, d) @ p["o"]


def decoder_block(p, x):
    x = x + jax.vmap(lambda one: causal_attention(p, layer_norm(one, p["scale1"])))(x)
    return x + jax.nn.gelu(layer_norm(x, p["scale2"]) @ p["up"]) @ p["down"]


@changed("gpu-decoder", "plain decoder, attention by vmap, AdamW, nothing donated",
         {"half-batch": ("batch=0.5", {"rows": 8}), "half-length": ("sequence=0.5", {"length": 512}),
          "remat": ("checkpoint=*", {"is_remat": True}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "donated": ("donate=all", {"donate": (0, 1)}), "donated-opt": ("donate=1", {"donate": (1,)})})
def decoder(rows=16, length=1024, width=768, depth=6, vocabulary=32000, is_remat=False):
    block = jax.checkpoint(decoder_block) if is_remat else decoder_block

    def loss(params, tokens):
        x = params["embed"][tokens[:, :-1]] + params["position"]
        for layer in params["blocks"]:
            x = block(layer, x)
        return masked_loss(layer_norm(x, params["scale"]) @ params["embed"].T, tokens[:, 1:])
    square, scale = f32(width, width), f32(width)
    layer = {"q": square, "k": square, "v": square, "o": square, "scale1": scale, "scale2": scale,
             "up": f32(width, 4 * width), "down": f32(4 * width, width)}
    params = {"embed": f32(vocabulary, width), "position": f32(length, width), "scale": scale,
              "blocks": [dict(layer) for _ in range(depth)]}
    optimizer = optax.adamw(1e-4)
    return Built(trained(loss, optimizer), (params, jax.eval_shape(optimizer.init, params), i32(rows, length + 1)),
                 ROLES)


# A convolutional net of blocks as wide as its input, batch norm left out.

class ConvBlock(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        y = nn.Conv(self.width, (7, 7), feature_group_count=self.width, name="depthwise")(x)
        y = nn.Dense(4 * self.width, name="up")(nn.LayerNorm()(y))
        return x + nn.Dense(self.width, name="down")(nn.gelu(y))


class ConvNet(nn.Module):
    depths: tuple = (2, 4, 2)
    is_remat: bool = False

    @nn.compact
    def __call__(self, images):
        x, block = images, nn.remat(ConvBlock) if self.is_remat else ConvBlock
        for stage, depth in enumerate(self.depths):
            width = 96 << stage
            x = nn.Conv(width, (4, 4) if stage == 0 else (2, 2), (4, 4) if stage == 0 else (2, 2),
                        name=f"smaller_{stage}")(x)
            for at in range(depth):
                x = block(width, name=f"block_{stage}_{at}")(x)
        return nn.Dense(1000, name="head")(x.mean((1, 2)))


@changed("gpu-convnet", "Linen net of depthwise convolutions, SGD with momentum, nothing donated",
         {"half-batch": ("batch=0.5", {"rows": 64}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "donated": ("donate=all", {"donate": (0, 1)})})
def convnet(rows=128, is_remat=False):
    model, optimizer = ConvNet(is_remat=is_remat), optax.sgd(0.1, momentum=0.9)

    def loss(params, images, labels):
        return masked_loss(model.apply({"params": params}, images), labels)
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 224, 224, 3)))["params"])
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, 224, 224, 3), i32(rows)), ROLES)


# Noise is taken away by blocks of convolutions of one width, with averaged weights.

def noise_block(p, x, time):
    y = jax.nn.silu(group_norm(x))
    y = convolve(p["first"], y) + (time @ p["time"])[:, None, None]
    return x + convolve(p["second"], jax.nn.silu(group_norm(y)))


def group_norm(x, groups=32):
    b, h, w, c = x.shape
    y = x.reshape(b, h, w, groups, c // groups)
    y = y - y.mean((1, 2, 4), keepdims=True)
    return (y * jax.lax.rsqrt(jnp.square(y).mean((1, 2, 4), keepdims=True) + 1e-5)).reshape(x.shape)


def convolve(w, x):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@changed("gpu-diffusion", "plain denoiser of convolutions, averaged weights, Adam, nothing donated",
         {"half-batch": ("batch=0.5", {"rows": 32}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "donated": ("donate=all", {"donate": (0, 1, 2)})})
def diffusion(rows=64, width=192, depth=6, is_remat=False):
    optimizer, block = optax.adam(2e-4), jax.checkpoint(noise_block) if is_remat else noise_block

    def predicted(params, noisy, when):
        angles = when[:, None] * jnp.exp(-jnp.arange(64, dtype=noisy.dtype) / 7)
        time = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1) @ params["time"]
        x = convolve(params["enter"], noisy)
        for layer in params["blocks"]:
            x = block(layer, x, time)
        return convolve(params["leave"], x)

    def denoise(params, average, opt, images, bits):
        noise_key, time_key = jax.random.split(jax.random.wrap_key_data(bits))
        noise = jax.random.normal(noise_key, images.shape, images.dtype)
        when = jax.random.uniform(time_key, images.shape[:1], images.dtype)
        mixed = jnp.cos(when)[:, None, None, None] * images + jnp.sin(when)[:, None, None, None] * noise
        value, grads = jax.value_and_grad(lambda p: jnp.square(predicted(p, mixed, when) - noise).mean())(params)
        params, opt = updated(optimizer, grads, opt, params)
        return params, like(jax.tree.map(lambda a, p: .999 * a + .001 * p, average, params), average), opt, value
    layer = {"first": f32(3, 3, width, width), "second": f32(3, 3, width, width), "time": f32(512, width)}
    params = {"enter": f32(3, 3, 3, width), "leave": f32(3, 3, width, 3), "time": f32(128, 512),
              "blocks": [dict(layer) for _ in range(depth)]}
    return Built(denoise,
                 (params, params, jax.eval_shape(optimizer.init, params), f32(rows, 64, 64, 3), key()), ROLES)


# A gated recurrent net: two scans over time.

@changed("gpu-gru", "two gated recurrent layers by scans over time, Adam, nothing donated",
         {"half-batch": ("batch=0.5", {"rows": 256}), "half-steps": ("sequence=0.5@frames:0", {"steps": 128}),
          "remat": ("checkpoint=*", {"is_remat": True}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "donated": ("donate=all", {"donate": (0, 1)})})
def gru(rows=512, steps=256, width=768, is_remat=False):
    def cell(p, h, x):
        r, z = jnp.split(jax.nn.sigmoid(x @ p["wx"] + h @ p["wh"]), 2, -1)
        h = (1 - z) * h + z * jnp.tanh(x @ p["nx"] + r * (h @ p["nh"]))
        return h, h

    def loss(params, frames, targets):
        x = frames
        for layer in params["layers"]:
            step = functools.partial(cell, layer)
            _, x = jax.lax.scan(jax.checkpoint(step) if is_remat else step, jnp.zeros(x.shape[1:], x.dtype), x)
        return jnp.square(x @ params["out"] - targets).mean()
    layer = {"wx": f32(width, 2 * width), "wh": f32(width, 2 * width), "nx": f32(width, width), "nh": f32(width, width)}
    params = {"layers": [dict(layer), dict(layer)], "out": f32(width, width)}
    optimizer, frames = optax.adam(1e-3), f32(steps, rows, width)
    return Built(trained(loss, optimizer), (params, jax.eval_shape(optimizer.init, params), frames, frames), ROLES)


# Tables of words that were seen by users, and a tower over them.

@changed("gpu-tables", "recommender: 8 tables, a tower, dense Adam, nothing donated",
         {"half-batch": ("batch=0.5", {"rows": 32768}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "opt-bf16": ("cast=opt*:bf16", {"casts": ((STATE, "bfloat16"),)}),
          "donated": ("donate=all", {"donate": (0, 1)}), "donated-opt": ("donate=1", {"donate": (1,)})})
def tables(rows=65536, words=400000, width=64):
    def loss(params, ids, dense, clicked):
        found = [table[ids[:, at]] for at, table in enumerate(params["tables"])]
        x = jnp.concatenate([*found, dense @ params["dense"]], -1)
        for layer in params["tower"]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return optax.sigmoid_binary_cross_entropy((x @ params["out"])[:, 0], clicked).mean()
    widths = [9 * width, 1024, 512, 256]
    params = {"tables": [f32(words, width) for _ in range(8)], "dense": f32(13, width), "out": f32(256, 1),
              "tower": [{"w": f32(a, b), "b": f32(b)} for a, b in zip(widths, widths[1:], strict=False)]}
    optimizer = optax.adam(1e-3)
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), i32(rows, 8), f32(rows, 13), f32(rows)), ROLES)


# Much state and few activations, at the limit of 80 GB.

@changed("gpu-optimizer", "wide layers, small batch, Adam with averaged weights, everything donated",
         {"half-batch": ("batch=0.5", {"rows": 2048}),
          "mu-bf16": ("cast=opt*mu*:bf16", {"casts": ((r"mu", "bfloat16"),)}),
          "opt-bf16": ("cast=opt*:bf16", {"casts": ((STATE, "bfloat16"),)}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "remat": ("checkpoint=*", {"is_remat": True})})
@changed("gpu-optimizer-kept", "the same, nothing donated",
         {"donated": ("donate=all", {"donate": (0, 1, 2)}), "donated-opt": ("donate=2", {"donate": (2,)}),
          "donated-average": ("donate=1", {"donate": (1,)})}, donate=())
def optimizer_heavy(rows=4096, width=8192, depth=12, is_remat=False):
    def layer_of(p, x):
        return x + jax.nn.gelu(x @ p["up"]) @ p["down"]
    layer = jax.checkpoint(layer_of) if is_remat else layer_of
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-4))

    def step(params, average, opt, x, y):
        def loss(p):
            h = x
            for each in p:
                h = layer(each, h)
            return jnp.square(h - y).mean()
        value, grads = jax.value_and_grad(loss)(params)
        params, opt = updated(optimizer, grads, opt, params)
        return params, like(jax.tree.map(lambda a, p: .999 * a + .001 * p, average, params), average), opt, value
    params = [{"up": f32(width, 2 * width), "down": f32(2 * width, width)} for _ in range(depth)]
    return Built(step, (params, params, jax.eval_shape(optimizer.init, params), f32(rows, width), f32(rows, width)),
                 ROLES, donate=(0, 1, 2))


# Layers in a scan, heads in groups, above 80 GB.

@changed("gpu-scanned", "decoder by a scan over layers, grouped heads, AdamW, donated",
         {"half-batch": ("batch=0.5", {"rows": 8}), "half-length": ("sequence=0.5", {"length": 1024}),
          "remat": ("checkpoint=*", {"is_remat": True}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("gpu-scanned-kept", "the same, nothing donated",
         {"donated": ("donate=all", {"donate": (0, 1)}), "donated-opt": ("donate=1", {"donate": (1,)})}, donate=(),
         rows=8)
def scanned(rows=16, length=2048, width=1024, depth=16, groups=4, vocabulary=32000, is_remat=False):
    def block(x, p):
        b, s, d = x.shape
        y = layer_norm(x, p["scale1"])
        q = (y @ p["q"]).reshape(b, s, groups, d // 64 // groups, 64)
        k, v = ((y @ p[name]).reshape(b, s, groups, 64) for name in ("k", "v"))
        scores = jnp.einsum("bsgnd,btgd->bgnst", q, k) / 8
        scores = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e30))
        x = x + jnp.einsum("bgnst,btgd->bsgnd", scores, v).reshape(b, s, d) @ p["o"]
        y = layer_norm(x, p["scale2"])
        return x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"], None
    body = jax.checkpoint(block) if is_remat else block

    def loss(params, tokens):
        x, _ = jax.lax.scan(body, params["embed"][tokens[:, :-1]], params["layers"])
        return masked_loss(layer_norm(x, params["scale"]) @ params["head"], tokens[:, 1:])
    part = groups * 64
    layers = {"q": f32(depth, width, width), "k": f32(depth, width, part), "v": f32(depth, width, part),
              "o": f32(depth, width, width), "scale1": f32(depth, width), "scale2": f32(depth, width),
              **{name: f32(depth, width, 3 * width) for name in ("gate", "up")},
              "down": f32(depth, 3 * width, width)}
    params = {"embed": f32(vocabulary, width), "head": f32(width, vocabulary), "scale": f32(width), "layers": layers}
    optimizer = optax.adamw(1e-4)
    return Built(trained(loss, optimizer), (params, jax.eval_shape(optimizer.init, params), i32(rows, length + 1)),
                 ROLES, donate=(0, 1))


# Tokens without a library: mixing along patches and along channels.

def mixer_block(p, x):
    y = layer_norm(x, p["scale1"]).swapaxes(1, 2)
    x = x + (jax.nn.gelu(y @ p["token_up"]) @ p["token_down"]).swapaxes(1, 2)
    return x + jax.nn.gelu(layer_norm(x, p["scale2"]) @ p["up"]) @ p["down"]


@changed("gpu-mixer", "state in one tuple, Adam by tree.map, nothing donated",
         {"half-batch": ("batch=0.5", {"rows": 128}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "donated": ("donate=all", {"donate": (0,)})})
def mixer(rows=256, width=512, depth=8, is_remat=False):
    block = jax.checkpoint(mixer_block) if is_remat else mixer_block

    def train_step(state, images, labels):
        def loss(p):
            b = images.shape[0]
            x = images.reshape(b, 14, 16, 14, 16, 3).swapaxes(2, 3).reshape(b, 196, 768) @ p["patch"]
            for layer in p["blocks"]:
                x = block(layer, x)
            return masked_loss(x.mean(1) @ p["head"], labels)
        params, mu, nu = state
        value, grads = jax.value_and_grad(loss)(params)
        mu = like(jax.tree.map(lambda m, g: .9 * m + .1 * g, mu, grads), mu)
        nu = like(jax.tree.map(lambda v, g: .99 * v + .01 * g * g, nu, grads), nu)
        params = like(jax.tree.map(lambda p, m, v: p - 1e-4 * m / (jnp.sqrt(v) + 1e-8), params, mu, nu), params)
        return (params, mu, nu), value
    scale = f32(width)
    layer = {"scale1": scale, "scale2": scale, "token_up": f32(196, 384), "token_down": f32(384, 196),
             "up": f32(width, 4 * width), "down": f32(4 * width, width)}
    params = {"patch": f32(768, width), "head": f32(width, 1000), "blocks": [dict(layer) for _ in range(depth)]}
    return Built(train_step, ((params,) * 3, f32(rows, 224, 224, 3), i32(rows)), ROLES)
