# SPDX-License-Identifier: Apache-2.0
"""XLA's `-live-range.txt` beside a program, and what differs from the view live_range.

Held: the length of the schedule, from where to where every value lives, and the unpadded bytes of
what lives at the moment that XLA prints. XLA picks that moment by the size of each value's whole
instruction (a tuple's table of pointers), so our own peak may be another, larger one.
"""

import re

VALUE = re.compile(r"    (.*?)\{([\d,]*)\}:(\d+)-(\d+)$", re.M)
MOMENT = re.compile(r"  Live ranges at (\d+) \(peak\):\n")
BYTES = re.compile(r"cumulative: (\d+) bytes\)")


def report_read(path):
    """(schedule length, {name: (start, end)}, moment, bytes alive then)"""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    length = int(re.match(r"HloLiveRange \(max (\d+)\):", text).group(1))
    moment = MOMENT.search(text)
    values = text[text.index("  BufferLiveRange:") : moment.start()]
    ranges = {
        name + (f"{{{index}}}" if index else ""): (int(start), int(end))
        for name, index, start, end in VALUE.findall(values)
    }
    sums = BYTES.findall(text[moment.end() :])
    return length, ranges, int(moment.group(1)), int(sums[-1]) if sums else 0


def faults(view, path):
    """every difference between the view's `data` and the report at `path`"""
    length, ranges, moment, bytes_then = report_read(path)
    ours = {value["name"]: (value["start"], value["end"]) for value in view["values"]}
    if view["schedule_length"] != length:
        yield f"schedule of {view['schedule_length']}, XLA {length}"
    for name in ranges.keys() | ours.keys():
        if ranges.get(name) != ours.get(name):
            yield f"{name}: {ours.get(name)}, XLA {ranges.get(name)}"
    alive = sum(value["unpadded_bytes"] for value in view["values"] if value["start"] <= moment <= value["end"])
    if alive != bytes_then:
        yield f"{alive} bytes at {moment}, XLA {bytes_then}"
    if view["peak_unpadded_bytes"] < bytes_then:
        yield f"peak of {view['peak_unpadded_bytes']}, below XLA's {bytes_then}"
    if view["not_followed_count"]:
        yield f"{view['not_followed_count']} values were not followed to their end"
