# SPDX-License-Identifier: Apache-2.0
"""Families like those of loops.py that no rule was tuned on: translation by LSTMs, experts in a scan, cloth, layers in
pairs, two views of a picture."""
import jax
import jax.numpy as jnp
import optax

from catalog import Built, changed, f32, i32
from changed.held_plain import like, rms
from changed.loops import attend, attention_weights, conv, feed, feed_weights
from changed.steps import ALL_BF16, masked_loss, trained

ROLES = [(".", "other")]


# Translation by LSTMs: the decoder looks at all states of the encoder in each step.

@changed("held-looking", "LSTM encoder in two directions, LSTM decoder that looks at all its states, Adam, not donated",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 32}),
          "half-seq": ("sequence=0.5", {"length": 64}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16}),
          "donated": ("donate=all", {"donate": (0, 1)})}, rows=64)
@changed("held-looking-full", "the same, more rows",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 128})}, rows=256)
def looking(rows=64, length=128, width=512, vocabulary=16000, is_remat=False):
    def cell(w, carry, x):
        h, c = carry
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    def loss(params, source, target):
        x = params["embed"][source].swapaxes(0, 1)
        zeros = jnp.zeros((source.shape[0], width), x.dtype)

        def read(w, x, reverse):
            def one(carry, now):
                carry = cell(w, carry, now)
                return carry, carry[0]
            one = jax.checkpoint(one) if is_remat else one
            return jax.lax.scan(one, (zeros, zeros), x, reverse=reverse)[1]
        states = jnp.concatenate([read(params["ahead"], x, False), read(params["back"], x, True)], -1)
        keys = jnp.tanh(states @ params["keys"])

        def say(carry, word):
            h, c = carry
            scores = (keys * (h @ params["query"])).sum(-1)
            seen = (jax.nn.softmax(scores, 0)[..., None] * states).sum(0)
            h, c = cell(params["say"], (h, c), jnp.concatenate([word, seen], -1))
            return (h, c), jnp.concatenate([h, seen], -1)
        say = jax.checkpoint(say) if is_remat else say
        words = params["embed_out"][target[:, :-1]].swapaxes(0, 1)
        _, said = jax.lax.scan(say, (zeros, zeros), words)
        return masked_loss(jnp.tanh(said @ params["join"]) @ params["head"], target[:, 1:].T)
    optimizer = optax.adam(1e-3)
    params = {"embed": f32(vocabulary, width), "embed_out": f32(vocabulary, width),
              "ahead": f32(2 * width, 4 * width), "back": f32(2 * width, 4 * width), "keys": f32(2 * width, width),
              "query": f32(width, width), "say": f32(4 * width, 4 * width), "join": f32(3 * width, width),
              "head": f32(width, vocabulary)}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), i32(rows, length), i32(rows, length + 1)), ROLES)


# Experts in a scan over layers: each takes as many tokens as it has room for.

@changed("held-switch", "one expert of eight for each token, layers in a scan, Lion by tree.map, near the limit",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 8}),
          "half-seq": ("sequence=0.5", {"length": 512}), "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def switch(rows=16, length=1024, width=512, depth=6, experts=8, is_remat=False):
    room = length // experts * 5 // 4

    def layer(x, w):
        x = x + attend(w, rms(x), rms(x), is_causal=True)
        y = rms(x)
        odds = jax.nn.softmax((y @ w["route"]).astype(jnp.float32))
        chosen = jax.nn.one_hot(odds.argmax(-1), experts)
        place = (jnp.cumsum(chosen, 1) * chosen - 1).astype(jnp.int32)
        sent = chosen[..., None] * jax.nn.one_hot(place, room)
        inside = jnp.einsum("bsec,bsd->becd", sent.astype(y.dtype), y)
        inside = jnp.einsum("becf,efd->becd", jax.nn.gelu(jnp.einsum("becd,edf->becf", inside, w["up"])), w["down"])
        back = sent * odds[..., None]
        return x + jnp.einsum("bsec,becd->bsd", back.astype(y.dtype), inside), None
    layer = jax.checkpoint(layer) if is_remat else layer

    def lion_step(params, momentum, tokens):
        def loss(p):
            x, _ = jax.lax.scan(layer, p["embed"][tokens[:, :-1]], p["layers"])
            return masked_loss(rms(x) @ p["embed"].T, tokens[:, 1:])
        value, grads = jax.value_and_grad(loss)(params)
        fresh = jax.tree.map(lambda p, m, g: p - 1e-4 * jnp.sign(.9 * m + .1 * g), params, momentum, grads)
        return like(fresh, params), like(jax.tree.map(lambda m, g: .99 * m + .01 * g, momentum, grads), momentum), value
    layers = {**attention_weights(depth, width), "route": f32(depth, width, experts),
              "up": f32(depth, experts, width, 4 * width), "down": f32(depth, experts, 4 * width, width)}
    params = {"embed": f32(16000, width), "layers": layers}
    return Built(lion_step, (params, params, i32(rows, length + 1)), ROLES, donate=(0, 1))


# Cloth: points on a grid with springs, moved by a small network, rolled out.

@changed("held-cloth", "cloth that a network moves, simulated in a scan and differentiated, SGD, at the limit",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 16}),
          "half-steps": ("sequence=0.5@wanted:0", {"steps": 150})})
