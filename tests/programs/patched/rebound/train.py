# SPDX-License-Identifier: Apache-2.0
import jax
import optax
from jax import lax, numpy as np

H = 768
opt = optax.adam(1e-3)


def lstm_cell(p, carry, x):
    h, c = carry
    i, f, g, o = np.split(x @ p["wx"] + h @ p["wh"] + p["b"], 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * np.tanh(g)
    h = jax.nn.sigmoid(o) * np.tanh(c)
    return (h, c), h


def model(params, xs):
    for p in params["cells"]:
        z = np.zeros((xs.shape[1], H))
        _, xs = lax.scan(lambda carry, x: lstm_cell(p, carry, x), (z, z), xs)
    return xs @ params["out"]


def loss(params, xs, ys):
    return np.mean((model(params, xs) - ys) ** 2)


def update(params, opt_state, xs, ys):
    value, grads = jax.value_and_grad(loss)(params, xs, ys)
    updates, opt_state = opt.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, value


update = jax.jit(update)


def args():
    f = lambda *s: jax.ShapeDtypeStruct(s, np.float32)
    cell = {"wx": f(H, 4 * H), "wh": f(H, 4 * H), "b": f(4 * H)}
    params = {"cells": [cell, cell], "out": f(H, H)}
    return params, jax.eval_shape(opt.init, params), f(128, 256, H), f(128, 256, H)


def lower(*a):
    return update.lower(*a)
