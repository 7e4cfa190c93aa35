# SPDX-License-Identifier: Apache-2.0
"""Starts a server on a folder, knows when it answers, and reads the memory of all its processes."""

import os
import signal
import socket
import subprocess
import time

from raw_client import RawClient

READY_PATH = "/data/plugin/profile/version"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def process_tree(pid):
    """pid and every process below it"""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="latin-1") as file:
                    parents[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    tree = [pid]
    for at in tree:
        tree += [child for child, parent in parents.items() if parent == at]
    return tree


def peak_rss_bytes(pid):
    """VmHWM of one process"""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class Server:
    """`command` gets --logdir and --port; XProf a port for its worker too."""

    def __init__(self, command, logdir, is_xprof=False):
        self.port = free_port()
        words = [command, f"--logdir={logdir}", f"--port={self.port}"]
        if is_xprof:
            words.append(f"--grpc_port={free_port()}")
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait()

    def _wait(self, limit_s=120):
        begin = time.monotonic()
        while time.monotonic() - begin < limit_s:
            try:
                client = RawClient(self.port, 10)
                client.get(READY_PATH)
                client.close()
                return
            except (OSError, ValueError):
                if self.process.poll() is not None:
                    raise OSError(f"{self.process.args[0]} ended with status {self.process.returncode}")
                time.sleep(0.02)
        raise OSError(f"{self.process.args[0]} did not answer in {limit_s} s")

    def memory_bytes(self):
        return sum(peak_rss_bytes(pid) for pid in process_tree(self.process.pid))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
