# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots of several ranks in one archive: each is a file of its own, and nothing is unpacked."""

import gzip
import io
import json
import os
import pickle
import sys
import tarfile
import zipfile

from harness import ROOT, equal, wait_until
from uploads import RAW, add, sessions_of

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_snapshots  # noqa: E402


TRACE = "build/fixtures/trace-holes.pb"


def snapshot(scale):
    return pickle.dumps(made_snapshots.made(3, 2, 120, 100 * scale), 4)


def archive(members, method=zipfile.ZIP_DEFLATED):
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", method) as out:
        for name, data in members:
            out.writestr(name, data)
    return into.getvalue()


def tar(members, mode="w", form=tarfile.GNU_FORMAT):
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode=mode, format=form) as out:
        for name, data in members:
            info = tarfile.TarInfo("./" + name.rstrip("/"))
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    return into.getvalue()


def linked(members):
    """a tar file with a link in front"""
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w") as out:
        link = tarfile.TarInfo("job/rank9.pickle")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        out.addfile(link)
    return into.getvalue()[:512] + tar(members)


TARS = {
    "ranks.tar": ("w", tarfile.USTAR_FORMAT),
    "pax.tar": ("w", tarfile.PAX_FORMAT),
    "ranks.tgz": ("w:gz", tarfile.GNU_FORMAT),
    "ranks.tar.gz": ("w:gz", tarfile.PAX_FORMAT),
}


def ranks(count=3):
    """as a person packs the folder of a job: a folder, other files, one rank packed already"""
    members = [
        ("job/", b""),
        ("job/notes.md", b"# run 7"),
        ("__MACOSX/job/._rank0.pickle", b"x"),
        ("job/.hidden.pickle", b"x"),
    ]
    names = ("rank0.pickle", "snapshot_rank_1.pickle", "rank2.pickle.gz")
    return members + [
        (f"job/{name}", gzip.compress(snapshot(at + 1)) if name.endswith(".gz") else snapshot(at + 1))
        for at, name in enumerate(names[:count])
    ]


HOSTILE = {
    "job/../../rank7.pickle": (snapshot(1), "its name leads to another place"),
    "job/bomb.pickle": (bytes(80 << 20), "would inflate to 83886080 bytes"),
    "job/inner.zip": (archive([("rank0.pickle", snapshot(1))]), "an archive inside an archive is not looked into"),
    "job/logs.tar.gz": (gzip.compress(bytes(1 << 20)), "an archive inside an archive is not looked into"),
}

FAILURE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.19 GiB "
    "of which 1.06 GiB is free. Including non-PyTorch memory, this process has 78.11 GiB memory in use. Of the "
    "allocated memory 76.31 GiB is allocated by PyTorch, and 811.42 MiB is reserved by PyTorch but unallocated.\n"
)


def job():
    """what a person packs after a failure: a log, the snapshot, a trace of JAX beside them"""
    with open(os.path.join(ROOT, TRACE), "rb") as file:
        trace = file.read()
    return [
        ("job/log.txt", FAILURE.encode()),
        ("job/notes.txt", b"run 7 of 9\n"),
        ("job/rank0/snapshot.pickle", snapshot(1)),
        ("job/host0.xplane.pb", trace),
    ]


def figures(daemon, session):
    summary = daemon.get_json("/api/v1/memory_profile/summary", session=session["id"])["data"]
    return [
        (pool["host_name"], pool["memory"], pool["event_count"], pool["peak"]["in_use_bytes"])
        for pool in summary["pools"]
    ]


def test_each_rank_is_a_host_as_if_unpacked(t):
    for name, data in ranks():
        if "MACOSX" not in name and "hidden" not in name and not name.endswith("/"):
            t.write(f"loose/{name}", data)
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        t.write(f"packed{method}/ranks.zip", archive(ranks(), method))
    daemon = t.serve(t.folder())
    sessions = daemon.sessions()
    equal(sorted(sessions), ["loose/job", "packed0/ranks.zip/job", "packed8/ranks.zip/job"])
    loose = figures(daemon, sessions["loose/job"])
    equal(sorted({row[0] for row in loose}), ["rank0", "rank2", "snapshot_rank_1"])
    for method in (0, 8):
        equal(figures(daemon, sessions[f"packed{method}/ranks.zip/job"]), loose)
    equal(daemon.get_json("/api/v1/sessions")["not_read"], [])


