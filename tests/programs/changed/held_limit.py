# SPDX-License-Identifier: Apache-2.0
"""Further families that the models of whatif were not tuned on, each at the limit of a v5e or above it: players that
learn from long rollouts, pairs of residues, a Gaussian process, video, guided sampling, weather, smoothing. Rules were
mended by vtrace, process and kalman since."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from catalog import Built, changed, f32, i32
from changed.held_plain import adam_tree, like, rms
from changed.steps import ALL_BF16, masked_loss, trained

ROLES = [(".", "other")]


# V-trace: frames of whole rollouts go through a residual torso, an LSTM runs over time, returns are summed backward.

def conv(w, x, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def torso_stage(p, x):
    x = jax.lax.reduce_window(conv(p["enter"], x), -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for first, second in p["residual"]:
        x = x + conv(second, jax.nn.relu(conv(first, jax.nn.relu(x))))
    return x


@changed("held-vtrace", "an agent learns by V-trace from long rollouts: residual torso, LSTM over time, RMSprop",
         {"half-players": ("batch=0.5@frames:1", {"players": 16}),
          "half-rollout": ("sequence=0.5@frames:0", {"length": 160}),
          "remat": ("checkpoint=*", {"is_remat": True}), "parts": ("advice=parts", {"is_in_parts": True})})
def vtrace(players=32, length=320, hidden=512, actions=18, is_remat=False, is_in_parts=False):
    stage = jax.checkpoint(torso_stage) if is_remat else torso_stage

    def torso(p, x):
        for part in p["torso"]:
            x = stage(part, x)
        return jax.nn.relu(jax.nn.relu(x).reshape(x.shape[0], -1) @ p["flat"])

    def unroll(p, frames, ends):
        t, b = frames.shape[:2]
        if is_in_parts:
            parts = frames.reshape(32, t * b // 32, *frames.shape[2:])
            x = jax.lax.map(jax.checkpoint(lambda part: torso(p, part)), parts)
        else:
            x = torso(p, frames.reshape(t * b, *frames.shape[2:]))
        x = x.reshape(t, b, -1)

        def cell(carry, now):
            h, c = carry
            here, end = now
            keep = (1 - end)[:, None]
            gates = jnp.concatenate([here, h * keep], -1) @ p["lstm"]
            i, f, g, o = jnp.split(gates, 4, -1)
            c = jax.nn.sigmoid(f) * c * keep + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        zeros = jnp.zeros((b, hidden))
        _, out = jax.lax.scan(cell, (zeros, zeros), (x, ends))
        return out @ p["policy"], (out @ p["value"])[..., 0]

    def learner_step(params, square, frames, action, behaviour, reward, ends):
        def loss(p):
            logits, values = unroll(p, frames, ends)
            log_pi = jax.nn.log_softmax(logits)
            chosen = jnp.take_along_axis(log_pi, action[..., None], -1)[..., 0]
            ratio = jax.lax.stop_gradient(jnp.minimum(1., jnp.exp(chosen - behaviour)))
            after = jnp.concatenate([values[1:], values[-1:]], 0)
            errors = ratio * (reward + .99 * (1 - ends) * after - values)

            def back(carry, now):
                error, weight, end = now
                carry = error + .99 * (1 - end) * weight * carry
                return carry, carry
            _, gained = jax.lax.scan(back, jnp.zeros(values.shape[1]), (errors, ratio, ends), reverse=True)
            target = jax.lax.stop_gradient(gained + values)
            entropy = -(jnp.exp(log_pi) * log_pi).sum(-1)
            return (.5 * jnp.square(target - values) - jax.lax.stop_gradient(gained) * chosen - .01 * entropy).mean()
        value, grads = jax.value_and_grad(loss)(params)
        square = like(jax.tree.map(lambda s, g: .99 * s + .01 * g * g, square, grads), square)
        fresh = jax.tree.map(lambda p, g, s: p - 4e-4 * g / jnp.sqrt(s + .01), params, grads, square)
        return like(fresh, params), square, value
    stages, depth = [], 4
    for width in (32, 64, 64):
        stages.append({"enter": f32(3, 3, depth, width), "residual": [(f32(3, 3, width, width),) * 2] * 2})
        depth = width
    params = {"torso": stages, "flat": f32(9 * 9 * 64, hidden), "lstm": f32(2 * hidden, 4 * hidden),
              "policy": f32(hidden, actions), "value": f32(hidden, 1)}
    part = f32(length, players)
    return Built(learner_step,
                 (params, params, f32(length, players, 72, 72, 4), i32(length, players), part, part, part), ROLES,
                 donate=(0, 1))


# Residues of a protein: every pair has a vector; triangles update it by products and by attention along rows.

def triangle_attention(p, z, is_chunked=False):
    y = rms(z)
    n, _, c = z.shape
    q, k, v = ((y @ p[name]).reshape(n, n, 4, c // 4) for name in ("q", "k", "v"))
    bias = (y @ p["bias"]).transpose(2, 0, 1)

    def row(one):
        q, k, v = one
        scores = jnp.einsum("qhd,khd->hqk", q, k) / (c // 4) ** .5 + bias
        return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), v)
    mixed = jax.lax.map(jax.checkpoint(row), (q, k, v)) if is_chunked else jax.vmap(row)((q, k, v))
    return z + (mixed.reshape(n, n, c) * jax.nn.sigmoid(y @ p["gate"])) @ p["out"]


def triangle_product(p, z):
    y = rms(z)
    left = (y @ p["left"]) * jax.nn.sigmoid(y @ p["left_gate"])
    right = (y @ p["right"]) * jax.nn.sigmoid(y @ p["right_gate"])
    return z + (rms(jnp.einsum("ikc,jkc->ijc", left, right)) @ p["out"]) * jax.nn.sigmoid(y @ p["gate"])


@changed("held-triangle", "pairs of residues: triangle products and attention, blocks in a list, Adam by tree.map",
         {"remat": ("checkpoint=*", {"is_remat": True}), "chunked": ("without=attention_scores", {"is_chunked": True}),
          "half-crop": ("sequence=0.5@residues:0", {"crop": 192})})
def triangle(crop=384, width=128, depth=10, is_remat=False, is_chunked=False):
    def block(p, z):
        z = triangle_product(p["product"], z)
        z = triangle_attention(p["attention"], z, is_chunked)
        return z + jax.nn.relu(rms(z) @ p["up"]) @ p["down"]
    block = jax.checkpoint(block) if is_remat else block

    def fold_step(params, mu, nu, residues, distances):
        def loss(p):
            one = p["embed"][residues]
            z = one[:, None] + one[None] + p["offset"][jnp.clip(jnp.arange(crop)[:, None] - jnp.arange(crop), -32, 32)]
            for layer in p["blocks"]:
                z = block(layer, z)
            return masked_loss(z @ p["bins"], distances)
        value, grads = jax.value_and_grad(loss)(params)
        return *adam_tree(params, grads, mu, nu), value
    square = f32(width, width)
    attention = {**{name: square for name in ("q", "k", "v", "gate", "out")}, "bias": f32(width, 4)}
    product = {name: square for name in ("left", "left_gate", "right", "right_gate", "gate", "out")}
    blocks = [{"product": product, "attention": attention, "up": f32(width, 4 * width), "down": f32(4 * width, width)}
              for _ in range(depth)]
    params = {"embed": f32(21, width), "offset": f32(65, width), "blocks": blocks, "bins": f32(width, 64)}
    return Built(fold_step, (params, params, params, i32(crop), i32(crop, crop)), ROLES, donate=(0, 1, 2))


# A Gaussian process: differences of all pairs of points over all features before they are summed.

@changed("held-process", "likelihood of a Gaussian process, a length for each feature, not donated",
         {"parts": ("advice=parts", {"is_in_parts": True}), "half-points": ("batch=0.5", {"points": 24576})})
def process(points=49152, features=48, is_in_parts=False):
    def rows(p, some, all_of_them):
        apart = jnp.abs(some[:, None] - all_of_them[None]).sum(-1)
        return jnp.exp(p["amplitude"] - apart)

    def fit_step(params, momentum, x, y):
        def loss(p):
            scaled = x / jnp.exp(p["lengths"])
            whole = None if is_in_parts else rows(p, scaled, scaled) + jnp.exp(p["noise"]) * jnp.eye(points)

            def times(v):
                if not is_in_parts:
                    return whole @ v
                part = jax.checkpoint(lambda some: rows(p, some, scaled) @ v)
                blocks = scaled.reshape(32, points // 32, features)
                return jax.lax.map(part, blocks).reshape(points) + jnp.exp(p["noise"]) * v
            # Conjugate gradients in place of a factor: a fixed number of steps.
            solution, rest = jnp.zeros_like(y), y
            direction = rest
            for _ in range(6):
                towards = times(direction)
                step = (rest @ rest) / (direction @ towards)
                solution, fresh = solution + step * direction, rest - step * towards
                direction, rest = fresh + (fresh @ fresh) / (rest @ rest) * direction, fresh
            return .5 * y @ solution
        value, grads = jax.value_and_grad(loss)(params)
        momentum = jax.tree.map(lambda m, g: .9 * m + g, momentum, grads)
        return jax.tree.map(lambda p, m: p - 1e-2 * m, params, momentum), momentum, value
    params = {"lengths": f32(features), "amplitude": f32(), "noise": f32()}
    return Built(fit_step, (params, params, f32(points, features), f32(points)), ROLES)


# Video: attention along space, then along time.

class FactorizedBlock(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        heads = self.width // 64
        x = x + nn.MultiHeadDotProductAttention(heads, name="space")(nn.LayerNorm()(x))
        y = x.swapaxes(1, 2)
        y = y + nn.MultiHeadDotProductAttention(heads, name="time")(nn.LayerNorm()(y))
        x = y.swapaxes(1, 2)
        return x + nn.Dense(self.width)(nn.gelu(nn.Dense(4 * self.width)(nn.LayerNorm()(x))))


class VideoTransformer(nn.Module):
    depth: int
    width: int = 768
    is_remat: bool = False

    @nn.compact
    def __call__(self, video):
        x = nn.Conv(self.width, (2, 16, 16), (2, 16, 16), name="tubelets")(video)
        b, t, h, w, c = x.shape
        x = x.reshape(b, t, h * w, c)
        x = x + self.param("space_position", nn.initializers.normal(.02), (1, 1, h * w, c))
        x = x + self.param("time_position", nn.initializers.normal(.02), (1, t, 1, c))
        block = nn.remat(FactorizedBlock) if self.is_remat else FactorizedBlock
        for at in range(self.depth):
            x = block(self.width, name=f"block_{at}")(x)
        return nn.Dense(400, name="head")(nn.LayerNorm()(x).mean((1, 2)))


@changed("held-video", "Linen video transformer, attention along space and along time, AdamW, donated",
         {"half-batch": ("batch=0.5", {"rows": 8}), "remat": ("checkpoint=*", {"is_remat": True}),
          "half-frames": ("sequence=0.5@video:1", {"frames": 16}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def video(rows=16, frames=32, depth=8, is_remat=False):
    model, optimizer = VideoTransformer(depth, is_remat=is_remat), optax.adamw(1e-4)

    def loss(params, video, labels):
        return masked_loss(model.apply({"params": params}, video), labels)
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, frames, 224, 224, 3)))["params"])
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, frames, 224, 224, 3), i32(rows)), ROLES,
                 donate=(0, 1))


# Sampling with guidance: each step sees every latent twice, with its text and without it.

def in_blocks(q, k, v, **_):
    def block(q):
        return jax.nn.dot_product_attention(q[:, None], k, v)[:, 0]
    return jax.lax.map(block, q.swapaxes(0, 1), batch_size=128).swapaxes(0, 1)


class GuidedBlock(nnx.Module):
    def __init__(self, width, rngs, attention):
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(16, width, decode=False, attention_fn=attention, rngs=rngs)
        self.text = nnx.MultiHeadAttention(16, width, in_kv_features=width, decode=False, rngs=rngs)
        self.up, self.down = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x, text):
        x = x + self.attention(self.norm(x))
        x = x + self.text(self.norm(x), text)
        return x + self.down(nnx.gelu(self.up(self.norm(x))))


class Guided(nnx.Module):
    def __init__(self, width, depth, rngs, attention=nnx.dot_product_attention):
        self.enter, self.leave = nnx.Linear(16, width, rngs=rngs), nnx.Linear(width, 16, rngs=rngs)
        self.time = nnx.Linear(256, width, rngs=rngs)
        self.blocks = nnx.List([GuidedBlock(width, rngs, attention) for _ in range(depth)])

    def __call__(self, latents, time, text):
        angles = time * jnp.exp(-jnp.arange(128) / 128 * 9.2)
        x = self.enter(latents) + self.time(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)]))
        for block in self.blocks:
            x = block(x, text)
        return self.leave(x)


@changed("held-guided", "NNX diffusion transformer samples with guidance: the batch is doubled, steps in a scan",
         {"half-batch": ("batch=0.5", {"rows": 2}), "half-latents": ("sequence=0.5@latents:1", {"tokens": 2304}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "apart": ("advice=parts", {"is_apart": True}),
          "blocks": ("without=attention_scores", {"is_in_blocks": True})})
def guided(rows=4, tokens=4608, width=1024, depth=6, steps=30, is_apart=False, is_in_blocks=False):
    attention = in_blocks if is_in_blocks else nnx.dot_product_attention
    graph, weights = nnx.split(nnx.eval_shape(lambda: Guided(width, depth, nnx.Rngs(0), attention)))

    def sample(weights, latents, text, no_text):
        def one(x, time):
            model = nnx.merge(graph, weights)
            if is_apart:
                both = jax.lax.map(lambda words: model(x, time, words), jnp.stack([text, no_text]))
                told, free = both[0], both[1]
            else:
                both = model(jnp.concatenate([x, x]), time, jnp.concatenate([text, no_text]))
                told, free = jnp.split(both, 2)
            return (x - (free + 7.5 * (told - free)) / steps).astype(x.dtype), None
        return jax.lax.scan(one, latents, jnp.linspace(1, 0, steps))[0]
    words = f32(rows, 128, width)
    return Built(sample, (weights, f32(rows, tokens, 16), words, words), ROLES)


# Weather: blocks of convolutions on a globe, rolled out for some days, the loss over all of them.

def weather_block(p, x):
    y = jnp.pad(rms(x), ((0, 0), (0, 0), (2, 2), (0, 0)), mode="wrap")
    y = jnp.pad(y, ((0, 0), (2, 2), (0, 0), (0, 0)), mode="edge")
    y = jax.lax.conv_general_dilated(y, p["depthwise"], (1, 1), "VALID", feature_group_count=x.shape[-1],
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return x + jax.nn.gelu(y @ p["up"]) @ p["down"]


@changed("held-weather", "a learned forecast on a globe, rolled out in a scan with the loss of each day, AdamW",
         {"half-batch": ("batch=0.5@state:0", {"rows": 1}), "remat": ("checkpoint=*", {"is_remat": True}),
          "remat-blocks": ("advice=checkpoint", {"is_remat_of_blocks": True}),
          "half-days": ("sequence=0.5@forecast:0", {"days": 4})})
def weather(rows=2, days=8, width=256, depth=6, is_remat=False, is_remat_of_blocks=False):
    block = jax.checkpoint(weather_block) if is_remat_of_blocks else weather_block
    optimizer = optax.adamw(1e-4)

    def loss(params, state, static, forecast):
        def day(state, wanted):
            x = jnp.concatenate([state, jnp.broadcast_to(static, (*state.shape[:3], static.shape[-1]))], -1)
            x = x @ params["enter"]
            for p in params["blocks"]:
                x = block(p, x)
            state = state + x @ params["leave"]
            return state, jnp.square(state - wanted).mean()
        day = jax.checkpoint(day) if is_remat else day
        return jax.lax.scan(day, state, forecast)[1].mean()
    params = {"enter": f32(80 + 8, width), "leave": f32(width, 80),
              "blocks": [{"depthwise": f32(5, 5, 1, width), "up": f32(width, 2 * width), "down": f32(2 * width, width)}
                         for _ in range(depth)]}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, 96, 192, 80), f32(96, 192, 8),
                  f32(days, rows, 96, 192, 80)), ROLES, donate=(0, 1))


# A Kalman filter with a smoother: the covariances of all moments are kept, nobody but the smoother reads them.

@changed("held-kalman", "a Kalman filter and its smoother over a long series, many at once by vmap",
         {"half-series": ("batch=0.5", {"series": 96}), "half-moments": ("sequence=0.5@seen:1", {"moments": 1024}),
          "one-by-one": ("advice=parts", {"is_mapped": True})})
def kalman(series=192, moments=2048, size=64, is_mapped=False):
    def smooth(moving, noise, looking, seen):
        def forward(carry, y):
            mean, cov = carry
            mean, cov = moving @ mean, moving @ cov @ moving.T + noise
            spread = looking @ cov @ looking.T + jnp.eye(seen.shape[-1])
            gain = jnp.linalg.solve(spread, looking @ cov).T
            fresh = (mean + gain @ (y - looking @ mean), cov - gain @ looking @ cov)
            return fresh, (mean, cov, *fresh)
        begin = (jnp.zeros(size), jnp.eye(size))
        _, kept = jax.lax.scan(forward, begin, seen)

        def backward(carry, now):
            mean, cov = carry
            ahead, ahead_cov, here, here_cov = now
            gain = jnp.linalg.solve(ahead_cov, moving @ here_cov).T
            fresh = (here + gain @ (mean - ahead), here_cov + gain @ (cov - ahead_cov) @ gain.T)
            return fresh, fresh[0]
        return jax.lax.scan(backward, (kept[2][-1], kept[3][-1]), kept, reverse=True)[1]

    def smooth_all(moving, noise, looking, seen):
        def one(part):
            return smooth(part[0], noise, looking, part[1])
        return jax.lax.map(one, (moving, seen)) if is_mapped else jax.vmap(one)((moving, seen))
    return Built(smooth_all, (f32(series, size, size), f32(size, size), f32(8, size), f32(series, moments, 8)), ROLES)
