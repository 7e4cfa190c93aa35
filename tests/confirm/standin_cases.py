# SPDX-License-Identifier: Apache-2.0
"""The cases of standin.py: how the library goes wrong, where it is found, what lies beside the module, and what
memviewd says."""

# Of tests/fixtures/text/hlo-two-buffers.textproto, its temporaries in whole pages; and what the stand-in counts itself.
DUMPED = {"argument_bytes": 512, "output_bytes": 1024, "alias_bytes": 0, "temporary_bytes": 16384, "total_bytes": 17920}
COUNTED = {
    "argument_bytes": 1000,
    "output_bytes": 300,
    "alias_bytes": 200,
    "temporary_bytes": 16384,
    "total_bytes": 17484,
}
NO_FIGURES = {"has_figures": False, "total_bytes": 0}

# (word of the stand-in, options of drive, status, expression that the whole sentence matches, further members)
CASES = [
    (
        "compiles",
        ["--code"],
        "done",
        r"Compiled by libtpu cl/4242 for v5e:2x2 in \d\.\d s: the compiler's own count\.",
        {**COUNTED, "is_of_compiler": True, "build": 4242},
    ),
    ("no_dump", [], "done", r"Compiled by .* the compiler's own count\.", {**COUNTED, "is_of_compiler": True}),
    (
        "stops",
        [],
        "done",
        r"Compiled by libtpu cl/4242 for v5e:2x2 in \d\.\d s: the buffer assignment that it dumped; "
        r"no code was generated\.",
        {**DUMPED, "is_of_compiler": False},
    ),
    ("broken_dump", [], "crashed", r"What the compiler dumped cannot be read: .+\.", NO_FIGURES),
    ("no_figures", ["--code"], "refused", r"The compiler refuses it: not implemented\.", NO_FIGURES),
    (
        "hangs",
        ["--limit-ms=1000"],
        "timed_out",
        r"libtpu cl/4242 was ended while it compiled: it took longer than 1 s\.",
        NO_FIGURES,
    ),
    ("hangs", ["--cancel-ms=300"], "cancelled", r"libtpu cl/4242 was ended while it compiled: cancelled\.", NO_FIGURES),
    (
        "segfaults",
        [],
        "crashed",
        r"libtpu cl/4242 ended by signal 11 \(Segmentation fault\) while it compiled\.",
        NO_FIGURES,
    ),
    (
        "aborts",
        [],
        "crashed",
        r"libtpu cl/4242 ended by signal 6 \(Aborted\) while it compiled: "
        r"Check failed: size >= 0 \(-1 vs\. 0\) \[31m\.",
        NO_FIGURES,
    ),
    ("exits", [], "crashed", r"libtpu cl/4242 ended with status 3 while it compiled\.", NO_FIGURES),
    (
        "prints",
        [],
        "too_much_output",
        r"libtpu cl/4242 was ended while it compiled: it printed more than 6[4-9] MiB\.",
        NO_FIGURES,
    ),
    (
        "allocates",
        ["--limit-mib=300"],
        "out_of_memory",
        r"libtpu cl/4242 was ended while it compiled: it took more memory than 300 MiB\.",
        NO_FIGURES,
    ),
    (
        "refuses",
        [],
        "refused",
        r"The compiler refuses it: INVALID_ARGUMENT: Not enough cores second line\.",
        {"text": "INVALID_ARGUMENT: Not enough cores\nsecond line.", **NO_FIGURES},
    ),
    (
        "too_large",
        [],
        "does_not_fit",
        r"It does not fit: E1000: CompileTimeHbmOom: .*\(16\.72G\).*\.",
        {**DUMPED, "needed_bytes": round(16.72 * 2**30), "available_bytes": round(15.75 * 2**30)},
    ),
    ("grandchild", ["--code"], "done", r"Compiled by .*", COUNTED),
    ("escapes", [], "done", r"Compiled by .*", DUMPED),
    (
        "garbage",
        [],
        "crashed",
        r"libtpu cl/4242 was ended while it compiled: what it reported cannot be read\.",
        NO_FIGURES,
    ),
    (
        "lies",
        ["--code"],
        "crashed",
        r"libtpu cl/4242 was ended while it .*: what it reported cannot be read\.",
        NO_FIGURES,
    ),
    ("forges", [], "refused", r"The compiler refuses it: .*\.", {"text": "\x1b]", **NO_FIGURES}),
    ("closes", ["--code"], "crashed", r"libtpu cl/4242 ended with status \d+ while it .*\.", NO_FIGURES),
    (
        "fills",
        [],
        "crashed",
        r"libtpu cl/4242 ended by signal 25 \(File size limit exceeded\) while it compiled\.",
        NO_FIGURES,
    ),
    ("vast", [], "crashed", r"What the compiler dumped cannot be read: .+\.", NO_FIGURES),
    (
        "new_version",
        [],
        "unknown_version",
        r"This libtpu is not known: it speaks version 0\.118 of PJRT, known here "
        r"are 0\.69 to 0\.117\.",
        NO_FIGURES,
    ),
    (
        "old_version",
        [],
        "unknown_version",
        r"This libtpu is not known: it speaks version 0\.68 of PJRT, known here "
        r"are .*\.",
        NO_FIGURES,
    ),
    (
        "other_major",
        [],
        "unknown_version",
        r"This libtpu is not known: it speaks version 1\.117 of PJRT, known here "
        r"are .*\.",
        NO_FIGURES,
    ),
    (
        "short_table",
        [],
        "unknown_version",
        r"This libtpu is not known: its table of PJRT 0\.117 is \d+ bytes long, "
        r"not at least \d+\.",
        NO_FIGURES,
    ),
    (
        "short_version",
        [],
        "unknown_version",
        r"This libtpu is not known: its table of PJRT is only \d+ bytes long, "
        r"its version 8\.",
        NO_FIGURES,
    ),
    (
        "empty_entry",
        [],
        "unknown_version",
        r"This libtpu is not known: entry 89 of its table of PJRT is empty\.",
        NO_FIGURES,
    ),
    ("no_table", [], "no_libtpu", r"libtpu could not be loaded: GetPjrtApi gives no table\.", NO_FIGURES),
    (
        "stops",
        ["--topology=v9:2x2"],
        "refused",
        r"The compiler refuses it: Invalid TPU external name: stand-in\.",
        NO_FIGURES,
    ),
    (
        "stops",
        ["--topology=2x2"],
        "cannot_start",
        r"The compile could not be started: a topology is written as "
        r"v5e:2x2\.",
        NO_FIGURES,
    ),
    (
        "stops",
        ["--topology="],
        "cannot_start",
        r"The compile could not be started: a topology is written as v5e:2x2\.",
        NO_FIGURES,
    ),
    (
        "stops",
        ["--libtpu=/nowhere/libtpu.so"],
        "no_libtpu",
        r"No compiler: /nowhere/libtpu\.so \(--libtpu\) is no libtpu\.so\.",
        NO_FIGURES,
    ),
    ("stops", ["--libtpu=/etc/hostname"], "no_libtpu", r"libtpu could not be loaded: .*\.", NO_FIGURES),
]