def test_tar_files_are_read_as_folders_too(t):
    for name, data in ranks():
        if "MACOSX" not in name and "hidden" not in name and not name.endswith("/"):
            t.write(f"loose/{name}", data)
    for name, how in TARS.items():
        t.write(f"packed/{name}", tar(ranks(), *how))
    daemon = t.serve(t.folder())
    sessions = daemon.sessions()
    equal(sorted(sessions), ["loose/job", *sorted(f"packed/{name}/job" for name in TARS)])
    loose = figures(daemon, sessions["loose/job"])
    for name in TARS:
        equal(figures(daemon, sessions[f"packed/{name}/job"]), loose, name)
        path = f"{t.folder()}/packed/{name}"
        plain = t.run("whose", f"{t.folder()}/loose/job/rank0.pickle")
        inner = t.run("whose", f"{path}/job/rank0.pickle")
        equal(strip(inner.stdout, f"{name}/job/"), plain.stdout, name)
        done = t.run("whatif", path, "--change=expandable_segments")
        equal((done.returncode, done.stderr), (0, ""), name)
        given = add(daemon, name, tar(ranks(), *TARS[name]))
        (session,) = sessions_of(daemon, given["id"])
        equal(figures(daemon, session), loose, name)
    equal(daemon.get_json("/api/v1/sessions")["not_read"], [])
    texts = t.write("texts.tar.gz", tar(job(), "w:gz"))
    equal(json.loads(t.run("explain", texts, "--json").stdout)[0]["file"], "texts.tar.gz/job/log.txt")
    alone = t.write("alone.tar", tar([("rank0.pickle", snapshot(1))]))
    equal(t.run("summary", alone).returncode, 0)


def test_what_of_a_tar_file_is_refused_is_named_with_its_reason(t):
    hostile = {name: found for name, found in HOSTILE.items() if name != "job/bomb.pickle"}
    path = t.write("ranks.tar", linked(ranks() + [(name, data) for name, (data, _) in hostile.items()]))
    told = t.run("summary", path, "--json")
    rows = {row["file"]: row["reason"] for row in json.loads(told.stdout)["not_read"]}
    reasons = {name: reason for name, (_, reason) in hostile.items()} | {"job/rank9.pickle": "is a link"}
    equal(sorted(rows), sorted(f"ranks.tar/{name}" for name in reasons))
    for name, reason in reasons.items():
        assert reason in rows[f"ranks.tar/{name}"], rows
    whole, packed = tar(ranks()), tar(ranks(), "w:gz")
    for name, data, reason in (
        ("cut.tar", whole[:2000], "the tar archive is cut"),
        ("cut.tar.gz", packed[:-200], "cut"),
        ("damaged.tar", whole[:512] + b"x" * 512 + whole[1024:], "the tar archive is damaged"),
        ("damaged.tgz", packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:], "the gzip stream is damaged"),
        ("many.tar", tar([(f"{at}.txt", b"") for at in range(4200)]), "a tar archive of more than 4096 files"),
        ("others.tar", tar([("b.md", b"x")]), "a tar archive of 1 file, of which none is a snapshot"),
    ):
        of = t.write(f"apart/{name}", data)
        for command in ("summary", "explain", "whose"):
            done = t.run(command, of)
            equal(done.returncode, 2, f"{command} {name}: {done.stdout}")
            assert reason in done.stdout + done.stderr, f"{command} {name}: {done.stdout} {done.stderr}"


def test_a_stored_member_that_is_damaged_is_not_read(t):
    data = snapshot(1)
    whole = bytearray(archive([("a.pickle", data), ("b.pickle", data)], zipfile.ZIP_STORED))
    at = whole.index(b"filename") + 20
    whole[at] ^= 1
    path = t.write("stored.zip", bytes(whole))
    for command in ("summary", "explain", "whose"):
        done = t.run(command, path)
        assert "its checksum in the zip archive" in done.stdout + done.stderr, f"{command}: {done}"


def test_an_archive_that_is_replaced_is_read_again(t):
    path = t.write("run/ranks.zip", archive(ranks(2)))
    daemon = t.serve(t.folder())
    before = figures(daemon, daemon.sessions()["run/ranks.zip/job"])
    with open(path + ".new", "wb") as file:
        file.write(archive(ranks(3)))
    os.rename(path + ".new", path)
    wait_until(
        lambda: len(figures(daemon, daemon.sessions()["run/ranks.zip/job"])) > len(before), what="the third rank"
    )


