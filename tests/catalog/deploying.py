# SPDX-License-Identifier: Apache-2.0
"""docs/operate/deploy: what each manifest starts is run, with the logdir and the address of the test in the place of
its own."""

import os
import re
import subprocess

import tools
import writing
from harness import ROOT, equal

FOLDER = os.path.join(ROOT, "docs", "operate", "deploy")
URL, LOGDIR = "postgresql://memviewd@db.example/profiles", "/profiles"
PARSE = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))"


def text(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def here(t, database, line):
    """a command of a manifest, for this place"""
    assert URL in line and re.search(rf"{LOGDIR}(?=\s|$)", line), line
    return re.sub(rf"{LOGDIR}(?=\s|$)", t.folder(), line.replace(URL, database.url_without_password))


def environ(t, database, **more):
    folder = t.folder("bin")
    if not os.path.exists(f"{folder}/memviewd"):
        os.symlink(t.binary, f"{folder}/memviewd")
    return {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PGPASSWORD": database.password,
        "HOME": t.folder("home"),
        **more,
    }


def profiles(t):
    """files below USER/JOB/COMMIT; how many"""
    count = writing.tree(t, jobs=2, commits=2, hosts=3)
    os.makedirs(os.path.join(t.folder(), "ann"))
    for job in range(2):
        os.rename(os.path.join(t.folder(), f"job{job}"), os.path.join(t.folder(), "ann", f"job{job}"))
    return count


def check(t, database, count):
    equal(
        database.rows(
            "SELECT count(*) AS files, count(DISTINCT job) AS jobs, min(user_name) AS user FROM memviewd.rows"
        ),
        [{"files": str(count), "jobs": "2", "user": "ann"}],
    )
    writing.check_balance(database, writing.told(t, t.folder(), "--label-path={user}/{job}/{commit}"))


def test_kubernetes(t, database):
    count = profiles(t)
    (cron,) = tools.ask(PARSE, os.path.join(FOLDER, "kubernetes.yaml"))
    equal((cron["apiVersion"], cron["kind"]), ("batch/v1", "CronJob"))
    job = cron["spec"]["jobTemplate"]["spec"]
    equal((job["completionMode"], job["parallelism"]), ("Indexed", job["completions"]))
    (container,) = job["template"]["spec"]["containers"]
    equal(
        {volume["name"] for volume in job["template"]["spec"]["volumes"]},
        {mount["name"] for mount in container["volumeMounts"]},
    )
    words = [*container["command"], *container["args"]]
    equal(words[-1], f"--shard=$(JOB_COMPLETION_INDEX)/{job['completions']}")
    for at in range(job["completions"]):
        command = [
            here(t, database, f"{LOGDIR} {URL}").split()[0]
            if word == LOGDIR
            else word.replace(URL, database.url_without_password).replace("$(JOB_COMPLETION_INDEX)", str(at))
            for word in words
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=environ(t, database), timeout=300)
        equal(done.returncode, 0, done.stderr)
    check(t, database, count)


def test_slurm(t, database):
    count = profiles(t)
    script = text("slurm.sh")
    first, last = map(int, re.search(r"(?m)^#SBATCH --array=(\d+)-(\d+)$", script).groups())
    equal(first, 0)
    path = t.write("../job.sh", here(t, database, script.replace(f"{LOGDIR} \\", f"{LOGDIR} \\")).encode())
    for at in range(first, last + 1):
        done = subprocess.run(
            ["bash", path],
            capture_output=True,
            text=True,
            timeout=300,
            env=environ(t, database, SLURM_ARRAY_TASK_ID=str(at), SLURM_ARRAY_TASK_COUNT=str(last + 1)),
        )
        equal(done.returncode, 0, done.stderr)
    check(t, database, count)


def test_crontab(t, database):
    count = profiles(t)
    (line,) = [line for line in text("crontab").splitlines() if not line.startswith("#")]
    assert "%" not in line, "cron takes it for the end of the line"
    command = re.fullmatch(r"(?:\S+ ){5}(.+)", line)[1]
    done = subprocess.run(
        ["sh", "-c", here(t, database, command)], capture_output=True, text=True, env=environ(t, database), timeout=300
    )
    equal(done.returncode, 0, done.stderr)
    check(t, database, count)