# The same of a stand-in that is found and not named: (name, variables, further options, status, sentence, members).
# {site} holds a package libtpu 1.2.3, {python} has a python3 that prints WORDS, {dump} a module with files beside it.
FOUND = r"Compiled by libtpu 1\.2\.3 for v5e:2x2 in .*"
NOWHERE = (
    r"No compiler: no libtpu\.so: neither --libtpu nor MEMVIEWD_LIBTPU is set, and python3 imports no libtpu "
    r"\(pip install libtpu; no TPU is needed\)\."
)
SEARCHES = [
    (
        "a file named by the variable",
        {"MEMVIEWD_LIBTPU": "{site}/libtpu/libtpu.so"},
        "done",
        FOUND,
        {"plugin_version": "1.2.3"},
    ),
    (
        "a folder named by the variable",
        {"MEMVIEWD_LIBTPU": "{site}/libtpu"},
        "done",
        FOUND,
        {"plugin_version": "1.2.3"},
    ),
    ("its parent", {"MEMVIEWD_LIBTPU": "{site}"}, "done", FOUND, {"plugin_version": "1.2.3"}),
    (
        "beside Python's package",
        {"PATH": "{python}", "WORDS": "a warning\n{site}/libtpu/libtpu.so\n"},
        "done",
        FOUND,
        {},
    ),
    (
        "behind more than is kept",
        {"PATH": "{python}", "WORDS": "a warning\n" * 5000 + "{site}/libtpu/libtpu.so\n"},
        "done",
        FOUND,
        {},
    ),
    ("Python prints no path", {"PATH": "{python}", "WORDS": "libtpu.so\n"}, "no_libtpu", NOWHERE, {}),
    (
        "Python prints what is not there",
        {"PATH": "{python}", "WORDS": "/nowhere/libtpu.so\n"},
        "no_libtpu",
        NOWHERE,
        {},
    ),
    (
        "Python fails",
        {"PATH": "{python}", "WORDS": "{site}/libtpu/libtpu.so\n", "STATUS": "1"},
        "no_libtpu",
        NOWHERE,
        {},
    ),
    ("no Python", {"PATH": "/nowhere"}, "no_libtpu", NOWHERE, {}),
    (
        "one that is named, or none",
        {"MEMVIEWD_LIBTPU": "/nowhere", "PATH": "{python}", "WORDS": "{site}/libtpu/libtpu.so\n"},
        "no_libtpu",
        r"No compiler: /nowhere \(MEMVIEWD_LIBTPU\) is no libtpu\.so\.",
        {},
    ),
]
# TpuTopology of proto/compile.proto: a v5e of 2 × 2 chips, as both files hold it.
TOPOLOGY = b"\x08\x04\x12\x04lite" + b"\x2a\x06\x08\x02\x10\x02\x18\x01" + b"\x32\x06\x08\x01\x10\x01\x18\x01"


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