def test_each_command_takes_an_archive_as_a_folder(t):
    path = t.write("run/ranks.zip", archive(ranks()))
    for command in (
        ("summary",),
        ("whose",),
        ("explain",),
        ("whatif", "--change=expandable_segments"),
        ("check", "--max-total=1TiB"),
    ):
        done = t.run(command[0], path, *command[1:])
        equal((done.returncode, done.stderr), (0, ""), command)
        for name in ("rank0", "rank2", "snapshot_rank_1"):
            assert name in done.stdout or command[0] == "explain", f"{command}: {name} is not in {done.stdout}"
    rows = [json.loads(line) for line in t.run("index", os.path.dirname(path)).stdout.splitlines()]
    equal(
        [row["file"] for row in rows],
        [f"ranks.zip/job/{name}" for name in ("rank0.pickle", "rank2.pickle.gz", "snapshot_rank_1.pickle")],
    )
    loose = [t.write(f"loose/{name}", data) for name, data in ranks() if name.endswith((".pickle", ".gz"))]
    loose = [name for name in loose if "/." not in name]
    packed, plain = (json.loads(t.run("top", "--json", *paths).stdout)["data"] for paths in ([path], loose))
    assert packed["total"] > 0 and packed["rows"], packed
    equal((packed["rows"], packed["total"]), (plain["rows"], plain["total"]))


def test_texts_and_traces_of_an_archive_are_read_too(t):
    for name, data in job():
        t.write(f"loose/{name}", data)
    packed = t.write("packed/run.zip", archive(job()))
    loose = t.folder() + "/loose"
    equal(strip(t.run("explain", packed).stdout, "run.zip/"), strip(t.run("explain", loose).stdout, loose + "/"))
    failure = json.loads(t.run("explain", packed, "--json").stdout)[0]
    equal((failure["file"], failure["family"]), ("run.zip/job/log.txt", "torch_gpu"))
    told = t.run("summary", packed).stdout
    for name in ("run.zip/job  (trace", "run.zip/job/rank0  (trace"):
        assert name in told, told
    daemon = t.serve(t.folder())
    wait_until(lambda: "packed/run.zip/job/log.txt" in daemon.sessions(), what="the text of the archive")
    equal(
        sorted(name for name in daemon.sessions() if name.startswith("packed")),
        ["packed/run.zip/job", "packed/run.zip/job/log.txt", "packed/run.zip/job/rank0"],
    )
    given = add(daemon, "run.zip", archive(job()))
    equal(
        sorted(session["name"] for session in sessions_of(daemon, given["id"])),
        ["run.zip/job", "run.zip/job/log.txt", "run.zip/job/rank0"],
    )


def strip(text, before):
    """without the folder that stands before names"""
    return text.replace(before, "")


def test_a_path_goes_on_inside_an_archive(t):
    path, loose = t.write("run/run.zip", archive(job())), t.write("loose/snapshot.pickle", snapshot(1))
    inner = "job/rank0/snapshot.pickle"
    for command in (("summary",), ("explain",), ("whose",), ("whatif", "--change=expandable_segments"), ("top",)):
        done, plain = (t.run(command[0], of, *command[1:]) for of in (f"{path}/{inner}", loose))
        equal((done.returncode, done.stderr), (0, ""), command)
        for title in (f"{path}/{inner}", f"run.zip/{inner}", "run.zip/job/rank0"):
            done.stdout = done.stdout.replace(title, "X")
        for title in (loose, "snapshot.pickle", "\nsnapshot\n"):
            plain.stdout = plain.stdout.replace(title, "X" if "\n" not in title else "\nX\n")
        equal(done.stdout.split("\n")[1:], plain.stdout.split("\n")[1:], command)
    folder = t.run("summary", f"{path}/job/rank0")
    equal((folder.returncode, folder.stdout), (0, t.run("summary", f"{path}/{inner}").stdout))
    log = t.run("explain", f"{path}/job/log.txt").stdout
    assert "run.zip/job/log.txt: 1 out-of-memory failure" in log and "Tried to allocate" not in log, log
    equal(t.run("explain", f"{path}/job/notes.txt").returncode, 1)
    alone = t.write("run/alone.zip", archive([(inner, snapshot(1))]))
    equal(t.run("summary", f"{alone}/{inner}").stdout.split("\n")[1:], folder.stdout.split("\n")[1:])
    for command in ("summary", "explain", "whose", "whatif", "top"):
        for of, name in ((path, "job/rank1.pickle"), (path, "job/rank"), (alone, "job/rank1.pickle")):
            done = t.run(command, f"{of}/{name}")
            equal((done.returncode, done.stdout), (2, ""), f"{command} {name}")
            assert f"none named {name}, and no such folder" in done.stderr, done.stderr
        done = t.run(command, f"{loose}/x.pickle")
        equal((done.returncode, done.stdout), (2, ""), command)
        assert "is no zip or tar archive" in done.stderr, done.stderr


