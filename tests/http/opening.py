# SPDX-License-Identifier: Apache-2.0
"""What people really have: the chip that a dump names, parts of one program that belong together."""
import json
import os

import inputs
from harness import equal

V5E = 16911433728  # 15.75 GiB, of the table of devices


def target_arguments(generation, variant=""):
    """a *.target_arguments.pb of a dump for one host of 2 x 2 chips"""
    bounds = [inputs.block(field, inputs.number(1, x) + inputs.number(2, x) + inputs.number(3, 1)) for field, x in ((5, 2), (6, 1))]
    return inputs.number(3, 1) + inputs.block(6, inputs.number(1, generation) + inputs.block(2, variant) + b"".join(bounds))


def dump(t, folder, name="jit_step", extra=()):
    stem = f"{folder}/module_0000.{name}.cl_1"
    for ending, data in ((".after_optimizations.hlo.pb", inputs.hlo_proto(name, 4)), *extra):
        t.write(stem + ending, data)
    return os.path.join(t.folder(), folder)


def devices_of(t, root, session):
    daemon = t.serve(root)
    return daemon.get_json(f"/api/v1/sessions/{daemon.session_id(session)}/modules")["devices"]


def summary(t, root):
    return json.loads(t.run("summary", "--json", root).stdout)["sessions"][0]["modules"][0]


def test_the_chip_of_a_dump_gives_the_capacity(t):
    for folder, ending, data in (("a", ".target_arguments.pb", target_arguments(4, "lite")),
                                 ("b", ".target_arguments.txt", b'tpu_topology_args {\n  version: TPU_VERSION_VIPERFISH\n  variant: "lite"\n}\n'),
                                 ("c", "/topology.textproto", b'platform_name: "tpu"\nplatform_version: "TFRT TPU v5 lite\\nBuilt on Nov 5"\n')):
        root = dump(t, folder, extra=((ending, data),))
        device = devices_of(t, root, root.rsplit("/", 1)[-1])[0]
        equal((device["kind"], device["device"], device["available_bytes"]), ("TPU v5e", "v5e", V5E), ending)
        assert device["file"].endswith(ending), device
        equal(summary(t, root)["capacity"], {"bytes": V5E, "is_physical": False, "source": f"TPU v5e, from {ending[1:]}"})
        assert "15.75 GiB" in t.run("whatif", "--fit", root).stdout
        modules = t.serve(root)
        overview = modules.get_json("/api/v1/modules/table", session=modules.session_id(root.rsplit("/", 1)[-1]))["data"]
        equal(overview["rows"][0]["capacity_bytes"], V5E)


def test_an_error_text_comes_before_the_chip(t):
    root = dump(t, "told", extra=((".target_arguments.pb", target_arguments(5)),))
    equal(summary(t, root)["capacity"]["source"], "TPU v6e, from target_arguments.pb")
    t.write("told/error.txt", b"RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory "
                              b"required for HLO temporaries (33.49G) exceeds available HBM (15.75G). HLO module: jit_step.\n")
    equal(summary(t, root)["capacity"], {"bytes": V5E, "is_physical": False, "source": "error.txt"})


def test_a_chip_that_is_not_known_says_nothing(t):
    root = dump(t, "unknown", extra=((".target_arguments.pb", target_arguments(99)),))
    equal(devices_of(t, root, "unknown"), [])
    equal(summary(t, root)["capacity"], None)
    process = t.run("whatif", "--fit", root)
    assert process.returncode == 2 and "--fit wants --capacity" in process.stderr, process.stderr
