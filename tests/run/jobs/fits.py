"""A train step of a transformer, compiled and run on CPU STEPS times, or compiled for TPU v5e: LAYERS of them, PLATFORM
cpu or tpu. Prints what the compile and a step take, by the clock and of processors, and the host memory at most."""
import os
import resource
import time

import jax
import jax.numpy as jnp

STEPS = int(os.environ.get("STEPS", "1"))
LAYERS, WIDTH, BATCH, LENGTH, HEADS, WORDS = int(os.environ.get("LAYERS", "2")), 256, 4, 256, 4, 2048


def layer(x, w):
    h = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    q, k, v = [(h @ w[name]).reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS) for name in ("q", "k", "v")]
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), jnp.einsum("bthd,bshd->bhts", q, k) / 8, -1e30)
    x = x + jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v).reshape(BATCH, LENGTH, WIDTH) @ w["o"]
    return x + jax.nn.gelu(x @ w["up"]) @ w["down"]


def loss(weights, words):
    x = weights["embedding"][words]
    for number, w in enumerate(weights["layers"]):
        with jax.named_scope(f"layer_{number}"):
            x = layer(x, w)
    scores = jax.nn.log_softmax(x @ weights["embedding"].T)
    return -jnp.take_along_axis(scores, words[..., None], -1).mean()


def train_step(weights, momentum, words):
    value, gradients = jax.value_and_grad(loss)(weights, words)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return jax.tree.map(lambda w, m: w - 0.01 * m, weights, momentum), momentum, value


def shapes(make):
    layers = [{**{name: make((WIDTH, WIDTH)) for name in "qkvo"}, "up": make((WIDTH, 4 * WIDTH)),
               "down": make((4 * WIDTH, WIDTH))} for _ in range(LAYERS)]
    return {"embedding": make((WORDS, WIDTH)), "layers": layers}


if os.environ.get("PLATFORM") == "tpu":
    from jax.experimental import topologies
    device = topologies.get_topology_desc(platform="tpu", topology_name="v5e:1x1",
                                          chips_per_host_bounds=(1, 1, 1)).devices[0]
    place = jax.sharding.SingleDeviceSharding(device)
    weights = shapes(lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=place))
    words = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32, sharding=place)
else:
    weights, words = shapes(lambda shape: jnp.full(shape, 0.01)), jnp.ones((BATCH, LENGTH), jnp.int32)
lowered = jax.jit(train_step).lower(weights, weights, words)


def timed(count, function):
    began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(count):
        result = jax.block_until_ready(function())
    after = resource.getrusage(resource.RUSAGE_SELF)
    taken = (time.monotonic() - began, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime)
    return result, [seconds / count for seconds in taken]


compiled, taken = timed(1, lowered.compile)
print("compiled", *(round(seconds, 3) for seconds in taken))
if os.environ.get("PLATFORM") != "tpu":
    (_, _, value), taken = timed(STEPS, lambda: compiled(weights, weights, words))
    print("stepped", *(round(seconds, 5) for seconds in taken))
    print("loss", float(value))
print("took", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "KiB")