def test_a_small_archive_with_any_byte_changed_is_answered_or_refused_with_a_reason(t):
    small = json.dumps({"segments": [], "device_traces": [[]]}).encode()
    whole = archive([("a.json", small), ("log.txt", FAILURE.encode())])
    silent = []
    for at in range(len(whole)):
        path = t.write("small.zip", whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        done = t.run("explain", path)
        assert done.returncode in (0, 1, 2), f"byte {at}: {done.returncode} {done.stderr}"
        if done.returncode == 2 and "small.zip" not in done.stderr:
            silent.append((at, done.stderr))
    equal(silent, [])


def test_what_of_an_archive_is_refused_is_named_with_its_reason(t):
    path = t.write("run/ranks.zip", archive(ranks() + [(name, data) for name, (data, _) in HOSTILE.items()]))
    told = t.run("summary", path, "--json")
    rows = {row["file"]: row["reason"] for row in json.loads(told.stdout)["not_read"]}
    equal(sorted(rows), sorted(f"ranks.zip/{name}" for name in HOSTILE))
    for name, (_, reason) in HOSTILE.items():
        assert reason in rows[f"ranks.zip/{name}"] and reason in told.stderr, rows
    daemon = t.serve(t.folder())
    equal(len(figures(daemon, daemon.sessions()["run/ranks.zip/job"])), 6)
    page = {row["file"]: row["reason"] for row in daemon.get_json("/api/v1/sessions")["not_read"]}
    equal(sorted(page), sorted(f"run/ranks.zip/{name}" for name in HOSTILE))
    equal(t.run("check", path, "--max-total=1TiB").returncode, 2)  # what could not be checked is no pass


def test_an_archive_that_is_none_of_ours_is_refused_with_its_reason(t):
    overlapping = bytearray(archive([("a.pickle", snapshot(1)), ("b.pickle", snapshot(1))]))
    second = overlapping.rindex(b"PK\1\2")
    overlapping[second + 42 : second + 46] = (10).to_bytes(4, "little")
    refused = {
        "two.zip": (
            archive([("a.pickle", pickle.dumps([1])), ("b.md", b"x")]),
            "a zip archive of 2 files, of which none is a snapshot, a trace, a program, a profile or a log",
        ),
        "many.zip": (
            archive([(f"rank{at}.pickle", b"") for at in range(1100)]),
            "1100 files that may be snapshots or profiles, and at most 1024",
        ),
        "more.zip": (
            archive([(f"{at}.txt", b"") for at in range(4200)]),
            "a zip archive of 4200 files, and at most 4096",
        ),
        "shared.zip": (bytes(overlapping), "members of the zip archive share bytes"),
        "model.zip": (archive([("m/data.pkl", b"x"), ("m/version", b"3")]), "a checkpoint or model of PyTorch"),
        "cut.zip": (archive(ranks())[:-30], "the zip archive is cut"),
    }
    daemon = t.serve(t.folder())
    for name, (data, reason) in refused.items():
        path = t.write(f"apart/{name}", data)
        for command in ("summary", "whose", "explain", "whatif"):
            done = t.run(command, path, *(["--change=expandable_segments"] if command == "whatif" else []))
            equal(done.returncode, 2, f"{command} {name}: {done.stdout}")
            assert reason in done.stdout + done.stderr, f"{command} {name}: {done.stdout} {done.stderr}"
        answer = daemon.ask(f"/api/v1/uploads?name={name}", "POST", RAW, data)
        assert answer.status >= 400 and reason in str(answer.json), f"{name}: {answer.status} {answer.json}"
    told = ["apart/cut.zip", "apart/many.zip", "apart/more.zip", "apart/shared.zip"]  # the others are of other things
    wait_until(
        lambda: [row["file"] for row in daemon.get_json("/api/v1/sessions")["not_read"]] == told,
        60,
        "what is damaged or too large",
    )
    equal(daemon.get_json("/api/v1/sessions")["sessions"], [])


def test_an_archive_can_be_dropped(t):
    daemon = t.serve(t.folder())
    given = add(daemon, "ranks.zip", archive(ranks() + [(name, data) for name, (data, _) in HOSTILE.items()]))
    equal([row["kind"] for row in given["files"]], ["archive"])
    (session,) = sessions_of(daemon, given["id"])
    equal((session["name"], session["snapshot_count"]), ("ranks.zip/job", 3))
    path = t.write("run/ranks.zip", archive(ranks()))
    wait_until(lambda: "run/ranks.zip/job" in daemon.sessions(), what="the same on disk")
    equal(figures(daemon, session), figures(daemon, daemon.sessions()["run/ranks.zip/job"]), path)
