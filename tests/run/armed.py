# SPDX-License-Identifier: Apache-2.0
"""What `memviewd run` does to the Pythons below it: a torch without a GPU (standin/) in real interpreters. Tests of
run.py."""

import glob
import os
import pickle
import re
import subprocess
import sys

from box import HERE, PYTHON, read_to

STANDIN = os.path.join(HERE, "standin")
FILL = "import torch\nkeep = []\ndef fill():\n    while True: keep.append(torch.empty(7 << 19, device='cuda'))\n"
CAUGHT = FILL + "def fail():\n    try: fill()\n    except torch.OutOfMemoryError: torch.free(keep.pop())\n"
SEEN = "import sys, os\nprint([path for path in sys.path if '/script' not in path])\n"
# Where versions of Python lie beside each other.
OTHERS = os.path.expanduser("~/.pyenv/versions/*/bin/python")


def armed(box, *command, options=(), path="", **variables):
    """what `memviewd run` printed, and its status"""
    variables = {
        "PYTHONPATH": os.pathsep.join(filter(None, [path, STANDIN])),
        "TORCH_CALLS": os.path.join(box.folder, "calls"),
        **variables,
    }
    return box.run(*command, options=options, variables=variables)


def calls(box):
    with open(os.path.join(box.folder, "calls"), encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def snapshots(box):
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(box.only_session(), "*.pickle")))


def events(box, name):
    with open(os.path.join(box.only_session(), name), "rb") as file:
        return pickle.load(file)["device_traces"][0]


def left_of_the_hook(box):
    return [name for name in os.listdir(box.only_session()) if name.startswith(".")]


# ---- PyTorch ----------------------------------------------------------------------------


def test_pytorch_is_recorded_and_its_snapshot_is_of_the_failure(box):
    done = armed(box, *box.script("import torch\nassert not torch.cuda.is_initialized()\n" + FILL + "fill()\n"))
    assert done.returncode == 1 and re.fullmatch(r"pid\d+\.pickle", *snapshots(box)), (done, snapshots(box))
    # in PyTorch's own order: history at the first call of CUDA, the snapshot before the exception is raised
    assert calls(box) == [
        "_record_memory_history(enabled='all', stacks='python', max_entries=100000)",
        "_cuda_attach_out_of_memory_observer()",
        "_dump_snapshot()",
    ], calls(box)
    text = done.stderr.decode()
    assert (
        text.count("Did it fit?") == 1 and f"The allocator snapshot {snapshots(box)[0]} belongs to this failure" in text
    ), text
    assert (
        f"its output and 1 allocator snapshot are in {box.only_session()}\n"
        f"memviewd: armed: PyTorch in 1 of 1 Python process\n" in text
    ), text
    assert re.search(r"\nmemviewd: the page: http://localhost:6006/\?session=\w+ after memviewd --logdir=", text), text
    assert "XLA" not in text.split("As the text states it")[1], text
    assert left_of_the_hook(box) == []


def test_the_length_of_the_history_is_chosen(box):
    armed(box, *box.script(FILL + "fill()\n"), options=["--history=77"])
    assert "max_entries=77" in calls(box)[0], calls(box)
    box.runs = os.path.join(box.folder, "without")
    os.unlink(os.path.join(box.folder, "calls"))
    armed(box, *box.script(FILL + "fill()\n"), options=["--history=0"])
    assert (
        calls(box) == ["_cuda_attach_out_of_memory_observer()", "_dump_snapshot()"]
        and events(box, *snapshots(box)) == []
    ), calls(box)
    assert box.run("true", options=["--history=-1"]).returncode == 2


def test_a_program_that_goes_on_keeps_the_first_and_the_last(box):
    done = armed(box, *box.script(CAUGHT + "for at in range(5): fail()\nprint('went on', len(keep))\n"))
    assert (done.returncode, done.stdout) == (0, b"went on 54\n"), done
    first, last = snapshots(box)
    assert re.fullmatch(r"pid(\d+)\.last\.pickle", first) and re.fullmatch(r"pid(\d+)\.pickle", last), (first, last)
    failures = [sum(event["action"] == "oom" for event in events(box, name)) for name in (last, first)]
    assert failures == [1, 5], failures
    assert done.stderr.endswith(
        f"the command succeeded, but PyTorch refused memory 5 times: memviewd explain {box.only_session()}\n".encode()
    ), done


def test_what_it_prints_elsewhere_is_not_needed(box):
    done = armed(box, *box.script("import os\nos.close(2)\n" + FILL + "fill()\n"))
    assert done.returncode == 1 and b"the largest hole" in done.stderr and len(snapshots(box)) == 1, done


def test_many_failures_are_counted(box):
    done = armed(box, *box.script(CAUGHT + "for at in range(3): fail()\nfill()\n"))
    assert (
        b"PyTorch refused memory 4 times, each process's first and last are kept\n" in done.stderr
        and done.stderr.count(b"Did it fit?") == 1
    ), done


