# SPDX-License-Identifier: Apache-2.0
"""Texts: a masked encoder (Haiku), an encoder with a decoder (Equinox), grouped heads with rotary angles (scan over
layers), a mixture of experts, adapters on frozen weights, microbatches in a loop."""
import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from catalog import Built, changed, f32, i32
from changed.steps import ALL_BF16, masked_loss, trained, updated

ROLES = [(".", "other")]


def encoder_layer(x, mask):
    width = x.shape[-1]
    y = hk.MultiHeadAttention(12, width // 12, w_init=hk.initializers.VarianceScaling(), model_size=width,
                              name="attention")(x, x, x, mask=mask[:, None, None, :])
    x = hk.LayerNorm(-1, True, True, name="attention_norm")(x + y)
    y = hk.Linear(width, name="output")(jax.nn.gelu(hk.Linear(4 * width, name="intermediate")(x)))
    return hk.LayerNorm(-1, True, True, name="output_norm")(x + y)


def bert_net(depth, is_remat):
    def net(ids, segments, mask):
        words = hk.Embed(30522, 768, name="word_embeddings")
        places = hk.get_parameter("positions", (512, 768), init=jnp.zeros)[:ids.shape[1]]
        x = hk.LayerNorm(-1, True, True)(words(ids) + hk.Embed(2, 768, name="segment_embeddings")(segments) + places)
        for at in range(depth):
            with hk.experimental.name_scope(f"layer_{at}"):
                x = (hk.remat(encoder_layer) if is_remat else encoder_layer)(x, mask)
        x = hk.LayerNorm(-1, True, True)(jax.nn.gelu(hk.Linear(768, name="transform")(x)))
        return x @ words.embeddings.T
    return hk.without_apply_rng(hk.transform(net))


@changed("bert", "Haiku masked language model, AdamW, donated",
         {"half-batch": ("batch=0.5", {"rows": 16}), "half-seq": ("sequence=0.5", {"length": 256}),
          "mu-bf16": ("cast=opt*.mu*:bf16", {"casts": ((r"^opt.*\.mu\b", "bfloat16"),)}),
          "remat": ("checkpoint=*", {"is_remat": True}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def bert(rows=32, length=512, is_remat=False, depth=6):
    model, optimizer = bert_net(depth, is_remat), optax.adamw(1e-4)

    def loss(params, ids, segments, mask, targets, chosen):
        return masked_loss(model.apply(params, ids, segments, mask), targets, chosen)
    row = i32(rows, length)
    params = jax.eval_shape(bert_net(depth, False).init, jax.random.key(0), row, row,
                            jax.ShapeDtypeStruct(row.shape, jnp.bool_))
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), row, row, jax.ShapeDtypeStruct(row.shape, jnp.bool_),
                  row,
                                            f32(rows, length)), ROLES, donate=(0, 1))


class Coder(eqx.Module):
    attention: eqx.nn.MultiheadAttention
    cross: eqx.nn.MultiheadAttention | None
    up: eqx.nn.Linear
    down: eqx.nn.Linear
    norms: list

    def __init__(self, width, is_decoder, key):
        keys = jax.random.split(key, 4)
        self.attention = eqx.nn.MultiheadAttention(8, width, key=keys[0])
        self.cross = eqx.nn.MultiheadAttention(8, width, key=keys[1]) if is_decoder else None
        self.up, self.down = eqx.nn.Linear(width, 4 * width, key=keys[2]), eqx.nn.Linear(4 * width, width, key=keys[3])
        self.norms = [eqx.nn.LayerNorm(width) for _ in range(3 if is_decoder else 2)]

    def __call__(self, x, memory=None):
        y = jax.vmap(self.norms[0])(x)
        x = x + self.attention(y, y, y, mask=None if memory is None else jnp.tril(jnp.ones((len(x), len(x)), bool)))
        if self.cross is not None:
            x = x + self.cross(jax.vmap(self.norms[2])(x), memory, memory)
        return x + jax.vmap(self.down)(jax.nn.relu(jax.vmap(self.up)(jax.vmap(self.norms[1])(x))))


