# SPDX-License-Identifier: Apache-2.0
"""How the daemon starts, and what it says when it cannot."""

import base64
import csv
import hashlib
import io
import os
import posixpath
import re
import resource
import socket
import subprocess
from urllib.parse import urlencode

import inputs
from harness import PATIENCE_SECONDS, ROOT, equal


def test_port_0_prints_a_url_that_answers(t):
    daemon = t.serve(t.folder())
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", daemon.url), daemon.url
    equal(daemon.ask("/-/healthy").text, "ok\n")


def test_both_loopback_addresses_listen_and_nothing_else(t):
    daemon = t.serve(t.folder())
    with (
        open(f"/proc/{daemon.process.pid}/net/tcp", encoding="ascii") as four,
        open(f"/proc/{daemon.process.pid}/net/tcp6", encoding="ascii") as six,
    ):
        lines = [line.split() for line in [*four, *six][1:] if len(line.split()) > 3]
    local = [line[1] for line in lines if line[1].endswith(f":{daemon.port:04X}") and line[3] == "0A"]
    has_six = os.path.exists("/proc/net/if_inet6") and any(
        line.endswith("lo\n") for line in open("/proc/net/if_inet6", encoding="ascii")
    )
    expected = {"0100007F"} | ({"00000000000000000000000001000000"} if has_six else set())
    equal({address.split(":")[0] for address in local}, expected, "listening addresses")
    if has_six:
        with socket.create_connection(("::1", daemon.port), timeout=60) as connection:
            connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
            assert b"200 OK" in connection.recv(4096)


def test_both_ways_to_spell_an_option(t):
    daemon = t.serve("--logdir", t.folder("a"), f"--logdir={t.folder('b')}")
    roots = [root["path"] for root in daemon.get_json("/api/v1/about")["roots"]]
    equal(roots, [t.folder("a"), t.folder("b")])


def test_everything_after_two_dashes_is_a_path(t):
    path = t.write("--port=1", t.fixture("hlo/jit_step(22).hlo_proto.pb"))
    process = t.run("summary", "--", path)
    equal(process.returncode, 0, process.stderr)


def test_port_in_use_is_one_clear_line(t):
    daemon = t.serve(t.folder())
    process = t.run(f"--port={daemon.port}", t.folder())
    equal(process.returncode, 2)
    equal(process.stderr.count("\n"), 1, process.stderr)
    assert f"port {daemon.port} is in use" in process.stderr and "--port" in process.stderr, process.stderr
    equal(process.stdout, "")


def test_bad_usage_is_status_2_and_one_line(t):
    missing = os.path.join(t.folder(), "missing")
    file = t.write("file", b"x")
    for arguments, words in (
        ([], "nothing to show"),
        (["--logdri=/tmp"], "unknown option --logdri"),
        (["-x"], "unknown option -x"),
        (["-Xhelp"], "unknown option -Xhelp"),
        (["-help"], "unknown option -help"),
        (["--demo", "--memory-limit=-1"], "--memory-limit"),
        ([f"--logdir={missing}"], "no such file"),
        ([missing], "no such file"),
        ([f"--logdir={file}"], "Not a directory"),
        (["--logdir"], "wants a value"),
        (["--port=x", t.folder()], "not a number"),
        (["--port=65536", t.folder()], "0 to 65535"),
        (["--demo=1"], "takes no value"),
        (["--demo", "--web-dir", missing], "--web-dir"),
        (["--json", "--demo"], "unknown option"),
        (["--demo", "--bind=nowhere.invalid"], "--bind"),
        (["--demo", "--no-token", f"--token-file={file}"], "exclude"),
        (["exlpain", missing], 'did you mean "memviewd explain"'),
        (["tpo", missing], 'did you mean "memviewd top"'),
        (["estimate", missing], "python -m memviewd estimate SCRIPT"),
        (["estimate"], "python -m memviewd estimate SCRIPT"),
        (["x", missing], "no such file"),
        (["x", "--help"], "x is not a command"),
        (["--wait", "--logdir=az://container/x"], "Azure storage is not read"),
        (["--logdir=hf://org/name"], "Hub is not read"),
        (["diff", "abfs://x", file], "Azure"),
        (["explain", "az://c/x"], "Azure"),
        (["explain", "--json", file, "hf://a/b"], "Hub"),
        (["top", "abfs://c/x"], "Azure"),
        (["top", "--base=hf://a/b", file], "Hub"),
        (["index", "wasbs://c/x"], "Azure"),
        (["export", "az://c/x"], "Azure"),
        (["fit", "--device=v5e", "az://c/x"], "Azure"),
        (["whose", "az://c/x"], "Azure"),
        (["whatif", "--change=batch=0.5", "az://c"], "Azure"),
        (["check", "--max-total=1GiB", "az://c/x"], "Azure"),
        (["check", "--baseline=az://c/x", file], "Azure"),
        (["mcp", "az://c/x"], "Azure"),
        (["run", "--logdir=az://c/x", "--", "true"], "Azure"),
        (["run", "--logdir=gs://bucket/x", "--", "true"], "does not write"),
        (["capture", "--logdir=abfs://c/x", "localhost:1"], "Azure"),
        (["--capture=localhost:1", "--capture-logdir=az://c/x", t.folder()], "Azure"),
        (["summary"], "PATH"),
        (["summary", missing], "no such file"),
        (["summary", "--json", "--csv", file], "exclude"),
        (["summary", "--demo"], "unknown"),
    ):
        process = t.run(*arguments)
        equal(process.returncode, 2, arguments)
        equal(process.stderr.count("\n"), 1, arguments)
        assert process.stderr.startswith("memviewd: ") and words in process.stderr, (arguments, process.stderr)
        equal(process.stdout, "", arguments)


