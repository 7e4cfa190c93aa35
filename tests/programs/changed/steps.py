# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: element types of their changes, optimizers that keep the types of their
arguments."""
import inspect

import jax
import jax.numpy as jnp
import optax

ALL_BF16 = ((".", "bfloat16"),)


def updated(optimizer, grads, opt, params):
    """(params, opt) after a step, in the types that they had"""
    updates, fresh = optimizer.update(grads, opt, params)
    fresh = jax.tree.map(lambda new, old: new.astype(old.dtype), fresh, opt)
    return optax.apply_updates(params, updates), fresh


def trained(loss, optimizer):
    """a step of training; its arguments are named as those of the loss are"""
    def step(params, opt, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        return *updated(optimizer, grads, opt, params), value
    first, *others = inspect.signature(loss).parameters.values()
    step.__signature__ = inspect.Signature([first, inspect.Parameter("opt", first.kind), *others])
    return step


def masked_loss(logits, targets, weights=None):
    logits = logits.astype(jnp.float32)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
    return losses.mean() if weights is None else (losses * weights).sum() / weights.sum()
