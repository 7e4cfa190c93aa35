# SPDX-License-Identifier: Apache-2.0
"""Work that programs divide by hand: experts on their own chips, a ring over the sequence, state kept on the host,
stages of a pipeline."""
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from catalog import Built, f32, program
from signs import live, opcode, replicated

ROLES = [(r"count$", "optimizer_state", "other"), ("^(opt|momentum)", "optimizer_state"),
         ("^(params|experts|stages)", "parameter"), (".", "batch")]
EIGHT = {"expert": 8}


def stepped(loss, optimizer):
    def step(params, opt, *batch):
        grads = jax.grad(loss)(params, *batch)
        updates, opt = optimizer.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt
    return step


def tokens_to_experts(params, x):
    """inside of one chip: its rows to the experts of all chips and back"""
    which = jnp.argmax(x @ params["router"], -1)
    place = jnp.cumsum(jax.nn.one_hot(which, 8, dtype=jnp.int32), 0)[jnp.arange(len(x)), which] - 1
    sent = jnp.zeros((8, 512, x.shape[1])).at[which, place].set(x, mode="drop")
    got = jax.lax.all_to_all(sent, "expert", 0, 0, tiled=True)
    made = jax.nn.gelu(got @ params["up"][0]) @ params["down"][0]
    back = jax.lax.all_to_all(made, "expert", 0, 0, tiled=True)
    return x + back.at[which, place].get(mode="fill", fill_value=0)


@program("experts-apart8", "an expert on each of eight chips, rows sent to them and back", mesh=EIGHT,
         lacks={"replicated": replicated(("parameter", "optimizer_state")),
                "gathered_parameters": opcode("all-gather", (1024, 4096))})
@program("experts-everywhere8", "the same, all experts on every chip, rows stay", mesh=EIGHT, is_apart=False,
         has={"replicated": replicated(("parameter", "optimizer_state"))})
def experts(is_apart=True):
    specs = {"router": P(), "up": P("expert"), "down": P("expert")}

    def loss(params, rows):
        x = rows
        for layer in params:
            if is_apart:
                x = jax.shard_map(tokens_to_experts, in_specs=(specs, P("expert")), out_specs=P("expert"))(layer, x)
            else:
                gate = jax.nn.softmax(x @ layer["router"])
                x = x + jnp.einsum("enf,efd,ne->nd", jax.nn.gelu(jnp.einsum("nd,edf->enf", x, layer["up"])),
                                   layer["down"], gate)
        return jnp.square(x).mean()
    params = [{"router": f32(1024, 8), "up": f32(8, 1024, 4096), "down": f32(8, 4096, 1024)} for _ in range(2)]
    optimizer = optax.adam(1e-3)
    opt = jax.eval_shape(optimizer.init, params)
    return Built(stepped(loss, optimizer), (params, opt, f32(16384, 1024)), ROLES, donate=(0, 1), grads=params,
                 specs=[("^batch", P("expert")), *([("up|down", P("expert"))] if is_apart else [])],
                 results=lambda params, opt, _: (params, opt))


def around(q, k, v):
    """inside of one chip: attention to the keys of all chips, one after the other"""
    def one(carry, _):
        total, weight, k, v = carry
        scores = jnp.exp(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 16 - 4)
        total, weight = total + jnp.einsum("bhqk,bkhd->bqhd", scores, v), weight + scores.sum(-1).swapaxes(1, 2)
        k, v = (jax.lax.ppermute(part, "seq", [(at, (at + 1) % 8) for at in range(8)]) for part in (k, v))
        return (total, weight, k, v), None
    start = jnp.zeros_like(q), jnp.zeros_like(q[..., 0]), k, v
    (total, weight, _, _), _ = jax.lax.scan(jax.checkpoint(one), start, length=8)
    return total / weight[..., None]


@program("ring8", "a long sequence over eight chips, keys passed around", mesh={"seq": 8},
         has={"replicated": replicated(("parameter",))},
         lacks={"attention_scores": live((2, 4, 1024, 8192))})
@program("ring8-not", "the same sequence, keys gathered by the compiler", mesh={"seq": 8}, is_ring=False,
         has={"attention_scores": live((2, 4, 1024, 8192))})
def ring(is_ring=True):
    def loss(params, x):
        for weights in params["layers"]:
            q, k, v = (part.reshape(2, 8192, 4, 256) for part in jnp.split(x @ weights["qkv"], 3, -1))
            if is_ring:
                out = jax.shard_map(around, in_specs=(P(None, "seq"),) * 3, out_specs=P(None, "seq"))(q, k, v)
            else:
                scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 16)
                out = jnp.einsum("bhqk,bkhd->bqhd", scores, v)
            x = x + out.reshape(x.shape) @ weights["back"]
        return jnp.square(x).mean()
    params = {"layers": [{"qkv": f32(1024, 3072), "back": f32(1024, 1024)} for _ in range(2)]}
    return Built(stepped(loss, optax.sgd(0.1, momentum=0.9)),
                 (params, jax.eval_shape(optax.sgd(0.1, momentum=0.9).init, params), f32(2, 8192, 1024)),
                 ROLES, donate=(0, 1), grads=params, specs=[("^batch", P(None, "seq"))], results=lambda params, opt,
                 _: (params, opt))


@program("pipeline8", "a stage on each of eight chips, microbatches passed on", mesh={"stage": 8},
         lacks={"replicated": replicated(("parameter", "optimizer_state"))})
def pipeline():
    def stage(weights, parts):
        at = jax.lax.axis_index("stage")

        def tick(held, number):
            x = jnp.where(at == 0, parts[jnp.minimum(number, 7)], held)
            x = jnp.tanh(x @ weights["a"][0]) @ weights["b"][0] + x
            return jax.lax.ppermute(x, "stage", [(one, (one + 1) % 8) for one in range(8)]), x
        _, made = jax.lax.scan(tick, jax.lax.pcast(jnp.zeros_like(parts[0]), ("stage",), to="varying"), jnp.arange(15))
        return made[7:][None]

    def loss(stages, batch):
        made = jax.shard_map(stage, in_specs=(P("stage"), P()), out_specs=P("stage"))(stages, batch)
        return jnp.square(made[-1]).mean()
    stages = {"a": f32(8, 2048, 8192), "b": f32(8, 8192, 2048)}
    optimizer = optax.adam(1e-3)
    return Built(stepped(loss, optimizer), (stages, jax.eval_shape(optimizer.init, stages), f32(8, 256, 2048)), ROLES,
                 donate=(0, 1), grads=stages,
                 specs=[(r"\['[ab]'\]", P("stage"))], results=lambda stages, opt, _: (stages, opt))