def cloth(rows=32, steps=300, side=64, is_remat=False):
    def springs(x):
        out = jnp.zeros_like(x)
        for axis in (1, 2):
            for far in (1, 2):
                apart = jnp.roll(x, -far, axis) - x
                length = jnp.sqrt(jnp.square(apart).sum(-1, keepdims=True) + 1e-6)
                pull = (length - .1 * far) * apart / length
                out = out + pull - jnp.roll(pull, far, axis)
        return out

    def train_step(params, begin, wanted, goal):
        def loss(p):
            def one(state, want):
                x, v = state
                seen = jnp.concatenate([x.mean((1, 2)), v.mean((1, 2)), goal], -1)
                push = jnp.tanh(jax.nn.relu(seen @ p["enter"]) @ p["leave"])
                v = .99 * v + .01 * (20 * springs(x) + push[:, None, None])
                x = x + .01 * v
                return (x, v), jnp.square(x.mean((1, 2)) - want).mean()
            one = jax.checkpoint(one) if is_remat else one
            _, errors = jax.lax.scan(one, (begin, jnp.zeros_like(begin)), wanted)
            return errors.mean()
        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - .01 * g, params, grads), value
    params = {"enter": f32(9, 256), "leave": f32(256, 3)}
    return Built(train_step, (params, f32(rows, side, side, 3), f32(steps, rows, 3), f32(rows, 3)), ROLES, donate=(0,))


# Layers in pairs: a scan over blocks of a convolution and attention, both in one body.

@changed("held-speech", "speech: blocks of convolution and attention in a scan, two embeddings, AdamW, at the limit",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 12}),
          "half-seq": ("sequence=0.5@sound:1", {"length": 500}),
          "mu-bf16": ("cast=opt*.mu*:bf16", {"casts": ((r"\.mu\b", "bfloat16"),)})})
def speech(rows=24, length=1000, width=512, depth=8, is_remat=False):
    def block(x, w):
        y = rms(x)
        y = jax.nn.glu(y @ w["wide"])
        y = jax.lax.conv_general_dilated(y, w["kernel"], (1,), "SAME", feature_group_count=width,
                                         dimension_numbers=("NWC", "WIO", "NWC"))
        x = x + jax.nn.silu(rms(y)) @ w["narrow"]
        x = x + attend(w, rms(x), rms(x))
        return x + feed(w, rms(x)), None
    block = jax.checkpoint(block) if is_remat else block

    def loss(params, sound, speaker, labels):
        x = sound @ params["enter"] + params["speakers"][speaker][:, None]
        x, _ = jax.lax.scan(block, x, params["blocks"])
        return masked_loss(rms(x) @ params["head"], labels)
    optimizer = optax.adamw(1e-4)
    blocks = {**attention_weights(depth, width), **feed_weights(depth, width), "wide": f32(depth, width, 2 * width),
              "kernel": f32(depth, 15, 1, width), "narrow": f32(depth, width, width)}
    params = {"enter": f32(80, width), "speakers": f32(2000, width), "blocks": blocks, "head": f32(width, 128)}
    return Built(trained(loss, optimizer),
                 (params, jax.eval_shape(optimizer.init, params), f32(rows, length, 80), i32(rows), i32(rows, length)),
                 ROLES, donate=(0, 1))


# Two views of a picture: one network learns what its own average says of the other view.

@changed("held-views", "two views of a picture, a network and its own average, residual blocks in a list, SGD",
         {"remat": ("checkpoint=*", {"is_remat": True}), "half-batch": ("batch=0.5", {"rows": 64}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "donated": ("donate=all", {"donate": (0, 1, 2)})})
def views(rows=128, width=64, is_remat=False):
    def block(w, x):
        y = conv(w["b"], jax.nn.relu(rms(conv(w["a"], jax.nn.relu(rms(x))))))
        return x + y
    block = jax.checkpoint(block) if is_remat else block

    def look(p, x):
        x = conv(p["enter"], x, 2)
        for stage in p["stages"]:
            for w in stage["blocks"]:
                x = block(w, x)
            x = conv(stage["down"], x, 2)
        x = x.mean((1, 2)) @ p["hidden"]
        return jax.nn.relu(rms(x)) @ p["out"]

    def train_step(params, average, momentum, left, right):
        def loss(p):
            cost = 0
            for one, other in ((left, right), (right, left)):
                said = rms(look(p, one) @ p["guess"])
                cost += jnp.square(said - jax.lax.stop_gradient(rms(look(average, other)))).mean()
            return cost
        value, grads = jax.value_and_grad(loss)(params)
        momentum = like(jax.tree.map(lambda m, g: .9 * m + g, momentum, grads), momentum)
        params = like(jax.tree.map(lambda p, m: p - .1 * m, params, momentum), params)
        return params, like(jax.tree.map(lambda a, p: .99 * a + .01 * p, average, params), average), momentum, value
    stages = [{"blocks": [{"a": f32(3, 3, c, c), "b": f32(3, 3, c, c)}] * 3, "down": f32(3, 3, c, 2 * c)}
              for c in (width, 2 * width, 4 * width)]
    params = {"enter": f32(5, 5, 3, width), "stages": stages, "hidden": f32(8 * width, 1024), "out": f32(1024, 256),
              "guess": f32(256, 256)}
    picture = f32(rows, 128, 128, 3)
    return Built(train_step, (params, params, params, picture, picture), ROLES)
