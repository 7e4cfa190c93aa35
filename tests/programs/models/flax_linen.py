# SPDX-License-Identifier: Apache-2.0
"""Flax Linen with train states of its own kind: a residual net, a vision transformer, a U-Net for diffusion, a GAN, a
policy."""
import typing

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state

from catalog import Built, f32, i32, key, program
from signs import forward, live, not_aliased, unknown

STATE = [(r"\.params\b|\['params'\]", "parameter"), (r"batch_stats", "parameter", "other"),
         (r"\.(ema|average)\b", "optimizer_state", "parameter"),
         (r"\.(count|step)$", "optimizer_state", "other"), (r"opt_state|optimizer", "optimizer_state"),
         (r"^rng|^key|^dropout", "rng")]


class Residual(nn.Module):
    width: int
    stride: int = 1

    @nn.compact
    def __call__(self, x, train):
        norm = lambda: nn.BatchNorm(use_running_average=not train, momentum=0.9)  # noqa: E731
        y = nn.relu(norm()(nn.Conv(self.width, (1, 1), use_bias=False)(x)))
        y = nn.relu(norm()(nn.Conv(self.width, (3, 3), (self.stride, self.stride), use_bias=False)(y)))
        y = norm()(nn.Conv(4 * self.width, (1, 1), use_bias=False)(y))
        if x.shape != y.shape:
            x = norm()(nn.Conv(4 * self.width, (1, 1), (self.stride, self.stride), use_bias=False, name="shortcut")(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    sizes: tuple = (3, 4, 6, 3)
    is_remat: bool = False

    @nn.compact
    def __call__(self, image, train=True):
        x = nn.max_pool(nn.relu(nn.Conv(64, (7, 7), (2, 2))(image)), (3, 3), (2, 2), "SAME")
        block = nn.remat(Residual, static_argnums=(2,)) if self.is_remat else Residual
        for stage, count in enumerate(self.sizes):
            for at in range(count):
                x = block(64 * 2 ** stage, 2 if stage and not at else 1, name=f"stage{stage}_block{at}")(x, train)
        return nn.Dense(1000)(x.mean((1, 2)))


class ImageState(train_state.TrainState):
    batch_stats: typing.Any


@program("linen-resnet50", "ResNet-50 with batch statistics, SGD with momentum",
         has={"saved_activations": forward(0.4)}, lacks={"logits": unknown()})
@program("linen-resnet50-remat", "the same, blocks recomputed", change=("linen-resnet50", "blocks recomputed"),
         is_remat=True, lacks={"logits": unknown()})
def resnet(is_remat=False):
    model = ResNet(is_remat=is_remat)

    def train_step(state, batch):
        def loss(params):
            logits, new = model.apply({"params": params, "batch_stats": state.batch_stats}, batch["image"],
                                      mutable=["batch_stats"])
            return optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"]).mean(), new
        grads, new = jax.grad(loss, has_aux=True)(state.params)
        return state.apply_gradients(grads=grads).replace(batch_stats=new["batch_stats"])

    def fresh():
        variables = model.init(jax.random.key(0), jnp.zeros((1, 224, 224, 3)))
        return ImageState.create(apply_fn=model.apply, params=variables["params"],
                                 tx=optax.sgd(0.1, momentum=0.9, nesterov=True),
                                 batch_stats=variables["batch_stats"])
    state = jax.eval_shape(fresh)
    return Built(train_step, (state, {"image": f32(64, 224, 224, 3), "label": i32(64)}), [*STATE, ("^batch", "batch")],
                 donate=(0,),
                 grads=state.params)


class Encoder(nn.Module):
    heads: int
    called: str = "block"

    @nn.compact
    def __call__(self, x, is_trained):
        y = nn.LayerNorm(name="before")(x)
        x = x + nn.MultiHeadDotProductAttention(self.heads, dropout_rate=0.1, deterministic=not is_trained,
                                                name=f"{self.called}_mix")(y)
        y = nn.Dense(4 * x.shape[-1], name=f"{self.called}_up")(nn.LayerNorm(name="after")(x))
        return x + nn.Dropout(0.1,
                              deterministic=not is_trained)(nn.Dense(x.shape[-1],
                                                                     name=f"{self.called}_down")(nn.gelu(y)))


class VisionTransformer(nn.Module):
    depth: int = 8
    is_remat: bool = False
    called: str = "block"

    @nn.compact
    def __call__(self, pixels, is_trained=True):
        x = nn.Conv(768, (16, 16), (16, 16), name="patches")(pixels)
        x = x.reshape(x.shape[0], -1, 768)
        x = x + self.param("positions", nn.initializers.normal(0.02), (1, x.shape[1], 768))
        encoder = nn.remat(Encoder, static_argnums=(2,)) if self.is_remat else Encoder
        for at in range(self.depth):
            x = encoder(12, self.called, name=f"{self.called}_{at}")(x, is_trained)
        return nn.Dense(1000, name="classes")(nn.LayerNorm(name="last")(x).mean(1))


VIT_SCORES = (64, 12, 256, 256)


@program("linen-vit", "vision transformer with dropout, AdamW and a schedule",
         has={"attention_scores": live(VIT_SCORES), "saved_activations": forward(0.3)},
         lacks={"logits": live((64, 1000))})
@program("linen-vit-remat", "the same, each block recomputed", change=("linen-vit", "blocks recomputed"), is_remat=True,
         lacks={"saved_activations": forward(0.2)})
@program("linen-vit-deeper", "the same with one more block", change=("linen-vit", "one more block"), depth=9)
@program("linen-vit-half", "the same with half the batch", change=("linen-vit", "half the batch"), rows=32)
@program("linen-vit-renamed", "the same, its blocks named otherwise", change=("linen-vit", "scopes renamed"),
         called="unit")
def vit(is_remat=False, depth=8, rows=64, called="block"):
    model = VisionTransformer(depth, is_remat, called)
    optimizer = optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-3, 100, 10000), weight_decay=0.05)

    def fit(state, pixels, labels, dropout_key):
        def loss(params):
            out = model.apply({"params": params}, pixels, rngs={"dropout": jax.random.wrap_key_data(dropout_key)})
            return optax.softmax_cross_entropy(out, optax.smooth_labels(jax.nn.one_hot(labels, 1000), 0.1)).mean()
        value, grads = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=grads), value

    def fresh():
        params = model.init(jax.random.key(0), jnp.zeros((1, 256, 256, 3)), False)["params"]
        return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optimizer)
    state = jax.eval_shape(fresh)
    return Built(fit, (state, f32(rows, 256, 256, 3), i32(rows), key()), [*STATE, ("^(pixels|labels)", "batch")],
                 donate=(0,), grads=state.params)


