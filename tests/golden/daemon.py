# SPDX-License-Identifier: Apache-2.0
"""The daemon under test on a free port, and the count of what was held against it."""

import re
import subprocess
import urllib.parse
import urllib.request
from members import loads


class Daemon:
    def __init__(self, binary, logdir):
        words = [binary, f"--logdir={logdir}", "--port=0"]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            found = re.search(r"http://[\w.:\[\]]+:(\d+)", line)
            if found:
                self.url = f"http://127.0.0.1:{found.group(1)}"
                return
        raise OSError(f"{binary} printed no address")

    def json(self, path, **arguments):
        query = "?" + urllib.parse.urlencode(arguments) if arguments else ""
        with urllib.request.urlopen(self.url + path + query, timeout=120) as answer:
            return loads(answer.read())

    def find(self, folder, file):
        """(session, module) of the program in one file of a dump folder; (session, None) without it"""
        sessions = self.json("/api/v1/sessions", filter=folder, limit=1000)["sessions"]
        session = next((row for row in sessions if row["name"] == folder), None)
        modules = self.json(f"/api/v1/sessions/{session['id']}/modules")["modules"] if session else []
        files = (file, file + ".gz")
        return session, next((row for row in modules if row["file"].rpartition("/")[2] in files), None)

    def view(self, name, session, module, **arguments):
        """`data` of a view of the memory viewer"""
        return self.json(f"/api/v1/memory_viewer/{name}", session=session["id"], module=module["id"], **arguments)[
            "data"
        ]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


class Counts:
    passed = failed = skipped = 0

    def add(self, faults, what):
        self.passed, self.failed = self.passed + (not faults), self.failed + bool(faults)
        for fault in faults[:5]:
            print(f"  {what}: {fault}")

    def skip(self, what):
        self.skipped += 1
        print(f"skipped: {what}")

    def finish(self):
        """prints the counts; the exit status"""
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0
