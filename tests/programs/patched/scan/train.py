# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations
import jax
from functools import partial
from jax import lax, numpy as jnp
import optax

D, L = 768, 8

def body(x, p):
    """One layer, the body of the scan."""
    h = x - x.mean(-1, keepdims=True)
    h = jax.nn.gelu(h @ p['a'])  # [b, s, 4d]
    return x + h @ p['b'], None

def loss_fn(params, batch, scale):
    x = batch['x'] @ params['inp']
    x, _ = lax.scan(body, x, params['layers'])
    return scale * jnp.square(x @ params['out'] - batch['y']).mean()

optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.adam(
        learning_rate=3e-4,
        b1=0.9,  # first
    ),
)

@partial(
    jax.jit,
    static_argnames=('scale',),
)
def update(params, opt_state, batch, *, scale: float = 1.0):
    grads = jax.grad(loss_fn)(params, batch, scale)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state

def init():
    z = lambda *s: jnp.zeros(s)
    return {'inp': z(64, D), 'out': z(D, 64), 'layers': {'a': z(L, D, 4 * D), 'b': z(L, 4 * D, D)}}

def args():
    p = jax.eval_shape(init)
    s = jax.ShapeDtypeStruct((16, 1024, 64), jnp.float32)
    return p, jax.eval_shape(optimizer.init, p), {'x': s, 'y': s}

step = update
