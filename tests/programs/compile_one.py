# SPDX-License-Identifier: Apache-2.0
"""compile_one.py NAME MODELS FOLDER [TARGET]: lowers one program of models/ or changed/, writes FOLDER/arguments.json
and compiles it for TPU v5e with its dump in FOLDER/dump; with TARGET, a *.gpu_target_config.pbtxt, for that GPU.

Neither is needed: libtpu describes the chips, the file describes the GPU. make.py ends this process as soon as the
buffers are assigned, for the code that the compiler would make from then on is not used.
"""
import contextlib
import json
import os
import re
import sys

# libtpu asks no metadata server and takes no lock for a chip that is not there.
os.environ.update(TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0",
                  ALLOW_MULTIPLE_LIBTPU_LOAD="1",
                  JAX_PLATFORMS="cpu")

CHIPS = {1: ("v5litepod-1", "v5e:1x1", {"chips_per_host_bounds": (1, 1, 1)}), 4: ("v5litepod-4", "v5e:2x2", {}),
         8: ("v5litepod-8", "v5e:2x4", {})}


def mesh_of(axes, target=None):
    import math
    import numpy
    from jax.experimental import topologies
    from jax.sharding import Mesh
    if target:
        with open(target, encoding="utf-8") as text:
            devices = topologies.get_topology_desc(topology_name="", platform="cuda", target_config=text.read(),
                                                   topology=f"1x1x{math.prod(axes.values())}").devices
        return Mesh(numpy.array(devices).reshape(tuple(axes.values())), tuple(axes))
    accelerator, topology, options = CHIPS[math.prod(axes.values())]
    os.environ["TPU_ACCELERATOR_TYPE"] = accelerator
    devices = topologies.get_topology_desc(platform="tpu", topology_name=topology, **options).devices
    return Mesh(numpy.array(devices).reshape(tuple(axes.values())), tuple(axes))


def placed(built, mesh, paths, hosted=""):
    """args with a sharding on every leaf; those like `hosted` wait in the host's memory"""
    import jax
    from catalog import first_of
    from jax.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding
    for expression, _ in built.specs:
        if not any(re.search(expression, name) for names in paths for name in names):
            raise ValueError(f"no argument is like {expression}")
    single = SingleDeviceSharding(mesh.devices.flat[0]) if mesh.size == 1 else None
    out = []
    for names, value in zip(paths, built.args, strict=True):
        leaves, tree = jax.tree.flatten(value)
        shardings = [single or NamedSharding(mesh, first_of(built.specs, name, [PartitionSpec()])[0]) for name in names]
        shardings = [sharding.with_memory_kind("pinned_host") if hosted and re.search(hosted, name) else sharding
                     for name, sharding in zip(names, shardings, strict=True)]
        out.append(tree.unflatten([jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)
                                   for leaf, sharding in zip(leaves, shardings, strict=True)]))
    return out


def arguments_of(built, lowered, paths):
    import jax
    from catalog import first_of
    kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
    leaves = jax.tree.leaves(lowered.args_info, is_leaf=lambda value: hasattr(value, "donated"))
    rows = []
    for at, (path, leaf) in enumerate(zip([path for part in paths for path in part], leaves, strict=True)):
        role, *also = first_of(built.roles, path, None)
        rows.append({"number": kept.index(at) if at in kept else None, "path": path, "role": role,
                     **({"also": also} if also else {}),
                     "shape": list(leaf.shape), "dtype": str(leaf.dtype), "donated": bool(leaf.donated)})
    return rows


def main(name, models, folder, target=None):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import jax
    import catalog
    chosen = catalog.load(models, models.split(".")[0])[name]
    mesh = mesh_of(chosen.mesh or {"chip": 1}, target)
    # Under a mesh JAX would run on these chips what a program computes while it is built.
    with jax.set_mesh(mesh) if chosen.mesh else contextlib.nullcontext():
        built = catalog.cast(chosen.build(**chosen.settings), chosen.casts)
        paths = catalog.paths_of(built.step, built.args)
        args = placed(built, mesh, paths, chosen.hosted)
        options = {"out_shardings":
                   built.results(*[jax.tree.map(lambda leaf: leaf.sharding, arg)
                                   for arg in args])} if built.results and (chosen.mesh or chosen.hosted) else {}
        donate = built.donate if chosen.donate is None else chosen.donate
        lowered = jax.jit(built.step, donate_argnums=donate, **options).lower(*args)
        found = {"jax": jax.__version__, "args": arguments_of(built, lowered, paths)}
        if built.grads is not None:
            found["grads"] = [{"path": jax.tree_util.keystr(path), "shape": list(leaf.shape), "dtype": str(leaf.dtype)}
                              for path, leaf in jax.tree_util.tree_flatten_with_path(built.grads)[0]]
        with open(os.path.join(folder, "arguments.json"), "w", encoding="utf-8") as out:
            json.dump(found, out)
        compiled = lowered.compile(compiler_options={"xla_dump_to": os.path.join(folder, "dump"),
                                                     "xla_dump_hlo_as_proto": True})
    stats = compiled.memory_analysis()
    with open(os.path.join(folder, "memory_analysis.json"), "w", encoding="utf-8") as out:
        json.dump({name: getattr(stats, name) for name in sorted(dir(stats)) if name.endswith("_in_bytes")}, out,
                  indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
