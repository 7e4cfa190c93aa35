# SPDX-License-Identifier: Apache-2.0
"""memviewd.json of a run: what its environment and Git say, by `memviewd run` and by the Python package alike."""

import json
import os
import subprocess

from box import HERE as TESTS, PYTHON, Skip

COMMIT, OTHER = "0123456789abcdef0123456789abcdef01234567", "f" * 40
RAY = json.dumps({"metadata": {"job_submission_id": "raysubmit_x", "job_name": "tune"}})
HERE = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}


def of_run(box, folder, variables):
    runs = os.path.join(box.folder, "labelled")
    subprocess.run(
        [box.binary, "run", f"--logdir={runs}", "--keep", "--quiet", "--no-inject", "--", "true"],
        check=True,
        cwd=folder,
        env={**HERE, **variables},
        timeout=60,
    )
    (session,) = os.listdir(runs)
    path = os.path.join(runs, session, "memviewd.json")
    labels = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            labels = json.load(file)
    subprocess.run(["rm", "-r", runs], check=True)
    return labels


def of_package(folder, variables):
    program = "import json; from memviewd import _labels; print(json.dumps(_labels.find() or None))"
    done = subprocess.run(
        [PYTHON, "-c", program],
        capture_output=True,
        check=True,
        cwd=folder,
        timeout=60,
        env={**HERE, **variables, "PYTHONPATH": os.path.join(TESTS, "..", "..", "python")},
    )
    return json.loads(done.stdout)


def write(folder, path, text):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def both(box, folder, variables, wanted):
    assert (of_run(box, folder, variables), of_package(folder, variables)) == (wanted, wanted), (
        of_run(box, folder, variables),
        of_package(folder, variables),
        wanted,
    )


def test_labels_come_from_schedulers(box):
    both(box, box.folder, {"USER": "root"}, None)
    both(box, box.folder, {"USER": "ada"}, {"user": "ada"})
    both(
        box,
        box.folder,
        {
            "SLURM_JOB_NAME": "pretrain",
            "SLURM_JOB_ID": "4711",
            "SLURM_JOB_USER": "ada",
            "USER": "other",
            "SLURM_CLUSTER_NAME": "eu",
            "SLURM_JOB_PARTITION": "h100",
            "SLURM_ARRAY_TASK_ID": "3",
        },
        {"job": "pretrain", "run": "4711", "user": "ada", "cluster": "eu", "partition": "h100", "index": "3"},
    )
    both(
        box,
        box.folder,
        {
            "KUBERNETES_SERVICE_HOST": "10.0.0.1",
            "HOSTNAME": "bert-0-x7k2p",
            "JOBSET_NAME": "bert",
            "JOB_COMPLETION_INDEX": "0",
        },
        {"job": "bert", "index": "0", "pod": "bert-0-x7k2p"},
    )
    both(box, box.folder, {"HOSTNAME": "laptop"}, None)
    both(
        box,
        box.folder,
        {"RAY_JOB_CONFIG_JSON_ENV_VAR": RAY, "TORCHELASTIC_RUN_ID": "none"},
        {"job": "tune", "run": "raysubmit_x"},
    )
    both(
        box,
        box.folder,
        {"MEMVIEWD_LABELS": "job=mine,team=x,broken,9=no", "SLURM_JOB_NAME": "theirs"},
        {"job": "mine", "team": "x"},
    )


def test_the_commit_is_that_of_git(box):
    folder, below = os.path.join(box.folder, "clone"), os.path.join(box.folder, "clone", "train")
    os.makedirs(below)
    write(folder, ".git/HEAD", "ref: refs/heads/main\n")
    both(box, below, {}, None)
    write(
        folder,
        ".git/packed-refs",
        f"# pack-refs with: peeled fully-peeled sorted\n{OTHER} refs/heads/other\n{COMMIT} refs/heads/main\n^{OTHER}\n",
    )
    both(box, below, {}, {"commit": COMMIT})
    write(folder, ".git/refs/heads/main", OTHER + "\n")
    both(box, below, {}, {"commit": OTHER})
    both(box, below, {"GITHUB_SHA": "said"}, {"commit": "said"})
    write(folder, ".git/HEAD", COMMIT + "\n")
    both(box, below, {}, {"commit": COMMIT})
    write(box.folder, "tree/.git", f"gitdir: {folder}/.git/worktrees/tree\n")
    write(folder, ".git/worktrees/tree/HEAD", "ref: refs/heads/main\n")
    write(folder, ".git/worktrees/tree/commondir", "../..\n")
    both(box, os.path.join(box.folder, "tree"), {}, {"commit": OTHER})


def test_hostile_surroundings_have_no_labels(box):
    folder = os.path.join(box.folder, "odd")
    os.makedirs(folder)
    for head in ("", "ref: ../../secret\n", "ref: refs/heads/none\n", "x" * 5000, COMMIT[1:] + "\n"):
        write(folder, ".git/HEAD", head)
        both(box, folder, {"RAY_JOB_CONFIG_JSON_ENV_VAR": '{"metadata": 3}', "SLURM_JOB_NAME": "x" * 1025}, None)
    os.remove(os.path.join(folder, ".git", "HEAD"))
    os.mkfifo(os.path.join(folder, ".git", "HEAD"))  # that nobody writes into
    both(box, folder, {}, None)
    os.remove(os.path.join(folder, ".git", "HEAD"))
    write(folder, ".git/HEAD", "ref: refs/heads/main\n")
    for name in ("packed-refs", "commondir"):
        os.mkfifo(os.path.join(folder, ".git", name))
    both(box, folder, {}, None)
    os.remove(os.path.join(folder, ".git", "commondir"))
    os.remove(os.path.join(folder, ".git", "packed-refs"))
    for count, wanted in ((100, {"commit": COMMIT}), (1 << 15, None)):  # of lines before it: 1.6 MB are too many
        write(folder, ".git/packed-refs", f"{OTHER} refs/tag\n" * count + f"{COMMIT} refs/heads/main\n")
        both(box, folder, {}, wanted)
    quoted = 'a"\\\n\t\u00e9'
    both(box, folder, {"SLURM_JOB_NAME": quoted}, {"job": quoted})


def test_the_commit_of_another_user_is_none(box):
    if os.geteuid() != 0:
        raise Skip("only root can give files away")
    folder = os.path.join(box.folder, "theirs")
    write(folder, ".git/HEAD", COMMIT + "\n")
    both(box, folder, {}, {"commit": COMMIT})
    os.chown(os.path.join(folder, ".git"), 12345, -1)
    both(box, folder, {}, None)


def test_what_a_run_says_is_in_the_rows(box):
    subprocess.run(
        [
            box.binary,
            "run",
            f"--logdir={box.runs}",
            "--keep",
            "--quiet",
            "--",
            "sh",
            "-c",
            "echo RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123456789 bytes.; exit 1",
        ],
        cwd=box.folder,
        capture_output=True,
        env={**HERE, "SLURM_JOB_NAME": "pretrain", "SLURM_JOB_USER": "ada", "GIT_COMMIT": COMMIT},
        timeout=60,
    )
    done = subprocess.run([box.binary, "index", box.runs], capture_output=True, check=True, timeout=60, env=HERE)
    (row,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (row["job"], row["user_name"], row["commit"], row["kind"]) == ("pretrain", "ada", COMMIT, "failure"), row
