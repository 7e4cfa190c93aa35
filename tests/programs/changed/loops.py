# SPDX-License-Identifier: Apache-2.0
"""Loops of many kinds, more than half of them at the limit of a v5e or above it: cells over time with a large carry,
encoder and decoder, simulations, a world model, graphs, attention by chunks; beside them two models that learn from
each other. Rules were mended by these; those of held_loops.py are held out."""
import jax
import jax.numpy as jnp
import optax

from catalog import Built, changed, f32, i32
from changed.held_plain import adam_tree, like, rms
from changed.steps import ALL_BF16, masked_loss, trained

ROLES = [(".", "other")]


def conv(w, x, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


# Bodies that attract each other, with a learned correction of the force: every step sees all pairs.

@changed("loop-bodies", "bodies with a learned force between all pairs, rolled out in a scan, Adam by tree.map",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 4}),
          "half-steps": ("sequence=0.5@truth:1", {"steps": 24}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def bodies(rows=8, steps=48, count=192, width=32, is_remat=False):
    def force(p, x, v):
        apart = x[:, :, None] - x[:, None]
        near = jnp.square(apart).sum(-1, keepdims=True) + 1e-2
        seen = jnp.concatenate([apart, near, jnp.broadcast_to(v[:, :, None], apart.shape)], -1)
        y = jax.nn.silu(seen @ p["enter"])
        y = jax.nn.silu(y @ p["middle"])
        return (apart * (y @ p["leave"])).sum(2)

    def advance(p, state):
        x, v = state
        v = v - .01 * force(p, x, v)
        return x + .01 * v, v
    advance = jax.checkpoint(advance) if is_remat else advance

    def train_step(params, mu, nu, begin, truth):
        def loss(p):
            def one(state, want):
                state = advance(p, state)
                return state, jnp.square(state[0] - want).mean()
            return jax.lax.scan(one, (begin, jnp.zeros_like(begin)), truth.swapaxes(0, 1))[1].mean()
        value, grads = jax.value_and_grad(loss)(params)
        return *adam_tree(params, grads, mu, nu), value
    params = {"enter": f32(7, width), "middle": f32(width, width), "leave": f32(width, 1)}
    return Built(train_step, (params, params, params, f32(rows, count, 3), f32(rows, steps, count, 3)), ROLES,
                 donate=(0, 1, 2))


# Radar pictures: a cell of convolutions over time with a large carry.

@changed("loop-radar", "two stacked cells of convolutions over time read radar pictures, AdamW, at the limit",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 8}),
          "half-frames": ("sequence=0.5@frames:1", {"frames": 12}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("loop-radar-small", "the same, fits",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 2})}, rows=4)
def radar(rows=16, frames=24, side=96, width=64, is_remat=False):
    def cell(w, state, x):
        h, c = state
        i, f, g, o = jnp.split(conv(w["x"], x) + conv(w["h"], h), 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    def loss(params, frames):
        x = frames.swapaxes(0, 1)

        def step(carry, now):
            first, second = carry
            first = cell(params["first"], first, now)
            second = cell(params["second"], second, first[0])
            return (first, second), conv(params["out"], second[0])
        step = jax.checkpoint(step) if is_remat else step
        zeros = jnp.zeros((*x.shape[1:4], width), x.dtype)
        _, said = jax.lax.scan(step, ((zeros, zeros), (zeros, zeros)), x[:-1])
        return jnp.square(said - x[1:]).mean()
    optimizer = optax.adamw(1e-3)
    params = {"first": {"x": f32(3, 3, 1, 4 * width), "h": f32(3, 3, width, 4 * width)},
              "second": {"x": f32(3, 3, width, 4 * width), "h": f32(3, 3, width, 4 * width)},
              "out": f32(3, 3, width, 1)}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, frames, side, side, 1)), ROLES,
                 donate=(0, 1))


# Encoder and decoder, each in a scan over layers: what the encoder says goes into every layer of the decoder.

def heads_of(x, w, size=64):
    y = x @ w
    return y.reshape(*y.shape[:2], y.shape[2] // size, size)


def attend(w, x, seen, is_causal=False):
    q, k, v = heads_of(x, w["q"]), heads_of(seen, w["k"]), heads_of(seen, w["v"])
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[2:], bool)), scores, -1e9)
    weights = jax.nn.softmax(scores.astype(jnp.float32), -1).astype(x.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*x.shape[:2], -1) @ w["o"]


def attention_weights(depth, width):
    return {name: f32(depth, width, width) for name in ("q", "k", "v", "o")}


def feed(w, x):
    return jax.nn.gelu(x @ w["up"]) @ w["down"]


def feed_weights(depth, width):
    return {"up": f32(depth, width, 4 * width), "down": f32(depth, 4 * width, width)}


