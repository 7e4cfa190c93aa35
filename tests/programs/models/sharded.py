# SPDX-License-Identifier: Apache-2.0
"""Eight chips: data parallel, weights sharded and gathered, tensor parallel, optimizer state sharded alone."""
import functools

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from catalog import Built, bf16, f32, i32, program
from signs import donor, live, opcode, replicated

VOCAB, WIDTH, HEADS, LAYERS, ROWS, LENGTH = 32256, 2048, 16, 4, 32, 768
TWO = {"data": 2, "model": 4}


def table(kind=f32):
    layer = {"query_key_value": kind(WIDTH, 3, HEADS, WIDTH // HEADS), "out": kind(HEADS, WIDTH // HEADS, WIDTH),
             "wide": kind(WIDTH, 4 * WIDTH),
             "narrow": kind(4 * WIDTH, WIDTH), "gain": kind(WIDTH)}
    return {"embedding": kind(VOCAB, WIDTH), "layers": {f"layer{at}": dict(layer) for at in range(LAYERS)}}


def forward(params, tokens, rows=None, hidden=None):
    """logits of all but the last token; `rows` and `hidden`: how activations are split, if said"""
    keep = jax.lax.with_sharding_constraint if rows is not None else lambda x, _: x
    x = keep(params["embedding"].astype(jnp.bfloat16)[tokens[:, :-1]], rows)

    @functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.nothing_saveable)
    def block(weights, x):
        weights = jax.tree.map(lambda p: p.astype(jnp.bfloat16), weights)
        y = x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6) * weights["gain"]
        q, k, v = jnp.einsum("bsd,dthk->tbshk", y, weights["query_key_value"])
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / (WIDTH // HEADS) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
        x = x + keep(jnp.einsum("bhqs,bshk,hkd->bqd", jax.nn.softmax(scores), v, weights["out"]), rows)
        return keep(x + keep(jax.nn.relu(x @ weights["wide"]), hidden) @ weights["narrow"], rows)
    for name in sorted(params["layers"]):
        x = block(params["layers"][name], x)
    return x


def loss_of(params, tokens, rows, hidden):
    x = forward(params, tokens, rows, hidden)

    @jax.checkpoint
    def part(total, pair):
        h, t = pair
        logits = (h @ params["embedding"].astype(jnp.bfloat16).T).astype(jnp.float32)
        return total + optax.softmax_cross_entropy_with_integer_labels(logits, t).sum(), None
    # Along the sequence, so that each chip keeps its own rows.
    h = jnp.moveaxis(x.reshape(ROWS, 8, LENGTH // 8, WIDTH), 1, 0)
    t = jnp.moveaxis(tokens[:, 1:].reshape(ROWS, 8, LENGTH // 8), 1, 0)
    return jax.lax.scan(part, 0.0, (h, t))[0] / (ROWS * LENGTH)


ROLES = [(r"^state\.params|^state\[0\]|^params|^frozen", "parameter"), (r"count$|step$", "optimizer_state", "other"),
         (r"^state|^moments", "optimizer_state"), (r"^tokens", "batch")]
FULL = [("tokens", P("data"))]
SPLIT = [("tokens", P("data")), ("query_key_value", P("data")), (r"'out'|narrow|embedding", P("data")),
         ("wide", P("data"))]
SPLIT_OUTWARD = [("tokens", P("data")), ("query_key_value", P(None, None, "data")),
                 (r"'out'|narrow|embedding", P("data")), ("wide", P(None, "data"))]
TENSOR = [("tokens", P("data")), ("query_key_value", P(None, None, "model")), (r"'out'|narrow", P("model")),
          ("wide", P(None, "model")), ("embedding", P(None, "model"))]
MOMENTS_SPLIT = [(r"^state\[1\].*(query_key_value|out|narrow|wide|embedding)", P("data")), ("tokens", P("data"))]
WHOLE = (ROWS, LENGTH, WIDTH)
GATHERED = live((WIDTH, 4 * WIDTH), (VOCAB, WIDTH), dtype="bf16")


@program("dp8", "data parallel on eight chips, all weights and moments on each", mesh={"data": 8}, specs=FULL,
         rows=P("data"),
         has={"replicated": replicated(("parameter", "optimizer_state"))},
         lacks={"batch_not_split": live(WHOLE), "gathered_parameters": opcode("all-gather", (WIDTH, 4 * WIDTH))})
@program("fsdp8", "weights and moments sharded over eight chips, activations split by rows", mesh={"data": 8},
         specs=SPLIT, rows=P("data"),
         lacks={"replicated": replicated(("parameter", "optimizer_state")), "batch_not_split": live(WHOLE)})
@program("fsdp8-unsaid", "the same, how activations are split is left to the compiler", mesh={"data": 8}, specs=SPLIT,
         lacks={"replicated": replicated(("parameter", "optimizer_state"))})
@program("fsdp8-outward", "weights sharded along their results; how activations are split is left to the compiler",
         mesh={"data": 8}, specs=SPLIT_OUTWARD,
         lacks={"replicated": replicated(("parameter", "optimizer_state"))})
@program("fsdp8-whole-batch", "someone asked for activations that are whole on every chip", mesh={"data": 8},
         specs=SPLIT, rows=P(),
         has={"batch_not_split": live(WHOLE), "gathered_activation": opcode("all-gather|async-collective", WHOLE)})
@program("fsdp8-tokens-given-away", "the tokens are donated too, though no result fits", mesh={"data": 8}, specs=SPLIT,
         rows=P("data"), donate=(0, 1),
         has={"donation_unused": donor()})
@program("zero8", "moments sharded, weights on every chip", mesh={"data": 8}, specs=MOMENTS_SPLIT, rows=P("data"),
         has={"replicated": replicated(("parameter",))})
@program("tp4-dp2", "tensor parallel over four, data parallel over two", mesh=TWO, specs=TENSOR, rows=P("data"),
         hidden=P("data", None, "model"),
         lacks={"batch_not_split": live(WHOLE)})
def train(specs, rows=None, hidden=None, donate=(0,)):
    optimizer = optax.adamw(1e-3)

    def update(state, tokens):
        loss, grads = jax.value_and_grad(loss_of)(state[0], tokens, rows, hidden or rows)
        updates, inner = optimizer.update(grads, state[1], state[0])
        return (optax.apply_updates(state[0], updates), inner), loss
    params = table()
    state = (params, jax.eval_shape(optimizer.init, params))
    return Built(update, (state, i32(ROWS, LENGTH + 1)), ROLES, donate=donate, grads=params, specs=specs,
                 results=(lambda state, _: (state, None)) if donate == (0,) else None)


@program("serve-tp8", "an answer of a model split over eight chips", mesh={"model": 8},
         lacks={"gathered_parameters": GATHERED, "replicated": replicated(("parameter",))})
@program("serve-gathered8", "the same, its weights split but gathered for every use", mesh={"model": 8},
         is_gathered=True,
         has={"gathered_parameters": GATHERED})
def serve(is_gathered=False):
    def answer(params, tokens):
        if is_gathered:
            params = jax.tree.map(lambda p: jax.lax.with_sharding_constraint(p, P()), params)
        return forward(params, tokens)[:, -1] @ params["embedding"].T
    return Built(answer, (table(bf16), i32(ROWS, LENGTH + 1)), ROLES,
                 specs=[(name, spec) for name, spec in TENSOR if name != "tokens"])
