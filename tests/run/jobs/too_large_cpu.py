"""Asks the CPU for 64 TiB."""
import jax
import jax.numpy as jnp

sort = jax.jit(lambda x: jnp.cos(jnp.broadcast_to(x, (1 << 20, 1 << 24))).sort(0))
print("step 1", flush=True)
sort(jnp.ones((1 << 24,))).block_until_ready()
