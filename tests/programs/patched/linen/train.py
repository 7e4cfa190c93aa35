# SPDX-License-Identifier: Apache-2.0
import jax, jax.numpy as jnp
import flax.linen as nn
import optax
from flax.training import train_state


class Block(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        y = nn.SelfAttention(num_heads=8, qkv_features=self.features)(y)
        x = x + y
        y = nn.LayerNorm()(x)
        y = nn.Dense(4 * self.features)(y)
        y = nn.gelu(y)
        return x + nn.Dense(self.features)(y)


class Model(nn.Module):
    depth: int = 6

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(4096, 512)(tokens)
        for _ in range(self.depth):
            x = Block(512)(x)
        return nn.Dense(4096)(x)


model = Model()


def train_step(state, tokens):
    def loss(params):
        logits = state.apply_fn({"params": params}, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()
    grads = jax.grad(loss)(state.params)
    return state.apply_gradients(grads=grads)


step = jax.jit(train_step)


def args():
    def make():
        params = model.init(jax.random.key(0), jnp.zeros((1, 8), jnp.int32))["params"]
        return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
    return jax.eval_shape(make), jax.ShapeDtypeStruct((8, 513), jnp.int32)
