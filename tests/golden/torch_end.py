# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots without a history: what is live, by size and stack, and what the segments hold at the end,
against the same pickle read by Python. Called by torch_snapshot.py."""

import collections
import os
import pickle

import made_allocator
from daemon import Daemon
from made_snapshots import as_older, as_pending, made, without_history

ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")


def asked_for(block):
    return block.get("requested_size", block["history"][0]["real_size"] if block.get("history") else block["size"])


def frames_of(block):
    rows = block.get("frames", block["history"][0]["frames"] if block.get("history") else [])
    return tuple((row["filename"], row["name"]) for row in rows)


def truth(segments):
    """(totals, (bytes, frames) of each block in use)"""
    blocks = [block for segment in segments for block in segment["blocks"]]
    used = [block for block in blocks if block["state"] in ACTIVE]
    pending = sum(block["size"] for block in used if block["state"] != ACTIVE[0])
    reserved = sum(segment["total_size"] for segment in segments)
    active = sum(block["size"] for block in used) - pending
    return (
        {
            "in_use_bytes": sum(map(asked_for, used)),
            "active_bytes": active,
            "pending_bytes": pending,
            "inactive_bytes": reserved - active - pending,
            "reserved_bytes": reserved,
            "block_count": len(used),
            "segment_count": len(segments),
        },
        collections.Counter((asked_for(block), frames_of(block)) for block in used),
    )


def device_faults(daemon, place, pool, segments):
    totals, blocks = truth(segments)
    faults = [f"{pool['end']}, not {totals}"] if pool["end"] != totals else []
    live = daemon.json("/api/v1/memory_profile/live", group="none", limit=1000, **place)["data"]
    own = collections.Counter(
        (row["size_bytes"], tuple((frame["file"], frame["function"]) for frame in row["stack"] or []))
        for row in live["rows"]
        if row["origin"] == "at_end"
    )
    if own != blocks or len(live["rows"]) != totals["block_count"] or live["remainders"] != []:
        faults.append(
            f"{len(live['rows'])} rows and {len(live['remainders'])} remainders, not {totals['block_count']} blocks"
        )
    map_ = daemon.json("/api/v1/memory_profile/segments", limit=1000, **place)["data"]
    found = sorted((int(row["address"], 16), row["size_bytes"], row["free_bytes"]) for row in map_["rows"])
    wanted = sorted(
        (
            segment["address"],
            segment["total_size"],
            sum(block["size"] for block in segment["blocks"] if block["state"] == "inactive"),
        )
        for segment in segments
    )
    if found != wanted:
        faults.append(f"segments {found[:2]} …, not {wanted[:2]} …")
    if daemon.json("/api/v1/memory_profile/events", **place)["data"]["total_count"] != 0:
        faults.append("events that are in no file")
    return faults


def hold(binary, counts, folder):
    snapshots = {
        "end": without_history(made(11, 3, 400, 300)),
        "pending": without_history(as_pending(made(12, 2, 300, 300))),
        "streams": without_history(made_allocator.snapshot(made_allocator.run(made_allocator.Caching(3), 300, (0, 7)))),
        "older": without_history(as_older(made(13, 2, 300, 300))),
    }
    snapshots["list"] = snapshots["end"]["segments"]
    for name, snapshot in snapshots.items():
        os.makedirs(os.path.join(folder, "ends"), exist_ok=True)
        with open(os.path.join(folder, "ends", f"{name}.pickle"), "wb") as file:
            pickle.dump(snapshot, file, 4)
    with Daemon(binary, os.path.join(folder, "ends")) as daemon:
        session = daemon.json("/api/v1/sessions")["sessions"][0]
        for host in session["hosts"]:
            with open(os.path.join(folder, "ends", f"{host['name']}.pickle"), "rb") as file:
                read = pickle.load(file)
            segments = read if isinstance(read, list) else read["segments"]
            place = {"session": session["id"], "host": host["id"]}
            pools = {
                pool["memory"]: pool for pool in daemon.json("/api/v1/memory_profile/summary", **place)["data"]["pools"]
            }
            devices = {segment["device"] for segment in segments}
            counts.add(
                [] if set(pools) == {f"GPU {device}" for device in devices} else [f"{sorted(pools)}"],
                f"devices of {host['name']}",
            )
            for device in sorted(devices):
                own = [segment for segment in segments if segment["device"] == device]
                counts.add(
                    device_faults(daemon, {**place, "memory": f"GPU {device}"}, pools[f"GPU {device}"], own),
                    f"the end of {host['name']}, GPU {device}",
                )
