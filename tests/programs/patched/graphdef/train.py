# SPDX-License-Identifier: Apache-2.0
from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class MlpMixer(nnx.Module):
    def __init__(self, dim, tokens, rngs):
        self.ln1 = nnx.LayerNorm(dim, rngs=rngs)
        self.ln2 = nnx.LayerNorm(dim, rngs=rngs)
        self.mix1 = nnx.Linear(tokens, 2 * tokens, rngs=rngs)
        self.mix2 = nnx.Linear(2 * tokens, tokens, rngs=rngs)
        self.up = nnx.Linear(dim, 4 * dim, rngs=rngs)
        self.down = nnx.Linear(4 * dim, dim, rngs=rngs)

    def __call__(self, x):
        y = self.ln1(x).swapaxes(1, 2)
        x = x + self.mix2(nnx.gelu(self.mix1(y))).swapaxes(1, 2)
        return x + self.down(nnx.gelu(self.up(self.ln2(x))))


class Net(nnx.Module):
    def __init__(self, rngs):
        self.patch = nnx.Conv(3, 512, (16, 16), (16, 16), rngs=rngs)
        self.blocks = nnx.List([MlpMixer(512, 196, rngs) for _ in range(8)])
        self.head = nnx.Linear(512, 1000, rngs=rngs)

    def __call__(self, images):
        x = self.patch(images)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


tx = optax.adam(1e-3)


@partial(jax.jit, static_argnums=0)
def train_step(graphdef, state, opt_state, images, labels):
    def loss(state):
        logits = nnx.merge(graphdef, state)(images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    value, grads = jax.value_and_grad(loss)(state)
    updates, opt_state = tx.update(grads, opt_state, state)
    return optax.apply_updates(state, updates), opt_state, value


step = train_step


def args():
    graphdef, state = nnx.split(nnx.eval_shape(lambda: Net(nnx.Rngs(0))))
    return (graphdef, state, jax.eval_shape(tx.init, state), jax.ShapeDtypeStruct((64, 224, 224, 3), jnp.float32),
            jax.ShapeDtypeStruct((64,), jnp.int32))
