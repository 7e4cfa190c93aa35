#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What XLA dumps as text, against the protos of the same programs.

  text_dumps.py --binary PATH --shared DIR

dumps-text/cpu-both holds both: its folder with the texts alone must give what the protos give. For the programs of
dumps/ and modules/, whose HLO is dumped as proto only, the bare module is joined with the text of its buffer
assignment. Held: every sum of every memory space, the number of allocations and buffers, every buffer alive from begin
to end, and each value's size; the peak where the proto has no heap trace, and a bound elsewhere: a text has none, so
its curve is made from the schedule. pieces/: module and assignment apart give what both give as one file. tpu-v5e-text:
JAX's own count. The last line is "N passed, N failed, N skipped".
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from wire import fields  # noqa: E402
from members import loads

DEVICE_PEAK_APART = 0.003  # of the peak
EXACT = [
    "space",
    "name",
    "total_bytes",
    "indefinite_bytes",
    "parameter_bytes",
    "output_bytes",
    "output_reused_bytes",
    "constant_bytes",
    "thread_local_bytes",
    "temporary_bytes",
    "allocation_count",
    "buffer_count",
]


def module_bytes(path):
    """field 1 of a HloProto"""
    return b"".join(value for number, value in fields(read(path)) if number == 1)


def framed(parts):
    return b"".join(
        b"*** Begin %s ***\n%s\n*** End %s ***\n" % (name.encode(), data, name.encode()) for name, data in parts
    )


def read(path):
    with open(path, "rb") as file:
        return file.read()


def summary(binary, path):
    """{module name: spaces} and the notes of the first module"""
    process = subprocess.run([binary, "summary", "--json", path], capture_output=True, text=True)
    assert process.returncode == 0, f"{path}: {process.stderr}"
    found = {}
    for session in loads(process.stdout)["sessions"]:
        for module in session["modules"]:
            assert module["error"] is None, (path, module["error"])
            found[module["name"]] = module["summary"]
    return found


def spaces_of(answer):
    return {space["space"]: space for space in answer["data"]["spaces"]}


def differences(proto, text):
    """what must be equal and is not; and how far the peaks are apart, as a share"""
    mine, theirs = spaces_of(text), spaces_of(proto)
    faults = [] if mine.keys() == theirs.keys() else [f"spaces {sorted(mine)}, proto {sorted(theirs)}"]
    peaks = {}
    for number in mine.keys() & theirs.keys():
        a, b = mine[number], theirs[number]
        faults += [
            f"space {number} {key}: {a.get(key)}, proto {b.get(key)}" for key in EXACT if a.get(key) != b.get(key)
        ]
        peaks[number] = (a["peak_bytes"], b["peak_bytes"], b["step_unit"])
        if b["step_unit"] != "heap_trace" and a["peak_bytes"] != b["peak_bytes"]:
            faults.append(f"space {number} peak: {a['peak_bytes']}, proto {b['peak_bytes']}")
    return faults, peaks


