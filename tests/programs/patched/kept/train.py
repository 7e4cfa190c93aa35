# SPDX-License-Identifier: Apache-2.0
from jax import jit, grad, nn, numpy as np, ShapeDtypeStruct, eval_shape
import optax

tx = optax.adam(1e-3)

def layer(p, x):
    return x + nn.relu(x @ p["w1"]) @ p["w2"]

def loss(params, x):
    for p in params: x = layer(p, x)
    return np.square(x).mean()

def train(params, opt_state, x):
    updates, opt_state = tx.update(grad(loss)(params, x), opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state

step = jit(train, donate_argnums=(0,), keep_unused=True)  # (0,) only

def args():
    f = lambda *s: ShapeDtypeStruct(s, np.float32)
    p = [{"w1": f(512, 2048), "w2": f(2048, 512)} for _ in range(6)]
    return p, eval_shape(tx.init, p), f(8192, 512)
