# SPDX-License-Identifier: Apache-2.0
"""Families that the models of whatif were not tuned on: Linen, Equinox, NNX, Haiku, and plain JAX with scopes. Those
named "-full" fill the chip."""
import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from catalog import Built, changed, f32, i32, key
from changed.held_plain import like, rms
from changed.steps import ALL_BF16, masked_loss, trained, updated

ROLES = [(".", "other")]



# DiT: a transformer that takes noise away, each layer is scaled and shifted by the time.

class DiTBlock(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, condition):
        shifts = nn.Dense(6 * self.width, kernel_init=nn.initializers.zeros, name="adaLN")(nn.silu(condition))[:, None]
        s1, c1, g1, s2, c2, g2 = jnp.split(shifts, 6, -1)
        y = nn.LayerNorm(use_bias=False, use_scale=False)(x) * (1 + c1) + s1
        x = x + g1 * nn.MultiHeadDotProductAttention(self.width // 64)(y)
        y = nn.LayerNorm(use_bias=False, use_scale=False)(x) * (1 + c2) + s2
        return x + g2 * nn.Dense(self.width)(nn.gelu(nn.Dense(4 * self.width)(y)))


class DiT(nn.Module):
    depth: int = 8
    width: int = 768
    is_remat: bool = False

    @nn.compact
    def __call__(self, latents, time, label):
        b, side = latents.shape[:2]
        x = nn.Conv(self.width, (2, 2), (2, 2), name="patch")(latents).reshape(b, -1, self.width)
        x = x + self.param("position", nn.initializers.normal(.02), (1, x.shape[1], self.width))
        angles = time[:, None] * jnp.exp(-jnp.arange(128, dtype=time.dtype) / 128 * 9.2)
        t = nn.Dense(self.width)(nn.silu(nn.Dense(self.width)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))))
        condition = t + nn.Embed(1001, self.width)(label)
        block = nn.remat(DiTBlock) if self.is_remat else DiTBlock
        for at in range(self.depth):
            x = block(self.width, name=f"blocks_{at}")(x, condition)
        x = nn.Dense(16, name="final")(nn.LayerNorm()(x)).reshape(b, side // 2, side // 2, 2, 2, 4)
        return x.swapaxes(2, 3).reshape(latents.shape)


@changed("held-dit", "Linen DiT with adaLN, AdamW and averaged weights, donated",
         {"half-batch": ("batch=0.5", {"rows": 16}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "mu-bf16": ("cast=opt*.mu*:bf16", {"casts": ((r"^opt.*\.mu\b", "bfloat16"),)}),
          "ema-bf16": ("cast=ema*:bf16", {"casts": (("^ema", "bfloat16"),)})})
@changed("held-dit-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 52}), "remat": ("checkpoint=*", {"is_remat": True}),
          "both": (["batch=0.5", "checkpoint=*"], {"rows": 52, "is_remat": True})}, rows=104, depth=12)
def dit(rows=32, depth=8, is_remat=False):
    model, optimizer = DiT(depth, is_remat=is_remat), optax.adamw(1e-4)

    def train_step(params, ema, opt, latents, label, rng):
        noise_key, time_key = jax.random.split(jax.random.wrap_key_data(rng))
        noise, time = jax.random.normal(noise_key, latents.shape, latents.dtype), jax.random.uniform(time_key,
                latents.shape[:1], latents.dtype)
        mixed = jnp.sqrt(1 - time)[:, None, None, None] * latents + jnp.sqrt(time)[:, None, None, None] * noise
        value, grads = jax.value_and_grad(lambda p: jnp.square(model.apply({"params": p}, mixed, time * 1000,
                label) - noise).mean())(params)
        params, opt = updated(optimizer, grads, opt, params)
        ema = like(jax.tree.map(lambda e, p: .9999 * e + .0001 * p, ema, params), ema)
        return params, ema, opt, value
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 32, 32, 4)), jnp.zeros(1),
                                               jnp.zeros(1, int))["params"])
    return Built(train_step,
                 (params, params, jax.eval_shape(optimizer.init, params), f32(rows, 32, 32, 4), i32(rows), key()),
                 ROLES, donate=(0, 1, 2))


