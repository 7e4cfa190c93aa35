# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import optax
from pkg import model

def train_step(state, batch):
    """state is (params, opt_state)."""
    params, opt_state = state
    def loss(p):
        return jnp.square(model.forward(p, batch)).mean()
    value, grads = jax.value_and_grad(loss)(params)
    updates, opt_state = make_optimizer().update(grads, opt_state, params)
    return (optax.apply_updates(params, updates), opt_state), value

def make_optimizer(learning_rate=1e-3):
    return optax.adamw(learning_rate, weight_decay=0.1, )

step = jax.jit(train_step)

def args():
    f = lambda *s: jax.ShapeDtypeStruct(s, jnp.float32)
    p = {"layers": [{"qkv": f(512, 1536), "out": f(512, 512), "up": f(512, 2048), "down": f(2048, 512)}
                    for _ in range(6)]}
    return (p, jax.eval_shape(make_optimizer().init, p)), f(8, 512, 512)
