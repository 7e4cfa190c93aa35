# SPDX-License-Identifier: Apache-2.0
"""Equinox and Haiku: an encoder with a decoder, a state space model, recurrent nets, a mixture of experts, two
towers."""
import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from catalog import Built, f32, i32, program
from signs import live, not_aliased, padding, unknown

ROLES = [(r"(count|step)$", "optimizer_state", "other"), (r"^(opt|trace|moments)\b", "optimizer_state"),
         (r"^(model|net|theta|towers|params)\b", "parameter"),
         (r"^(key|rng)", "rng"), (".", "batch")]


def arrays(make):
    return eqx.filter(eqx.filter_eval_shape(make, jax.random.key(0)),
                      lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))


def rest(make):
    return eqx.filter(eqx.filter_eval_shape(make, jax.random.key(0)),
                      lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct), inverse=True)


class Layer(eqx.Module):
    own: eqx.nn.MultiheadAttention
    other: eqx.nn.MultiheadAttention | None
    wide: eqx.nn.Linear
    narrow: eqx.nn.Linear
    norm: eqx.nn.LayerNorm

    def __init__(self, width, has_other, key):
        a, b, c, d = jax.random.split(key, 4)
        self.own = eqx.nn.MultiheadAttention(8, width, key=a)
        self.other = eqx.nn.MultiheadAttention(8, width, key=b) if has_other else None
        self.wide, self.narrow = eqx.nn.Linear(width, 4 * width, key=c), eqx.nn.Linear(4 * width, width, key=d)
        self.norm = eqx.nn.LayerNorm(width)

    def __call__(self, x, seen=None):
        y = jax.vmap(self.norm)(x)
        x = x + self.own(y, y, y, mask=None if seen is None else jnp.tril(jnp.ones((len(x), len(x)), bool)))
        if self.other is not None:
            x = x + self.other(jax.vmap(self.norm)(x), seen, seen)
        return x + jax.vmap(self.narrow)(jax.nn.gelu(jax.vmap(self.wide)(jax.vmap(self.norm)(x))))


class Translator(eqx.Module):
    table: eqx.nn.Embedding
    encoder: list
    decoder: list
    out: eqx.nn.Linear

    def __init__(self, depth, key):
        keys = jax.random.split(key, 2 * depth + 2)
        self.table = eqx.nn.Embedding(16128, 512, key=keys[0])
        self.encoder = [Layer(512, False, keys[2 + at]) for at in range(depth)]
        self.decoder = [Layer(512, True, keys[2 + depth + at]) for at in range(depth)]
        self.out = eqx.nn.Linear(512, 16128, key=keys[1])

    def __call__(self, source, target):
        x, y = jax.vmap(self.table)(source), jax.vmap(self.table)(target)
        for layer in self.encoder:
            x = layer(x)
        for layer in self.decoder:
            y = layer(y, x)
        return jax.vmap(self.out)(y)


PAIRS = live((16, 16128, 384))


@program("eqx-translator", "encoder and decoder, Adam, not donated",
         has={"logits": PAIRS, "no_donation": not_aliased(),
              "attention_scores": live((16, 8, 384, 384), (16, 8, 512, 512), (16, 8, 384, 512))})
@program("eqx-translator-donated", "the same, donated", donate=(0, 1), has={"logits": PAIRS},
         lacks={"no_donation": not_aliased()})
@program("eqx-translator-deeper", "the same with one more layer on both sides",
         change=("eqx-translator-donated", "one more layer on both sides"), donate=(0, 1), depth=4,
         has={"logits": PAIRS})
@program("eqx-translator-half", "the same with half the batch", change=("eqx-translator-donated", "half the batch"),
         donate=(0, 1), rows=8)
@program("eqx-translator-clipped", "the same, clipped by the norm of all gradients", donate=(0, 1), is_clipped=True,
         rows=2,
         has={"all_gradients": live((2048, 512), (16128, 512), (512, 512))})
@program("eqx-translator-clipped-not", "the same without that norm, with SGD: a gradient goes as it comes",
         donate=(0, 1), is_clipped=False, rows=2,
         lacks={"all_gradients": live((2048, 512), (512, 512), least=0.1)})