# Perceiver: a few latents look at a long input, again and again.

class Cross(eqx.Module):
    attention: eqx.nn.MultiheadAttention
    norm: eqx.nn.LayerNorm
    norm_kv: eqx.nn.LayerNorm
    up: eqx.nn.Linear
    down: eqx.nn.Linear

    def __init__(self, width, kv, heads, rng):
        a, b, c = jax.random.split(rng, 3)
        self.attention = eqx.nn.MultiheadAttention(heads, width, kv, kv, key=a)
        self.norm, self.norm_kv = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(kv)
        self.up, self.down = eqx.nn.Linear(width, 4 * width, key=b), eqx.nn.Linear(4 * width, width, key=c)

    def __call__(self, x, kv):
        kv = jax.vmap(self.norm_kv)(kv)
        x = x + self.attention(jax.vmap(self.norm)(x), kv, kv)
        return x + jax.vmap(lambda row: self.down(jax.nn.gelu(self.up(row))))(x)


class Perceiver(eqx.Module):
    latents: jax.Array
    frequencies: jax.Array
    cross: list
    inner: list
    head: eqx.nn.Linear

    def __init__(self, depth, latents, width, channels, rng):
        keys = jax.random.split(rng, 4 * depth + 1)
        self.latents, self.frequencies = jnp.zeros((latents, width)), jnp.ones((32,))
        self.cross = [Cross(width, channels + 64, 1, keys[4 * at]) for at in range(depth)]
        self.inner = [[Cross(width, width, 8, keys[4 * at + part]) for part in (1, 2, 3)] for at in range(depth)]
        self.head = eqx.nn.Linear(width, 1000, key=keys[-1])

    def __call__(self, x, is_remat=False):
        call = eqx.filter_checkpoint(lambda m, x, kv: m(x, kv)) if is_remat else lambda m, x, kv: m(x, kv)
        angles = jnp.linspace(0, 1, x.shape[0], dtype=x.dtype)[:, None] * self.frequencies
        x = jnp.concatenate([x, jnp.sin(angles), jnp.cos(angles)], -1)
        z = self.latents
        for cross, inner in zip(self.cross, self.inner, strict=True):
            z = call(cross, z, x)
            for layer in inner:
                z = call(layer, z, z)
        return self.head(z.mean(0))


