# SPDX-License-Identifier: Apache-2.0
"""compile_patched.py SOURCES OUT: compiles what SOURCES/train.py jits for TPU v5e, with its dump in OUT/dump.

train.py has args(), shapes of the arguments, and `step`, the jitted function, or lower(*args). No TPU is needed.
make_patches.py ends this process as soon as the buffers are assigned.
"""
import os
import sys

from compile_one import CHIPS  # sets what libtpu needs to be told


def main(sources, out):
    accelerator, topology, options = CHIPS[1]
    os.environ["TPU_ACCELERATOR_TYPE"] = accelerator
    sys.path.insert(0, sources)
    import jax
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding
    import train
    sharding = SingleDeviceSharding(topologies.get_topology_desc(platform="tpu", topology_name=topology,
                                                                 **options).devices[0])

    def placed(leaf):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding) if hasattr(leaf, "shape") else leaf
    args = jax.tree.map(placed, train.args())
    lowered = train.lower(*args) if hasattr(train, "lower") else train.step.lower(*args)
    lowered.compile(compiler_options={"xla_dump_to": os.path.join(out, "dump"), "xla_dump_hlo_as_proto": True})


if __name__ == "__main__":
    main(*sys.argv[1:])
