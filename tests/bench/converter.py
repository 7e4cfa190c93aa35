# SPDX-License-Identifier: Apache-2.0
"""What somebody writes who has XProf's package and no memviewd: rows of what programs and allocators took, one a line.

  V/bin/python converter.py FILE…      V: a virtual environment with xprof; traces and packed dumps; NDJSON on standard
                                       output

XProf puts the programs of a trace beside it, one file each, and reads a dump from there; so the folder of each file
must be writable, and its own.
"""

import glob
import gzip
import json
import os
import sys

from xprof.convert.raw_to_tool_data import xspace_to_tool_data, xspace_to_tool_names


def rows_of(path):
    if path.endswith(".gz"):
        with gzip.open(path) as packed, open(path.split(".")[0] + ".hlo_proto.pb", "wb") as plain:
            plain.write(packed.read())
        yield from programs_of(path)
        return
    took, _ = xspace_to_tool_data([path], "memory_profile", {})
    for allocator, profile in json.loads(took or "{}").get("memoryProfilePerAllocator", {}).items():
        yield {"file": path, "allocator": allocator, "peak_bytes": profile["profileSummary"]["peakBytesUsageLifetime"]}
    xspace_to_tool_names([path])  # which puts its programs beside it
    yield from programs_of(path)


def programs_of(path):
    for program in sorted(glob.glob(os.path.join(glob.escape(os.path.dirname(path)), "*.hlo_proto.pb"))):
        module = os.path.basename(program)[: -len(".hlo_proto.pb")]
        plan, _ = xspace_to_tool_data([path], "memory_viewer", {"module_name": module, "memory_space": "0"})
        plan = json.loads(plan or "{}")
        if "peakHeapMib" in plan and "totalBufferAllocationMib" in plan:
            yield {
                "file": path,
                "module": module,
                "needed_bytes": int(plan["totalBufferAllocationMib"] * (1 << 20)),
                "peak_bytes": int(plan["peakHeapMib"] * (1 << 20)),
            }


for file in sys.argv[1:]:
    for row in rows_of(file):
        print(json.dumps(row))
