# SPDX-License-Identifier: Apache-2.0
"""python -m memviewd estimate SCRIPT: how a script is run, and what is printed of it. What stands in for PyTorch's fake
tensors records two blocks of the script's; with PyTorch itself: estimated.py, by hand."""

import json
import os
import pickle
import subprocess
import sys

from memviewd import _binary
from python_box import Case

SCRIPT = """import sys
import helper
print("the job", __name__, sys.argv[1:])
recorder = sys.modules["memviewd._estimate"].now
class Storage:
    nbytes = lambda self: 30 << 20
kept = [Storage(), Storage()]
for each in kept:
    recorder.take_for(each)
if sys.argv[1:2] == ["end"]:
    sys.exit(int(sys.argv[2]))
if sys.argv[1:2] == ["raise"]:
    raise ValueError("of the job")
if sys.argv[1:2] == ["group"]:
    sys.modules["memviewd._estimate"]._begin_group("nccl")
"""
# `torch` is imported, and what it would do with the job is that it runs.
STAND_IN = """import sys, types
sys.modules["torch"] = types.ModuleType("torch")
from memviewd import _estimate
def record(torch, step, args, device):
    _estimate.now = _estimate._Recorder()
    step(*args)
    return _estimate.now
_estimate._record = record
from memviewd.__main__ import main
sys.exit(main())
"""


class Command(Case):
    def setUp(self):
        super().setUp()
        os.makedirs("job")
        for name, text in (("job/train.py", SCRIPT), ("job/helper.py", ""), ("start.py", STAND_IN)):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)

    def ask(self, *words, folder=None):
        path = os.path.dirname(os.path.dirname(os.path.abspath(_binary.__file__)))
        return subprocess.run(
            [sys.executable, os.path.join(self.folder, "start.py"), "estimate", *words],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": self.folder},
        )

    def test_the_answer_stands_alone_and_the_job_runs_as_a_script(self):
        done = self.ask("--device=100MiB", "job/train.py", "--json", "7")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the job __main__ ['--json', '7']", done.stderr)
        self.assertNotIn("the job", done.stdout)
        self.assertIn("GPU 0 held 60.00 MiB", done.stdout)
        self.assertIn("100.00 MiB", done.stdout)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("memviewd-estimate")], [])

    def test_as_json_with_the_snapshot_kept(self):
        done = self.ask("--json", "--out", "kept", "job/train.py")
        (answer,) = json.loads(done.stdout)
        self.assertEqual(answer["answer"]["fit"]["needed_bytes"], 60 << 20)
        with open("kept/estimate.pickle", "rb") as file:
            (events,) = pickle.load(file)["device_traces"]
        self.assertEqual([event["size"] >> 20 for event in events], [30, 30])
        self.assertEqual({frame["filename"] for event in events for frame in event["frames"][:1]}, {"job/train.py"})
        self.assertNotIn("_estimate_command", str(events))
        self.assertIn("whatif --fit kept/estimate.pickle", done.stderr)

    def test_a_module_is_run_as_python_does(self):
        done = self.ask("-m", "train", "x", folder=os.path.join(self.folder, "job"))
        self.assertEqual((done.returncode, "the job __main__ ['x']" in done.stderr), (0, True), done.stderr)

    def test_an_end_by_exit_0_is_one_like_any_other(self):
        self.assertEqual(self.ask("job/train.py", "end", "0").returncode, 0)

    def test_what_fails_is_not_estimated_and_says_why(self):
        for words, reason in (
            (("job/train.py", "end", "3"), "job/train.py ended with 3"),
            (("job/train.py", "raise"), "ValueError: of the job"),
            (("job/train.py", "group"), "torch.distributed is not there without its GPUs"),
            (("--device=nothing", "job/train.py"), "nothing"),
            (("none.py",), "none.py: there is no such script"),
            (("--frobnicate", "job/train.py"), "--frobnicate"),
            ((), "which script is it?"),
        ):
            done = self.ask(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(reason, done.stderr, words)

    def test_help_names_the_options(self):
        done = self.ask("--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--device", "--json", "--out", "-m MODULE"):
            self.assertIn(word, done.stdout)