def translator(donate=(), depth=3, rows=16, is_clipped=None):
    make = lambda key: Translator(depth, key)  # noqa: E731
    model, static = arrays(make), rest(make)
    optimizer = {None: optax.adam(1e-3), True: optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1)),
                 False: optax.sgd(0.1)}[is_clipped]

    def fit(model, opt, source, target):
        def loss(model):
            logits = jax.vmap(eqx.combine(model, static))(source, target[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, target[:, 1:]).mean()
        value, grads = jax.value_and_grad(loss)(model)
        updates, opt = optimizer.update(grads, opt, model)
        return eqx.apply_updates(model, updates), opt, value
    return Built(fit, (model, jax.eval_shape(optimizer.init, model), i32(rows, 512), i32(rows, 385)), ROLES,
                 donate=donate, grads=model)


class Selective(eqx.Module):
    into: jax.Array
    rates: jax.Array
    gates: jax.Array
    outof: jax.Array

    def __init__(self, width, states, key):
        self.into, self.outof = jax.random.normal(key, (width, 4 * width)), jax.random.normal(key, (2 * width, width))
        self.rates, self.gates = jax.random.normal(key, (2 * width, states)), jax.random.normal(key,
                (2 * width, 2 * states + 1))

    def __call__(self, x):
        u, z = jnp.split(x @ self.into, 2, -1)
        b, c, step = jnp.split(u @ self.gates, [self.rates.shape[1], 2 * self.rates.shape[1]], -1)
        step = jax.nn.softplus(step)
        decay = jnp.exp(-step[..., None] * jax.nn.softplus(self.rates))
        added = (step * u)[..., None] * b[..., None, :]
        _, h = jax.lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (decay, added), axis=1)
        return x + ((h * c[..., None, :]).sum(-1) * jax.nn.silu(z)) @ self.outof


@program("eqx-mamba", "selective scans: the states of every position are kept",
         has={"saved_activations": live((4, 512, 1024, 16), least=0.25)})
@program("eqx-mamba-remat", "the same, each layer recomputed", is_remat=True,
         lacks={"attention_scores": unknown(), "no_donation": not_aliased()})
def mamba(is_remat=False):
    make = lambda key: [Selective(512, 16, one) for one in jax.random.split(key, 4)]  # noqa: E731
    model = arrays(make)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(mu_dtype=jnp.bfloat16),
                            optax.scale(-1e-3))

    def learn(model, opt, series):
        def loss(model):
            x = series[:, :-1]
            for layer in model:
                x = (jax.checkpoint(type(layer).__call__) if is_remat else type(layer).__call__)(layer, x)
            return jnp.square(x - series[:, 1:]).mean()
        updates, opt = optimizer.update(jax.grad(loss)(model), opt, model)
        return eqx.apply_updates(model, updates), opt
    return Built(learn, (model, jax.eval_shape(optimizer.init, model), f32(4, 513, 512)), ROLES, donate=(0, 1),
                 grads=model)


def recurrent(tokens):
    x = hk.Embed(10112, 1024)(tokens)
    core = hk.DeepRNN([hk.LSTM(1024), hk.GRU(1024)])
    out, _ = hk.dynamic_unroll(core, x, core.initial_state(x.shape[0]), time_major=False)
    return hk.Linear(10112)(out)


def experts(tokens):
    """each position to the best two of eight nets, by a sum over places in a queue"""
    x = hk.Embed(10112, 512)(tokens)
    for at in range(3):
        with hk.experimental.name_scope(f"layer_{at}"):
            score = jax.nn.softmax(hk.Linear(8, name="router")(x))
            best, which = jax.lax.top_k(score, 2)
            chosen = jax.nn.one_hot(which, 8) * best[..., None]
            place = jnp.cumsum(jax.nn.one_hot(which[..., 0], 8), 1)
            sent = jax.nn.one_hot(place, 256) * chosen.sum(2)[..., None]
            inner = jnp.einsum("bsec,bsd->ebcd", sent, x)
            up = hk.get_parameter("expert_up", (8, 512, 2048), init=hk.initializers.VarianceScaling())
            down = hk.get_parameter("expert_down", (8, 2048, 512), init=hk.initializers.VarianceScaling())
            inner = jnp.einsum("ebcf,efd->ebcd", jax.nn.relu(jnp.einsum("ebcd,edf->ebcf", inner, up)), down)
            x = x + jnp.einsum("bsec,ebcd->bsd", sent, inner)
    return hk.Linear(10112, with_bias=False)(hk.LayerNorm(-1, True, True)(x))