class Golden:
    def __init__(self, binary, shared, folder):
        self.binary, self.data, self.folder = binary, os.path.join(shared, "data"), folder
        self.passed = self.failed = 0
        self.apart = []

    def hold(self, what, faults):
        if faults:
            self.failed += 1
            print(f"FAILED  {what}: {'; '.join(faults[:4])}")
        else:
            self.passed += 1

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def joined(self):
        """bare module and text of the buffer assignment"""
        for report in sorted(
            glob.glob(os.path.join(self.data, "dumps", "*", "*-buffer-assignment.txt"))
            + glob.glob(os.path.join(self.data, "modules", "*", "*-buffer-assignment.txt"))
        ):
            proto = report.replace("-buffer-assignment.txt", ".hlo.pb")
            if not os.path.exists(proto):
                continue
            parts = [("m.hlo.pb", module_bytes(proto)), ("m-buffer-assignment.txt", read(report))]
            path = self.write("joined.txt", framed(parts))
            (theirs,), (mine,) = summary(self.binary, proto).values(), summary(self.binary, path).values()
            faults, peaks = differences(theirs, mine)
            name = os.path.basename(os.path.dirname(report))
            self.hold(name, faults)
            self.apart += [
                (abs(a - b) / b, name, space, a, b)
                for space, (a, b, unit) in peaks.items()
                if b and unit == "heap_trace"
            ]

    def texts(self):
        """the folder with both kinds, as texts alone and as protos alone"""
        source = os.path.join(self.data, "dumps-text", "cpu-both")
        found = []
        for name, ending in (("text", ".txt"), ("proto", ".pb")):
            folder = os.path.join(self.folder, name)
            os.makedirs(folder)
            for file in os.listdir(source):
                if file.endswith(ending):
                    shutil.copy(os.path.join(source, file), folder)
            found.append(summary(self.binary, folder))
        text, proto = found
        self.hold(
            "cpu-both: modules",
            [] if text.keys() == proto.keys() and proto else [f"{sorted(text)}, proto {sorted(proto)}"],
        )
        for name in text.keys() & proto.keys():
            faults, _ = differences(proto[name], text[name])
            faults += [
                f"{key} differs"
                for key in ("categories", "culprit")
                for a, b in zip(text[name]["data"]["spaces"], proto[name]["data"]["spaces"])
                if a.get(key) != b.get(key)
            ]
            self.hold(f"cpu-both: {name}", faults)

    def pieces(self):
        source = os.path.join(self.data, "dumps-text", "pieces")
        folder = os.path.join(self.folder, "pieces")
        os.makedirs(folder)
        for file in ("mod.hlo.pb", "buffer_assignment.pb"):
            shutil.copy(os.path.join(source, file), folder)
        (mine,), (theirs,) = (
            summary(self.binary, folder).values(),
            summary(self.binary, os.path.join(source, "joined.hlo.pb")).values(),
        )
        self.hold(
            "pieces: module and assignment",
            [] if mine["data"]["spaces"] == theirs["data"]["spaces"] else ["spaces differ"],
        )
        (alone,) = summary(self.binary, os.path.join(source, "buffer_assignment.pb")).values()
        a, b = spaces_of(alone)[0], spaces_of(theirs)[0]
        self.hold("pieces: assignment alone", [key for key in EXACT if key != "name" and a.get(key) != b.get(key)])
        self.hold(
            "pieces: said why", [] if any(note["code"] == "no_module" for note in alone["notes"]) else ["no note"]
        )
        path = os.path.join(source, "compiled.txt")
        (text,) = summary(self.binary, path).values()
        self.hold(
            "pieces: as_text() alone", [] if not text["data"]["module"]["has_buffer_assignment"] else ["an assignment?"]
        )

    def tpu(self):
        source = os.path.join(self.data, "dumps-text", "tpu-v5e-text")
        count = json.loads(read(os.path.join(source, "memory_analysis.json")))
        (mine,) = summary(self.binary, source).values()
        space = spaces_of(mine)[0]
        pairs = [
            ("parameter_bytes", "argument_size_in_bytes"),
            ("temporary_bytes", "temp_size_in_bytes"),
            ("output_reused_bytes", "alias_size_in_bytes"),
        ]
        faults = [f"{key}: {space[key]}, JAX {count[other]}" for key, other in pairs if space[key] != count[other]]
        self.hold("tpu-v5e-text: JAX's count", faults)
        self.hold(
            "tpu-v5e-text: said why",
            [] if any(note["code"] == "no_heap_trace" for note in mine["notes"]) else ["no note"],
        )

    def curves(self):
        """Device memory is what a person asks for: its peak is held. The heap traces of other spaces reach above their
        own allocations, for frees are recorded late there."""
        device = [row for row in self.apart if row[2] == 0]
        for space, rows in (("0", device), ("others", [row for row in self.apart if row[2] != 0])):
            share, name, *_ = max(rows)
            print(
                f"peaks of space {space}, schedule against heap trace: {sum(row[0] == 0 for row in rows)} of "
                f"{len(rows)} equal, "
                f"at most {share:.3%} apart ({name})"
            )
        for share, name, space, a, b in device:
            self.hold(f"{name}: peak of device memory", [f"{a}, heap trace {b}"] if share > DEVICE_PEAK_APART else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    options = parser.parse_args()
    if not os.path.isdir(os.path.join(options.shared, "data", "dumps-text")):
        print("skipped: texts of dumps, which are not in", options.shared)
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        golden = Golden(options.binary, options.shared, folder)
        for part in (golden.joined, golden.texts, golden.pieces, golden.tpu):
            part()
    golden.curves()
    print(f"{golden.passed} passed, {golden.failed} failed, 0 skipped")
    return 1 if golden.failed else 0


if __name__ == "__main__":
    sys.exit(main())
