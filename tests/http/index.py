# SPDX-License-Identifier: Apache-2.0
"""What changes on disk is seen without a restart; nothing outside is; nothing is written."""

import os
import signal
import shutil
import socket
import time

import inputs
from harness import equal, wait_until

TRACE = inputs.trace()


def test_new_files_are_seen(t):
    daemon = t.serve(f"--logdir={t.folder()}")
    equal(daemon.sessions(), {})
    t.write("plugins/profile/first/h.xplane.pb", TRACE)
    wait_until(lambda: list(daemon.sessions()) == ["first"], what="the first session")
    t.write("plugins/profile/first/i.xplane.pb", TRACE)
    wait_until(lambda: daemon.sessions()["first"]["host_count"] == 2, what="the second host")
    t.write("a/b/dump/module_0001.jit_f.after_optimizations.hlo.pb", inputs.hlo_proto())
    wait_until(lambda: "a/b/dump" in daemon.sessions(), what="the dump")
    equal(daemon.get_json("/runs"), ["first"])


def test_vanished_files_leave(t):
    path = t.write("plugins/profile/run/h.xplane.pb", TRACE)
    daemon = t.serve(t.folder())
    session = daemon.session_id("run")
    equal(daemon.ask(f"/api/v1/sessions/{session}/modules").status, 200)
    os.remove(path)
    answer = daemon.ask(f"/api/v1/sessions/{session}/modules")
    assert answer.status in (503, 404), answer  # the scanner may have been quicker
    wait_until(lambda: not daemon.sessions(), what="the end of the session")
    equal(daemon.ask(f"/api/v1/sessions/{session}/modules").status, 404)
    equal(daemon.get_json("/runs"), ["run"], "XProf lists folders without traces")
    shutil.rmtree(os.path.join(t.folder(), "plugins"))
    wait_until(lambda: daemon.get_json("/runs") == [], what="the end of the run")


def test_a_file_that_grew_is_read_anew(t):
    path = t.write("plugins/profile/run/h.xplane.pb", inputs.trace("jit_one", 1))
    daemon = t.serve(t.folder())
    equal(daemon.ask("/module_list?run=run").text, "jit_one(1)")
    first = daemon.ask("/data?run=run&tag=memory_viewer&module_name=jit_one(1)")
    with open(path, "ab") as file:
        file.write(inputs.trace("jit_two", 2))
    equal(daemon.ask("/module_list?run=run").text, "jit_one(1),jit_two(2)")
    equal(daemon.ask("/data?run=run&tag=memory_viewer&module_name=jit_one(1)").body, first.body)
    with open(path, "wb") as file:
        file.write(inputs.trace("jit_other", 1, 20))
    equal(daemon.ask("/module_list?run=run").text, "jit_other(1)")
    wait_until(lambda: daemon.sessions()["run"]["size_bytes"] == os.path.getsize(path), what="the new size")


def test_the_same_size_and_another_time_is_another_file(t):
    path = t.write("plugins/profile/run/h.xplane.pb", inputs.trace("jit_one", 1))
    daemon = t.serve(t.folder())
    equal(daemon.ask("/module_list?run=run").text, "jit_one(1)")
    with open(path, "r+b") as file:
        file.write(inputs.trace("jit_two", 1))
    equal(daemon.ask("/module_list?run=run").text, "jit_two(1)")


def test_a_file_written_while_it_is_read(t):
    """each answer is right or a clear error; the daemon lives"""
    path = t.write("plugins/profile/run/h.xplane.pb", TRACE)
    daemon = t.serve(t.folder())
    seen = set()
    for at in range(60):
        with open(path, "wb") as file:
            file.write(inputs.trace("jit_turn", at, 50)[: -1 if at % 2 else None])
        answer = daemon.ask(f"/api/v1/sessions/{daemon.session_id('run')}/modules")
        seen.add(answer.status)
        assert answer.status == 200 or answer.json["code"] in ("changed", "truncated", "malformed", "io"), answer
    assert 200 in seen, seen


def test_links_out_of_the_logdir_are_not_followed(t):
    outside = t.folder("outside")
    secret = os.path.join(outside, "secret.xplane.pb")
    with open(secret, "wb") as file:
        file.write(TRACE)
    run = os.path.join(t.folder(), "plugins", "profile", "run")
    os.makedirs(run)
    os.symlink(secret, os.path.join(run, "h.xplane.pb"))
    os.symlink("../../../../outside/secret.xplane.pb", os.path.join(run, "i.xplane.pb"))
    os.symlink(outside, os.path.join(t.folder(), "plugins", "profile", "linked"))
    os.symlink(outside, os.path.join(t.folder(), "folder"))
    os.symlink("/", os.path.join(t.folder(), "root"))
    daemon = t.serve(t.folder())
    equal(daemon.sessions(), {})
    equal(daemon.get_json("/runs"), ["run"])
    files = {row["file"]: row for row in daemon.get_json("/api/v1/sessions")["not_read"]}
    equal(
        sorted(files),
        [
            "folder",
            "plugins/profile/linked",
            "plugins/profile/run/h.xplane.pb",
            "plugins/profile/run/i.xplane.pb",
            "root",
        ],
    )
    assert all("link" in row["reason"] for row in files.values()), files


