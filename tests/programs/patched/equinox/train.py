# SPDX-License-Identifier: Apache-2.0
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Block(eqx.Module):
    up: eqx.nn.Linear
    down: eqx.nn.Linear

    def __init__(self, d, key):
        a, b = jax.random.split(key)
        self.up = eqx.nn.Linear(d, 4 * d, key=a)
        self.down = eqx.nn.Linear(4 * d, d, key=b)

    def __call__(self, x):
        return x + jax.vmap(self.down)(jax.nn.gelu(jax.vmap(self.up)(x)))


class Model(eqx.Module):
    inp: eqx.nn.Linear
    blocks: list

    def __init__(self, d, depth, key):
        keys = jax.random.split(key, depth + 1)
        self.inp = eqx.nn.Linear(64, d, key=keys[0])
        self.blocks = [Block(d, k) for k in keys[1:]]

    def __call__(self, x):
        x = jax.vmap(self.inp)(x)
        for block in self.blocks:
            x = block(x)
        return x


tx = optax.adam(1e-3)


def make():
    return eqx.filter(Model(512, 6, jax.random.key(0)), eqx.is_array)


static = eqx.partition(Model(512, 6, jax.random.key(0)), eqx.is_array)[1]


@jax.jit
def train_step(params, opt_state, x, y):
    def loss(params):
        model = eqx.combine(params, static)
        return jnp.square(jax.vmap(model)(x) - y).mean()
    grads = jax.grad(loss)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(params, updates), opt_state


step = train_step


def args():
    params = jax.eval_shape(make)
    x = jax.ShapeDtypeStruct((16, 1024, 64), jnp.float32)
    return params, jax.eval_shape(tx.init, params), x, jax.ShapeDtypeStruct((16, 1024, 512), jnp.float32)