@changed("held-perceiver", "Equinox Perceiver, cross attention to a long input, Adafactor, donated",
         {"half-batch": ("batch=0.5", {"rows": 8}), "half-input": ("sequence=0.5@events:1", {"length": 4096}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("held-perceiver-full", "the same, fills the chip",
         {"half-batch": ("batch=0.5", {"rows": 48}), "half-input": ("sequence=0.5@events:1", {"length": 4096}),
          "remat": ("checkpoint=*", {"is_remat": True})}, rows=96)
def perceiver(rows=16, length=8192, depth=3, is_remat=False):
    made = eqx.filter_eval_shape(lambda: Perceiver(depth, 256, 512, 64, jax.random.key(0)))
    arrays, static = eqx.partition(made, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    optimizer = optax.adafactor(1e-3)

    def loss(params, events, labels):
        model = eqx.combine(params, static)
        return masked_loss(jax.vmap(lambda one: model(one, is_remat))(events), labels)
    return Built(trained(loss, optimizer),
                 (arrays, jax.eval_shape(optimizer.init, arrays), f32(rows, length, 64), i32(rows)), ROLES,
                 donate=(0, 1))


# Conformer: attention between two half feed-forwards, and a convolution over time.

class ConformerBlock(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        def feed(x):
            return nn.Dense(self.width)(nn.swish(nn.Dense(4 * self.width)(nn.LayerNorm()(x))))
        x = x + .5 * feed(x)
        x = x + nn.SelfAttention(4)(nn.LayerNorm()(x))
        y = nn.glu(nn.Dense(2 * self.width)(nn.LayerNorm()(x)))
        y = nn.Conv(self.width, (31,), feature_group_count=self.width, name="depthwise")(y)
        x = x + nn.Dense(self.width)(nn.swish(nn.LayerNorm()(y)))
        return nn.LayerNorm()(x + .5 * feed(x))


class Conformer(nn.Module):
    depth: int = 8
    width: int = 256
    is_remat: bool = False

    @nn.compact
    def __call__(self, mel):
        x = nn.relu(nn.Conv(self.width, (3,), (2,))(mel))
        x = nn.Dense(self.width)(nn.relu(nn.Conv(self.width, (3,), (2,))(x)))
        block = nn.remat(ConformerBlock) if self.is_remat else ConformerBlock
        for at in range(self.depth):
            x = block(self.width, name=f"conformer_{at}")(x)
        return nn.Dense(1024, name="words")(x)


@changed("held-conformer", "Linen conformer for speech with a CTC loss, AdamW, donated",
         {"half-batch": ("batch=0.5", {"rows": 8}), "half-seq": ("sequence=0.5@mel:1", {"length": 1024}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "mu-bf16": ("cast=opt*.mu*:bf16", {"casts": ((r"^opt.*\.mu\b", "bfloat16"),)})})
def conformer(rows=16, length=2048, depth=4, is_remat=False):
    model, optimizer = Conformer(depth, is_remat=is_remat), optax.adamw(1e-3)

    def loss(params, mel, words):
        logits = model.apply({"params": params}, mel)
        zeros = jnp.zeros(logits.shape[:2], logits.dtype)
        return optax.ctc_loss(logits.astype(jnp.float32), zeros, words, jnp.zeros(words.shape)).mean()
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, length, 80)))["params"])
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, length, 80), i32(rows, 64)), ROLES,
                 donate=(0, 1))


# VQ-VAE with a discriminator: two networks, two optimizers, one step.

class ResConv(nnx.Module):
    def __init__(self, width, rngs):
        self.norm1, self.norm2 = nnx.GroupNorm(width, num_groups=16, rngs=rngs), nnx.GroupNorm(width, num_groups=16,
                rngs=rngs)
        self.conv1, self.conv2 = nnx.Conv(width, width, (3, 3), rngs=rngs), nnx.Conv(width, width, (3, 3), rngs=rngs)

    def __call__(self, x):
        return x + self.conv2(nnx.swish(self.norm2(self.conv1(nnx.swish(self.norm1(x))))))


class Coder(nnx.Module):
    def __init__(self, rngs):
        widths = (64, 128, 256)
        self.stem, self.out = nnx.Conv(3, 64, (3, 3), rngs=rngs), nnx.Conv(64, 3, (3, 3), rngs=rngs)
        self.downs = nnx.List([nnx.Conv(w, 2 * w, (4, 4), (2, 2), rngs=rngs) for w in widths])
        self.ups = nnx.List([nnx.ConvTranspose(2 * w, w, (4, 4), (2, 2), rngs=rngs) for w in widths[::-1]])
        self.encoder = nnx.List([nnx.List([ResConv(w, rngs) for _ in range(2)]) for w in (*widths, 512)])
        self.decoder = nnx.List([nnx.List([ResConv(w, rngs) for _ in range(2)]) for w in (512, *widths[::-1])])
        self.to_code, self.from_code = nnx.Conv(512, 256, (1, 1), rngs=rngs), nnx.Conv(256, 512, (1, 1), rngs=rngs)
        self.codes = nnx.Param(jnp.zeros((4096, 256)))

    def __call__(self, x, is_remat):
        def run(block, x):
            graph, state = nnx.split(block)
            call = lambda state, x: nnx.merge(graph, state)(x)  # noqa: E731
            return (jax.checkpoint(call) if is_remat else call)(state, x)
        x = self.stem(x)
        for at, blocks in enumerate(self.encoder):
            with jax.named_scope(f"encoder_{at}"):
                for block in blocks:
                    x = run(block, x)
                x = self.downs[at](x) if at < 3 else self.to_code(x)
        codes, flat = self.codes[...], x.reshape(-1, x.shape[-1])
        apart = jnp.square(flat).sum(1)[:, None] - 2 * flat @ codes.T + jnp.square(codes).sum(1)
        near = codes[jnp.argmin(apart, 1)].reshape(x.shape)
        kept = jnp.square(jax.lax.stop_gradient(near) - x).mean() + .25 * jnp.square(near
                - jax.lax.stop_gradient(x)).mean()
        x = self.from_code(x + jax.lax.stop_gradient(near - x))
        for at, blocks in enumerate(self.decoder):
            with jax.named_scope(f"decoder_{at}"):
                for block in blocks:
                    x = run(block, x)
                x = self.ups[at](x) if at < 3 else x
        return self.out(nnx.swish(x)), kept