@changed("loop-translate", "encoder and decoder, both in a scan over layers, AdamW, above the limit",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 12}),
          "half-seq": ("sequence=0.5", {"length": 256}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})}, rows=24)
@changed("loop-translate-small", "the same, fits",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 4})}, rows=8)
def translate(rows=24, length=512, width=768, depth=6, vocabulary=24000, is_remat=False):
    def encoder_layer(x, w):
        x = x + attend(w["self"], rms(x), rms(x))
        return x + feed(w["feed"], rms(x)), None

    def decoder_layer(seen, x, w):
        x = x + attend(w["self"], rms(x), rms(x), is_causal=True)
        x = x + attend(w["cross"], rms(x), seen)
        return x + feed(w["feed"], rms(x))

    def loss(params, source, target):
        embed = params["embed"]
        one = jax.checkpoint(encoder_layer) if is_remat else encoder_layer
        seen, _ = jax.lax.scan(one, embed[source] + params["position"], params["encoder"])
        seen = rms(seen)

        def other(x, w):
            return decoder_layer(seen, x, w), None
        other = jax.checkpoint(other) if is_remat else other
        x, _ = jax.lax.scan(other, embed[target[:, :-1]] + params["position"], params["decoder"])
        return masked_loss(rms(x) @ embed.T, target[:, 1:])
    optimizer = optax.adamw(1e-4)
    params = {"embed": f32(vocabulary, width), "position": f32(length, width),
              "encoder": {"self": attention_weights(depth, width), "feed": feed_weights(depth, width)},
              "decoder": {"self": attention_weights(depth, width), "cross": attention_weights(depth, width),
                          "feed": feed_weights(depth, width)}}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), i32(rows, length), i32(rows, length + 1)), ROLES,
                 donate=(0, 1))


# Two models that learn from each other.

@changed("loop-gan", "a generator and a judge of pictures learn in one step, Adam by tree.map, not donated",
         {"half-batch": ("batch=0.5", {"rows": 32}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "donated": ("donate=all", {"donate": (0, 1, 2, 3, 4, 5)}), "remat": ("checkpoint=*", {"is_remat": True})})
def gan(rows=64, side=128, width=64, is_remat=False):
    def up(w, x):
        b, h, _, c = x.shape
        x = jax.image.resize(x, (b, 2 * h, 2 * h, c), "nearest")
        return jax.nn.relu(rms(conv(w["b"], jax.nn.relu(rms(conv(w["a"], x))))))

    def down(w, x):
        x = jax.nn.leaky_relu(conv(w["a"], x), .2)
        return jax.nn.leaky_relu(conv(w["b"], x, 2), .2)
    if is_remat:
        up, down = jax.checkpoint(up), jax.checkpoint(down)

    def paint(g, noise):
        x = (noise @ g["enter"]).reshape(-1, 8, 8, 8 * width)
        for w in g["up"]:
            x = up(w, x)
        return jnp.tanh(conv(g["leave"], x))

    def judge(d, picture):
        x = conv(d["enter"], picture)
        for w in d["down"]:
            x = down(w, x)
        return (x.mean((1, 2)) @ d["leave"])[:, 0]

    def gan_step(painter, judging, mu, nu, mu_judge, nu_judge, pictures, noise):
        def judge_loss(d):
            fake = jax.lax.stop_gradient(paint(painter, noise))
            return jax.nn.softplus(-judge(d, pictures)).mean() + jax.nn.softplus(judge(d, fake)).mean()
        judging, mu_judge, nu_judge = adam_tree(judging, jax.grad(judge_loss)(judging), mu_judge, nu_judge)

        def paint_loss(g):
            return jax.nn.softplus(-judge(judging, paint(g, noise))).mean()
        painter, mu, nu = adam_tree(painter, jax.grad(paint_loss)(painter), mu, nu)
        return painter, judging, mu, nu, mu_judge, nu_judge
    widths = [8 * width, 8 * width, 4 * width, 2 * width, width]
    ups = [{"a": f32(3, 3, a, b), "b": f32(3, 3, b, b)} for a, b in zip(widths, widths[1:], strict=False)]
    downs = [{"a": f32(3, 3, b, b), "b": f32(3, 3, b, a)} for a, b in zip(widths[::-1][1:], widths[::-1],
                                                                         strict=False)]
    g = {"enter": f32(128, 64 * 8 * width), "up": ups, "leave": f32(3, 3, width, 3)}
    d = {"enter": f32(3, 3, 3, width), "down": downs, "leave": f32(8 * width, 1)}
    return Built(gan_step, (g, d, g, g, d, d, f32(rows, side, side, 3), f32(rows, 128)), ROLES)


# Pictures and their words.

@changed("loop-pairs", "pictures and words meet: two transformers in scans, all against all, AdamW, at the limit",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 256}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "mu-bf16": ("cast=opt*.mu*:bf16",
                                                                    {"casts": ((r"\.mu\b", "bfloat16"),)})})