@program("haiku-lstm", "an LSTM and a GRU unrolled over 256 steps by a scan, RMSprop",
         has={"logits": live((32, 256, 10112)), "scan_residuals": live((256, 32, 1024), (256, 32, 4096))})
@program("haiku-moe", "a mixture of eight experts, SGD with momentum", net=experts, rows=(8, 1024), optimizer="sgd",
         has={"logits": live((8, 1024, 10112))},
         lacks={"scan_residuals": unknown(), "gradient_accumulator": unknown()})
@program("haiku-moe-microbatches", "the same, four microbatches in a scan", net=experts, rows=(8, 1024),
         optimizer="sgd", parts=4,
         has={"gradient_accumulator": live((8, 512, 2048), (8, 2048, 512))})
def language(net=recurrent, rows=(32, 256), optimizer="rmsprop", parts=1):
    model = hk.without_apply_rng(hk.transform(net))
    optimizer = {"rmsprop": optax.rmsprop(1e-3), "sgd": optax.sgd(0.1, momentum=0.9)}[optimizer]

    def step(theta, opt, text):
        def loss(theta, text):
            return optax.softmax_cross_entropy_with_integer_labels(model.apply(theta, text[:, :-1]), text[:, 1:]).mean()
        if parts == 1:
            grads = jax.grad(loss)(theta, text)
        else:
            split = text.reshape(parts, -1, text.shape[1])
            grads, _ = jax.lax.scan(lambda total,
                                    part: (jax.tree.map(jnp.add, total, jax.grad(loss)(theta, part)), None),
                                    jax.tree.map(jnp.zeros_like, theta), split)
        updates, opt = optimizer.update(grads, opt)
        return optax.apply_updates(theta, updates), opt
    theta = jax.eval_shape(model.init, jax.random.key(0), i32(*rows))
    return Built(step, (theta, jax.eval_shape(optimizer.init, theta), i32(rows[0], rows[1] + 1)), ROLES, donate=(0, 1),
                 grads=theta)


@program("haiku-two-towers", "texts against pictures, each with each; the scale is learned",
         lacks={"no_donation": not_aliased(), "attention_scores": unknown()})
def towers():
    def tower(name, wide):
        return hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([wide, wide, 512], name=name)(x)))
    text, picture = tower("text", 2048), tower("picture", 4096)
    optimizer = optax.novograd(1e-3)

    def contrast(towers, moments, words, pixels):
        def loss(towers):
            a, b = text.apply(towers["text"], words), picture.apply(towers["picture"], pixels)
            a, b = (x / jnp.linalg.norm(x, axis=-1, keepdims=True) for x in (a, b))
            match = jnp.exp(towers["scale"]) * a @ b.T
            same = jnp.arange(len(a))
            pick = optax.softmax_cross_entropy_with_integer_labels
            return (pick(match, same) + pick(match.T, same)).mean()
        updates, moments = optimizer.update(jax.grad(loss)(towers), moments, towers)
        return optax.apply_updates(towers, updates), moments
    net = {"text": jax.eval_shape(text.init, jax.random.key(0), f32(1, 768)),
           "picture": jax.eval_shape(picture.init, jax.random.key(0), f32(1, 3072)), "scale": f32()}
    return Built(contrast, (net, jax.eval_shape(optimizer.init, net), f32(8192, 768), f32(8192, 3072)), ROLES,
                 donate=(0, 1), grads=net)


@program("qubits-narrow", "a quantum state as one dimension of four for each pair of qubits: padded to whole tiles",
         has={"padding": padding()})
@program("qubits-flat", "the same state, 512 by 512 for each of the batch", is_flat=True, lacks={"padding": padding()})
def qubits(is_flat=False):
    def circuit(params, state):
        if is_flat:
            return jnp.einsum("ia,rab,jb->rij", params[0], state, params[1]) * jnp.tanh(params.sum())
        for at in range(9):
            state = jnp.moveaxis(jnp.tensordot(params[at], state, [[1], [at + 1]]), 0,
                                 at + 1) * jnp.tanh(params[at].sum())
        return state
    return Built(circuit, (f32(2, 512, 512), f32(16, 512, 512)) if is_flat else (f32(9, 4, 4), f32(16, *[4] * 9)),
                 ROLES)