def test_a_path_may_be_a_url_of_a_file(t):
    """by any command and the daemon, as the same path"""
    folder = t.folder("a folder")
    t.write("a folder/job.log", b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    url = "file://" + folder.replace(" ", "%20")
    equal(t.run("explain", "--json", url).stdout, t.run("explain", "--json", folder).stdout)
    equal([root["path"] for root in t.serve(url).get_json("/api/v1/about")["roots"]], [folder])


def test_a_log_is_piped_into_explain(t):
    """in its sandbox, with and without a name for standard input; a terminal is not waited for"""
    log = (
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
        b"8.00 GiB of which 1.00 GiB is free.\n"
    )
    for arguments in (["explain"], ["explain", "-"]):
        done = subprocess.run(
            [t.binary, *arguments], input=log, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS
        )
        equal((done.returncode, done.stderr), (0, b""), arguments)
        assert b"2.00 GiB" in done.stdout, done
    terminal, other = os.openpty()
    done = subprocess.run(
        [t.binary, "explain"], stdin=other, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS
    )
    os.close(terminal)
    os.close(other)
    assert (done.returncode, done.stdout) == (2, b"") and b"pipe a log into it" in done.stderr, done


def test_a_limit_of_open_files_is_named(t):
    for limit in range(5, 9):
        process = subprocess.run(
            ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", t.binary, "--demo", "--port=0"],
            capture_output=True,
            text=True,
            timeout=300,
        )
        said = any(
            words in process.stderr for words in ("Too many open files", "No file descriptors available")
        )  # glibc, musl
        assert process.returncode != 0 and said, (limit, process)
        assert "sock_diag" not in process.stderr, process.stderr


def test_a_folder_that_may_not_be_read_is_named_once(t):
    closed, file = t.folder("closed"), t.write("file.hlo_proto.pb", b"x")
    for path in (closed, file):
        os.chmod(path, 0)
    daemon = t.serve_as_nobody(f"--logdir={closed}", f"--logdir={t.folder('open')}", file)
    daemon.ask("/api/v1/rescan", "POST")
    daemon.get_json("/api/v1/about")
    daemon.stop()
    equal(
        [line for line in daemon.log().splitlines() if "cannot be read" in line],
        [
            f"memviewd: --logdir={closed} cannot be read: Permission denied",
            f"memviewd: {file} cannot be read: Permission denied",
        ],
    )
    os.chmod(closed, 0o700)


def test_help_names_every_option_and_version_is_printed(t):
    help_text = t.run("--help").stdout
    for option in (
        "logdir",
        "port",
        "bind",
        "allowed-hosts",
        "demo",
        "web-dir",
        "token-file",
        "no-token",
        "help",
        "version",
    ):
        assert f"--{option}" in help_text, option
    equal(
        {
            line.index(word)
            for line in help_text.splitlines()
            for word in ("extra allowed", "port to listen")
            if word in line
        },
        {27},
    )
    assert "summary" in help_text and "--csv" in t.run("summary", "--help").stdout
    version = t.run("--version")
    equal(version.returncode, 0)
    assert re.fullmatch(
        r"memviewd \d+\.\d+\.\d+\n(commit [0-9a-f]{12}(-dirty)?\n)?built with libmicrohttpd [\d.]+, .+\n",
        version.stdout,
    ), version.stdout


def test_the_description_of_the_api_is_served(t):
    daemon = t.serve("--demo")
    served = daemon.ask("/openapi.yaml")
    with open(os.path.join(ROOT, "docs", "openapi.yaml"), encoding="utf-8") as file:
        equal((served.status, served.headers["content-type"], served.text), (200, "application/yaml", file.read()))


def test_licences_of_all_that_is_held_are_printed_and_served(t):
    printed = t.run("--licenses")
    equal(printed.returncode, 0)
    for name in (
        "uPlot 1.",
        "Viz.js 3.",
        "Graphviz ",
        "Expat ",
        "libmicrohttpd ",
        "libseccomp ",
        "cJSON ",
        "zlib ",
        "Nettle ",
        "protobuf-c ",
    ):
        assert re.search(
            f"^  {re.escape(name)}[0-9].*" if name[-1] == " " else f"^  {re.escape(name)}", printed.stdout, re.M
        ), name
    for words in (
        "Apache License",
        "GNU LESSER GENERAL PUBLIC LICENSE",
        "Eclipse Public License - v 2.0",
        "Leon Sorokin",
    ):
        assert words in printed.stdout, words
    daemon = t.serve("--demo")
    served = daemon.ask("/licenses.txt")
    equal((served.status, served.headers["content-type"]), (200, "text/plain; charset=utf-8"))
    equal(served.text, printed.stdout)
    equal(daemon.get_json("/api/v1/about")["version"], t.run("--version").stdout.split()[1])


def test_a_word_is_a_subcommand_only_as_first_word(t):
    folder = t.folder("summary")
    daemon = t.serve(folder)
    equal(daemon.get_json("/api/v1/about")["roots"][0]["path"], folder)


def test_the_demo_shows_something(t):
    daemon = t.serve("--demo")
    rows = daemon.sessions()
    assert rows, "the demo is empty"
    for row in rows.values():
        if row["kind"] == "profiles":
            assert row["profile_count"] > 1, row
            assert daemon.get_json("/api/v1/device_memory/summary", session=row["id"])["data"]["total"] > 0
            continue
        if row["name"] == "training":
            continue
        modules = daemon.get_json(f"/api/v1/sessions/{row['id']}/modules")["modules"]
        assert modules and all(module["error"] is None for module in modules), modules


def test_the_demo_shows_memory_over_time(t):
    """two devices, twelve steps; 1 MiB a step stays. The dump that does not fit stays the first session"""
    daemon = t.serve("--demo")
    equal(next(iter(daemon.sessions())), "b-activations-unrolled")
    session = daemon.session_id("training")
    summary = daemon.get_json("/api/v1/memory_profile/summary", session=session)["data"]
    equal(sorted(pool["memory"] for pool in summary["pools"]), ["GPU_0_bfc", "GPU_1_bfc"])
    equal(summary["hosts"][0]["step_count"], 12)
    assert any(pool["peak"]["fragmentation"] > 0.1 for pool in summary["pools"]), summary["pools"]
    for pool in ("GPU_0_bfc", "GPU_1_bfc"):
        rows = daemon.get_json("/api/v1/memory_profile/growth", session=session, memory=pool)["data"]["rows"]
        equal(
            (rows[0]["op"], rows[0]["verdict"], rows[0]["slope_bytes_per_step"]),
            ("metrics/append", "grows", 1 << 20),
            rows[0],
        )


def test_a_row_of_memory_is_found_by_its_key(t):
    """also where another filter or the page leaves it out; and the largest free chunk at the peak is that of the
    curve"""
    daemon = t.serve("--demo")
    session = daemon.session_id("training")
    for view, how in (("live", {"group": "op"}), ("live", {"group": "same"}), ("growth", {})):
        path = f"/api/v1/memory_profile/{view}"
        rows = daemon.get_json(path, session=session, limit=1000, **how)["data"]["rows"]
        assert len(rows) > 2, (view, how)
        for row in [row for row in rows if row["key"].startswith("g:")][::3]:
            found = daemon.get_json(path, session=session, filter="key:" + row["key"], limit=1, **how)["data"]
            equal((found["matched_count"], found["rows"]), (1, [row]))
    for pool in daemon.get_json("/api/v1/memory_profile/summary", session=session)["data"]["pools"]:
        peak = pool["peak"]
        data = daemon.get_json(
            "/api/v1/memory_profile/fragmentation",
            session=session,
            memory=pool["memory"],
            **{"from": peak["time_ps"], "to": peak["time_ps"] + 1},
        )["data"]
        equal(pool["peak_largest_free_bytes"], data["columns"]["largest_free_bytes"][-1])
        assert abs(pool["peak_largest_free_bytes"] - peak["free_bytes"] * (1 - peak["fragmentation"])) <= 1, pool
        assert 2 * peak["free_bytes"] < peak["free_bytes"] + peak["in_use_bytes"] and peak["fragmentation"] > 0.01, pool
        equal((pool["is_peak_free_in_pieces"], pool["is_fragmentation_shown"]), (True, True))


def test_the_core_says_what_is_above_the_views_of_memory(t):
    """each figure of a sentence is that of the answer, and the sentence is its parts"""
    daemon = t.serve("--demo")
    session = daemon.session_id("training")

    def figures(said):
        words = [part if isinstance(part, str) else part.get("text", part.get("name")) for part in said["parts"]]
        equal("".join(words), said["sentence"])
        return {part["figure"]: part["bytes"] for part in said["parts"] if isinstance(part, dict) and "figure" in part}

    def counted(count, word):
        return f"{count:,} {word}{'' if count == 1 else 's'}"

    for pool in daemon.get_json("/api/v1/memory_profile/summary", session=session)["data"]["pools"]:
        ask = {"session": session, "memory": pool["memory"]}
        said = pool["course"]["sentence"]
        start = f"{counted(pool['allocation_count'], 'allocation')} and {counted(pool['deallocation_count'], 'free')}"
        assert said.startswith(start), said
        equal(
            f"; {counted(pool['never_freed_count'], 'allocation')} never freed" in said, pool["never_freed_count"] > 0
        )
        has_more = pool["lifetime_peak_bytes"] > pool["peak"]["in_use_bytes"]
        equal(figures(pool["course"]), {"lifetime_peak": pool["lifetime_peak_bytes"]} if has_more else {})
        data = daemon.get_json("/api/v1/memory_profile/addresses", **ask)["data"]
        start = f"{counted(data['block_count'], 'block')} and {counted(data['hole_count'], 'hole')}."
        assert data["said"]["sentence"].startswith(start), data["said"]
        hole = {"largest_hole": data["largest_hole"]["size_bytes"]} if data["largest_hole"] else {}
        unknown = {"unknown": data["unknown_bytes"]} if data["unknown_bytes"] else {}
        equal(figures(data["said"]), hole | unknown)
        data = daemon.get_json("/api/v1/memory_profile/fragmentation", **ask)["data"]
        equal(
            figures(data["said"]),
            {
                "largest_chunk": data["worst"]["largest_free_bytes"],
                "largest_request": data["largest_request"]["size_bytes"],
            },
        )
        equal("it would have fitted at any time" in data["said"]["sentence"], data["failing_ps"] == 0)
        data = daemon.get_json("/api/v1/memory_profile/live", **ask)["data"]
        equal((data["matches_curve"], data["balance"].endswith(" = curve at this time")), (True, True))


def test_pages_of_events_are_those_of_the_whole_list(t):
    """only the rows of a page are put in order: against the CSV, which has all of them"""
    daemon = t.serve("--demo")
    session = daemon.session_id("training")
    path = "/api/v1/memory_profile/events"
    for sort in ("-size", "address", "-lifetime", "-step,size", "op", "-op,-time"):
        for text in ("", "op:mlp"):
            whole = daemon.ask(
                f"{path}?" + urlencode({"session": session, "sort": sort, "filter": text, "format": "csv"})
            ).text
            events = [int(row["event"]) for row in csv.DictReader(io.StringIO(whole))]
            assert len(events) > 100, len(events)
            for offset, limit in ((0, 1), (7, 100), (100, 1000), (len(events) - 3, 10), (len(events), 10)):
                data = daemon.get_json(path, session=session, sort=sort, filter=text, offset=offset, limit=limit)[
                    "data"
                ]
                equal(data["matched_count"], len(events))
                equal([row["event"] for row in data["rows"]], events[offset : offset + limit], (sort, text, offset))


def test_the_demo_has_an_error_text(t):
    daemon = t.serve("--demo")
    row = daemon.sessions()["b-activations-unrolled"]
    session = daemon.get_json(f"/api/v1/sessions/{row['id']}")
    assert "Ran out of memory" in session["error_texts"][0]["text"], session["error_texts"]


def test_pages_come_from_web_dir(t):
    t.write("web/index.html", b"<!doctype html><title>mine</title>")
    t.write("web/lib/one.js", b"export const one = 1;\n")
    t.write("web/secret.txt", b"no")
    t.write("web/.hidden.js", b"no")
    os.symlink("/etc/passwd", os.path.join(t.folder(), "web", "passwd.js"))
    daemon = t.serve("--demo", "--web-dir", os.path.join(t.folder(), "web"))
    equal(daemon.ask("/").text, "<!doctype html><title>mine</title>")
    answer = daemon.ask("/lib/one.js")
    equal((answer.status, answer.headers["content-type"]), (200, "text/javascript; charset=utf-8"))
    for path in (
        "/secret.txt",
        "/.hidden.js",
        "/passwd.js",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/lib",
        "/lib/",
        "/lib//one.js",
        "//etc/passwd",
    ):
        equal(daemon.ask(path).status, 404, path)


def test_built_in_pages(t):
    daemon = t.serve("--demo")
    for path in ("/", "/index.html"):
        answer = daemon.ask(path)
        equal((answer.status, answer.headers["content-type"]), (200, "text/html; charset=utf-8"), path)
        for each in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", answer.text, re.S):
            digest = base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in answer.headers["content-security-policy"], each[:200]
        assert "style=" not in answer.text, "a style of one element"
    equal(daemon.ask("/absent.js").status, 404)


HASHED = re.compile(r"""["']([\w./-]+-[0-9a-f]{16}\.(?:js|css|svg))["']""")


def test_files_of_the_pages_are_kept_by_their_hash(t):
    daemon = t.serve("--demo")
    page = daemon.ask("/")
    equal(page.headers["cache-control"], "no-cache")
    open_paths, seen = HASHED.findall(page.text), set()
    equal([path for path in re.findall(r'(?:href|src)="(?!\?|#)([^"]+)"', page.text) if path not in open_paths], [])
    while open_paths:
        path = open_paths.pop()
        if path in seen:
            continue
        seen.add(path)
        plain = re.sub(r"-[0-9a-f]{16}(?=\.\w+$)", "", path)
        kept, asked = daemon.ask("/" + path), daemon.ask("/" + plain)
        equal((kept.status, kept.headers["cache-control"]), (200, "public, max-age=31536000, immutable"), path)
        equal((asked.status, asked.headers["cache-control"]), (200, "no-cache"), plain)
        for same in ("etag", "content-type", "content-security-policy"):
            equal(kept.headers[same], asked.headers[same], path)
        equal(kept.body, asked.body, path)
        equal("'wasm-unsafe-eval'" in kept.headers["content-security-policy"], plain == "widgets/graph_worker.js", path)
        folder = posixpath.dirname(path)
        open_paths += [
            posixpath.normpath(posixpath.join(folder, each)) if each.startswith(".") else each
            for each in HASHED.findall(kept.text)
        ]
    reached = {re.sub(r"-[0-9a-f]{16}(?=\.)", "", path) for path in seen}
    for path in ("app.js", "tools/oom/page.js", "vendor/viz.js", "widgets/graph_worker.js", "icon.svg"):
        assert path in reached, path
    equal(daemon.ask("/app-0123456789abcdef.js").status, 404)


def test_a_memory_limit_above_what_there_is_is_told(t):
    if t.is_sanitized:
        return  # a sanitizer takes terabytes of address space: what is held here is held by the plain run

    def most(size):
        return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))

    t.write("a.hlo.pb", inputs.hlo_proto())
    said = "this process may have 4096 MiB in all"
    assert said in t.serve(t.folder(), "--memory-limit=5000", before=most(4 << 30)).log()
    assert said not in t.serve(t.folder(), "--memory-limit=4000", before=most(4 << 30)).log()
