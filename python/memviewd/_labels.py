# SPDX-License-Identifier: Apache-2.0
"""Labels of a session, as its environment tells them: what `memviewd run` writes to memviewd.json
(server/run/session_labels.h)."""

import json
import os
import re
import stat

VARIABLES = (
    ("job", "SLURM_JOB_NAME"),
    ("job", "JOBSET_NAME"),
    ("job", "WANDB_PROJECT"),
    ("run", "SLURM_JOB_ID"),
    ("run", "TORCHELASTIC_RUN_ID"),
    ("run", "WANDB_RUN_ID"),
    ("commit", "GIT_COMMIT"),
    ("commit", "GITHUB_SHA"),
    ("commit", "CI_COMMIT_SHA"),
    ("branch", "GITHUB_HEAD_REF"),
    ("branch", "GITHUB_REF_NAME"),
    ("branch", "CI_COMMIT_BRANCH"),
    ("user", "SLURM_JOB_USER"),
    ("user", "GITHUB_ACTOR"),
    ("user", "GITLAB_USER_LOGIN"),
    ("user", "USER"),
    ("user", "LOGNAME"),
    ("cluster", "SLURM_CLUSTER_NAME"),
    ("partition", "SLURM_JOB_PARTITION"),
    ("index", "SLURM_ARRAY_TASK_ID"),
    ("index", "JOB_COMPLETION_INDEX"),
)  # as server/run/session_labels.def
NAME = "memviewd.json"
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}\Z")
_HASH = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\Z")
_LABELS_MAX, _VALUE_MAX_BYTES, _PACKED_MAX_BYTES = 32, 1024, 1 << 20


def _start(*path):
    """of a regular file, or "": a pipe that somebody else put there would keep the job waiting"""
    try:
        with open(os.open(os.path.join(*path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
            data = file.read(_PACKED_MAX_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
            return data.decode("utf-8", "surrogateescape")
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return ""


def _line(*path):
    """the first line of a file, or "" """
    return _start(*path).partition("\n")[0].rstrip("\r")


def _packed(folder, name):
    for line in _start(folder, "packed-refs").split("\n"):
        commit, _, of = line.rstrip("\r").partition(" ")
        if of == name and _HASH.match(commit):
            return commit
    return ""


def _is_trusted(path):
    """is it of this user or root? Anybody may put a .git into a folder above that all can write"""
    try:
        return os.stat(path).st_uid in (os.geteuid(), 0)
    except OSError:
        return False


def _head(git):
    """by the files of a folder .git, or of a worktree"""
    head = _line(git, "HEAD")
    if not head.startswith("ref: "):
        return head if _HASH.match(head) else ""
    name, shared = head[5:], os.path.join(git, _line(git, "commondir"))
    if ".." in name:
        return ""
    commit = _line(shared, name)
    return commit if _HASH.match(commit) else _packed(shared, name)


def _commit(folder):
    """of the Git repository that the folder is in; no program is run"""
    while True:
        git = os.path.join(folder, ".git")
        if not _is_trusted(git):
            git = ""
        elif os.path.isfile(git):
            said = _line(git)
            git = os.path.join(folder, said[8:]) if said.startswith("gitdir: ") else ""
        found = _head(git) if git and os.path.isdir(git) else ""
        if found or os.path.dirname(folder) == folder:
            return found
        folder = os.path.dirname(folder)


def _ray():
    try:
        metadata = json.loads(os.environ["RAY_JOB_CONFIG_JSON_ENV_VAR"])["metadata"]
        return [
            (key, metadata[name])
            for key, name in (("job", "job_name"), ("run", "job_submission_id"))
            if isinstance(metadata.get(name), str)
        ]
    except (KeyError, ValueError, TypeError, AttributeError):
        return []


def find():
    """{key: value}"""
    said = [pair.split("=", 1) for pair in os.environ.get("MEMVIEWD_LABELS", "").split(",") if "=" in pair]
    said += [
        (key, os.environ.get(variable, ""))
        for key, variable in VARIABLES
        if os.environ.get(variable) not in ("root", "none")
    ]
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        said.append(("pod", os.environ.get("HOSTNAME", "")))
    said += _ray()
    try:
        said.append(("commit", _commit(os.getcwd())))
    except OSError:
        pass  # the working folder is gone
    labels = {}
    for key, value in said:
        if _KEY.match(key) and 0 < len(os.fsencode(value)) <= _VALUE_MAX_BYTES and len(labels) < _LABELS_MAX:
            labels.setdefault(key, value)
    return labels


def write(session):
    """into a new Session, where there are any"""
    labels = find()
    if labels:
        session.write(NAME, json.dumps(labels) + "\n")