class Judge(nnx.Module):
    def __init__(self, rngs):
        widths = (3, 64, 128, 256)
        self.convs = nnx.List([nnx.Conv(a, b, (4, 4), (2, 2), rngs=rngs) for a,
                               b in zip(widths, widths[1:], strict=False)])
        self.out = nnx.Conv(256, 1, (4, 4), rngs=rngs)

    def __call__(self, x):
        for conv in self.convs:
            x = nnx.leaky_relu(conv(x), .2)
        return self.out(x)


@changed("held-vqgan", "NNX VQ-VAE with a discriminator, two Adams, donated",
         {"half-batch": ("batch=0.5", {"rows": 4}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("held-vqgan-kept", "the same, not donated, smaller", {"donated": ("donate=all", {"donate": (0, 1, 2, 3)})},
         rows=1, donate=())
def vqgan(rows=8, side=256, is_remat=False):
    graph, state = nnx.split(nnx.eval_shape(lambda: Coder(nnx.Rngs(0))))
    judging, judge = nnx.split(nnx.eval_shape(lambda: Judge(nnx.Rngs(0))))
    optimizer = optax.adam(2e-4, b1=.5)

    def train_step(coder, judge, coder_opt, judge_opt, image):
        def make(coder):
            made, kept = nnx.merge(graph, coder)(image, is_remat)
            return jnp.abs(made - image).mean() + kept - .1 * nnx.merge(judging, judge)(made).mean(), made
        grads, made = jax.grad(make, has_aux=True)(coder)

        def tell(judge):
            model = nnx.merge(judging, judge)
            return nnx.relu(1 - model(image)).mean() + nnx.relu(1 + model(jax.lax.stop_gradient(made))).mean()
        judge_grads = jax.grad(tell)(judge)
        coder, coder_opt = updated(optimizer, grads, coder_opt, coder)
        judge, judge_opt = updated(optimizer, judge_grads, judge_opt, judge)
        return coder, judge, coder_opt, judge_opt
    return Built(train_step,
                 (state, judge, jax.eval_shape(optimizer.init, state), jax.eval_shape(optimizer.init, judge),
                  f32(rows, side, side, 3)), ROLES, donate=(0, 1, 2, 3))


# Knowledge of a frozen teacher: two convolutional nets in Haiku.

def convnext(image, widths, depths, is_remat):
    class Block(hk.Module):
        def __init__(self, width, name):
            super().__init__(name)
            self.width = width

        def __call__(self, x):
            y = hk.DepthwiseConv2D(1, 7)(x)
            y = hk.LayerNorm(-1, True, True)(y)
            y = hk.Linear(self.width)(jax.nn.gelu(hk.Linear(4 * self.width)(y)))
            return x + hk.get_parameter("gamma", (self.width,), y.dtype, init=jnp.zeros) * y
    x = hk.LayerNorm(-1, True, True)(hk.Conv2D(widths[0], 4, 4)(image))
    for stage, (width, depth) in enumerate(zip(widths, depths, strict=True)):
        if stage:
            x = hk.Conv2D(width, 2, 2)(hk.LayerNorm(-1, True, True)(x))
        for at in range(depth):
            block = Block(width, f"stage{stage}_block{at}")
            x = (hk.remat(block) if is_remat else block)(x)
    return hk.Linear(1000)(x.mean((1, 2)))


@changed("held-distill", "Haiku: a small ConvNeXt learns from a frozen larger one, SGD with momentum, donated",
         {"half-batch": ("batch=0.5", {"rows": 24}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "teacher-bf16": ("cast=teacher*:bf16", {"casts": (("^teacher", "bfloat16"),)})})
def distill(rows=48, is_remat=False):
    small = hk.without_apply_rng(hk.transform(lambda image: convnext(image, (96, 192, 384, 768), (2, 2, 4, 2),
                                                                     is_remat)))
    large = hk.without_apply_rng(hk.transform(lambda image: convnext(image, (192, 384, 768, 1536), (3, 3, 12, 3),
                                                                     False)))
    optimizer = optax.sgd(.1, momentum=.9)

    def distill_step(student, opt, teacher, image, label):
        told = jax.nn.softmax(large.apply(teacher, image.astype(jax.tree.leaves(teacher)[0].dtype)) / 4)

        def loss(p):
            logits = small.apply(p, image)
            return masked_loss(logits, label) - 16 * (told * jax.nn.log_softmax(logits / 4)).sum(-1).mean()
        value, grads = jax.value_and_grad(loss)(student)
        return *updated(optimizer, grads, opt, student), value
    student, teacher = (jax.eval_shape(lambda net=net: net.init(jax.random.key(0), jnp.zeros((1, 224, 224, 3))))
                        for net in (small, large))
    return Built(distill_step,
                 (student, jax.eval_shape(optimizer.init, student), teacher, f32(rows, 224, 224, 3), i32(rows)), ROLES,
                 donate=(0, 1))


# A neural ODE: Runge-Kutta of the fourth order in a scan, with scopes.

@changed("held-ode", "neural ODE on feature maps, Runge-Kutta steps in a scan, scopes, SGD with momentum, not donated",
         {"half-batch": ("batch=0.5", {"rows": 32}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def ode(rows=64, steps=12, is_remat=False):
    def conv(w, x, stride=1):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def slope(p, t, x):
        with jax.named_scope("slope"):
            y = conv(p["first"], jax.nn.softplus(rms(x))) + t * p["time"]
            return conv(p["second"], jax.nn.softplus(rms(y)))

    def runge_kutta(p, x, t):
        with jax.named_scope("runge_kutta"):
            dt, t = jnp.asarray(1 / steps, x.dtype), t.astype(x.dtype)
            k1 = slope(p, t, x)
            k2 = slope(p, t + dt / 2, x + dt / 2 * k1)
            k3 = slope(p, t + dt / 2, x + dt / 2 * k2)
            k4 = slope(p, t + dt, x + dt * k3)
            return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None
    runge_kutta = jax.checkpoint(runge_kutta) if is_remat else runge_kutta

    def loss(params, image, label):
        with jax.named_scope("stem"):
            x = conv(params["down"], jax.nn.relu(conv(params["stem"], image, 2)), 2)
        x, _ = jax.lax.scan(lambda x, t: runge_kutta(params["ode"], x, t), x, jnp.arange(steps) / steps)
        with jax.named_scope("head"):
            return masked_loss(x.mean((1, 2)) @ params["head"], label)
    optimizer = optax.sgd(.1, momentum=.9)
    params = {"stem": f32(3, 3, 3, 64), "down": f32(3, 3, 64, 128), "head": f32(128, 200),
              "ode": {"first": f32(3, 3, 128, 128), "second": f32(3, 3, 128, 128), "time": f32(128)}}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, 64, 64, 3), i32(rows)), ROLES)