def test_links_that_stay_inside_are_followed(t):
    t.write("plugins/profile/run/h.xplane.pb", TRACE)
    places = os.path.join(t.folder(), "plugins", "profile")
    os.symlink("run", os.path.join(places, "latest"))
    os.symlink(os.path.join(places, "run"), os.path.join(places, "absolute"))
    os.makedirs(os.path.join(places, "files"))
    os.symlink("../run/h.xplane.pb", os.path.join(places, "files", "i.xplane.pb"))
    os.symlink("../..", os.path.join(places, "run", "loop"))
    os.symlink("self", os.path.join(places, "self"))
    daemon = t.serve(t.folder())
    equal(sorted(daemon.sessions()), ["absolute", "files", "latest", "run"])
    for name in ("absolute", "files", "latest", "run"):
        equal(daemon.ask(f"/module_list?run={name}").text, "jit_made(7)", name)


def test_a_file_replaced_by_a_link_is_not_followed(t):
    path = t.write("plugins/profile/run/h.xplane.pb", TRACE)
    secret = os.path.join(t.folder("outside"), "secret")
    with open(secret, "wb") as file:
        file.write(inputs.trace("jit_secret", 1))
    daemon = t.serve(t.folder())
    session = daemon.session_id("run")
    os.remove(path)
    os.symlink(secret, path)

    def is_refused():
        answer = daemon.ask(f"/api/v1/sessions/{session}/modules")
        assert "jit_secret" not in answer.text, answer
        return answer.status == 503

    for _ in range(3):
        wait_until(is_refused, what="that it is not opened")
        daemon.ask("/api/v1/rescan", "POST")
        daemon.wait_until_calm()


def test_pipes_and_folders_with_such_names_do_no_harm(t):
    run = os.path.join(t.folder(), "plugins", "profile", "run")
    os.makedirs(os.path.join(run, "folder.xplane.pb"))
    os.mkfifo(os.path.join(run, "pipe.xplane.pb"))
    t.write("plugins/profile/run/h.xplane.pb", TRACE)
    daemon = t.serve(t.folder())
    equal([host["name"] for host in daemon.sessions()["run"]["hosts"]], ["h"])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.join(t.folder(), "train.log"))
    os.symlink("pipe.xplane.pb", os.path.join(run, "link.xplane.pb"))
    named = {"plugins/profile/run/pipe.xplane.pb", "plugins/profile/run/link.xplane.pb", "train.log"}
    wait_until(lambda: {row["file"] for row in not_read(daemon)} == named, what="a word about each")
    equal(
        {(row["code"], row["reason"]) for row in not_read(daemon)},
        {("unsupported", "is not a plain file; folders, pipes, sockets and devices of such a name are left out")},
    )
    os.remove(os.path.join(run, "h.xplane.pb"))
    os.mkfifo(os.path.join(run, "h.xplane.pb"))
    wait_until(lambda: not daemon.sessions(), what="the end of the session")


def not_read(daemon):
    return daemon.get_json("/api/v1/sessions")["not_read"]


def test_a_folder_that_is_not_there_yet_is_waited_for(t):
    missing = os.path.join(t.folder(), "later", "runs")
    process = t.run(f"--logdir={missing}", "--port=0")
    equal((process.returncode, "no such file" in process.stderr), (2, True), process.stderr)
    daemon = t.serve(f"--logdir={missing}", "--wait")
    equal([(root["readable"], root["missing"]) for root in daemon.get_json("/api/v1/about")["roots"]], [(False, True)])
    equal((daemon.ask("/-/ready").status, daemon.sessions()), (200, {}))
    t.write("later/runs/plugins/profile/run/h.xplane.pb", TRACE)
    wait_until(lambda: "run" in daemon.sessions(), what="the session")
    equal([(root["readable"], root["missing"]) for root in daemon.get_json("/api/v1/about")["roots"]], [(True, False)])
    shutil.rmtree(missing)
    wait_until(lambda: not daemon.sessions(), what="the end of the session")
    t.write("later/runs/plugins/profile/again/h.xplane.pb", TRACE)
    wait_until(lambda: "again" in daemon.sessions(), what="the session of the folder made anew")
    process = t.run(f"--logdir={t.write('file', b'x')}", "--wait", "--port=0")
    equal((process.returncode, "Not a directory" in process.stderr), (2, True), process.stderr)


