"""Adam whose new state is made beside the old one."""
import jax
import jax.numpy as jnp
import numpy as np

import limit


@jax.jit
def update(state, grad):
    params, mu, nu = state
    mu = 0.9 * mu + 0.1 * grad
    nu = 0.99 * nu + 0.01 * grad ** 2
    return params - 0.01 * mu / (jnp.sqrt(nu) + 1e-8), mu, nu


state = tuple(jax.device_put(np.full((8192, 8192), 0.1, np.float32)) for _ in range(3))
jax.block_until_ready(state)
limit.more(700 << 20)
for step in range(2):
    grad = jax.device_put(np.full((8192, 8192), step, np.float32))
    state = update(state, grad)
    print("step", step, float(state[0][0, 0]), flush=True)
