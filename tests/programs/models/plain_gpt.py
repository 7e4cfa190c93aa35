# SPDX-License-Identifier: Apache-2.0
"""Decoders written by hand over dicts and lists, with names that a person might choose in haste."""
import functools

import jax
import jax.numpy as jnp
import optax

from catalog import Built, bf16, f32, i32, program
from signs import argument, donor, forward, live, not_aliased, unknown

VOCAB, WIDTH, HEADS, LAYERS = 24064, 1024, 8, 4


def table(layers=LAYERS, width=WIDTH, kind=f32):
    block = {"qkv": kind(width, 3 * width), "proj": kind(width, width), "up": kind(width, 4 * width),
             "down": kind(4 * width, width),
             "g1": kind(width), "g2": kind(width)}
    return {"wte": kind(VOCAB, width), "blocks": [dict(block) for _ in range(layers)], "gf": kind(width),
            "unembed": kind(width, VOCAB)}


def rms(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain


def attend(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(causal, scores, -1e9)), v)


def attend_in_chunks(q, k, v, chunk=128):
    """one block of queries at a time, none of its scores kept"""
    b, s, h, d = q.shape

    @jax.checkpoint
    def one(block):
        at, part = block
        scores = jnp.einsum("bqhd,bkhd->bhqk", part, k) / d ** 0.5
        seen = (at * chunk + jnp.arange(chunk))[:, None] >= jnp.arange(s)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(seen, scores, -1e9)), v)
    parts = q.reshape(b, s // chunk, chunk, h, d).swapaxes(0, 1)
    return jax.lax.map(one, (jnp.arange(s // chunk), parts)).swapaxes(0, 1).reshape(b, s, h, d)


def block_of(weights, x, attention):
    b, s, d = x.shape
    with jax.named_scope("attn"):
        q, k, v = jnp.split((rms(x, weights["g1"]) @ weights["qkv"]).reshape(b, s, 3 * HEADS, d // HEADS), 3, axis=2)
        x = x + attention(q, k, v).reshape(b, s, d) @ weights["proj"]
    with jax.named_scope("ffn"):
        return x + jax.nn.gelu(rms(x, weights["g2"]) @ weights["up"]) @ weights["down"]


def cross_entropy(logits, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1).mean()


def cross_entropy_in_chunks(x, unembed, targets, count=16):
    @jax.checkpoint
    def one(total, part):
        h, t = part
        return total + cross_entropy(h @ unembed, t), None
    b, s, d = x.shape
    parts = x.reshape(count, b * s // count, d), targets.reshape(count, b * s // count)
    return jax.lax.scan(one, 0.0, parts)[0] / count


def loss_of(w, ids, chunked, attention, remat=False):
    x = w["wte"][ids[:, :-1]]
    for weights in w["blocks"]:
        step = functools.partial(block_of, attention=attention)
        x = (jax.checkpoint(step) if remat else step)(weights, x)
    x = rms(x, w["gf"])
    if chunked:
        return cross_entropy_in_chunks(x, w["unembed"], ids[:, 1:])
    return cross_entropy(x @ w["unembed"], ids[:, 1:])


ROLES = [(r"^w\b", "parameter"), (r"^(m|v|avg|slots)\b", "optimizer_state"), (r"^n$", "optimizer_state", "other"),
         (r"^(ids|bias)", "batch")]
LOGITS = (8, 1024, VOCAB)
SCORES = (8, HEADS, 1024, 1024)


@program("gpt-hand-logits", "GPT over dicts, Adam by hand, short names; the loss over all logits at once",
         has={"logits": live(LOGITS)}, lacks={"gradient_accumulator": unknown(), "no_donation": unknown()})
@program("gpt-hand-chunked-loss", "the same, its loss in 16 chunks, attention in blocks of queries", chunked=True,
         attention=attend_in_chunks,
         lacks={"logits": live(LOGITS), "attention_scores": live(SCORES)})
@program("gpt-hand-scores", "the same with its loss in chunks: scores of every layer are kept", chunked=True,
         has={"attention_scores": live(SCORES, (4, *SCORES)), "saved_activations": forward(0.25)},
         lacks={"logits": live(LOGITS)})
@program("gpt-hand-remat", "the same with each block recomputed", chunked=True, attention=attend_in_chunks, remat=True,
         lacks={"logits": live(LOGITS), "attention_scores": live(SCORES), "saved_activations": forward(0.2)})
def by_hand(chunked=False, attention=attend, remat=False):
    def train(w, m, v, n, ids):
        loss, g = jax.value_and_grad(loss_of)(w, ids, chunked, attention, remat)
        n = n + 1
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        w = jax.tree.map(lambda p, a, b: p - 1e-3 * (a / (1 - 0.9 ** n)) / (jnp.sqrt(b / (1 - 0.999 ** n)) + 1e-8), w,
                         m, v)
        return w, m, v, n, loss
    w = table()
    return Built(train, (w, w, w, i32(), i32(8, 1025)), ROLES, donate=(0, 1, 2, 3), grads=w)


@program("gpt-tuple-args", "all state in one tuple called s, the rest in xs: the names say nothing; not donated",
         has={"no_donation": not_aliased()}, lacks={"donation_unused": donor()})
@program("gpt-tuple-args-donated", "the same, donated",
         lacks={"no_donation": not_aliased(), "donation_unused": donor()}, donate=(0,))
def tuples(donate=()):
    optimizer = optax.adam(1e-3)

    def f(s, *xs):
        loss, g = jax.value_and_grad(loss_of)(s[0], xs[0], True, attend_in_chunks)
        updates, inner = optimizer.update(g, s[1])
        return (optax.apply_updates(s[0], updates), inner), loss
    w = table()
    return Built(f, ((w, jax.eval_shape(optimizer.init, w)), i32(4, 1025)),
                 [(r"^s\[0\]", "parameter"), (r"\.count$", "optimizer_state", "other"), (r"^s\[1\]", "optimizer_state"),
                  (r"^xs", "batch")],
                 donate=donate, grads=w)


@program("gpt-mask-arg", "a mask of each pair of positions comes with the batch",
         has={"mask": argument((8, 1024, 1024))})
@program("gpt-mask-made", "the same mask is made inside", is_given=False, lacks={"mask": argument((8, 1024, 1024))})
def masked(is_given=True):
    def loss_with(w, ids, bias):
        x = w["wte"][ids[:, :-1]]
        causal = jnp.where(jnp.tril(jnp.ones((1024, 1024), bool)), 0.0, -1e9)[None, None] if bias is None else bias

        def attention(q, k, v):
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 11.3 + causal
            return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        for weights in w["blocks"]:
            x = jax.checkpoint(functools.partial(block_of, attention=attention))(weights, x)
        return cross_entropy_in_chunks(rms(x, w["gf"]), w["unembed"], ids[:, 1:])

    def sgd(w, ids, bias=None):
        return jax.tree.map(lambda p, g: p - 0.1 * g, w, jax.grad(loss_with)(w, ids, bias))
    w = table()
    return Built(sgd, (w, i32(8, 1025), *([f32(8, 1, 1024, 1024)] if is_given else [])), ROLES, donate=(0,), grads=w)


def scanned(width):
    one = table(1, width)
    return {**one, "blocks": jax.tree.map(lambda leaf: f32(12, *leaf.shape), one["blocks"][0])}


@program("gpt-scan-saved", "12 layers in a scan, everything saved for the way back",
         has={"scan_residuals": live((12, 8, 1024, 512), (12, 8, 1024, 2048), (12, 8, 1024, 1536)),
              "saved_activations": live((12, 8, 8, 1024, 1024), (12, 8, 1024, 512), (12, 8, 1024, 2048), least=0.3)})
@program("gpt-scan-policy-dots", "the same; dots without batch dimensions are saved", policy="dots",
         has={"scan_residuals": live((12, 8, 1024, 512), (12, 8, 1024, 2048), (12, 8, 1024, 1536))},
         lacks={"attention_scores": live((12, 8, 8, 1024, 1024))})
@program("gpt-scan-nothing", "the same; only each layer's input is saved", policy="nothing",
         has={"scan_residuals": live((12, 8, 1024, 512))}, lacks={"attention_scores": live((12, 8, 8, 1024, 1024))})
@program("gpt-scan-forward", "the same layers without a way back: nothing to save", policy="infer",
         lacks={"scan_residuals": live((12, 8, 1024, 512)), "saved_activations": forward(0.01),
                "gradient_accumulator": unknown()})
def over_layers(policy=None):
    policies = {"dots": jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
                "nothing": jax.checkpoint_policies.nothing_saveable}

    def body(x, weights):
        return block_of(weights, x, attend_in_chunks if policy == "infer" else attend), None

    def loss(w, ids):
        one = jax.checkpoint(body, policy=policies[policy]) if policy in policies else body
        x, _ = jax.lax.scan(one, w["wte"][ids[:, :-1]], w["blocks"])
        return cross_entropy_in_chunks(rms(x, w["gf"]), w["unembed"], ids[:, 1:])

    def train(w, m, ids):
        m = jax.tree.map(lambda a, g: 0.9 * a + g, m, jax.grad(loss)(w, ids))
        return jax.tree.map(lambda p, a: p - 0.01 * a, w, m), m
    w = scanned(512)
    if policy == "infer":
        return Built(loss, (w, i32(8, 1025)), ROLES)
    return Built(train, (w, w, i32(8, 1025)), ROLES, donate=(0, 1), grads=w)


@program("gpt-cast-hoisted", "f32 weights cast to bf16 for a scan over layers: the cast leaves the loop",
         has={"parameter_cast_copy": live((12, 512, 2048), dtype="bf16")})
@program("gpt-cast-none", "the same with bf16 weights and f32 masters in the optimizer", masters=True,
         lacks={"parameter_cast_copy": live((12, 512, 2048), named="/convert_element_type$", dtype="bf16")})
def casts(masters=False):
    def body(x, weights):
        return block_of(weights, x, attend_in_chunks), None

    def loss(w, ids):
        w = jax.tree.map(lambda p: p.astype(jnp.bfloat16), w)
        x, _ = jax.lax.scan(jax.checkpoint(body), w["wte"][ids[:, :-1]], w["blocks"])
        return cross_entropy_in_chunks(rms(x, w["gf"]), w["unembed"], ids[:, 1:]).astype(jnp.float32)

    def train(w, slots, ids):
        g = jax.grad(loss)(w, ids)
        if not masters:
            return jax.tree.map(lambda p, g: p - 0.01 * g, w, g), slots
        slots = jax.tree.map(lambda p, g: p - 0.01 * g.astype(jnp.float32), slots, g)
        return jax.tree.map(lambda p: p.astype(jnp.bfloat16), slots), slots
    full = scanned(512)
    half = jax.tree.map(lambda leaf: bf16(*leaf.shape), full)
    return Built(train, (half, full, i32(8, 1025)) if masters else (full, {"n": i32()}, i32(8, 1025)),
                 [(r"\['n'\]", "optimizer_state", "other"), *ROLES], donate=(0, 1), grads=half if masters else full)
