# SPDX-License-Identifier: Apache-2.0
"""A small language model, plain JAX."""
import functools
import jax
import jax.numpy as jnp
import optax

WIDTH, LAYERS = 512, 6


def norm(x):
    return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5)


def block(p, x):
    q, k, v = jnp.split(norm(x) @ p["qkv"], 3, -1)
    scores = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) / WIDTH ** .5, -1)
    x = x + jnp.einsum("bqk,bkd->bqd", scores, v) @ p["out"]
    return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


def loss_fn(params, tokens):
    x = params["embed"][tokens[:, :-1]]
    for layer in params["layers"]:
        x = block(layer, x)
    logits = jax.nn.log_softmax(norm(x) @ params["embed"].T)
    return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()


tx = optax.adamw(1e-4)


@jax.jit
def train_step(params, opt_state, tokens):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def init():
    def f(*s):
        return jnp.zeros(s, jnp.float32)
    layer = {"qkv": f(WIDTH, 3 * WIDTH), "out": f(WIDTH, WIDTH), "up": f(WIDTH, 4 * WIDTH), "down": f(4 * WIDTH, WIDTH)}
    return {"embed": f(8192, WIDTH), "layers": [dict(layer) for _ in range(LAYERS)]}


def args():
    params = jax.eval_shape(init)
    return params, jax.eval_shape(tx.init, params), jax.ShapeDtypeStruct((16, 513), jnp.int32)


step = train_step
