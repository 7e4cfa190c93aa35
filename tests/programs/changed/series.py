# SPDX-License-Identifier: Apache-2.0
"""Recurrent nets over time (a scan by hand, Linen's RNN), dilated convolutions over sound."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from catalog import Built, changed, f32, i32
from changed.steps import ALL_BF16, masked_loss, trained

ROLES = [(".", "other")]


def lstm_cell(w, carry, x):
    h, c = carry
    i, f, g, o = jnp.split(x @ w["kernel"] + h @ w["recurrent"] + w["bias"], 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


@changed("lstm", "three LSTM layers by scans over time, Adam, donated",
         {"half-batch": ("batch=0.5", {"rows": 32}), "half-seq": ("sequence=0.5", {"length": 256}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
@changed("lstm-kept", "the same, not donated", {"donated": ("donate=all", {"donate": (0, 1)})}, donate=())
def lstm(rows=64, length=512, is_remat=False):
    width, vocab = 1024, 16000
    optimizer = optax.adam(1e-3)
    cell = jax.checkpoint(lstm_cell) if is_remat else lstm_cell

    def loss(params, chars):
        x = params["embedding"][chars[:, :-1]].swapaxes(0, 1)
        for at in range(3):
            with jax.named_scope(f"lstm_{at}"):
                zero = jnp.zeros(x.shape[1:], x.dtype)
                _, x = jax.lax.scan(lambda carry, x, w=params[f"lstm_{at}"]: cell(w, carry, x), (zero, zero), x)
        # The head over a quarter of the vocabulary's width keeps the logits from hiding all else.
        return masked_loss(x[-32:] @ params["head"], chars[:, -32:].T)
    layer = {"kernel": f32(width, 4 * width), "recurrent": f32(width, 4 * width), "bias": f32(4 * width)}
    params = {"embedding": f32(vocab, width), "head": f32(width, vocab),
              **{f"lstm_{at}": dict(layer) for at in range(3)}}
    return Built(trained(loss, optimizer), (params, jax.eval_shape(optimizer.init, params), i32(rows, length + 1)),
                 ROLES, donate=(0, 1))


class Forecast(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(768, name="into")(x)
        for at in range(2):
            x = x + nn.RNN(nn.GRUCell(768, param_dtype=x.dtype), name=f"gru_{at}")(x)
        return nn.Dense(32, name="outof")(x)


@changed("gru", "Linen's RNN of gated units over long series, RMSprop, donated",
         {"half-batch": ("batch=0.5", {"rows": 32}), "half-seq": ("sequence=0.5", {"length": 512}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16})})
def gru(rows=64, length=1024):
    model, optimizer = Forecast(), optax.rmsprop(1e-3, momentum=0.9)

    def loss(params, series):
        return jnp.square(model.apply({"params": params}, series[:, :-1]) - series[:, 1:]).mean()
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 8, 32)))["params"])
    return Built(trained(loss, optimizer), (params, jax.eval_shape(optimizer.init, params), f32(rows, length + 1, 32)),
                 ROLES, donate=(0, 1))


def dilated(w, x, dilation):
    y = jax.lax.conv_general_dilated(x, w["filter"], (1,), [(2 * dilation, 0)], rhs_dilation=(dilation,),
                                     dimension_numbers=("NWC", "WIO", "NWC"))
    gate, value = jnp.split(y + w["bias"], 2, -1)
    y = jax.nn.sigmoid(gate) * jnp.tanh(value)
    return x + y @ w["residual"], y @ w["skip"]


@changed("audio", "gated dilated convolutions over sound, Adam, donated",
         {"half-batch": ("batch=0.5", {"rows": 4}), "half-seq": ("sequence=0.5", {"length": 8192}),
          "remat": ("checkpoint=*", {"is_remat": True}),
          "bf16": ("cast=*:bf16", {"casts": ALL_BF16}), "quarter-batch": ("batch=0.25@wave:0", {"rows": 2})})
def audio(rows=8, length=16384, is_remat=False):
    optimizer = optax.adam(1e-3)

    def loss(net, wave, levels):
        x, total = wave[..., None] * net["lift"], 0
        for at, w in enumerate(net["stack"]):
            with jax.named_scope(f"conv_{at}"):
                call = lambda w, x, dilation=2 ** (at % 10): dilated(w, x, dilation)  # noqa: E731
                x, skip = (jax.checkpoint(call) if is_remat else call)(w, x)
                total = total + skip
        return masked_loss(jax.nn.relu(total) @ net["head"], levels)
    block = {"filter": f32(3, 128, 256), "bias": f32(256), "residual": f32(128, 128), "skip": f32(128, 256)}
    net = {"lift": f32(128), "stack": [dict(block) for _ in range(12)], "head": f32(256, 256)}
    return Built(trained(loss, optimizer),
                 (net, jax.eval_shape(optimizer.init, net), f32(rows, length), i32(rows, length)), ROLES, donate=(0, 1))
