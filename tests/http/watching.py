# SPDX-License-Identifier: Apache-2.0
"""What changes on a local disk is listed at once, though a scan of all would find it much later; and what is so costly,
lost or refused that it cannot be told is found by scans."""

import ctypes
import os
import shutil
import signal
import time

import inputs
from harness import Skip, equal, wait_until
from metrics import samples_of

TRACE = inputs.trace()
FOLDERS, WATCHED, OVERFLOWS = "memviewd_folders", "memviewd_folders_watched", "memviewd_watch_overflows_total"
LOOKUPS = "memviewd_lookups_total"
CLONE_NEWUSER = 0x10000000


def figure(daemon, name):
    return samples_of(daemon)[name, None]


def serve_watched(t):
    daemon = t.serve(t.folder())
    daemon.sessions()
    if not figure(daemon, WATCHED):
        raise Skip("the folder of temporary files is on no disk that is watched")
    return daemon


def write_old_sessions(t, count):
    """a day old: a scan looks at them seldom"""
    then = time.time() - 86400
    for at in range(count):
        path = t.write(f"plugins/profile/run{at:05}/h.xplane.pb", TRACE)
        os.utime(path, (then, then))
        os.utime(os.path.dirname(path), (then, then))


def newest(daemon):
    row = daemon.get_json("/api/v1/sessions", limit=1)["sessions"][0]
    return row["name"], row["host_count"]


def lookups_until_newest(daemon, name, host_count):
    """how many folders and files are asked about until that one is listed"""
    before = figure(daemon, LOOKUPS)
    wait_until(lambda: newest(daemon) == (name, host_count), what=f"{name} as the newest")
    return figure(daemon, LOOKUPS) - before


def test_new_among_many_is_listed_without_a_look_at_all(t):
    """a scan of all may fall between; it would have to each time if changes were not told"""
    count = 1000
    write_old_sessions(t, count)
    daemon = serve_watched(t)
    lookups_old, lookups_new = [], []
    for at in range(5):
        t.write(f"plugins/profile/run{at * 17:05}/i.xplane.pb", TRACE)
        lookups_old.append(lookups_until_newest(daemon, f"run{at * 17:05}", 2))
        t.write(f"plugins/profile/new{at}/h.xplane.pb", TRACE)
        lookups_new.append(lookups_until_newest(daemon, f"new{at}", 1))
    assert max(min(lookups_old), min(lookups_new)) < count / 10, (lookups_old, lookups_new)


def test_a_change_that_no_time_shows_is_seen(t):
    write_old_sessions(t, 3)
    daemon = serve_watched(t)
    folder = os.path.join(t.folder(), "plugins", "profile", "run00001")
    before = os.stat(folder)
    os.utime(t.write("plugins/profile/run00001/i.xplane.pb", TRACE), ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))
    wait_until(lambda: daemon.sessions()["run00001"]["host_count"] == 2, 60, "the second host")


def test_renamed_removed_and_made_anew(t):
    write_old_sessions(t, 20)
    daemon = serve_watched(t)
    place = os.path.join(t.folder(), "plugins", "profile")
    os.rename(os.path.join(place, "run00003"), os.path.join(place, "other"))
    wait_until(lambda: {"other"} == set(daemon.sessions()) - {f"run{at:05}" for at in range(20)}, what="its new name")
    t.write("plugins/profile/other/i.xplane.pb", TRACE)
    wait_until(lambda: daemon.sessions()["other"]["host_count"] == 2, what="what was added to it")
    shutil.rmtree(os.path.join(place, "run00004"))
    t.write("plugins/profile/run00004/i.xplane.pb", TRACE)
    wait_until(
        lambda: [host["name"] for host in daemon.sessions()["run00004"]["hosts"]] == ["i"], what="the one made anew"
    )
    os.rename(os.path.join(t.folder(), "plugins"), os.path.join(t.folder("outside"), "plugins"))
    wait_until(lambda: not daemon.sessions(), what="the end of all")
    wait_until(lambda: figure(daemon, WATCHED) == figure(daemon, FOLDERS) == 1, what="the end of their watches")
    os.rename(os.path.join(t.folder("outside"), "plugins"), os.path.join(t.folder(), "plugins"))
    wait_until(lambda: len(daemon.sessions()) == 20, what="their return")
    wait_until(lambda: figure(daemon, WATCHED) == figure(daemon, FOLDERS) == 23, what="their watches")


