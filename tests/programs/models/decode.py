# SPDX-License-Identifier: Apache-2.0
"""Programs that only answer: decode steps with a key-value cache, prefill, speculative decoding, beams."""
import jax
import jax.numpy as jnp

from catalog import Built, bf16, i32, key, program
from signs import constants, donor, live, not_aliased, unknown

VOCAB, WIDTH, HEADS, GROUPS, HEAD, LAYERS = 32768, 2048, 16, 4, 128, 6
ROWS, LENGTH = 24, 3072
ONE_CACHE = (ROWS, LENGTH, GROUPS, HEAD)


def weights(layers=LAYERS, width=WIDTH):
    block = {"q": bf16(width, HEADS * HEAD), "kv": bf16(width, 2 * GROUPS * HEAD), "o": bf16(HEADS * HEAD, width),
             "gate_up": bf16(width, 2, 3 * width), "down": bf16(3 * width, width), "norm": bf16(width)}
    return {"tokens": bf16(VOCAB, width), "stack": [dict(block) for _ in range(layers)], "head": bf16(width, VOCAB)}


def normal(x, gain):
    return (x * jax.lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1,
                                       keepdims=True) + 1e-6)).astype(x.dtype) * gain


def feed(block, x):
    gate, up = jnp.moveaxis(jnp.einsum("...d,dgf->...gf", normal(x, block["norm"]), block["gate_up"]), -2, 0)
    return x + (jax.nn.silu(gate) * up) @ block["down"]


