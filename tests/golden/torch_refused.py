# SPDX-License-Identifier: Apache-2.0
"""Pickles, texts and archives that are no allocator snapshot, or would run code: refused at the place that
pickletools finds. Called by torch_snapshot.py."""

import json
import os
import pickle
import pickletools
import random
import re
import subprocess

import hostile_snapshots as hostile
from made_snapshots import REFUSED, made


CALLS = (
    "GLOBAL",
    "STACK_GLOBAL",
    "REDUCE",
    "BUILD",
    "INST",
    "OBJ",
    "NEWOBJ",
    "NEWOBJ_EX",
    "PERSID",
    "BINPERSID",
    "EMPTY_SET",
    "BYTEARRAY8",
    "FROZENSET",
    "EXT1",
    "EXT2",
    "EXT4",
    "NEXT_BUFFER",
    "READONLY_BUFFER",
)


def refusal(binary, folder, data, name="snapshot.pickle"):
    """what the command line says of a file, and its exit status; it has to be quick"""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    done = subprocess.run([binary, "summary", path], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr, done.returncode


def calls_refused(binary, counts, folder):
    for name, data in {**REFUSED, **hostile.CALLING}.items():
        opcode, _, at = next(found for found in pickletools.genops(data) if found[0].name in CALLS)
        said, status = refusal(binary, folder, data)
        right = status == 2 and opcode.name in said and re.search(rf"byte {at}\b", said)
        counts.add(
            [] if right else [f"status {status}: {said.strip()!r}, not {opcode.name} at byte {at}"], f"refused: {name}"
        )


def lengths_refused(binary, counts, folder):
    for name, data in hostile.LONG.items():
        at = len(data)
        while not list_begins(data[:at]):
            at -= 1
        said, status = refusal(binary, folder, data)
        right = status == 2 and re.search(rf"byte {at}\b", said)
        counts.add(
            [] if right else [f"status {status}: {said.strip()!r}, not the opcode at byte {at}"], f"too long: {name}"
        )


def list_begins(data):
    """do opcodes end where these bytes end? Then another begins behind them."""
    try:
        for opcode, _, _ in pickletools.genops(data + b"."):
            last = opcode
        return last.name == "STOP"
    except ValueError:
        return False


def broken_refused(binary, counts, folder):
    for name, data in hostile.BROKEN.items():
        said, status = refusal(binary, folder, data)
        place = re.search(r"byte (\d+) of the pickle", said)
        right = status == 2 and place and int(place.group(1)) <= len(data)
        counts.add([] if right else [f"status {status}: {said.strip()!r}"], f"broken: {name}")
    for name, data in {**hostile.itself(), **hostile.laughs()}.items():
        said, status = refusal(binary, folder, data)
        counts.add(
            [] if status == 0 or (status == 1 and "is empty" in said) else [f"status {status}: {said.strip()!r}"],
            f"ends: {name}",
        )


def bytes_stay_bytes(binary, counts, folder):
    """a pickle that calls, as bytes inside a snapshot, changes nothing of what is shown"""
    plain = made(8, 1, 200, 100)
    inside = pickle.dumps(os.system)
    said = [
        refusal(binary, folder, pickle.dumps(dict(plain, **more), 4), "same.pickle")
        for more in ({}, {"allocator_settings": {"nested": inside, "text": inside.decode("latin-1")}})
    ]
    counts.add([] if said[0] == said[1] and said[0][1] == 0 else [str(said)], "bytes that hold a pickle")


def json_verdicts(binary, counts, folder):
    """what Python reads is read, and what it does not is refused with a place inside"""
    for name, data in {**hostile.BROKEN_JSON, **hostile.ODD_JSON}.items():
        try:
            json.loads(data.decode("utf-8-sig"))
            is_read = True
        except ValueError:
            is_read = False
        said, status = refusal(binary, folder, data, "s.json")
        place = re.search(r"byte (\d+) of the JSON", said)
        right = (
            not place and status in (0, 1) if is_read else status == 2 and place and int(place.group(1)) <= len(data)
        )
        counts.add([] if right else [f"status {status}: {said.strip()!r}; Python: {is_read}"], f"JSON: {name}")
    for name, data in {**hostile.STRAY_JSON, **hostile.LONG_JSON, **hostile.DEEP_JSON}.items():
        said, status = refusal(binary, folder, data, "s.json")
        right = status == (2 if name in hostile.DEEP_JSON else 0) and (status == 0 or "of the JSON" in said)
        counts.add([] if right else [f"status {status}: {said.strip()!r}"], f"JSON: {name}")


def bombs_refused(binary, counts, folder):
    for name, data in hostile.bombs().items():
        said, status = refusal(binary, folder, data, "snapshot.json")
        counts.add(
            [] if status == 2 and "256 times" in said else [f"status {status}: {said.strip()!r}"], f"a bomb: {name}"
        )
    for name, (data, words) in hostile.broken_archives().items():
        said, status = refusal(binary, folder, data, "snapshot.zip")
        counts.add(
            [] if status == 2 and words in said else [f"status {status}: {said.strip()!r}, not {words!r}"],
            f"an archive {name}",
        )
    for name, data in hostile.CHECKPOINTS.items():
        said, status = refusal(binary, folder, data, "model.pt")
        counts.add(
            []
            if status == 2 and "a checkpoint or model of PyTorch" in said
            else [f"status {status}: {said.strip()!r}"],
            f"a checkpoint {name}",
        )


def cut(binary, counts, folder, data, name):
    faults = []
    for end in random.Random(3).sample(range(1, len(data) - 1), 40):
        said, status = refusal(binary, folder, data[:end], name)
        place = re.search(r"byte (\d+)", said)
        if status in (0, 70) or status < 0 or (place and int(place.group(1)) > end):
            faults.append(f"cut at {end}: status {status}: {said.strip()[:120]!r}")
    counts.add(faults, f"{name}, cut at 40 places")
