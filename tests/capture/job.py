# SPDX-License-Identifier: Apache-2.0
"""A JAX job with a profiler server on the port that it is given, until its standard input ends."""

import sys
import threading

import jax
import jax.numpy as jnp

jax.profiler.start_server(int(sys.argv[1]))


@jax.jit
def step(x, w):
    return jnp.tanh(x @ w) @ w.T


x, w = jnp.ones((256, 512)), jnp.ones((512, 512))
step(x, w).block_until_ready()
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
print("running", flush=True)
while not over.wait(0.01):
    step(x, w).block_until_ready()
