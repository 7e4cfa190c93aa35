# SPDX-License-Identifier: Apache-2.0
"""Flax NNX: states split off their graphs, with optimizers that are not Adam."""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from catalog import Built, f32, i32, key, program
from signs import argument, live, not_aliased, unknown

ROLES = [(r"^(opt|averages)\b.*(count|step)s?(\.value)?$", "optimizer_state", "other"),
         (r"^opt\b.*acc_grads", "optimizer_state", "gradient"),
         (r"\.slow\b", "optimizer_state", "parameter"), (r"^opt\b", "optimizer_state"),
         (r"^(state|base|lora|teacher)\b", "parameter"),
         (r"^noise", "rng"), (".", "batch")]


class Block(nnx.Module):
    def __init__(self, width, heads, rngs):
        self.attention = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs)
        self.norms = nnx.List([nnx.RMSNorm(width, rngs=rngs), nnx.RMSNorm(width, rngs=rngs)])
        self.up = nnx.Linear(width, 3 * width, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(3 * width, width, use_bias=False, rngs=rngs)

    def __call__(self, x, mask):
        x = x + self.attention(self.norms[0](x), mask=mask)
        return x + self.down(jax.nn.silu(self.up(self.norms[1](x))))


class Decoder(nnx.Module):
    def __init__(self, vocab, width, heads, depth, rngs):
        self.embed = nnx.Embed(vocab, width, rngs=rngs)
        self.blocks = nnx.List([Block(width, heads, rngs) for _ in range(depth)])

    def __call__(self, tokens):
        x, mask = self.embed(tokens), nnx.make_causal_mask(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return self.embed.attend(x)


def split(make):
    """(how to call it with its parameters, shapes of these)"""
    graph, state = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))))
    return lambda state, *args: nnx.merge(graph, state)(*args), state


VOCAB = 50304
LOGITS = live((4, 1024, VOCAB))


@program("nnx-gpt-adafactor", "NNX decoder with a tied table, factored moments", has={"logits": LOGITS},
         lacks={"no_donation": not_aliased()})
@program("nnx-gpt-lion", "the same with Lion: one moment", optimizer="lion", has={"logits": LOGITS},
         lacks={"gradient_accumulator": unknown()})
@program("nnx-gpt-lookahead", "the same with SGD and slow weights beside the fast ones", optimizer="lookahead",
         has={"logits": LOGITS})
@program("nnx-gpt-multisteps", "the same with Adam after every fourth call: gradients are kept in the state",
         optimizer="multisteps",
         has={"gradient_accumulator": argument((VOCAB, 768), path="acc_grads")})
def gpt(optimizer="adafactor"):
    made = {"adafactor": lambda: optax.adafactor(1e-3), "lion": lambda: optax.lion(1e-4),
            "lookahead": lambda: optax.lookahead(optax.sgd(0.1, momentum=0.9), 6, 0.5),
            "multisteps": lambda: optax.MultiSteps(optax.adam(1e-3),
                                                   every_k_schedule=4).gradient_transformation()}[optimizer]()
    call, state = split(lambda rngs: Decoder(VOCAB, 768, 12, 4, rngs))

    def train(state, opt, tokens):
        def loss(state):
            return optax.softmax_cross_entropy_with_integer_labels(call(state, tokens[:, :-1]), tokens[:, 1:]).mean()
        value, grads = jax.value_and_grad(loss)(state.fast if optimizer == "lookahead" else state)
        updates, opt = made.update(grads, opt, state)
        return optax.apply_updates(state, updates), opt, value
    if optimizer == "lookahead":
        state = optax.LookaheadParams(fast=state, slow=state)
    return Built(train, (state, jax.eval_shape(made.init, state), i32(4, 1025)), ROLES, donate=(0, 1),
                 grads=state.fast if optimizer == "lookahead" else state)


