# SPDX-License-Identifier: Apache-2.0
"""Pictures: a residual net with batch statistics (Linen), a vision transformer (NNX), a U-Net that takes noise away
(Linen)."""
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from catalog import Built, changed, f32, i32, key
from changed.steps import ALL_BF16, masked_loss, trained, updated

ROLES = [(".", "other")]


class Bottleneck(nn.Module):
    width: int
    stride: int = 1

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.BatchNorm, use_running_average=False, momentum=0.9)
        y = nn.relu(norm()(nn.Conv(self.width, (1, 1), use_bias=False)(x)))
        y = nn.relu(norm()(nn.Conv(self.width, (3, 3), (self.stride, self.stride), use_bias=False)(y)))
        y = norm(scale_init=nn.initializers.zeros)(nn.Conv(4 * self.width, (1, 1), use_bias=False)(y))
        if x.shape != y.shape:
            x = norm(name="norm_short")(nn.Conv(4 * self.width, (1, 1), (self.stride, self.stride), use_bias=False,
                                                name="short")(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    sizes: tuple = (2, 3, 4, 2)
    remat: tuple = ()  # stages whose blocks are computed again

    @nn.compact
    def __call__(self, image):
        x = nn.Conv(64, (7, 7), (2, 2), use_bias=False, name="stem")(image)
        x = nn.max_pool(nn.relu(nn.BatchNorm(use_running_average=False, name="norm_stem")(x)), (3, 3), (2, 2), "SAME")
        for stage, count in enumerate(self.sizes):
            block = nn.remat(Bottleneck) if stage in self.remat else Bottleneck
            for at in range(count):
                x = block(64 * 2 ** stage, 2 if stage and not at else 1, name=f"stage{stage}_block{at}")(x)
        return nn.Dense(1000, name="head")(x.mean((1, 2)))


RESNET = {"half-batch": ("batch=0.5", {"rows": 48}), "quarter-batch": ("batch=0.25", {"rows": 24}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "remat": ("checkpoint=*", {"remat": (0, 1, 2, 3)}),
          "remat-first": ("checkpoint=stage0_block*", {"remat": (0,)})}


@changed("resnet", "Linen ResNet with batch norm, SGD with momentum, donated", RESNET)
def resnet(rows=96, remat=()):
    model, optimizer = ResNet(remat=remat), optax.sgd(0.1, momentum=0.9, nesterov=True)

    def train_step(variables, momentum, image, label):
        def loss(params):
            logits, new = model.apply({"params": params, "batch_stats": variables["batch_stats"]}, image,
                                      mutable=["batch_stats"])
            return masked_loss(logits, label), new["batch_stats"]
        grads, stats = jax.grad(loss, has_aux=True)(variables["params"])
        params, momentum = updated(optimizer, grads, momentum, variables["params"])
        stats = jax.tree.map(lambda new, old: new.astype(old.dtype), stats, variables["batch_stats"])
        return {"params": params, "batch_stats": stats}, momentum
    variables = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 224, 224, 3))))
    return Built(train_step,
                 (variables, jax.eval_shape(optimizer.init, variables["params"]), f32(rows, 224, 224, 3), i32(rows)),
                 ROLES, donate=(0, 1))


class Layer(nnx.Module):
    def __init__(self, width, heads, rngs):
        self.norm1, self.norm2 = nnx.LayerNorm(width, rngs=rngs), nnx.LayerNorm(width, rngs=rngs)
        self.attn = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs)
        self.fc1, self.fc2 = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.fc2(nnx.gelu(self.fc1(self.norm2(x))))


class ViT(nnx.Module):
    def __init__(self, depth, rngs, width=768):
        self.patch = nnx.Conv(3, width, (16, 16), (16, 16), rngs=rngs)
        self.position = nnx.Param(jnp.zeros((1, 196, width)))
        self.layers = nnx.List([Layer(width, 12, rngs) for _ in range(depth)])
        self.head = nnx.Linear(width, 1000, rngs=rngs)

    def __call__(self, image, is_remat=False):
        x = self.patch(image)
        x = x.reshape(x.shape[0], 196, -1) + self.position
        for at, layer in enumerate(self.layers):
            with jax.named_scope(f"layers_{at}"):
                graph, state = nnx.split(layer)
                call = lambda state, x, graph=graph: nnx.merge(graph, state)(x)  # noqa: E731
                x = (jax.checkpoint(call) if is_remat else call)(state, x)
        return self.head(x.mean(1))


