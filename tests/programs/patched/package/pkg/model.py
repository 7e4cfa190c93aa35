# SPDX-License-Identifier: Apache-2.0
"""Layers."""
from jax import numpy as jnp
import jax


def attention_block(params, x, heads, causal=True):
    b, s, d = x.shape
    q, k, v = (h.reshape(b, s, heads, d // heads) for h in jnp.split(x @ params["qkv"], 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (d // heads) ** .5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e9)
    y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v).reshape(b, s, d)
    x = x + y @ params["out"]
    return x + jax.nn.gelu(x @ params["up"]) @ params["down"]


def forward(params, x):
    for layer in params["layers"]:
        x = attention_block(layer, x, 8)
    return x