class Coder(nnx.Module):
    def __init__(self, rngs):
        widths = (784, 4096, 2048)
        self.read = nnx.List([nnx.Linear(a, b, rngs=rngs) for a, b in zip(widths, widths[1:], strict=False)])
        self.mean, self.spread = nnx.Linear(2048, 128, rngs=rngs), nnx.Linear(2048, 128, rngs=rngs)
        back = (128, 2048, 4096, 784)
        self.write = nnx.List([nnx.Linear(a, b, rngs=rngs) for a, b in zip(back, back[1:], strict=False)])

    def __call__(self, x, noise):
        for layer in self.read:
            x = nnx.gelu(layer(x))
        mean, spread = self.mean(x), self.spread(x)
        x = mean + jnp.exp(0.5 * spread) * noise
        for layer in self.write[:-1]:
            x = nnx.gelu(layer(x))
        return self.write[-1](x), mean, spread


@program("nnx-vae", "a variational autoencoder with RMSprop and averaged weights",
         lacks={"logits": unknown(), "attention_scores": unknown()})
def autoencoder():
    call, state = split(Coder)
    optimizer = optax.rmsprop(1e-3, momentum=0.9)
    average = optax.ema(0.999)

    def improve(state, opt, averages, x, noise):
        def loss(state):
            normal = jax.random.normal(jax.random.wrap_key_data(noise), (x.shape[0], 128))
            out, mean, spread = call(state, x, normal)
            kl = -0.5 * (1 + spread - mean ** 2 - jnp.exp(spread)).sum(-1)
            return (optax.sigmoid_binary_cross_entropy(out, x).sum(-1) + kl).mean()
        updates, opt = optimizer.update(jax.grad(loss)(state), opt, state)
        state = optax.apply_updates(state, updates)
        return state, opt, average.update(state, averages)[1]
    return Built(improve,
                 (state, jax.eval_shape(optimizer.init, state), jax.eval_shape(average.init, state), f32(4096, 784),
                  key()),
                 [(r"^averages\b.*count", "optimizer_state", "other"), ("^averages", "optimizer_state", "parameter"),
                  *ROLES], donate=(0, 1, 2), grads=state)


@program("nnx-lora", "adapters of rank 8 on a frozen decoder; only they are trained",
         lacks={"gradient_accumulator": unknown(), "all_gradients": unknown()})
def lora():
    call, base = split(lambda rngs: Decoder(VOCAB, 1024, 8, 6, rngs))
    optimizer = optax.adamw(1e-4)
    adapted = {f"{at}.{name}": {"a": f32(a, 8), "b": f32(8, b)} for at in range(6) for name, a,
               b in (("up", 1024, 3072), ("down", 3072, 1024))}

    def tune(base, lora, opt, tokens, weights):
        def loss(lora):
            merged = jax.tree.map(lambda leaf: leaf, base)
            for name, pair in lora.items():
                at, layer = name.split(".")
                kernel = merged["blocks"][int(at)][layer]["kernel"]
                kernel.set_value(kernel.get_value() + pair["a"] @ pair["b"])
            out = jax.checkpoint(call)(merged, tokens[:, :-1])
            return (optax.softmax_cross_entropy_with_integer_labels(out, tokens[:, 1:]) * weights).mean()
        updates, opt = optimizer.update(jax.grad(loss)(lora), opt, lora)
        return optax.apply_updates(lora, updates), opt
    return Built(tune, (base, adapted, jax.eval_shape(optimizer.init, adapted), i32(4, 1025), f32(4, 1024)), ROLES,
                 donate=(1, 2), grads=adapted)


@program("nnx-distill", "a small decoder learns from a frozen large one", has={"logits": live((2, 1024, VOCAB))})
def distill():
    small, state = split(lambda rngs: Decoder(VOCAB, 512, 8, 3, rngs))
    large, teacher = split(lambda rngs: Decoder(VOCAB, 1024, 8, 6, rngs))
    optimizer = optax.adagrad(1e-2)

    def learn(state, opt, teacher, tokens):
        wanted = jax.nn.softmax(large(teacher, tokens) / 2)
        grads = jax.grad(lambda state: optax.softmax_cross_entropy(small(state, tokens) / 2, wanted).mean())(state)
        updates, opt = optimizer.update(grads, opt, state)
        return optax.apply_updates(state, updates), opt
    return Built(learn, (state, jax.eval_shape(optimizer.init, state), teacher, i32(2, 1024)), ROLES, donate=(0, 1),
                 grads=state)