def look(block, x, keys, values, at, is_repeated=False):
    """attention of a few new positions to all that came before"""
    b, s, _ = x.shape
    q = (x @ block["q"]).reshape(b, s, GROUPS, HEADS // GROUPS, HEAD)
    seen = jnp.arange(keys.shape[1]) <= at + jnp.arange(s)[:, None]
    if is_repeated:
        keys, values = (jnp.repeat(part, HEADS // GROUPS, axis=2) for part in (keys, values))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q.reshape(b, s, HEADS, HEAD), keys) / HEAD ** 0.5
        out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(seen, scores, -1e4)), values)
    else:
        scores = jnp.einsum("bqgrd,bkgd->bgrqk", q, keys) / HEAD ** 0.5
        out = jnp.einsum("bgrqk,bkgd->bqgrd", jax.nn.softmax(jnp.where(seen, scores, -1e4)), values)
    return x + out.reshape(b, s, -1) @ block["o"]


def new_pair(block, x):
    return jnp.moveaxis((x @ block["kv"]).reshape(*x.shape[:2], 2, GROUPS, HEAD), 2, 0)


ROLES = [(r"^(cache|past|kv|memory)", "cache"), (r"(^|\[)'?(net|model|draft|target|weights)\b", "parameter"),
         (r"^rng", "rng"),
         (r"^(at|position|length)", "batch", "other"), (r"^(token|prompt|ids|source|beam|x)", "batch")]


@program("decode-kept", "a decode step, grouped heads, the cache as a list of pairs; donated", donate=(1,),
         lacks={"cache_copy": live(ONE_CACHE), "no_donation": not_aliased(),
                "repeat": live((ROWS, LENGTH, HEADS, HEAD))})
@program("decode-copied", "the same, not donated", has={"cache_copy": live(ONE_CACHE), "no_donation": not_aliased()},
         lacks={"donation_unused": donor()})
@program("decode-repeated", "the same, donated, the heads of the cache repeated for each query", is_repeated=True,
         donate=(1,),
         has={"repeat": live((ROWS, LENGTH, HEADS, HEAD))})
def step_over_pairs(donate=(), is_repeated=False):
    def decode(net, past, token, at):
        x, new = net["tokens"][token][:, None], []
        for block, (keys, values) in zip(net["stack"], past, strict=True):
            k, v = new_pair(block, x)
            keys = jax.lax.dynamic_update_slice(keys, k, (0, at, 0, 0))
            values = jax.lax.dynamic_update_slice(values, v, (0, at, 0, 0))
            x = feed(block, look(block, x, keys, values, at, is_repeated))
            new.append((keys, values))
        return jnp.argmax(x[:, 0] @ net["head"], -1), new
    cache = [(bf16(*ONE_CACHE), bf16(*ONE_CACHE)) for _ in range(LAYERS)]
    return Built(decode, (weights(), cache, i32(ROWS), i32()), ROLES, donate=donate)


def stacked(tree, count):
    return jax.tree.map(lambda leaf: bf16(count, *leaf.shape), tree)


@program("decode-scan-new", "layers in a scan that takes the donated cache apart and puts a new one together",
         has={"cache_copy": live((LAYERS, *ONE_CACHE))})
@program("decode-scan-carry", "the same, the cache carried by the loop; the compiler copies it into another layout",
         is_carried=True,
         has={"cache_copy": live((LAYERS, *ONE_CACHE))}, lacks={"no_donation": not_aliased()})
def step_over_stack(is_carried=False):
    def one(x, block, keys, values, at):
        return feed(block, look(block, x, keys, values, at))

    def generate(weights, kv, ids, position):
        x = weights["tokens"][ids][:, None]
        if is_carried:
            def body(carry, part):
                x, kv = carry
                number, block = part
                fresh = new_pair(block, x)
                kv = {name: jax.lax.dynamic_update_slice(kv[name], new[None], (number, 0, position, 0, 0))
                      for name, new in zip(("k", "v"), fresh, strict=True)}
                return (one(x, block, kv["k"][number], kv["v"][number], position), kv), None
            (x, kv), _ = jax.lax.scan(body, (x, kv), (jnp.arange(LAYERS), weights["stack"]))
        else:
            def body(x, part):
                block, old = part
                k, v = new_pair(block, x)
                k = jax.lax.dynamic_update_slice(old["k"], k, (0, position, 0, 0))
                v = jax.lax.dynamic_update_slice(old["v"], v, (0, position, 0, 0))
                return one(x, block, k, v, position), {"k": k, "v": v}
            x, kv = jax.lax.scan(body, x, (weights["stack"], kv))
        return x[:, 0] @ weights["head"], kv
    net = weights(1)
    cache = {"k": bf16(LAYERS, *ONE_CACHE), "v": bf16(LAYERS, *ONE_CACHE)}
    return Built(generate, ({**net, "stack": stacked(net["stack"][0], LAYERS)}, cache, i32(ROWS), i32()), ROLES,
                 donate=(1,))


@program("prefill-all", "prefill of long prompts; logits of every position come out",
         has={"prefill_logits": live((4, 4096, VOCAB))},
         lacks={"saved_activations": unknown(), "donation_unused": donor()})
@program("prefill-last", "the same, logits of the last position only", is_last=True,
         lacks={"prefill_logits": live((4, 4096, VOCAB)), "logits": live((4, 4096, VOCAB))})
def prefill(is_last=False):
    def read(net, prompt):
        x, cache = net["tokens"][prompt], []
        for block in net["stack"]:
            k, v = new_pair(block, x)
            parts = x.reshape(4, 16, 256, WIDTH).swapaxes(0, 1)
            x = jax.lax.map(lambda part, block=block, k=k, v=v: look(block, part[1], k, v, part[0] * 256),
                            (jnp.arange(16), parts))
            x = feed(block, x.swapaxes(0, 1).reshape(4, 4096, WIDTH))
            cache.append({"key": k, "value": v})
        return (x[:, -1] if is_last else x) @ net["head"], cache
    return Built(read, (weights(4), i32(4, 4096)), ROLES)


@program("speculative", "a small model guesses four tokens, a large one checks them; two caches, donated",
         lacks={"no_donation": not_aliased(), "prefill_logits": live((16, 4, VOCAB)), "saved_activations": unknown()})
def speculative():
    def run(net, x, caches, at):
        new = []
        for block, cache in zip(net["stack"], caches, strict=True):
            k, v = new_pair(block, x)
            cache = {"k": jax.lax.dynamic_update_slice(cache["k"], k, (0, at, 0, 0)),
                     "v": jax.lax.dynamic_update_slice(cache["v"], v, (0, at, 0, 0))}
            x = feed(block, look(block, x, cache["k"], cache["v"], at))
            new.append(cache)
        return x @ net["head"], new

    def guess_and_check(draft, target, cache, token, at, rng):
        def one(carry, number):
            token, cache = carry
            logits, cache = run(draft, draft["tokens"][token][:, None], cache, at + number)
            token = jax.random.categorical(jax.random.fold_in(rng, number), logits[:, 0])
            return (token, cache), token
        (_, small), guesses = jax.lax.scan(one, (token, cache["draft"]), jnp.arange(4))
        logits, large = run(target, target["tokens"][guesses.T], cache["target"], at)
        agrees = jnp.argmax(logits, -1) == guesses.T
        return guesses.T, jnp.cumprod(agrees, 1).sum(1), {"draft": small, "target": large}

    def cache(layers):
        return [{"k": bf16(16, 2048, GROUPS, HEAD), "v": bf16(16, 2048, GROUPS, HEAD)} for _ in range(layers)]
    return Built(guess_and_check,
                 (weights(2, 1024), weights(4), {"draft": cache(2), "target": cache(4)}, i32(16), i32(), key()),
                 ROLES, donate=(2,))


@program("beam-search", "a step of beam search: the cache is gathered by beam",
         has={"cache_copy": live((3, 8, 4, 2048, GROUPS, HEAD), (8, 4, 2048, GROUPS, HEAD))})
def beams():
    def advance(model, memory, beam_ids, beam_scores, position):
        x, flat = model["tokens"][beam_ids.reshape(-1)][:, None], []
        for block, pair in zip(model["stack"], memory, strict=True):
            k, v = new_pair(block, x)
            keys, values = (jax.lax.dynamic_update_slice(old.reshape(32, 2048, GROUPS, HEAD), new, (0, position, 0, 0))
                            for old, new in zip(pair, (k, v), strict=True))
            x = feed(block, look(block, x, keys, values, position))
            flat.append((keys, values))
        scores = beam_scores[..., None] + jax.nn.log_softmax((x[:, 0] @ model["head"]).astype(jnp.float32)).reshape(8,
                4, VOCAB)
        best, chosen = jax.lax.top_k(scores.reshape(8, -1), 4)
        parent, token = chosen // VOCAB, chosen % VOCAB
        pick = jax.vmap(lambda rows, which: rows[which])
        memory = [tuple(pick(part.reshape(8, 4, 2048, GROUPS, HEAD), parent) for part in pair) for pair in flat]
        return memory, token, best
    one = bf16(8, 4, 2048, GROUPS, HEAD)
    scores = jax.ShapeDtypeStruct((8, 4), jnp.float32)
    return Built(advance, (weights(3), [(one, one)] * 3, i32(8, 4), scores, i32()), ROLES, donate=(1,))


@program("rope-table-closed", "the table of rotary angles is closed over as a constant", has={"constant": constants()})
@program("rope-table-passed", "the same table is an argument", is_passed=True, lacks={"constant": constants()})
def rotary(is_passed=False):
    import numpy
    angles = numpy.outer(numpy.arange(16384), 1e4 ** (-numpy.arange(0, 256, 2) / 256))
    made = numpy.stack([numpy.cos(angles), numpy.sin(angles)]).astype(numpy.float32)

    def turn(model, x, position, table=None):
        cos, sin = (jnp.asarray(made) if table is None else table)[:, position]
        h = (x @ model["q"]).reshape(*x.shape[:2], 4, 2, 128)
        h = jnp.stack([h[..., 0, :] * cos[:, :, None] - h[..., 1, :] * sin[:, :, None],
                       h[..., 0, :] * sin[:, :, None] + h[..., 1, :] * cos[:, :, None]], -2)
        return h.astype(jnp.bfloat16).reshape(*x.shape[:2], 1024) @ model["o"]
    args = ({"q": bf16(1024, 1024), "o": bf16(1024, 1024)}, bf16(16, 2048, 1024), i32(16, 2048))
    table = jax.ShapeDtypeStruct((2, 16384, 128), jnp.float32)
    return Built(turn, (*args, *([table] if is_passed else [])), [(r"^table", "other", "parameter", "batch"), *ROLES])
