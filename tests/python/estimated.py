# SPDX-License-Identifier: Apache-2.0
"""python -m memviewd estimate with PyTorch itself, against what an H200 took: by hand, as PyTorch's wheels are 5 GB.

  python3 -m venv torch && torch/bin/pip install torch transformers
  MEMVIEWD=build/release/memviewd torch/bin/python tests/python/estimated.py ../shared/data

Prints a row for each configuration of torch-h200/peaks.json, and fails where asked-for or reserved bytes are off by
more than 2 and 10 %."""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
MOST = {"requested": 0.02, "reserved": 0.10}


def words_of(argv):
    return re.sub(r"--name \S+ ?", "", " ".join(argv)).split()


def estimated(data, argv, folder):
    program = os.path.join(data, "gpu-h200", "programs", "t_whatif.py")
    words = [sys.executable, "-m", "memviewd", "estimate", "--device=H200", "--out=" + folder, program, *argv]
    subprocess.run(
        words,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": sys.path[0]},
    )
    asked = [os.environ["MEMVIEWD"], "whatif", "--json", os.path.join(folder, "estimate.pickle")]
    answer = json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout)["modules"][0]
    return {"requested": answer["peak_bytes_before"], "reserved": answer["reserved_bytes_before"]}


def main():
    data, fallen = sys.argv[1], 0
    with open(os.path.join(data, "torch-h200", "peaks.json"), encoding="utf-8") as file:
        runs = {name: run for name, run in json.load(file).items() if not run["conf"]}
    for name, run in runs.items():
        with tempfile.TemporaryDirectory() as folder:
            got = estimated(data, words_of(run["argv"]), folder)
        off = {key: got[key] / run[f"peak_{key}"] - 1 for key in MOST}
        is_good = all(abs(off[key]) <= MOST[key] for key in MOST)
        fallen += not is_good
        print(
            "ok     " if is_good else "FAILED ",
            name,
            *(f"{key} {got[key]:,} ({off[key]:+.1%})" for key in MOST),
            flush=True,
        )
    print(f"{len(runs) - fallen} passed, {fallen} failed, 0 skipped")
    return fallen > 0


if __name__ == "__main__":
    sys.exit(main())
