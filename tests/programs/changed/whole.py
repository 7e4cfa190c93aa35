# SPDX-License-Identifier: Apache-2.0
"""What is whole at every moment, and need not be: what a scan reads or stacks, members of an ensemble, gradients of
each example and of a table. The changes are those that a verdict advises, which `memviewd whatif` has no name for."""
import jax
import jax.numpy as jnp

from catalog import Built, changed, f32, i32

ROLES = [(".", "other")]


@changed("whole-inputs", "frames of a replay are gathered for all steps before the scan that learns from them",
         {"inside": ("advice=scan_inputs", {"is_inside": True})})
def inputs(steps=512, rows=256, width=4096, is_inside=False):
    def learn(params, replay, index):
        def step(p, part):
            x = replay[part] if is_inside else part
            x = x.astype(jnp.float32) / 255
            loss, grads = jax.value_and_grad(lambda q: jnp.square(jnp.tanh(x @ q["enter"]) @ q["leave"] - x).mean())(p)
            return jax.tree.map(lambda w, g: w - 1e-3 * g, p, grads), loss
        return jax.lax.scan(step, params, index if is_inside else replay[index])
    params = {"enter": f32(width, 256), "leave": f32(256, width)}
    return Built(learn, (params, f32(65536, width), i32(steps, rows)), ROLES)


@changed("whole-outputs", "a simulation keeps the field of every step, and gives its spectrum alone",
         {"inside": ("advice=scan_outputs", {"is_inside": True})})
def outputs(steps=400, side=1024, is_inside=False):
    def simulate(field):
        def energy(u):
            return jnp.square(u - u.mean()).sum((-2, -1))

        def step(u, _):
            u = u + .1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)
            return u, energy(u) if is_inside else u
        last, kept = jax.lax.scan(step, field, None, length=steps)
        return last, kept if is_inside else energy(kept)
    return Built(simulate, (f32(side, side),), ROLES)


@changed("whole-members", "an ensemble trains by vmap", {"apart": ("advice=members", {"is_apart": True})})
def members(count=16, rows=8192, width=512, depth=6, is_apart=False):
    def train(models, x, y):
        def loss(p):
            h = x
            for w in p["layers"]:
                h = jax.nn.gelu(h @ w) + h
            return jnp.square(h @ p["out"] - y).mean()

        def one(p):
            return jax.tree.map(lambda w, g: w - 1e-3 * g, p, jax.grad(loss)(p))
        return jax.lax.map(one, models) if is_apart else jax.vmap(one)(models)
    models = {"layers": [f32(count, width, width) for _ in range(depth)], "out": f32(count, width, 8)}
    return Built(train, (models, f32(rows, width), f32(rows, 8)), ROLES, donate=(0,))


@changed("whole-examples", "private learning clips the gradient of each example",
         {"parts": ("advice=example_gradients", {"is_in_parts": True})})
def examples(rows=128, length=64, width=1024, depth=4, is_in_parts=False):
    def private_step(params, x, y):
        def loss(p, x, y):
            for w in p:
                x = jnp.tanh(x @ w)
            return jnp.square(x - y).sum()

        def clipped(x, y):
            grads = jax.grad(loss)(params, x, y)
            norm = jnp.sqrt(sum(jnp.square(g).sum() for g in grads))
            return [g / jnp.maximum(1., norm) for g in grads]

        def summed(x, y):
            return [g.sum(0) for g in jax.vmap(clipped)(x, y)]
        if is_in_parts:
            parts = (x.reshape(-1, 8, length, width), y.reshape(-1, 8, length, width))
            zeros = [jnp.zeros_like(w) for w in params]
            total = jax.lax.scan(lambda t, part: ([a + b for a, b in zip(t, summed(*part), strict=True)], None),
                                 zeros, parts)[0]
        else:
            total = summed(x, y)
        return [w - 1e-3 * g / rows for w, g in zip(params, total, strict=True)]
    return Built(private_step, ([f32(width, width)] * depth, f32(rows, length, width), f32(rows, length, width)),
                 ROLES, donate=(0,))


@changed("whole-table", "a table of a recommender learns by plain descent from few rows",
         {"rows": ("advice=table_gradients", {"is_of_rows": True})})
def table(items=4_000_000, width=128, rows=8192, is_of_rows=False):
    def table_step(table, dense, ids, labels):
        def loss_of(picked, dense):
            return jnp.square(jnp.tanh(picked.reshape(rows, -1) @ dense)[:, 0] - labels).mean()
        if is_of_rows:
            g, d = jax.grad(loss_of, (0, 1))(table[ids], dense)
            return table.at[ids].add(-.1 * g), dense - .1 * d
        g, d = jax.grad(lambda t, w: loss_of(t[ids], w), (0, 1))(table, dense)
        return table - .1 * g, dense - .1 * d
    return Built(table_step, (f32(items, width), f32(8 * width, 1), i32(rows, 8), f32(rows)), ROLES, donate=(0, 1))