def test_a_root_that_is_replaced_is_watched(t):
    t.write("plugins/profile/first/h.xplane.pb", TRACE)
    daemon = serve_watched(t)
    equal(list(daemon.sessions()), ["first"])
    os.rename(t.folder(), t.folder() + "-away")
    t.write("plugins/profile/second/h.xplane.pb", TRACE)
    wait_until(lambda: list(daemon.sessions()) == ["second"], what="what the other folder holds")
    wait_until(lambda: figure(daemon, WATCHED) == figure(daemon, FOLDERS) == 4, what="its watches")
    t.write("plugins/profile/third/h.xplane.pb", TRACE)
    wait_until(lambda: sorted(daemon.sessions()) == ["second", "third"], what="what is added to it")


def test_a_burst_takes_no_more_than_a_share_of_the_processor(t):
    write_old_sessions(t, 300 if t.is_sanitized else 3000)
    daemon = serve_watched(t)
    daemon.wait_until_calm()
    began, before = time.monotonic(), daemon.cpu_seconds()
    for at in range(2500):
        t.write(f"plugins/profile/burst/h{at}.xplane.pb", b"")
        time.sleep(0.0005)
    used, took = daemon.cpu_seconds() - before, time.monotonic() - began
    assert used < took * (0.6 if t.is_sanitized else 0.3), f"{used:.2f} s of processor time in {took:.2f} s"
    wait_until(lambda: newest(daemon) == ("burst", 2500), what="all of them")


def test_where_the_kernel_loses_count_all_is_looked_at(t):
    """it keeps some thousand changes for who does not ask"""
    with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as file:
        most = int(file.read())
    if most > 100000:
        raise Skip(f"the kernel keeps {most} changes here")
    write_old_sessions(t, 20)
    daemon = serve_watched(t)
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(most // 3 + 2):  # it comes, is written, goes
            os.remove(t.write("plugins/profile/run00001/x.xplane.pb", b""))
        t.write("plugins/profile/run00002/i.xplane.pb", TRACE)
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    wait_until(lambda: figure(daemon, OVERFLOWS) > 0, what="the loss")
    wait_until(lambda: daemon.sessions()["run00002"]["host_count"] == 2, what="what was added")
    t.write("plugins/profile/run00003/i.xplane.pb", TRACE)
    wait_until(lambda: daemon.sessions()["run00003"]["host_count"] == 2, what="what was added afterwards")
    equal(figure(daemon, OVERFLOWS), 1)


def with_limit(name, value):
    """what makes a process have this limit of inotify, in a name space of users that is its own"""
    user, group = os.geteuid(), os.getegid()

    def put(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    def before():
        if ctypes.CDLL(None).unshare(CLONE_NEWUSER) != 0:
            raise OSError("no name space")
        put("/proc/self/setgroups", "deny")
        put("/proc/self/uid_map", f"{user} {user} 1")
        put("/proc/self/gid_map", f"{group} {group} 1")
        put(f"/proc/sys/user/{name}", str(value))

    child = os.fork()
    if child == 0:
        try:
            before()
        except OSError:
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        raise Skip("limits of inotify cannot be set for one process here")
    return before


def test_as_many_are_watched_as_may_be(t):
    """roots and what is new first; one line says that it is not all; the rest is found by scans"""
    write_old_sessions(t, 50)
    daemon = t.serve("--share", t.folder(), before=with_limit("max_inotify_watches", 20))
    equal(len(daemon.sessions()), 50)
    equal((figure(daemon, FOLDERS), daemon.log().count("max_user_watches")), (53, 1), daemon.log())
    assert 1 <= figure(daemon, WATCHED) <= 20, figure(daemon, WATCHED)
    for at in (2, 49):
        t.write(f"plugins/profile/run{at:05}/i.xplane.pb", TRACE)
        t.write(f"plugins/profile/new{at:05}/i.xplane.pb", TRACE)
        wait_until(lambda: daemon.sessions()[f"run{at:05}"]["host_count"] == 2, what="what was added to an old session")
        wait_until(lambda: f"new{at:05}" in daemon.sessions(), what="the new session")
    wait_until(lambda: 1 <= figure(daemon, WATCHED) <= 10, what="the half that is left to others")
    equal(daemon.log().count("watched"), 1, daemon.log())


def test_without_any_watch_scans_find_it(t):
    daemon = t.serve("--share", t.folder(), before=with_limit("max_inotify_instances", 0))
    equal(
        (daemon.sessions(), figure(daemon, WATCHED), daemon.log().count("max_user_instances")), ({}, 0, 1), daemon.log()
    )
    t.write("plugins/profile/run/h.xplane.pb", TRACE)
    wait_until(lambda: list(daemon.sessions()) == ["run"], what="the session")
