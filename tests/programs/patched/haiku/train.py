# SPDX-License-Identifier: Apache-2.0
import haiku as hk
import jax
import jax.numpy as jnp
import optax


def block(x):
    h = hk.LayerNorm(-1, True, True)(x)
    h = jax.nn.gelu(hk.Linear(2048)(h))
    return x + hk.Linear(512)(h)


def forward(x):
    x = hk.Linear(512)(x)
    for _ in range(6):
        x = block(x)
    return hk.Linear(64)(x)


net = hk.without_apply_rng(hk.transform(forward))
tx = optax.adam(1e-3)


def loss_fn(params, x, y):
    return jnp.square(net.apply(params, x) - y).mean()


def train_step(params, opt_state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


step = jax.jit(train_step, donate_argnums=0)


def args():
    x = jax.ShapeDtypeStruct((16, 1024, 64), jnp.float32)
    params = jax.eval_shape(lambda: net.init(jax.random.key(0), jnp.zeros((1, 8, 64))))
    return params, jax.eval_shape(tx.init, params), x, x
