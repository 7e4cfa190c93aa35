"""A deep network that keeps what each layer makes for its backward pass."""
import jax
import jax.numpy as jnp

import limit


def layer(x, w):
    return x + jnp.tanh(x @ w) * jax.nn.sigmoid(x)


def loss(params, x):
    for w in params:
        x = layer(x, w)
    return jnp.mean(x ** 2)


@jax.jit
def train_step(params, x):
    value, grads = jax.value_and_grad(loss)(params, x)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value


params = [jnp.full((256, 256), 0.01) for _ in range(12)]
x = jnp.ones((32768, 256))
jax.block_until_ready((params, x))
limit.more(700 << 20)
for step in range(2):
    params, value = train_step(params, x)
    print("loss", float(value), flush=True)
