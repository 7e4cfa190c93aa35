# SPDX-License-Identifier: Apache-2.0
"""compile_patched.py SOURCES OUT [TARGET]: compiles what SOURCES/train.py jits for TPU v5e, with its dump in OUT/dump;
with TARGET, a *.gpu_target_config.pbtxt, for that GPU.

train.py has args(), shapes of the arguments, and `step`, the jitted function, or lower(*args). No TPU or GPU is needed.
make_patches.py ends this process as soon as the buffers are assigned.
"""
import os
import sys

from compile_one import mesh_of  # sets what libtpu needs to be told


def main(sources, out, target=None):
    sys.path.insert(0, sources)
    import jax
    from jax.sharding import SingleDeviceSharding
    import train
    sharding = SingleDeviceSharding(mesh_of({"chip": 1}, target).devices.flat[0])

    def placed(leaf):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding) if hasattr(leaf, "shape") else leaf
    args = jax.tree.map(placed, train.args())
    lowered = train.lower(*args) if hasattr(train, "lower") else train.step.lower(*args)
    lowered.compile(compiler_options={"xla_dump_to": os.path.join(out, "dump"), "xla_dump_hlo_as_proto": True})


if __name__ == "__main__":
    main(*sys.argv[1:])
