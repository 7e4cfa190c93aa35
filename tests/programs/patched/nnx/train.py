# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
from flax import nnx
import optax


class Block(nnx.Module):
    def __init__(self, d, *, rngs: nnx.Rngs):
        self.norm = nnx.LayerNorm(d, rngs=rngs)
        self.up = nnx.Linear(d, 4 * d, rngs=rngs)
        self.down = nnx.Linear(4 * d, d, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(self.norm(x))))


class Model(nnx.Module):
    def __init__(self, d, depth, *, rngs):
        self.inp = nnx.Linear(64, d, rngs=rngs)
        self.blocks = nnx.List([Block(d, rngs=rngs) for _ in range(depth)])
        self.out = nnx.Linear(d, 64, rngs=rngs)

    def __call__(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


tx = optax.adamw(1e-3)


def parts():
    model = Model(512, 6, rngs=nnx.Rngs(0))
    return nnx.split(model)


graph = nnx.split(nnx.eval_shape(lambda: Model(512, 6, rngs=nnx.Rngs(0))))[0]


@jax.jit
def train_step(params, opt_state, x, y):
    def loss(params):
        model = nnx.merge(graph, params)
        return jnp.square(model(x) - y).mean()
    grads = jax.grad(loss)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


step = train_step


def args():
    params = nnx.split(nnx.eval_shape(lambda: Model(512, 6, rngs=nnx.Rngs(0))))[1]
    x = jax.ShapeDtypeStruct((16, 1024, 64), jnp.float32)
    return params, jax.eval_shape(tx.init, params), x, x