class Down(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, moment):
        y = nn.Conv(self.width, (3, 3))(nn.swish(nn.GroupNorm(8)(x)))
        y = y + nn.Dense(self.width)(nn.swish(moment))[:, None, None]
        y = nn.Conv(self.width, (3, 3))(nn.swish(nn.GroupNorm(8)(y)))
        return y + (x if x.shape[-1] == self.width else nn.Conv(self.width, (1, 1))(x))


class UNet(nn.Module):
    widths: tuple = (64, 128, 256, 512)

    @nn.compact
    def __call__(self, noisy, when):
        angles = when[:, None] * jnp.exp(-jnp.arange(64) / 64 * 9.2)
        moment = nn.Dense(256)(nn.swish(nn.Dense(256)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))))
        x, kept = nn.Conv(64, (3, 3))(noisy), []
        for width in self.widths:
            x = Down(width, name=f"down{width}")(x, moment)
            kept.append(x)
            x = nn.avg_pool(x, (2, 2), (2, 2))
        b, h, w, c = x.shape
        x = x + nn.SelfAttention(8, name="middle")(nn.GroupNorm(8)(x).reshape(b, h * w, c)).reshape(x.shape)
        for width in reversed(self.widths):
            x = jax.image.resize(x, (b, 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), "nearest")
            x = Down(width, name=f"up{width}")(jnp.concatenate([x, kept.pop()], -1), moment)
        return nn.Conv(3, (3, 3))(x)


class Averaged(flax.struct.PyTreeNode):
    params: typing.Any
    ema: typing.Any
    opt_state: typing.Any
    step: typing.Any


@program("linen-diffusion-unet", "a denoiser with skips, Adam, averaged weights in the state",
         has={"saved_activations": forward(0.25)})
@program("linen-diffusion-unet-kept", "the same, not donated", donate=(), has={"no_donation": not_aliased()})
def diffusion(donate=(0,)):
    model, optimizer = UNet(), optax.adam(2e-4)

    def denoise_step(state, rng, batch):
        noise_key, time_key = jax.random.split(jax.random.wrap_key_data(rng))
        noise, when = jax.random.normal(noise_key, batch.shape), jax.random.uniform(time_key, batch.shape[:1])
        mixed = jnp.cos(when)[:, None, None, None] * batch + jnp.sin(when)[:, None, None, None] * noise
        loss, grads = jax.value_and_grad(lambda params: jnp.square(model.apply({"params": params}, mixed,
                when) - noise).mean())(state.params)
        updates, opt_state = optimizer.update(grads, state.opt_state)
        params = optax.apply_updates(state.params, updates)
        ema = optax.incremental_update(params, state.ema, 1e-3)
        return Averaged(params, ema, opt_state, state.step + 1), loss
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 64, 64, 3)), jnp.zeros(1))["params"])
    state = Averaged(params, params, jax.eval_shape(optimizer.init, params), i32())
    return Built(denoise_step, (state, key(), f32(64, 64, 64, 3)), [*STATE, ("^batch", "batch")], donate=donate,
                 grads=params)