def test_a_program_that_records_itself_is_left_alone(box):
    armed(
        box, *box.script("import torch\ntorch.cuda.memory._record_memory_history(max_entries=9)\n" + FILL + "fill()\n")
    )
    assert [call for call in calls(box) if call.startswith("_record")] == [
        "_record_memory_history(enabled='all', stacks='all', max_entries=9)"
    ], calls(box)


def test_other_releases_and_backends(box):
    done = armed(box, *box.script(FILL + "fill()\n"), TORCH_STANDIN="2.0")
    assert "_record_memory_history(True, trace_alloc_max_entries=100000)" in calls(box) and len(snapshots(box)) == 1, (
        done,
        calls(box),
    )
    box.runs = os.path.join(box.folder, "async")
    done = armed(box, *box.script(FILL + "fill()\n"), TORCH_STANDIN="async")
    assert (
        done.returncode == 1 and b"cudaMallocAsync does not yet support" in done.stderr.split(b"memviewd: armed")[1]
    ), done
    assert done.stderr.count(b"Traceback") == 1, done


def test_a_snapshot_that_cannot_be_written_changes_nothing(box):
    done = armed(
        box,
        *box.script(
            "import torch\ndef full(path): raise OSError(28, 'No space left on device')\n"
            "torch.cuda.memory._dump_snapshot = full\n" + CAUGHT + "fail()\nprint('went on')\nfill()\n"
        ),
    )
    assert done.returncode == 1 and done.stdout == b"went on\n" and snapshots(box) == [], done
    assert b"snapshot: OSError: [Errno 28] No space left on device\n" in done.stderr and not left_of_the_hook(box), done


# ---- launchers ----------------------------------------------------------------------------


def test_each_rank_has_its_own(box):
    script = box.script(FILL + "fill()\n")
    launcher = box.script(
        "import os, subprocess, sys\n"
        f"jobs = [subprocess.Popen({script!r}, env={{**os.environ, 'RANK': str(rank)}}) for rank in range(3)]\n"
        "sys.exit(max([job.wait() for job in jobs]))\n"
    )
    done = armed(box, *launcher)
    assert [name.split(".")[0] for name in snapshots(box)] == ["rank0", "rank1", "rank2"], snapshots(box)
    assert b"armed: PyTorch in 3 of 4 Python processes; PyTorch refused memory 3 times" in done.stderr, done
    for variable in ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "JAX_PROCESS_INDEX"):
        box.runs = os.path.join(box.folder, variable)
        armed(box, *script, **{variable: "7"})
        assert re.fullmatch(r"rank7\.\d+\.pickle", *snapshots(box)), snapshots(box)


def test_processes_that_python_makes(box):
    for way in ("spawn", "fork", "forkserver"):
        box.runs = os.path.join(box.folder, way)
        job = box.script(
            "import multiprocessing, sys\nsys.path.insert(0, __file__.rsplit('/', 1)[0])\n"
            + FILL
            + f"if __name__ == '__main__':\n    child = multiprocessing.get_context({way!r}).Process(target=fill)\n"
            "    child.start()\n    child.join()\n    sys.exit(child.exitcode)\n"
        )
        done = armed(box, *job)
        assert done.returncode == 1 and len(snapshots(box)) == 1, (way, done)


def test_modules_environments_and_shells(box):
    with open(os.path.join(box.folder, "job.py"), "w", encoding="utf-8") as file:
        file.write(FILL + "fill()\n")
    environment = os.path.join(box.folder, "environment")
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", environment], check=True, timeout=60)
    for name, command in (
        ("module", [PYTHON, "-m", "job"]),
        ("shell", ["sh", "-c", f"{PYTHON} job.py"]),
        ("text", [PYTHON, "-c", "import job"]),
        ("environment", [os.path.join(environment, "bin", "python"), "job.py"]),
    ):
        box.runs = os.path.join(box.folder, "runs-" + name)
        done = armed(box, *command)
        assert done.returncode == 1 and len(snapshots(box)) == 1 and left_of_the_hook(box) == [], (name, done)


def test_every_python_that_is_here(box):
    """those that are too old run as without us"""
    for at, python in enumerate([PYTHON, *sorted(glob.glob(OTHERS))]):
        version = tuple(
            map(
                int,
                subprocess.run(
                    [python, "-c", "import sys; print('%d %d' % sys.version_info[:2])"], capture_output=True, check=True
                ).stdout.split(),
            )
        )
        box.runs = os.path.join(box.folder, f"runs{at}")
        done = armed(box, python, "-c", "import sys; print(len(sys.path))")
        bare = subprocess.run(
            [python, "-c", "import sys; print(len(sys.path))"],
            capture_output=True,
            env={**box.environment, "PYTHONPATH": STANDIN},
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, bare.stdout, b""), (python, done)
        if version >= (3, 8):
            done = armed(box, python, *box.script(FILL + "fill()\n")[1:])
            assert done.returncode == 1 and len(snapshots(box)) == 1, (python, done)


# ---- what is the person's own ---------------------------------------------------------------


