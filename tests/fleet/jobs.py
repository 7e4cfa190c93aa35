# SPDX-License-Identifier: Apache-2.0
"""Three weeks of jobs, from dumps of real programs: what a lab's buckets hold.

`bert` runs once a day, each day of another commit; since BAD_DAY its step does not donate its state any more. `gpt`
runs on four hosts, of which one differs on ODD_DAY. `long` ran out of memory on OOM_DAY. `steady` needs what it needs.
Files lie below `s3` and `gcs` of the folder, with the times at which they would have been written."""

import gzip
import json
import os
import time

DAY_S = 24 * 60 * 60
DAYS, BAD_DAY, ODD_DAY, OOM_DAY = 21, 13, 20, 19
HOSTS, ODD_HOST = 4, "host2"


def commit_of(day):
    return f"c{day:02}"


class Jobs:
    def __init__(self, shared, folder):
        self.data, self.folder = os.path.join(shared, "data"), folder
        self.first_s = int(time.time()) - (DAYS + 1) * DAY_S
        self._packed = {}

    def _program(self, path):
        """the compiled program of a folder of ../shared/data, packed: its name and bytes"""
        if path not in self._packed:
            folder = os.path.join(self.data, path)
            name = next(name for name in sorted(os.listdir(folder)) if ".after_optimizations.hlo.pb" in name)
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            self._packed[path] = (name, data) if name.endswith(".gz") else (name + ".gz", gzip.compress(data, 1))
        return self._packed[path]

    def _write(self, path, data, day):
        path, at_s = os.path.join(self.folder, path), self.first_s + day * DAY_S
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        os.utime(path, (at_s, at_s))

    def _run(self, place, program, day, **labels):
        name, data = self._program(program)
        self._write(f"{place}/memviewd.json", json.dumps({"commit": commit_of(day), **labels}).encode(), day)
        self._write(f"{place}/{name}", data, day)

    def make(self):
        for day in range(1, DAYS + 1):
            commit = commit_of(day)
            self._run(
                f"s3/bert/{commit}",
                "modules/e-with-donation" if day < BAD_DAY else "dumps/e-no-donation",
                day,
                job="bert",
                user="ada",
            )
            self._run(f"s3/steady/{commit}", "programs/maxtext-scan-remat", day, job="steady", user="bob")
            for at in range(HOSTS):
                is_odd = day == ODD_DAY and f"host{at}" == ODD_HOST
                self._run(
                    f"gcs/gpt/{commit}/host{at}",
                    "programs/p-no-clip" if is_odd else "programs/p-half-batch",
                    day,
                    job="gpt",
                    user="eve",
                    host=f"host{at}",
                )
        self.fail("s3/long/run-1", "dumps/h-long-context", OOM_DAY, job="long", user="eve")
        return self

    def fail(self, place, dump, day, **labels):
        self._run(place, dump, day, **labels)
        with open(os.path.join(self.data, dump, "error.txt"), "rb") as file:
            self._write(f"{place}/error.txt", file.read(), day)
