# SPDX-License-Identifier: Apache-2.0
"""`memviewd capture` into a folder of the test, and what it left there."""

import glob
import os

from harness import equal


def capture(t, *arguments, status=0, **environ):
    ended = t.run("capture", f"--logdir={t.folder('logs')}", "--seconds=1", *arguments, environ=environ)
    equal(ended.returncode, status, ended.stderr)
    return ended


def left(t):
    """files and folders below the logdir"""
    return sorted(
        os.path.relpath(path, t.folder("logs")) for path in glob.glob(t.folder("logs") + "/**", recursive=True)
    )[1:]