def test_their_own_sitecustomize_and_path_stay(box):
    own = os.path.join(box.folder, "own")
    os.mkdir(own)
    with open(os.path.join(own, "sitecustomize.py"), "w", encoding="utf-8") as file:
        file.write("import sys\nsys.mine = __file__\n")
    script = box.script(
        SEEN + "print(sys.mine, sys.modules['sitecustomize'].__file__, os.environ['TORCH_CALLS'] != '')\n"
    )
    bare = subprocess.run(
        script,
        capture_output=True,
        cwd=box.folder,
        env={**box.environment, "PYTHONPATH": own + os.pathsep + STANDIN, "TORCH_CALLS": "x"},
        timeout=60,
    )
    done = armed(box, *script, path=own)
    assert bare.returncode == 0 and (done.stdout, done.stderr) == (bare.stdout, bare.stderr), (bare, done)
    with open(os.path.join(own, "sitecustomize.py"), "w", encoding="utf-8") as file:
        file.write("1 / 0\n")
    bare = subprocess.run(
        script,
        capture_output=True,
        cwd=box.folder,
        env={**box.environment, "PYTHONPATH": own + os.pathsep + STANDIN},
        timeout=60,
    )
    assert b"ZeroDivisionError" in bare.stderr
    assert armed(box, *script, path=own).stderr == bare.stderr


def test_a_path_that_is_empty_or_not_there(box):
    for before in (None, ""):
        variables = {} if before is None else {"PYTHONPATH": before}
        environment = {name: value for name, value in box.environment.items() if name != "PYTHONPATH"}
        box.environment = environment
        script = box.script(SEEN + "print('sitecustomize' in sys.modules)\n")
        bare = subprocess.run(script, capture_output=True, cwd=box.folder, env={**environment, **variables}, timeout=60)
        done = box.run(*script, variables=variables)
        assert (done.stdout, done.stderr) == (bare.stdout, bare.stderr), (bare, done)


def test_loaders_and_hooks_are_as_without_us(box):
    script = box.script(
        "import sys, threading, importlib.util\nspec = importlib.util.find_spec('torch')\n"
        "print(type(spec.loader).__name__)\n"
        "import torch\nprint(type(torch.__loader__).__name__, vars(torch.__loader__).keys(), sys.excepthook is "
        "sys.__excepthook__)\n"
        "import importlib\nimportlib.reload(torch)\n"
    )
    bare = subprocess.run(
        script, capture_output=True, cwd=box.folder, env={**box.environment, "PYTHONPATH": STANDIN}, timeout=60
    )
    done = armed(box, *script)
    assert bare.returncode == 0 and (done.stdout, done.stderr) == (bare.stdout, bare.stderr), (bare, done)


# ---- what is not armed ----------------------------------------------------------------------


def test_what_is_not_armed_is_said(box):
    script = box.script("import sys\nsys.path.insert(0, " + repr(STANDIN) + ")\n" + FILL + "fill()\n")
    for at, (command, words) in enumerate(
        (
            ([PYTHON, "-I", *script[1:]], "not armed: Python does not read memviewd's hook with -I"),
            ([PYTHON, "-uE", *script[1:]], "not armed: Python does not read memviewd's hook with -E"),
            ([PYTHON, "-W", "ignore", "-S", *script[1:]], "not armed: Python does not read memviewd's hook with -S"),
            (["sh", "-c", "env -u PYTHONPATH " + " ".join(script)], "not armed: no Python below it read PYTHONPATH"),
            (
                [
                    "sh",
                    "-c",
                    "echo torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. >&2; exit 1",
                ],
                "not armed: no Python below it read PYTHONPATH",
            ),
            (
                [
                    *box.script(
                        "import sys\nsys.exit('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 "
                        "MiB.')"
                    )
                ],
                "armed 1 Python process, but none imported torch or jax",
            ),
        )
    ):
        box.runs = os.path.join(box.folder, f"runs{at}")
        done = armed(box, *command)
        assert done.returncode == 1 and f"memviewd: {words}" in done.stderr.decode() and snapshots(box) == [], (
            words,
            done,
        )
    box.runs = os.path.join(box.folder, "off")
    done = armed(box, *box.script(FILL + "fill()\n"), options=["--no-inject"])
    assert (
        done.returncode == 1 and b"armed" not in done.stderr and snapshots(box) == [] and not left_of_the_hook(box)
    ), done


def test_a_process_that_outlives_the_run_is_not_disturbed(box):
    out = os.path.join(box.folder, "out")
    started, over, ended = (os.path.join(box.folder, name) for name in ("started", "over", "ended"))
    for pipe in (started, over, ended):
        os.mkfifo(pipe)
    late = box.script(
        f"open({started!r}, 'w').close()\nopen({over!r}).read()\n"
        + CAUGHT
        + f"fail()\nopen({ended!r}, 'w').write('went on')\n"
    )
    assert armed(box, "sh", "-c", " ".join(late) + f" >/dev/null 2>{out}.err & cat {started}").returncode == 0
    open(over, "w", encoding="utf-8").close()
    read_to(os.open(ended, os.O_RDONLY | os.O_NONBLOCK), b"went on")  # opened so it waits for nobody who never comes
    assert os.path.getsize(out + ".err") == 0 and not os.path.exists(box.runs), sys.executable
