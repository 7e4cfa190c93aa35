# SPDX-License-Identifier: Apache-2.0
"""Stands in for JAX: as much of it as the package asks."""

import os
import shutil
import sys
import types

from python_box import COMPILE_TEXT, FIXTURES, PROFILES

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import inputs  # noqa: E402: its folder is added above

# What XLA wrote for a program that does not fit, and what the compiler said.
DUMP = os.path.join(FIXTURES, "dumps")


class JaxRuntimeError(RuntimeError):
    pass


class Frame:
    def __init__(self, file_name, line_num):
        self.file_name, self.line_num = file_name, line_num


class Array:
    def __init__(self, nbytes, line=0, is_gone=False):
        self.nbytes, self.shape, self.dtype, self.sharding = (
            nbytes,
            (nbytes // 4,),
            "float32",
            "SingleDeviceSharding(cpu:0)",
        )
        self.is_deleted = lambda: is_gone
        if line:
            self.traceback = types.SimpleNamespace(frames=[Frame(os.__file__, 1), Frame("/home/me/train.py", line)])


class Executable:
    def __init__(self, name, peak_bytes, assignment=b"\x0a\x00"):
        self.name, self.peak_bytes, self.assignment = name, peak_bytes, assignment

    def get_compiled_memory_stats(self):
        if self.peak_bytes < 0:
            raise NotImplementedError("no stats on this backend")
        return types.SimpleNamespace(
            peak_memory_in_bytes=self.peak_bytes, serialized_buffer_assignment_proto=self.assignment
        )

    def hlo_modules(self):
        return [
            types.SimpleNamespace(
                name=self.name, as_serialized_hlo_module_proto=lambda: inputs.hlo_module(self.name, 1)
            )
        ]


class Lowered:
    """compile() dumps what `files` names, and raises `error`"""

    def __init__(self, files=(), error=None, knows_options=True, executable=None):
        self.files, self.error, self.knows_options, self.executable = files, error, knows_options, executable
        self.asked = []

    def as_text(self):
        return ""

    def compile(self, compiler_options=None):
        self.asked.append(compiler_options)
        if compiler_options and not self.knows_options:
            raise JaxRuntimeError("INVALID_ARGUMENT: No such compile option: 'xla_dump_to'")
        for path in self.files if compiler_options else ():
            shutil.copy(path, compiler_options["xla_dump_to"])
        if self.error:
            raise self.error
        return types.SimpleNamespace(runtime_executable=lambda: self.executable)


def out_of_memory():
    return JaxRuntimeError(COMPILE_TEXT)


def make(profiles=PROFILES, arrays=(), executables=(), has_devices=True):
    """(jax, jax._src.xla_bridge) for sys.modules; every question for a profile gives the next one"""
    asked = iter(profiles)
    jax = types.ModuleType("jax")
    jax.profiler = types.SimpleNamespace(device_memory_profile=lambda: next(asked, profiles[-1]))
    jax.live_arrays = lambda: list(arrays)
    client = types.SimpleNamespace(live_executables=lambda: list(executables))
    jax.devices = lambda: [types.SimpleNamespace(client=client)] * 2
    bridge = types.ModuleType("jax._src.xla_bridge")
    bridge.backends_are_initialized = lambda: has_devices
    return jax, bridge
