# SPDX-License-Identifier: Apache-2.0
"""Families for GPUs (`--gpu`) that the models of whatif were not tuned on: an NNX encoder, dilated convolutions in one
dimension, experts, a graph net, a U-Net."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from catalog import Built, changed, f32, i32
from changed.gpu import ROLES, layer_norm
from changed.steps import ALL_BF16, masked_loss, trained


class EncoderLayer(nnx.Module):
    def __init__(self, width, rngs):
        self.norm1, self.norm2 = nnx.LayerNorm(width, rngs=rngs), nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(width // 64, width, decode=False, rngs=rngs)
        self.up, self.down = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(nnx.gelu(self.up(self.norm2(x))))


class Encoder(nnx.Module):
    def __init__(self, depth, width, vocabulary, rngs):
        self.embed = nnx.Embed(vocabulary, width, rngs=rngs)
        self.layers = nnx.List([EncoderLayer(width, rngs) for _ in range(depth)])
        self.head = nnx.Linear(width, vocabulary, rngs=rngs)

    def __call__(self, tokens, is_remat=False):
        x = self.embed(tokens)
        for layer in self.layers:
            graph, state = nnx.split(layer)

            def call(state, x, graph=graph):
                return nnx.merge(graph, state)(x)
            x = (jax.checkpoint(call) if is_remat else call)(state, x)
        return self.head(x)


@changed("gpu-held-encoder", "NNX encoder of masked words, AdamW, nothing donated",
         {"half-batch": ("batch=0.5", {"rows": 16}), "half-length": ("sequence=0.5", {"length": 256}),
          "remat": ("checkpoint=*", {"is_remat": True}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "donated": ("donate=all", {"donate": (0, 1)})})
def encoder(rows=32, length=512, width=768, depth=6, vocabulary=30522, is_remat=False):
    graph, state = nnx.split(nnx.eval_shape(lambda: Encoder(depth, width, vocabulary, nnx.Rngs(0))))
    optimizer = optax.adamw(1e-4)

    def loss(state, tokens, targets):
        return masked_loss(nnx.merge(graph, state)(tokens, is_remat), targets)
    return Built(trained(loss, optimizer),
                 (state, jax.eval_shape(optimizer.init, state), i32(rows, length), i32(rows, length)), ROLES)


def gated(p, x, dilation):
    y = jax.lax.conv_general_dilated(x, p["gates"], (1,), [((p["gates"].shape[0] - 1) * dilation, 0)],
                                     rhs_dilation=(dilation,), dimension_numbers=("NWC", "WIO", "NWC"))
    a, b = jnp.split(y, 2, -1)
    return x + (jnp.tanh(a) * jax.nn.sigmoid(b)) @ p["mix"]


@changed("gpu-held-wave", "dilated gated convolutions over sound, Adam, donated",
         {"half-batch": ("batch=0.5", {"rows": 4}), "half-length": ("sequence=0.5@sound:1", {"length": 16384}),
          "remat": ("checkpoint=*", {"is_remat": True}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("gpu-held-wave-kept", "the same, nothing donated", {"donated": ("donate=all", {"donate": (0, 1)})}, donate=())
def wave(rows=8, length=32768, width=192, depth=12, is_remat=False):
    def loss(params, sound, bins):
        x = sound @ params["enter"]
        for at, layer in enumerate(params["layers"]):
            def call(p, x, dilation=2 ** (at % 6)):
                return gated(p, x, dilation)
            x = (jax.checkpoint(call) if is_remat else call)(layer, x)
        return masked_loss(jax.nn.relu(x) @ params["leave"], bins)
    params = {"enter": f32(1, width), "leave": f32(width, 256),
              "layers": [{"gates": f32(2, width, 2 * width), "mix": f32(width, width)} for _ in range(depth)]}
    optimizer = optax.adam(1e-3)
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, length, 1), i32(rows, length)), ROLES,
                 donate=(0, 1))


@changed("gpu-held-graph", "messages along edges, summed at their nodes, Adam, nothing donated",
         {"half-edges": ("batch=0.5@senders:0", {"edges": 262144}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "donated": ("donate=all", {"donate": (0, 1)})})
def graph_net(nodes=65536, edges=524288, width=256, depth=6, is_remat=False):
    def block(p, h, senders, receivers):
        messages = jax.nn.silu(jnp.concatenate([h[senders], h[receivers]], -1) @ p["message"])
        gathered = jax.ops.segment_sum(messages, receivers, num_segments=h.shape[0])
        return h + jax.nn.silu(jnp.concatenate([h, gathered], -1) @ p["update"])

    def loss(params, features, senders, receivers, labels):
        h = features @ params["enter"]
        for layer in params["layers"]:
            h = (jax.checkpoint(block) if is_remat else block)(layer, h, senders, receivers)
        return masked_loss(h @ params["leave"], labels)
    params = {"enter": f32(128, width), "leave": f32(width, 64),
              "layers": [{"message": f32(2 * width, width), "update": f32(2 * width, width)} for _ in range(depth)]}
    optimizer = optax.adam(1e-3)
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(nodes, 128), i32(edges), i32(edges), i32(nodes)),
                 ROLES)


def expert_block(p, x, experts=8):
    b, s, d = x.shape
    y = layer_norm(x, p["scale"]).reshape(b * s, d)
    weights = jax.nn.softmax(y @ p["router"])
    hidden = jax.nn.gelu(jnp.einsum("td,edf->tef", y, p["up"]))
    return x + jnp.einsum("tef,efd,te->td", hidden, p["down"], weights).reshape(b, s, d)


@changed("gpu-held-experts", "every token through every expert, weighed, Adam, everything donated",
         {"half-batch": ("batch=0.5", {"rows": 4}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "opt-bf16": ("cast=opt*:bf16", {"casts": ((r"^opt", "bfloat16"),)})})
@changed("gpu-held-experts-kept", "the same, nothing donated",
         {"donated": ("donate=all", {"donate": (0, 1)}), "donated-params": ("donate=0", {"donate": (0,)})}, donate=())
def experts(rows=8, length=1024, width=768, depth=4, is_remat=False):
    def loss(params, tokens):
        x = params["embed"][tokens[:, :-1]]
        for layer in params["layers"]:
            x = (jax.checkpoint(expert_block) if is_remat else expert_block)(layer, x)
        return masked_loss(x @ params["embed"].T, tokens[:, 1:])
    layer = {"scale": f32(width), "router": f32(width, 8), "up": f32(8, width, 2 * width),
             "down": f32(8, 2 * width, width)}
    params = {"embed": f32(32000, width), "layers": [dict(layer) for _ in range(depth)]}
    optimizer = optax.adam(1e-3)
    return Built(trained(loss, optimizer), (params, jax.eval_shape(optimizer.init, params), i32(rows, length + 1)),
                 ROLES, donate=(0, 1))


class Stage(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = nn.relu(nn.GroupNorm(16)(nn.Conv(self.width, (3, 3), use_bias=False)(x)))
        return x


class Segmenter(nn.Module):
    is_remat: bool = False

    @nn.compact
    def __call__(self, x):
        stage, kept = nn.remat(Stage) if self.is_remat else Stage, []
        for level in range(3):
            x = stage(64 << level, name=f"down_{level}")(x)
            kept.append(x)
            x = nn.max_pool(x, (2, 2), (2, 2))
        x = stage(512, name="middle")(x)
        for level in (2, 1, 0):
            x = jnp.concatenate([jax.image.resize(x, kept[level].shape[:3] + x.shape[3:], "nearest"), kept[level]], -1)
            x = stage(64 << level, name=f"up_{level}")(x)
        return nn.Conv(21, (1, 1), name="classes")(x)


@changed("gpu-held-segment", "Linen U-Net for classes of pixels, SGD with momentum, nothing donated",
         {"half-batch": ("batch=0.5", {"rows": 8}), "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "donated": ("donate=all", {"donate": (0, 1)})})
def segment(rows=16, side=256, is_remat=False):
    model, optimizer = Segmenter(is_remat=is_remat), optax.sgd(0.01, momentum=0.9)

    def loss(params, images, classes):
        return masked_loss(model.apply({"params": params}, images), classes)
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, side, side, 3)))["params"])
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, side, side, 3), i32(rows, side, side)),
                 ROLES)