@changed("vit", "NNX vision transformer, AdamW, donated",
         {"half-batch": ("batch=0.5", {"rows": 32}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "half-batch-remat": (["batch=0.5", "checkpoint=*"], {"is_remat": True, "rows": 32})})
@changed("vit-kept", "the same, not donated",
         {"donated": ("donate=all", {"donate": (0, 1)}), "donated-opt": ("donate=1", {"donate": (1,)})}, donate=(),
         rows=16)
def vit(rows=64, is_remat=False, depth=8):
    graph, state = nnx.split(nnx.eval_shape(lambda: ViT(depth, nnx.Rngs(0))))
    optimizer = optax.adamw(1e-3)

    def loss(state, images, labels):
        return masked_loss(nnx.merge(graph, state)(images, is_remat), labels)
    return Built(trained(loss, optimizer),
                 (state, jax.eval_shape(optimizer.init, state), f32(rows, 224, 224, 3), i32(rows)), ROLES,
                 donate=(0, 1))


class Res(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, time):
        y = nn.Conv(self.width, (3, 3))(nn.silu(nn.GroupNorm(16)(x)))
        y = y + nn.Dense(self.width)(nn.silu(time))[:, None, None]
        y = nn.Conv(self.width, (3, 3))(nn.silu(nn.GroupNorm(16)(y)))
        return y + (x if x.shape[-1] == self.width else nn.Conv(self.width, (1, 1), name="skip")(x))


class UNet(nn.Module):
    widths: tuple = (96, 192, 384)
    is_remat: bool = False

    @nn.compact
    def __call__(self, noisy, when):
        angles = when[:, None] * jnp.exp(-jnp.arange(64, dtype=when.dtype) / 64 * 9.2)
        time = nn.Dense(384)(nn.silu(nn.Dense(384)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))))
        res = nn.remat(Res) if self.is_remat else Res
        x, kept = nn.Conv(96, (3, 3), name="conv_in")(noisy), []
        for level, width in enumerate(self.widths):
            for at in range(2):
                x = res(width, name=f"down_{level}_{at}")(x, time)
            kept.append(x)
            x = nn.Conv(width, (3, 3), (2, 2), name=f"smaller_{level}")(x)
        b, h, w, c = x.shape
        x = x + nn.SelfAttention(6, name="mid_attention")(nn.GroupNorm(16)(x).reshape(b, h * w, c)).reshape(x.shape)
        for level, width in reversed(list(enumerate(self.widths))):
            x = jax.image.resize(x, (b, 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), "nearest")
            x = jnp.concatenate([x, kept.pop()], -1)
            for at in range(2):
                x = res(width, name=f"up_{level}_{at}")(x, time)
        return nn.Conv(3, (3, 3), name="conv_out")(x)


@changed("unet", "Linen diffusion U-Net with averaged weights, Adam, donated",
         {"half-batch": ("batch=0.5", {"rows": 16}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "half-batch-named": ("batch=0.5@x0:0", {"rows": 16})})
def unet(rows=32, is_remat=False):
    model, optimizer = UNet(is_remat=is_remat), optax.adam(2e-4)

    def denoise(params, ema, opt, x0, rng):
        noise_key, time_key = jax.random.split(jax.random.wrap_key_data(rng))
        noise, when = jax.random.normal(noise_key, x0.shape, x0.dtype), jax.random.uniform(time_key, x0.shape[:1],
                x0.dtype)
        mixed = jnp.cos(when)[:, None, None, None] * x0 + jnp.sin(when)[:, None, None, None] * noise
        grads = jax.grad(lambda params: jnp.square(model.apply({"params": params}, mixed, when) - noise).mean())(params)
        params, opt = updated(optimizer, grads, opt, params)
        ema = jax.tree.map(lambda old, new: 0.999 * old + 0.001 * new, ema, params)
        return params, ema, opt
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 64, 64, 3)), jnp.zeros(1))["params"])
    return Built(denoise, (params, params, jax.eval_shape(optimizer.init, params), f32(rows, 64, 64, 3), key()), ROLES,
                 donate=(0, 1, 2))
