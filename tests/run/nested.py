# SPDX-License-Identifier: Apache-2.0
"""`memviewd run` and `watch` around a command that begins another one, as a script that somebody else wrote may do: the
inner one records and says why, the outer one that it did. Tests of run.py."""

import glob
import os
import re

from armed import FILL, STANDIN, armed, calls, left_of_the_hook, snapshots
from box import Box
from watched import PACED, lines_of, watch

# A finder that asks all others for what it is asked for, as ours does.
ASKING = """
import sys
class Asking:
    def find_spec(self, name, path=None, target=None):
        finders = [each for each in sys.meta_path if each is not self]
        return next(filter(None, (each.find_spec(name, path, target) for each in finders)), None)
sys.meta_path.insert(0, Asking())
"""


def inner_of(box):
    inner = Box(box.binary, box.folder)
    inner.runs = os.path.join(box.folder, "inner")
    return inner


def test_of_two_runs_the_inner_one_records_and_tells(box):
    inner = inner_of(box)
    done = armed(box, *inner.command(*box.script(FILL + "fill()\n")))
    text = done.stderr.decode()
    assert done.returncode == 1 and len(snapshots(inner)) == 1 and snapshots(box) == [], done
    assert len([call for call in calls(box) if "observer" in call]) == 1, calls(box)
    assert text.count("Did it fit?") == 1 and text.count("memviewd: armed: PyTorch in 1 of 1 Python process\n") == 1, (
        text
    )
    assert f"memviewd: the memviewd run below it recorded its Python processes, in {inner.only_session()}\n" in text, (
        text
    )
    assert left_of_the_hook(box) == left_of_the_hook(inner) == [], text


def test_what_fails_beside_the_inner_run_is_told_by_the_outer_one(box):
    inner = inner_of(box)
    fits, fails = (
        " ".join(each) for each in (inner.command(*box.script("import torch\n")), box.script(FILL + "fill()\n"))
    )
    done = armed(box, "sh", "-c", f"{fits}; {fails}")
    assert done.returncode == 1 and len(snapshots(box)) == 1 and done.stderr.decode().count("Did it fit?") == 1, done
    assert not os.path.exists(inner.runs), done


def test_watch_shows_what_a_run_below_it_has(box):
    inner = inner_of(box)
    job = box.script(
        PACED.replace('"MEMVIEWD_RUN"', '"MEMVIEWD_WATCH_RUN"')
        + "kept = torch.empty(9 << 20, device='cuda')\nlist(each_sample(3))\n"
    )
    done = watch(box, *inner.command(*job, options=["--keep"]))
    assert done.returncode == 0 and lines_of(done)[-1].startswith(
        "most in use: 9.00 MiB of 256.00 MiB, cuda:0 of pid"
    ), done
    assert glob.glob(os.path.join(inner.only_session(), ".live", "*")) == [], done


def test_of_two_that_watch_the_inner_one_shows(box):
    inner = inner_of(box)
    inner.word = "watch"
    done = watch(box, *inner.command(*box.script(PACED + "list(each_sample(3))\n"), options=["--every=0.01"]))
    text = done.stderr.decode()
    assert done.returncode == 0 and text.count("most in use: ") == 1 and "nothing to show" not in text, done
    assert re.search(r"memviewd: the memviewd run below it recorded its Python processes, in \S+\n$", text), done


def test_finders_of_others_may_ask_all_too(box):
    done = armed(box, *box.script(ASKING + FILL + "fill()\n"))
    assert done.returncode == 1 and len(snapshots(box)) == 1 and "Did it fit?" in done.stderr.decode(), done
    assert STANDIN in done.stderr.decode(), done
