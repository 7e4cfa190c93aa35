# SPDX-License-Identifier: Apache-2.0
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class ResBlock(nn.Module):
    channels: int

    @nn.compact
    def __call__(self, x, train: bool):
        y = nn.Conv(self.channels, (3, 3), use_bias=False)(x)
        y = nn.relu(nn.BatchNorm(use_running_average=not train)(y))
        y = nn.Conv(self.channels, (3, 3), use_bias=False)(y)
        return nn.relu(x + nn.BatchNorm(use_running_average=not train)(y))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Conv(128, (3, 3), (2, 2))(x)
        for _ in range(8):
            x = ResBlock(128)(x, train)
        return nn.Dense(100)(x.mean((1, 2)))


model = Net()
tx = optax.adamw(1e-3)


@functools.partial(jax.jit, static_argnames=("train",))
def train_step(variables, opt_state, images, labels, train=True):
    def loss(params):
        logits, new = model.apply({"params": params, "batch_stats": variables["batch_stats"]}, images, train,
                                  mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), new
    grads, new = jax.grad(loss, has_aux=True)(variables["params"])
    updates, opt_state = tx.update(grads, opt_state, variables["params"])
    return {"params": optax.apply_updates(variables["params"], updates), **new}, opt_state


step = train_step


def args():
    variables = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 96, 96, 3)), True))
    images = jax.ShapeDtypeStruct((256, 96, 96, 3), jnp.float32)
    return (variables, jax.eval_shape(tx.init, variables["params"]), images,
            jax.ShapeDtypeStruct((256,), jnp.int32))