class Translator(eqx.Module):
    source: eqx.nn.Embedding
    target: eqx.nn.Embedding
    encoder: list
    decoder: list
    head: eqx.nn.Linear

    def __init__(self, width, depth, key):
        keys = jax.random.split(key, 2 * depth + 3)
        self.source, self.target = eqx.nn.Embedding(32128, width, key=keys[0]), eqx.nn.Embedding(32128, width,
                key=keys[1])
        self.encoder = [Coder(width, False, one) for one in keys[3:3 + depth]]
        self.decoder = [Coder(width, True, one) for one in keys[3 + depth:]]
        self.head = eqx.nn.Linear(width, 32128, use_bias=False, key=keys[2])

    def __call__(self, source, target, remat):
        x, y = jax.vmap(self.source)(source), jax.vmap(self.target)(target)
        for side, layers in (("encoder", self.encoder), ("decoder", self.decoder)):
            for at, layer in enumerate(layers):
                call = eqx.filter_checkpoint(Coder.__call__) if side in remat else Coder.__call__
                with jax.named_scope(f"{side}_{at}"):
                    x, y = (call(layer, x), y) if side == "encoder" else (x, call(layer, y, x))
        return jax.vmap(self.head)(y)


@changed("seq2seq", "Equinox encoder with a decoder, Adam, donated",
         {"half-batch": ("batch=0.5", {"rows": 12}), "half-seq": ("sequence=0.5", {"length": 192}),
          "remat": ("checkpoint=*", {"remat": ("encoder", "decoder")}),
          "remat-decoder": ("checkpoint=decoder_*", {"remat": ("decoder",)}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def seq2seq(rows=24, length=384, remat=()):
    whole = eqx.filter_eval_shape(Translator, 768, 4, jax.random.key(0))
    model, static = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    optimizer = optax.adam(1e-3)

    def loss(model, source, target, labels):
        net = eqx.combine(model, static)
        return masked_loss(jax.vmap(lambda a, b: net(a, b, remat))(source, target), labels)
    row = i32(rows, length)
    return Built(trained(loss, optimizer), (model, jax.eval_shape(optimizer.init, model), row, row, row), ROLES,
                 donate=(0, 1))


def rotated(x):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * 1e4 ** (-jnp.arange(half) / half)
    cos, sin = (part[None, :, None].astype(x.dtype) for part in (jnp.cos(angles), jnp.sin(angles)))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def normal(x, gain):
    return (x * jax.lax.rsqrt(jnp.square(x.astype(jnp.float32)).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * gain


def llama_layer(w, x, heads=16, groups=4):
    b, s, width = x.shape
    size = width // heads
    with jax.named_scope("self_attn"):
        y = normal(x, w["input_layernorm"])
        q, k, v = ((y @ w[name]).reshape(b, s, -1, size) for name in ("q_proj", "k_proj", "v_proj"))
        q, k = rotated(q).reshape(b, s, groups, heads // groups, size), rotated(k)
        scores = jnp.einsum("bqgrd,bkgd->bgrqk", q, k).astype(jnp.float32) / size ** 0.5
        scores = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e9)).astype(x.dtype)
        x = x + jnp.einsum("bgrqk,bkgd->bqgrd", scores, v).reshape(b, s, width) @ w["o_proj"]
    with jax.named_scope("mlp"):
        y = normal(x, w["post_attention_layernorm"])
        return x + (jax.nn.silu(y @ w["gate_proj"]) * (y @ w["up_proj"])) @ w["down_proj"]


def llama_weights(depth, width, kind=f32, groups=4, heads=16):
    layer = {"q_proj": (width, width), "k_proj": (width, width * groups // heads),
             "v_proj": (width, width * groups // heads), "o_proj": (width, width),
             "gate_proj": (width, 11 * width // 4), "up_proj": (width, 11 * width // 4),
             "down_proj": (11 * width // 4, width),
             "input_layernorm": (width,), "post_attention_layernorm": (width,)}
    return {name: kind(depth, *shape) for name, shape in layer.items()}


POLICIES = {"nothing": jax.checkpoint_policies.nothing_saveable,
            "dots": jax.checkpoint_policies.dots_with_no_batch_dims_saveable}
LLAMA_SPLIT = [(r"_proj|embed|lm_head", P(None, "chip")), ("^tokens", P("chip"))]


@changed("llama", "layers in a scan, grouped heads, rotary angles, AdamW, donated",
         {"half-batch": ("batch=0.5", {"rows": 2}), "half-seq": ("sequence=0.5", {"length": 512}),
          "remat": ("checkpoint=*", {"policy": "nothing"}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "params-bf16": ("cast=params*:bf16", {"casts": (("^params", "bfloat16"),), "is_widened": True}),
          "params-bf16-followed": ("cast=params*:bf16", {"casts": (("^params", "bfloat16"),)}),
          "mu-bf16": ("cast=opt*.mu*:bf16", {"casts": ((r"^opt.*\.mu\b", "bfloat16"),)}),
          "shard4": ("shard=*:4", {"mesh": {"chip": 4}})}, rows=4)
@changed("llama-remat", "the same, each layer computed again",
         {"half-batch": ("batch=0.5", {"rows": 4}), "half-seq": ("sequence=0.5", {"length": 512})}, policy="nothing",
         rows=8)
@changed("llama-unrolled", "the same layers unrolled",
         {"remat": ("checkpoint=*", {"policy": "nothing"}), "half-seq": ("sequence=0.5", {"length": 512}),
                                                       "remat-first": (["checkpoint=layers_0", "checkpoint=layers_1"],
                                                                       {"policy": "nothing", "until": 2}),
                                                       "opt-host": ("offload=opt*",
                                                                    {"hosted": r"^opt.*\.[mn]u\b", "is_hosted": True})},
         is_unrolled=True, depth=4)
@changed("accumulate", "four microbatches in a loop over such layers, AdamW, donated",
         {"half-rows": ("batch=0.5@tokens:1", {"rows": 2}), "half-parts": ("batch=0.5@tokens:0", {"parts": 2}),
          "remat": ("checkpoint=*", {"policy": "nothing"})},
         is_unrolled=True, depth=4, parts=4, rows=4)
def llama(rows=8, length=1024, policy=None, depth=8, is_unrolled=False, until=None, parts=0, is_widened=False,
          is_hosted=False):
    width, vocab = 1024, 32000
    optimizer = optax.adamw(3e-4)

    def loss(params, tokens):
        if is_widened:  # kept in fewer bits, computed as before; else what is computed follows their type
            params = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), params)
        x = params["embed"][tokens[:, :-1]]
        again = jax.checkpoint(llama_layer, policy=POLICIES[policy]) if policy else llama_layer
        if is_unrolled:
            for at in range(depth):
                with jax.named_scope(f"layers_{at}"):
                    x = (again if until is None or at < until else llama_layer)(params["layers"][at], x)
        else:
            x, _ = jax.lax.scan(lambda x, w: (again(w, x), None), x, params["layers"])
        return masked_loss(normal(x, params["norm"]) @ params["lm_head"], tokens[:, 1:])

    def step(params, opt, tokens):
        if parts:
            def one(total, part):
                return jax.tree.map(jnp.add, total, jax.grad(loss)(params, part)), None
            grads, _ = jax.lax.scan(one, jax.tree.map(jnp.zeros_like, params), tokens)
        else:
            grads = jax.grad(loss)(params, tokens)
        if is_hosted:
            opt = jax.device_put(opt, jax.memory.Space.Device)
        return updated(optimizer, grads, opt, params)
    layers = llama_weights(depth, width)
    if is_unrolled:
        layers = [jax.tree.map(lambda leaf: f32(*leaf.shape[1:]), layers) for _ in range(depth)]
    params = {"embed": f32(vocab, width), "layers": layers, "norm": f32(width), "lm_head": f32(width, vocab)}
    return Built(step,
                 (params, jax.eval_shape(optimizer.init, params), i32(*([parts] if parts else []), rows, length + 1)),
                 ROLES, donate=(0, 1),
                 specs=LLAMA_SPLIT, results=lambda params, opt, _: (params, opt))