def pairs(rows=512, width=512, depth=8, is_remat=False):
    def layer(x, w):
        x = x + attend(w, rms(x), rms(x))
        return x + feed(w, rms(x)), None
    layer = jax.checkpoint(layer) if is_remat else layer

    def loss(params, pictures, words):
        b = pictures.shape[0]
        x = pictures.reshape(b, 8, 16, 8, 16, 3).swapaxes(2, 3).reshape(b, 64, 768) @ params["patches"]
        x, _ = jax.lax.scan(layer, x + params["place"], params["picture_layers"])
        y, _ = jax.lax.scan(layer, params["words"][words] + params["position"], params["word_layers"])
        x, y = x.mean(1) @ params["out"], y.mean(1) @ params["out_words"]
        x, y = (part / jnp.linalg.norm(part, axis=-1, keepdims=True) for part in (x, y))
        logits = x @ y.T * jnp.exp(params["scale"])
        at = jnp.arange(b)
        return (masked_loss(logits, at) + masked_loss(logits.T, at)) / 2
    optimizer = optax.adamw(1e-4)
    layers = {**attention_weights(depth, width), **feed_weights(depth, width)}
    params = {"patches": f32(768, width), "place": f32(64, width), "position": f32(32, width),
              "words": f32(16000, width), "picture_layers": layers, "word_layers": layers, "out": f32(width, 512),
              "out_words": f32(width, 512), "scale": f32()}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, 128, 128, 3), i32(rows, 32)), ROLES,
                 donate=(0, 1))


# A world model: pictures of whole episodes, a cell over time that looks at them, pictures again.

@changed("loop-world", "a world model reads episodes, then dreams on from every state of them; AdamW, at the limit",
         {"remat-cells": ("advice=checkpoint", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 48}),
          "half-length": ("sequence=0.5@frames:1", {"length": 32})})
def world(rows=96, length=64, hidden=1024, dreamt=12, is_remat=False):
    def look(p, frames):
        x = frames
        for w in p["look"]:
            x = jax.nn.silu(conv(w, x, 2))
        return x.reshape(x.shape[0], -1)

    def show(p, state):
        x = (state @ p["show_enter"]).reshape(-1, 4, 4, 256)
        for w in p["show"]:
            b, h, _, c = x.shape
            x = conv(w, jax.nn.silu(jax.image.resize(x, (b, 2 * h, 2 * h, c), "nearest")))
        return x

    def cell(p, h, x):
        reset, fresh, gate = jnp.split(jnp.concatenate([h, x], -1) @ p["cell"], 3, -1)
        fresh = jnp.tanh(jax.nn.sigmoid(reset) * fresh)
        gate = jax.nn.sigmoid(gate - 1)
        return gate * fresh + (1 - gate) * h

    def loss(params, frames, action, reward):
        b, t = action.shape[:2]
        seen = look(params, frames.reshape(b * t, 64, 64, 3)).reshape(b, t, -1)

        def observe(h, now):
            seen, action = now
            z = jax.nn.silu(jnp.concatenate([h, seen], -1) @ params["posterior"])
            h = cell(params, h, jnp.concatenate([z, action], -1))
            return h, (h, z)
        observe = jax.checkpoint(observe) if is_remat else observe
        zeros = jnp.zeros((b, hidden), frames.dtype)
        _, (h, z) = jax.lax.scan(observe, zeros, (seen.swapaxes(0, 1), action.swapaxes(0, 1)))
        again = show(params, jnp.concatenate([h, z], -1).reshape(t * b, -1))
        error = jnp.square(again - frames.swapaxes(0, 1).reshape(t * b, 64, 64, 3)).mean()

        def dream(h, _):
            z = jax.nn.silu(h @ params["prior"])
            do = jnp.tanh(jax.nn.silu(h @ params["actor"]) @ params["actor_out"])
            h = cell(params, h, jnp.concatenate([z, do], -1))
            return h, (jax.nn.silu(h @ params["critic"]) @ params["critic_out"])[:, 0]
        dream = jax.checkpoint(dream) if is_remat else dream
        _, gained = jax.lax.scan(dream, h.reshape(t * b, -1), None, length=dreamt)
        guess = (h.swapaxes(0, 1) @ params["reward"])[..., 0]
        return error + jnp.square(guess - reward).mean() - gained.mean()
    optimizer = optax.adamw(1e-4)
    params = {"look": [f32(4, 4, a, b) for a, b in ((3, 32), (32, 64), (64, 128), (128, 256))],
              "posterior": f32(hidden + 4096, 512), "prior": f32(hidden, 512),
              "cell": f32(hidden + 512 + 8, 3 * hidden), "show_enter": f32(hidden + 512, 4096),
              "show": [f32(3, 3, a, b) for a, b in ((256, 128), (128, 64), (64, 32), (32, 3))],
              "actor": f32(hidden, 512), "actor_out": f32(512, 8), "critic": f32(hidden, 512),
              "critic_out": f32(512, 1), "reward": f32(hidden, 1)}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, length, 64, 64, 3), f32(rows, length, 8),
                  f32(rows, length)), ROLES, donate=(0, 1))