GPU = (
    b'gpu_device_info {\n  device_memory_size: 150109880320\n}\nplatform_name: "CUDA"\n'
    b'device_description_str: "NVIDIA H200"\n'
)
# The same program with a GPU's target configuration beside it: (word, status, sentence, members).
GPUS = [
    (
        "stops",
        "done",
        r"Compiled by CUDA plug-in cl/4242 for NVIDIA H200 in .*: the buffer assignment that it dumped; "
        r"no code was generated\.",
        {"total_bytes": 17920},
    ),
    ("no_marker", "done", r"Compiled by CUDA plug-in cl/4242 for NVIDIA H200 in .*", {"total_bytes": 17920}),
    ("broken_dump", "crashed", r"What the compiler dumped cannot be read: .+\.", NO_FIGURES),
    (
        "aborts",
        "crashed",
        r"CUDA plug-in cl/4242 ended by signal 6 \(Aborted\) while it compiled: Check failed: .*",
        NO_FIGURES,
    ),
    (
        "other_release",
        "refused",
        r"CUDA plug-in cannot read the target configuration of the GPU, so it is of another "
        r"release than the dump; .*: Failed to parse GpuTargetConfigProto\.",
        NO_FIGURES,
    ),
    (
        "new_version",
        "unknown_version",
        r"This CUDA plug-in is not known: it speaks version 0\.118 of PJRT, .*",
        NO_FIGURES,
    ),
    ("no_table", "no_plugin", r"CUDA plug-in could not be loaded: GetPjrtApi gives no table\.", NO_FIGURES),
]
PLUGIN_NOWHERE = (
    r"No compiler: no xla_cuda_plugin\.so: neither --pjrt-plugin nor MEMVIEWD_PJRT_PLUGIN is set, and "
    r"python3 has no xla_cuda plug-in of JAX .*"
)
PLUGIN_SEARCHES = [
    (
        "the folder of packages",
        {"MEMVIEWD_PJRT_PLUGIN": "{site}"},
        "done",
        r"Compiled by CUDA plug-in 0\.11\.2 for .*",
        {"plugin_version": "0.11.2"},
    ),
    (
        "beside Python's package",
        {"PATH": "{python}", "WORDS": "{site}/jax_plugins/xla_cuda12/xla_cuda_plugin.so\n"},
        "done",
        r"Compiled by CUDA plug-in 0\.11\.2 .*",
        {},
    ),
    ("Python has none", {"PATH": "{python}", "WORDS": "\n"}, "no_plugin", PLUGIN_NOWHERE, {}),
    (
        "libtpu is none",
        {"MEMVIEWD_PJRT_PLUGIN": "{site}/libtpu"},
        "no_plugin",
        r"No compiler: .*/libtpu \(MEMVIEWD_PJRT_PLUGIN\) is no xla_cuda_plugin\.so\.",
        {},
    ),
]
BESIDE = [
    ("target_arguments.pb", ".target_arguments.pb", field(6, TOPOLOGY), "done", r"Compiled by .* for v5e:2x2 in .*"),
    (
        "topology.pb",
        "/topology.pb",
        field(2, b"tpu") + field(9, field(2, field(1, TOPOLOGY))),
        "done",
        r"Compiled by .* for v5e:2x2 in .*",
    ),
    (
        "gpu_target_config.pbtxt",
        ".gpu_target_config.pbtxt",
        GPU,
        "done",
        r"Compiled by CUDA plug-in cl/4242 for NVIDIA H200 in .*: the buffer assignment .*",
    ),
    (
        None,
        ".other.pb",
        b"",
        "cannot_start",
        r"The compile could not be started: the dump does not say for which chip; --topology=v5e:2x2 says it\.",
    ),
    (
        None,
        ".target_arguments.pb",
        b"\x32\x7f",
        "cannot_start",
        r"The compile could not be started: the dump does not say .*",
    ),
]