def test_sighup_and_rescan_look_again_and_the_daemon_goes_on(t):
    """a scan of a tree that takes a while is not repeated each second: asking brings the next one forward"""
    daemon = t.serve(t.folder())
    for number, how in enumerate(
        (
            lambda: daemon.process.send_signal(signal.SIGHUP),
            lambda: daemon.ask("/api/v1/rescan", "POST"),
            lambda: daemon.ask("/api/v1/rescan", "POST", {"Content-Type": "application/json"}, "{}"),
        )
    ):
        t.write(f"plugins/profile/run{number}/h.xplane.pb", TRACE)
        how()
        wait_until(lambda: f"run{number}" in daemon.sessions(), what="the new session")
        assert daemon.is_alive()
    equal(
        daemon.ask("/api/v1/rescan", "POST", {"Content-Type": "text/plain"}, "{}").status, 415, "what a form can send"
    )
    equal(daemon.stop(), 0)


def test_what_may_not_be_read_is_named(t):
    os.chmod(t.write("plugins/profile/run/h.xplane.pb", TRACE), 0)
    t.write("closed/x.xplane.pb", TRACE)
    os.chmod(os.path.join(t.folder(), "closed"), 0)
    daemon = t.serve_as_nobody(t.folder())
    reasons = {row["file"]: row["reason"] for row in daemon.get_json("/api/v1/sessions")["not_read"]}
    equal(reasons, {"closed/": "Permission denied", "plugins/profile/run/h.xplane.pb": "Permission denied"})
    answer = daemon.ask(f"/api/v1/sessions/{daemon.session_id('run')}/modules")
    equal((answer.status, answer.json["code"]), (503, "io"))
    os.chmod(os.path.join(t.folder(), "closed"), 0o755)


def test_a_root_that_vanishes_and_comes_back(t):
    t.write("root/plugins/profile/run/h.xplane.pb", TRACE)
    root = os.path.join(t.folder(), "root")
    daemon = t.serve(root)
    equal(list(daemon.sessions()), ["run"])
    os.rename(root, root + "-away")
    wait_until(lambda: not daemon.get_json("/api/v1/about")["roots"][0]["readable"], what="the end of the root")
    equal(daemon.sessions(), {})
    os.rename(root + "-away", root)
    wait_until(lambda: list(daemon.sessions()) == ["run"], what="the root's return")


def tree_state(folder):
    return {
        os.path.join(inner, name): os.lstat(os.path.join(inner, name))[6:9:2]
        for inner, folders, names in os.walk(folder)
        for name in [*folders, *names, "."]
    }


def test_nothing_is_written_into_a_logdir(t):
    t.write("plugins/profile/run/h.xplane.pb", TRACE)
    t.write("dump/module_0001.jit_f.after_optimizations.hlo.pb", inputs.hlo_proto())
    before = tree_state(t.folder())
    daemon = t.serve(t.folder())
    for name, row in daemon.sessions().items():
        daemon.get_json(f"/api/v1/sessions/{row['id']}")
        daemon.get_json(f"/api/v1/sessions/{row['id']}/modules")
        daemon.get_json("/api/v1/memory_viewer/summary", session=row["id"])
    daemon.ask("/module_list?run=run")
    daemon.ask("/data?run=run&tag=memory_viewer&module_name=jit_made(7)")
    daemon.stop()
    t.run("summary", t.folder())
    equal(tree_state(t.folder()), before)


def test_a_tree_at_rest_costs_next_to_nothing(t):
    for at in range(2000):
        t.write(f"plugins/profile/run{at:04}/h.xplane.pb", b"")
    daemon = t.serve(t.folder())
    equal(len(daemon.get_json("/runs")), 2000)
    generation = daemon.get_json("/api/v1/about")["scan_generation"]
    looks = [(time.monotonic(), daemon.cpu_seconds())]  # at the processor time, a second apart

    def is_at_rest():
        """not at once: folders that changed just now are listed once more"""
        (begin, before), now = looks[-1], time.monotonic()
        if now - begin < 1:
            return False
        looks.append((now, daemon.cpu_seconds()))
        return looks[-1][1] - before < (0.5 if t.is_sanitized else 0.1) * (now - begin)

    wait_until(is_at_rest, 60, f"a second at rest, of {looks}")
    wait_until(is_at_rest, 60, f"another one, of {looks}")
    equal(daemon.get_json("/api/v1/about")["scan_generation"], generation, "a new snapshot without a change")
