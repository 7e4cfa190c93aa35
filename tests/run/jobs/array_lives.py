"""Holds an array and asks the CPU for 64 TiB: in a compiled function, or with WHERE=thread in one of a thread."""
import os
import threading

import jax
import jax.numpy as jnp


def step(x):
    return jnp.cos(jnp.broadcast_to(x, (1 << 20, 1 << 24))).sort(0)


def train():
    held = jnp.ones((3, 1 << 20))
    jax.jit(step)(jnp.ones((1 << 24,))).block_until_ready()
    return held


if os.environ.get("WHERE") == "thread":
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    raise SystemExit(1)
train()