class Generator(nn.Module):
    @nn.compact
    def __call__(self, z):
        x = nn.Dense(4 * 4 * 512)(z).reshape(-1, 4, 4, 512)
        for width in (512, 256, 128, 64):
            x = nn.relu(nn.LayerNorm()(nn.ConvTranspose(width, (4, 4), (2, 2))(x)))
        return nn.tanh(nn.Conv(3, (3, 3))(x))


class Critic(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (64, 128, 256, 512):
            x = nn.leaky_relu(nn.Conv(width, (4, 4), (2, 2))(x))
        return nn.Dense(1)(x.reshape(x.shape[0], -1))


@program("linen-gan", "a GAN step: two nets, two optimizers, one call",
         lacks={"no_donation": not_aliased(), "logits": unknown()})
def gan():
    maker, critic = Generator(), Critic()
    optimizer = optax.adam(2e-4, b1=0.5)

    def both(generator, discriminator, real, rng):
        z = jax.random.normal(jax.random.wrap_key_data(rng), (128, 128))

        def critic_loss(params):
            fake = maker.apply({"params": generator["params"]}, z)
            return (nn.softplus(critic.apply({"params": params}, fake)) + nn.softplus(-critic.apply({"params": params},
                    real))).mean()

        def maker_loss(params):
            return nn.softplus(-critic.apply({"params": discriminator["params"]},
                                             maker.apply({"params": params}, z))).mean()
        out = []
        for net, loss in ((generator, maker_loss), (discriminator, critic_loss)):
            updates, opt_state = optimizer.update(jax.grad(loss)(net["params"]), net["optimizer"])
            out.append({"params": optax.apply_updates(net["params"], updates), "optimizer": opt_state})
        return tuple(out)
    nets = [jax.eval_shape(lambda model=model, shape=shape: model.init(jax.random.key(0), jnp.zeros(shape))["params"])
            for model, shape in ((maker, (1, 128)), (critic, (1, 64, 64, 3)))]
    states = [{"params": net, "optimizer": jax.eval_shape(optimizer.init, net)} for net in nets]
    return Built(both, (*states, f32(128, 64, 64, 3), key()), [*STATE, ("^real", "batch")], donate=(0, 1), grads=nets)


class ActorCritic(nn.Module):
    @nn.compact
    def __call__(self, frames):
        x = frames.astype(jnp.float32) / 255
        for width, size, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
            x = nn.relu(nn.Conv(width, (size, size), (stride, stride), padding="VALID")(x))
        x = nn.relu(nn.Dense(512)(x.reshape(x.shape[0], -1)))
        return nn.Dense(18)(x), nn.Dense(1)(x)[:, 0]


@program("linen-ppo", "a PPO update: minibatches of a rollout in a scan, global norm clipped",
         lacks={"gradient_accumulator": unknown(), "logits": unknown()})
def ppo():
    model = ActorCritic()
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(2.5e-4))

    def update(agent, rollout):
        def loss(params, part):
            policy, value = model.apply({"params": params}, part["obs"])
            chosen = jnp.take_along_axis(jax.nn.log_softmax(policy), part["action"][:, None], 1)[:, 0]
            ratio = jnp.exp(chosen - part["logp"])
            gain = jnp.minimum(ratio * part["advantage"], jnp.clip(ratio, 0.9, 1.1) * part["advantage"])
            return -gain.mean() + 0.5 * jnp.square(value - part["returns"]).mean()

        def one(state, part):
            params, opt_state = state
            updates, opt_state = optimizer.update(jax.grad(loss)(params, part), opt_state)
            return (optax.apply_updates(params, updates), opt_state), None
        parts = jax.tree.map(lambda leaf: leaf.reshape(8, -1, *leaf.shape[1:]), rollout)
        (params, opt_state), _ = jax.lax.scan(one, (agent["params"], agent["opt_state"]), parts)
        return {"params": params, "opt_state": opt_state}
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 84, 84, 4)))["params"])
    rollout = {"obs": jax.ShapeDtypeStruct((4096, 84, 84, 4), jnp.uint8), "action": i32(4096), "logp": f32(4096),
               "advantage": f32(4096), "returns": f32(4096)}
    return Built(update, ({"params": params, "opt_state": jax.eval_shape(optimizer.init, params)}, rollout),
                 [*STATE, ("^rollout", "batch")],
                 donate=(0,), grads=params)
