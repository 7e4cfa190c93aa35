# SPDX-License-Identifier: Apache-2.0
"""`memviewd run` around PyTorch on a GPU: by hand, where there is one.

  check.py --binary build/release/memviewd --python PYTHON [--steps 200]

PYTHON has torch with CUDA or ROCm. Each job takes a small part of the GPU (a memory fraction), so others are not
disturbed. The last line is "N passed, N failed"; before it, milliseconds of a training step and bytes in RAM without
and with recording.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

LIMIT = "import torch\ntorch.cuda.set_per_process_memory_fraction(2**30 / torch.cuda.mem_get_info()[1])\nkeep = []\n"
FILL = LIMIT + "def fill():\n    while True: keep.append(torch.empty(64 << 20, dtype=torch.uint8, device='cuda'))\n"
JOBS = {
    "main": (FILL + "fill()\n", 1, 1),
    "caught": (
        FILL
        + "for at in range(5):\n    try: fill()\n    except torch.OutOfMemoryError: keep.pop()\nprint('went on')\n",
        0,
        2,
    ),
    "spawned": (
        "import sys\n" + FILL + "if __name__ == '__main__':\n    import torch.multiprocessing as mp\n"
        "    child = mp.get_context('spawn').Process(target=fill)\n"
        "    child.start()\n    child.join()\n    sys.exit(child.exitcode)\n",
        1,
        1,
    ),
}
TRAIN = """
import os, resource, time, torch
steps = int(os.environ["STEPS"])
model = torch.nn.Sequential(*[torch.nn.TransformerEncoderLayer(512, 8, batch_first=True) for _ in range(6)]).cuda()
optimizer, x = torch.optim.AdamW(model.parameters()), torch.randn(8, 256, 512, device="cuda")
def step():
    model(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
for _ in range(20): step()
torch.cuda.synchronize()
began = time.monotonic()
for _ in range(steps): step()
torch.cuda.synchronize()
print((time.monotonic() - began) / steps * 1000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def run(options, folder, name, text, *more, **variables):
    path = os.path.join(folder, name + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return subprocess.run(
        [options.binary, "run", f"--logdir={folder}/{name}", *more, "--", options.python, path],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **variables},
        timeout=900,
        check=False,
    )


def check(options, folder, name):
    text, status, count = JOBS[name]
    done = run(options, folder, name, text)
    snapshots = glob.glob(os.path.join(folder, name, "run-*", "*.pickle"))
    assert done.returncode == status and len(snapshots) == count, (done, snapshots)
    if status:
        assert (
            re.search(r"The allocator snapshot pid\d+\.pickle belongs to this failure", done.stderr)
            or name == "spawned"
        ), done.stderr
        assert "armed: PyTorch in" in done.stderr, done.stderr
    else:
        assert "PyTorch refused memory 5 times" in done.stderr, done.stderr


HELD = """
import sys, torch
keep = [torch.empty(64 << 20, dtype=torch.uint8, device="cuda") for _ in range(3)]
print("ready", flush=True)
sys.stdin.read()
print("went on", len(keep))
"""


def check_captured(options, folder):
    """memviewd capture of a job that runs"""
    path, runs = os.path.join(folder, "held.py"), os.path.join(folder, "held")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HELD)
    with subprocess.Popen(
        [options.binary, "run", f"--logdir={runs}", "--", options.python, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as job:
        assert job.stdout.readline() == "ready\n"
        done = subprocess.run(
            [options.binary, "capture", runs], capture_output=True, text=True, timeout=900, check=False
        )
        out = job.communicate(timeout=900)[0]
    assert (done.returncode, job.returncode, out) == (0, 0, "went on 3\n"), (done, out)
    whose = subprocess.run(
        [options.binary, "whose", done.stdout.split("  ")[0]], capture_output=True, text=True, timeout=900, check=False
    )
    assert "192.00 MiB in use" in whose.stdout and "held.py:3" in whose.stdout, whose


GRAPHS = """
import torch
keep, x = [], torch.ones(1 << 20, device="cuda")
for _ in range(300):  # while the driver is asked what is free
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
    graph.replay()
    keep.append(torch.empty(1 << 20, dtype=torch.uint8, device="cuda"))
torch.cuda.synchronize()
print(torch.cuda.max_memory_allocated(), int(y[0]))
"""


def check_watched(options, folder):
    """memviewd watch, of a job that captures graphs: the peak is the allocator's own, and no capture is broken"""
    path = os.path.join(folder, "graphs.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(GRAPHS)
    done = subprocess.run(
        [options.binary, "watch", f"--logdir={folder}/graphs", "--every=0.01", "--keep", "--", options.python, path],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0 and re.search(r"most in use: .* of .*, cuda:0 of pid\d+", done.stderr), done
    (live,) = glob.glob(os.path.join(folder, "graphs", "run-*", ".live", "*"))
    with open(live, encoding="utf-8") as file:
        rows = [line.split() for line in file]
    peaks = [int(row[3]) for row in rows if row[0] == "peak"]
    assert 0 <= int(done.stdout.split()[0]) - max(peaks) < 1 << 21 and all(
        row[6] != "-" for row in rows if row[0] == "at"
    ), (done, rows[-3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=os.path.abspath)
    parser.add_argument("--python", required=True)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="memviewd-gpu-") as folder:
        for name in (*JOBS, "captured", "watched"):
            try:
                if name in ("captured", "watched"):
                    (check_captured if name == "captured" else check_watched)(options, folder)
                else:
                    check(options, folder, name)
                print("ok     ", name, flush=True)
            except AssertionError as error:
                failed += 1
                print("FAILED ", name, error, flush=True)
        for words in (("--no-inject",), ("--history=0",), ()) * 2:
            done = run(options, folder, "train", TRAIN, *words, STEPS=str(options.steps))
            print(
                " ".join(words) or "armed",
                "ms a step, MiB of RAM:",
                done.stdout.strip() or done.stderr[-500:],
                flush=True,
            )
    print(f"{len(JOBS) + 2 - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
