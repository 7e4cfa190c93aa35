#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed and memory on real inputs, ours and XProf's in one run.

  bench.py --binary memviewd --shared DIR [--xprof xprof] [--only TEXT] [--cold N] [--looks N] [--large] [--check]

first answer   fresh copy of the session, fresh process; from the first request once the port
               answers until the last byte. Module list and memory viewer of space 0 are asked one
               after the other on both sides, because XProf refuses the second before the first.
further look   the last of these requests again on the kept-open connection, identity encoding
               (XProf sends gzip all the same), whole body read; the median.
peak RSS       VmHWM summed over all processes of the server, read at the end; "so far" is the same
               after the first answer (XProf takes more with every look).
"""

import argparse
import gzip
import json
import shutil
import statistics
import sys
import tempfile

import inputs
from raw_client import RawClient
from server import Server

FIGURES = (
    ("first", "first answer", "ms", 1e3),
    ("further", "further look", "ms", 1e3),
    ("memory", "peak RSS", "MB", 1e-6),
    ("memory_first", "  so far", "MB", 1e-6),
)


def body_text(headers, body):
    return (gzip.decompress(body) if headers.get("content-encoding") == "gzip" else bytes(body)).decode()


def first_answer(client, question):
    """(seconds, path of the last request, body of the last answer)"""
    if inputs.MEMORY_PROFILE in question.requests:
        path = question.memory_profile_path()
        status, headers, body, seconds = client.get(path)
        text = body_text(headers, body)
        if status != 200 or "memoryProfilePerAllocator" not in text:
            raise ValueError(f"memory profile: status {status}, {text[:80]}")
        return seconds, path, text
    path = question.module_list_path()
    status, headers, body, seconds = client.get(path)
    text = body_text(headers, body)
    if status != 200:
        raise ValueError(f"module list: status {status}")
    if inputs.MEMORY_VIEWER in question.requests:
        path = question.memory_viewer_path(text.split(",")[0], "host0")
        status, headers, body, more = client.get(path)
        text, seconds = body_text(headers, body), seconds + more
        if status != 200 or "maxHeap" not in json.loads(text):
            raise ValueError(f"memory viewer: status {status}, {text[:80]}")
    return seconds, path, text


def measure_once(command, question, is_xprof, look_count):
    folder = tempfile.mkdtemp(prefix="bench-")
    try:
        question.lay(folder)
        server = Server(command, folder, is_xprof)
        try:
            client = RawClient(server.port)
            first, path, text = first_answer(client, question)
            memory_first = server.memory_bytes()
            looks = [client.get(path)[3] for _ in range(look_count)]
            return {
                "first": first,
                "further": statistics.median(looks) if looks else None,
                "memory_first": memory_first,
                "memory": server.memory_bytes(),
                "text": text,
            }
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def page_answer(client):
    """seconds for all that the first page of the only session asks, one after the other"""
    total = 0

    def get(path):
        nonlocal total
        status, headers, body, seconds = client.get("/api/v1/" + path)
        total += seconds
        if status != 200:
            raise ValueError(f"{path}: status {status}")
        return json.loads(body_text(headers, body))

    session = get("sessions")["sessions"][0]["id"]
    get(f"sessions/{session}")
    module = get(f"sessions/{session}/modules")["modules"][0]["id"]
    for view in ("summary", "curve?space=0", "strips?space=0", "buffers?space=0"):
        mark = "&" if "?" in view else "?"
        get(f"memory_viewer/{view}{mark}session={session}&module={module}")
    return total


def print_page(command, page, options):
    first, further = [], []
    for _ in range(options.cold):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            page.lay(folder)
            server = Server(command, folder)
            try:
                client = RawClient(server.port)
                first.append(page_answer(client))
                further += [page_answer(client) for _ in range(options.looks)]
                memory = server.memory_bytes()
            finally:
                server.stop()
    print(
        f"\n{page.name}: the seven requests of the first page\n"
        f"  first answer   memviewd {statistics.median(first) * 1e3:10.3f} ms"
    )
    if further:
        print(f"  further look   memviewd {statistics.median(further) * 1e3:10.3f} ms")
    print(f"  peak RSS       memviewd {memory * 1e-6:10.3f} MB")


def measure(command, question, is_xprof, options):
    """medians over --cold fresh processes; the looks are made in the last one"""
    runs = [
        measure_once(command, question, is_xprof, options.looks if at == options.cold - 1 else 0)
        for at in range(options.cold)
    ]
    return {
        **runs[-1],
        "first": statistics.median(run["first"] for run in runs),
        "memory_first": statistics.median(run["memory_first"] for run in runs),
    }


def same_answer(ours, theirs):
    """the figures that decide are equal on both sides"""
    if not ours["text"].startswith("{"):
        return sorted(ours["text"].split(",")) == sorted(theirs["text"].split(","))
    if "memoryProfilePerAllocator" in ours["text"]:
        pools = [json.loads(side["text"])["memoryProfilePerAllocator"] for side in (ours, theirs)]
        mine, xprofs = (
            {name: pool["profileSummary"]["peakBytesUsageLifetime"] for name, pool in side.items()} for side in pools
        )
        return mine == xprofs
    keys = ("peakHeapMib", "totalBufferAllocationMib", "peakHeapSizePosition")
    return all(json.loads(ours["text"]).get(key) == json.loads(theirs["text"]).get(key) for key in keys)


def print_question(question, ours, theirs):
    """prints a row per figure; the number of goals that were missed"""
    missed = 0
    print(f"\n{question.name}: {' + '.join(question.requests)}")
    for key, title, unit, scale in FIGURES:
        line = f"  {title:13}"
        if any(side and side[key] is None for side in (ours, theirs)):
            continue  # no look was asked for
        for name, side in (("memviewd", ours), ("XProf", theirs)):
            line += f"  {name} {side[key] * scale:10.3f} {unit}" if side else ""
        if ours and theirs:
            ratio, goal = theirs[key] / ours[key], question.goals.get(key)
            line += f"  ratio {ratio:8.1f}"
            if goal:
                line += f"  goal {goal}: " + ("met" if ratio >= goal else "MISSED")
                missed += ratio < goal
        print(line)
    if ours and theirs and not same_answer(ours, theirs):
        print("  the answers differ")
        missed += 1
    sys.stdout.flush()
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary")
    parser.add_argument("--shared", default="../shared")
    parser.add_argument("--xprof")
    parser.add_argument("--only", default="")
    parser.add_argument("--cold", type=int, default=3)
    parser.add_argument("--looks", type=int, default=21)
    parser.add_argument(
        "--large", action="store_true", help="XProf on 10 million memory events too: it takes 22 GB for them"
    )
    parser.add_argument("--check", action="store_true", help="exit status 1 if a goal is missed")
    options = parser.parse_args()
    missed = 0
    for question in inputs.all_inputs(options.shared):
        if options.only in question.name:
            has_xprof = options.xprof and (options.large or not question.is_large)
            ours = measure(options.binary, question, False, options) if options.binary else None
            theirs = measure(options.xprof, question, True, options) if has_xprof else None
            missed += print_question(question, ours, theirs)
    for page in inputs.all_pages(options.shared):
        if options.binary and options.only in page.name:
            print_page(options.binary, page, options)
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, IndexError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
