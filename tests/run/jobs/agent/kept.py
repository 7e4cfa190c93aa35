"""Each step keeps an array of which only a number is wanted."""
import jax
import jax.numpy as jnp

import limit


@jax.jit
def step(w, x):
    return jnp.tanh(x @ w)


w = jnp.full((1024, 4096), 0.01)
x = jnp.ones((4096, 1024))
jax.block_until_ready((w, x))
outputs = []
limit.more(600 << 20)
for at in range(60):
    outputs.append(step(w, x * at))
    jax.block_until_ready(outputs)
print("outputs", len(outputs), flush=True)