# A mesh: nodes and edges are carried through a scan over layers, who is joined with whom is the same in all of them.

@changed("loop-mesh", "a graph net over a mesh, layers in a scan carry nodes and edges, segment sums, at the limit",
         {"remat": ("checkpoint=*", {"is_remat": True}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "half-edges": ("batch=0.5@senders:0", {"edges": 240000})})
@changed("loop-mesh-small", "the same, fits",
         {"remat": ("checkpoint=*", {"is_remat": True})}, edges=60000, nodes=10000)
def mesh(nodes=80000, edges=480000, width=128, depth=12, is_remat=False):
    def train_step(params, mu, nu, node_data, edge_data, senders, receivers, wanted):
        def layer(state, w):
            x, e = state
            seen = jnp.concatenate([e, x[senders], x[receivers]], -1)
            e = e + rms(jax.nn.relu(seen @ w["edge"]) @ w["edge_out"])
            got = jax.ops.segment_sum(e, receivers, num_segments=nodes)
            x = x + rms(jax.nn.relu(jnp.concatenate([x, got], -1) @ w["node"]) @ w["node_out"])
            return (x, e), None
        layer = jax.checkpoint(layer) if is_remat else layer

        def loss(p):
            state = (jax.nn.relu(node_data @ p["nodes"]), jax.nn.relu(edge_data @ p["edges"]))
            (x, _), _ = jax.lax.scan(layer, state, p["layers"])
            return jnp.square(x @ p["out"] - wanted).mean()
        value, grads = jax.value_and_grad(loss)(params)
        return *adam_tree(params, grads, mu, nu), value
    layers = {"edge": f32(depth, 3 * width, width), "edge_out": f32(depth, width, width),
              "node": f32(depth, 2 * width, width), "node_out": f32(depth, width, width)}
    params = {"nodes": f32(12, width), "edges": f32(7, width), "layers": layers, "out": f32(width, 3)}
    return Built(train_step,
                 (params, params, params, f32(nodes, 12), f32(edges, 7), i32(edges), i32(edges), f32(nodes, 3)), ROLES,
                 donate=(0, 1, 2))


# A long text: attention by chunks of keys in a scan inside of each layer, layers in a scan.

@changed("loop-long", "32,768 tokens, attention by chunks of keys in a scan, layers in a scan, SGD with momentum",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-seq": ("sequence=0.5", {"length": 16384}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def long_text(length=32768, width=512, depth=4, chunk=1024, is_remat=False):
    def attention(w, x):
        s = x.shape[0]
        q, k, v = ((x @ w[name]).reshape(s, -1, 64) for name in ("q", "k", "v"))
        k, v = (part.reshape(s // chunk, chunk, -1, 64) for part in (k, v))

        def over(carry, now):
            best, total, out = carry
            k, v = now
            scores = jnp.einsum("qhd,khd->qhk", q, k) / 8
            fresh = jnp.maximum(best, scores.max(-1))
            weights = jnp.exp(scores - fresh[..., None])
            scale = jnp.exp(best - fresh)
            return (fresh, total * scale + weights.sum(-1),
                    out * scale[..., None] + jnp.einsum("qhk,khd->qhd", weights, v)), None
        begin = (jnp.full(q.shape[:2], -1e9, x.dtype), jnp.zeros(q.shape[:2], x.dtype), jnp.zeros_like(q))
        (_, total, out), _ = jax.lax.scan(jax.checkpoint(over), begin, (k, v))
        return (out / total[..., None]).reshape(s, -1) @ w["o"]

    def layer(x, w):
        x = x + attention(w, rms(x))
        return x + feed(w, rms(x)), None
    layer = jax.checkpoint(layer) if is_remat else layer

    def train_step(params, momentum, tokens):
        def loss(p):
            x, _ = jax.lax.scan(layer, p["embed"][tokens[:-1]], p["layers"])
            return masked_loss(rms(x) @ p["head"], tokens[1:])
        value, grads = jax.value_and_grad(loss)(params)
        momentum = like(jax.tree.map(lambda m, g: .9 * m + g, momentum, grads), momentum)
        return like(jax.tree.map(lambda p, m: p - .01 * m, params, momentum), params), momentum, value
    params = {"embed": f32(32000, width), "head": f32(width, 32000),
              "layers": {**attention_weights(depth, width), **feed_weights(depth, width)}}
    return Built(train_step, (params, params, i32(length + 1)), ROLES, donate=(0, 1))
