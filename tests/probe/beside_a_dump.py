# SPDX-License-Identifier: Apache-2.0
"""The files beside a dumped program that say of which chip it is: each scalar in turn with another value."""

from case import Case
from odd_numbers import digits, numbers_of

COMMANDS = ("summary --json", "explain --json")
CHIP = "shared/data/chips/v5p/module_0000.jit_oom.cl_1014260217"
GPU = "shared/data/gpu-h200/dumps/seed/module_0001.jit_oom"
TPU_PROGRAM = "tests/fixtures/dumps/d-tile-padding/module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb"
GPU_PROGRAM = GPU + ".sm_9.0a_gpu_after_optimizations.hlo.pb"


def topology(message):
    return numbers_of("PjRtTopologyDescriptionProto", ((("PjRtTopologyDescriptionProto.Any", "value"), message),))


def case(name, path, variants, file, program, suffix, **more):
    """beside the program module_0001.jit_f; `file` is named by its stem"""
    beside = f"module_0001.jit_f.{suffix}"
    return Case(
        f"numbers of {name}",
        path,
        variants,
        COMMANDS,
        file=f"module_0001.jit_f{file}",
        beside=((beside, program),),
        asked=beside,
        **more,
    )


CASES = [
    case(
        "a TPU's target arguments",
        CHIP + ".target_arguments.pb",
        numbers_of("TpuTargetArguments"),
        ".target_arguments.pb",
        TPU_PROGRAM,
        "after_optimizations.hlo.pb",
    ),
    case(
        "a TPU's topology",
        CHIP + "/topology.pb",
        topology("TpuTopologyDescription"),
        "/topology.pb",
        TPU_PROGRAM,
        "after_optimizations.hlo.pb",
    ),
    case(
        "compile options",
        CHIP + "/compile_options.pb",
        numbers_of("CompileOptionsProto"),
        "/compile_options.pb",
        TPU_PROGRAM,
        "after_optimizations.hlo.pb",
    ),
    case(
        "a GPU's target",
        GPU + ".gpu_target_config.pbtxt",
        digits,
        ".gpu_target_config.pbtxt",
        GPU_PROGRAM,
        "sm_9.0a_gpu_after_optimizations.hlo.pb",
        always="device_memory|150109880320",
    ),
    case(
        "a GPU's topology",
        "tests/fixtures/gpu/jax-run/module_5978.jit_train_step/topology.pb",
        topology("GpuTopologyProto"),
        "/topology.pb",
        GPU_PROGRAM,
        "sm_9.0a_gpu_after_optimizations.hlo.pb",
        changes=(("device_memory_size", "then the GPU's name tells its memory"),),
    ),
]
