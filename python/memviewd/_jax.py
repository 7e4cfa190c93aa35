# SPDX-License-Identifier: Apache-2.0
"""What is asked of JAX. Only a JAX that the program itself has imported and that has a device is asked: to say what
filled the memory nothing is imported, and no device is taken. Every function says "nothing" where JAX cannot tell."""

import collections
import os
import sys
import sysconfig

MAX_ARRAYS = 100
MAX_PROGRAMS = 16
MAX_PROGRAM_BYTES = 256 << 20

Program = collections.namedtuple("Program", "name bytes hlo assignment")


def running():
    """The module jax if it has taken its devices already, else None."""
    jax = sys.modules.get("jax")
    bridge = sys.modules.get("jax._src.xla_bridge")
    if jax is None or not hasattr(jax, "profiler") or bridge is None:
        return None
    return jax if getattr(bridge, "backends_are_initialized", lambda: True)() else None


def device_profile():
    """jax.profiler.device_memory_profile(): bytes of a pprof profile, or None."""
    jax = running()
    return jax.profiler.device_memory_profile() if jax else None


# ---- arrays -----------------------------------------------------------------------------


def _libraries():
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(os.path.join(path, "") for path in paths if path)


def _line_of(array):
    """ "train.py:12" of the person's own code that made the array, or None."""
    try:
        frames = array.traceback.frames
    except Exception:  # only some kinds of arrays have one
        return None
    libraries = _libraries()
    for frame in frames or ():
        if not frame.file_name.startswith(libraries) and not frame.file_name.startswith("<frozen"):
            return "{}:{}".format(frame.file_name, frame.line_num)
    return None


def live_arrays():
    """{"count", "bytes", "arrays": [{"shape", "dtype", "sharding", "bytes", "line"}]}, the largest first, at most
    MAX_ARRAYS; bytes are those of the whole array on all devices. None where there is no JAX."""
    jax = running()
    if jax is None:
        return None
    arrays = [array for array in jax.live_arrays() if not array.is_deleted()]
    arrays.sort(key=lambda array: -array.nbytes)
    return {
        "count": len(arrays),
        "bytes": sum(array.nbytes for array in arrays),
        "arrays": [
            {
                "shape": list(array.shape),
                "dtype": str(array.dtype),
                "sharding": str(array.sharding),
                "bytes": array.nbytes,
                "line": _line_of(array),
            }
            for array in arrays[:MAX_ARRAYS]
        ],
    }


# ---- programs ---------------------------------------------------------------------------


def _stats_of(executable):
    try:
        return executable.get_compiled_memory_stats()
    except Exception:  # not every backend has them
        return None


def _peak_bytes(stats):
    return getattr(stats, "peak_memory_in_bytes", 0) or stats.temp_size_in_bytes + stats.argument_size_in_bytes


def program_of(executable, stats=None):
    """The program of an executable with its buffer assignment, or None where the backend gives none (libtpu 0.0.52)."""
    stats = stats or _stats_of(executable)
    assignment = getattr(stats, "serialized_buffer_assignment_proto", b"")
    modules = executable.hlo_modules() if assignment else []
    if not modules:
        return None
    return Program(modules[0].name, _peak_bytes(stats), modules[0].as_serialized_hlo_module_proto(), assignment)


def loaded_programs():
    """Those that are loaded, the largest at their peak first: up to MAX_PROGRAMS, and MAX_PROGRAM_BYTES of protos."""
    jax = running()
    if jax is None:
        return []
    clients = {id(device.client): device.client for device in jax.devices()}.values()
    known = [
        (stats, executable)
        for client in clients
        for executable in client.live_executables()
        for stats in [_stats_of(executable)]
        if stats
    ]
    known.sort(key=lambda pair: -_peak_bytes(pair[0]))
    programs, left = [], MAX_PROGRAM_BYTES
    for stats, executable in known[:MAX_PROGRAMS]:
        program = program_of(executable, stats)
        if program:
            left -= len(program.hlo) + len(program.assignment)
            if left < 0:
                break
            programs.append(program)
    return programs
