# SPDX-License-Identifier: Apache-2.0
"""The tools: what they take, that they answer as the commands do, and what they may read."""

import ctypes
import errno
import json
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys

from talk import DEMO, DUMP, HANGS_SECONDS, LIMIT_BYTES, PROFILES, ROOT, call, line, request, rest_of

sys.path += [os.path.join(ROOT, "tests", "http"), os.path.join(ROOT, "tests", "golden")]
import made_snapshots  # noqa: E402
from document import Document  # noqa: E402

OPENAPI = os.path.join(ROOT, "docs", "openapi.yaml")
NEWER, OLDER = os.path.join(PROFILES, "memory9.prof"), os.path.join(PROFILES, "memory1.prof")
# tool: (its arguments, the command line that it is)
SAME = {
    "explain": ({"path": DUMP}, ["explain", DUMP]),
    "summary": ({"path": DUMP, "capacity": "80GiB"}, ["summary", "--capacity=80GiB", DUMP]),
    "whose": ({"path": DUMP}, ["whose", DUMP]),
    "whatif": (
        {"path": DUMP, "change": ["checkpoint=*", "batch=0.5"], "capacity": "v5e"},
        ["whatif", "--change=checkpoint=*", "--change=batch=0.5", "--capacity=v5e", DUMP],
    ),
    "diff": ({"b": NEWER, "a": OLDER}, ["diff", OLDER, NEWER]),
    "top": (
        {"path": NEWER, "base": OLDER, "by": "function", "limit": 5},
        ["top", "--base=" + OLDER, "--by=function", "--limit=5", NEWER],
    ),
}


# ---- schemas ---------------------------------------------------------------------------


def tools_of(talk):
    return {each["name"]: each for each in talk.result(request("tools/list"))["tools"]}


def test_the_tools_there_are(talk):
    tools = tools_of(talk)
    assert set(tools) == {"find", *SAME}
    for tool in tools.values():
        schema = tool["inputSchema"]
        assert (
            tool["title"]
            and tool["annotations"]["readOnlyHint"]
            and schema["type"] == "object"
            and schema["additionalProperties"] is False
        ), tool
        assert set(schema["required"]) <= set(schema["properties"]), tool
        for name, each in schema["properties"].items():
            assert each["description"] and each["type"] in ("string", "array", "integer", "boolean"), (
                tool["name"],
                name,
            )
            assert (each["type"] == "array") == ("items" in each)


def test_the_page_names_each_tool(talk):
    with open(os.path.join(ROOT, "docs", "use", "agents.md"), encoding="utf-8") as file:
        text = file.read()
    assert re.match(r"---\nname: memviewd\ndescription: >-\n(  .+\n)+---\n", text)
    assert set(re.findall(r"(?m)^\| `(\w+)` \|", text)) == set(tools_of(talk))
    for tool, arguments in re.findall(r"(?m)^ {7}(\w+) (\{.*\})$", text):
        wanted = tools_of(talk)[tool]["inputSchema"]
        assert set(wanted["required"]) <= set(json.loads(arguments)) <= set(wanted["properties"]), (tool, arguments)


def test_choices_are_those_of_the_document(talk):
    document = Document(OPENAPI)
    operation = next(each for path, method, each in document.operations() if path == "/api/v1/device_memory/top")
    parameters = [document.resolve(each) for each in operation["parameters"]]
    by = next(document.resolve(each["schema"])["enum"] for each in parameters if each["name"] == "by")
    assert tools_of(talk)["top"]["inputSchema"]["properties"]["by"]["enum"] == by


def test_wrong_arguments_are_named(talk):
    cases = [
        ("explain", {}, "explain wants path"),
        ("explain", {"path": 7}, "path must be a text"),
        ("explain", {"path": None}, "wants path"),
        ("explain", {"path": DUMP, "pth": 1}, 'unknown argument "pth": explain takes path,'),
        ("explain", {"path": ""}, "empty path"),
        ("explain", {"path": DUMP, "other_paths": "x"}, "list of texts"),
        ("explain", {"path": DUMP, "other_paths": [1]}, "list of texts"),
        ("whatif", {"path": DUMP, "fit": "yes"}, "true or false"),
        ("summary", {"path": DUMP, "space": 1.5}, "whole number"),
        ("whatif", {"path": DUMP, "change": ["donate=all"] * 65}, "more than 64"),
        ("find", {"format": "xml"}, "text or json"),
        ("find", {"more": -1}, "whole number"),
        ("find", {"limit_bytes": "big"}, "whole number"),
        ("find", {"more": 1e300}, "whole number"),
        ("explain", {"path": DUMP, "capacity": ""}, "--capacity wants a value"),
        ("whatif", {"path": DUMP, "change": ["nonsense=1"]}, "nonsense"),
        ("top", {"path": NEWER, "by": "colour"}, "colour"),
        ("explain", {"path": "x" * 9000}, "too long"),
        ("whose", {"path": DUMP, "module": "--help"}, "no module"),
    ]
    for tool, arguments, words in cases:
        answer = talk.result(call(tool, **arguments))
        assert answer["isError"] and words in answer["content"][0]["text"], (tool, arguments, answer)


# ---- answers ---------------------------------------------------------------------------


def test_a_tool_says_what_its_command_prints(talk):
    for tool, (arguments, words) in SAME.items():
        out, errors = talk.command(*words)
        assert out and talk.text(tool, **arguments) == out + errors, tool


def test_a_snapshot_of_pytorch_is_asked_by_each_tool(talk):
    path = os.path.join(talk.folder, "rank0.pickle")
    with open(path, "wb") as file:
        pickle.dump(made_snapshots.annotated(made_snapshots.made(1, 1, 120, 100)), file, 4)
    cases = [
        ("explain", {"path": path}, ["explain", path]),
        ("summary", {"path": path}, ["summary", path]),
        ("whose", {"path": path}, ["whose", path]),
        ("top", {"path": path, "at": "end", "base_at": "start"}, ["top", "--at=end", "--base-at=start", path]),
        ("whatif", {"path": path, "change": ["expandable_segments"]}, ["whatif", "--change=expandable_segments", path]),
        ("diff", {"a": path, "b": path, "at": ["start", "end"]}, ["diff", "--at=start", "--at=end", path, path]),
    ]
    for tool, arguments, words in cases:
        out, errors = talk.command(*words)
        assert out and talk.text(tool, roots=[talk.folder], **arguments) == out + errors, tool


def test_the_json_is_that_of_the_command(talk):
    for tool, (arguments, words) in SAME.items():
        out, _ = talk.command(words[0], "--json", *words[1:])
        answer = talk.result(call(tool, format="json", limit_bytes=65536, **arguments))
        if len(out) > 65536:
            assert "structuredContent" not in answer and rest_of(answer), tool
            continue
        wanted = json.loads(out)
        assert answer["structuredContent"] == (wanted if isinstance(wanted, dict) else {"answers": wanted}), tool
        assert json.loads(answer["content"][0]["text"]) == wanted, tool


def test_the_json_follows_the_document(talk):
    document = Document(OPENAPI)
    schemas = document.tree["components"]["schemas"]
    whatif = talk.result(call("whatif", format="json", limit_bytes=65536, path=DUMP, change=["checkpoint=*"]))[
        "structuredContent"
    ]["modules"]
    found = talk.result(call("find", format="json", limit_bytes=65536))["structuredContent"]
    for session in found["sessions"]:
        assert os.path.exists(session.pop("path")), session
    for values, name in ((whatif, "Whatif"), (found["sessions"], "ListedSession")):
        assert values
        for value in values:
            assert not list(document.faults(value, schemas[name])), (name, list(document.faults(value, schemas[name])))


def test_answers_are_small_and_nothing_is_lost(talk):
    for tool, (arguments, words) in SAME.items():
        whole = "".join(talk.command(*words))
        for limit in (1024, LIMIT_BYTES):
            text, more = "", 0
            while more is not None:
                answer = talk.result(call(tool, limit_bytes=limit, more=more, **arguments))
                parts = [each["text"] for each in answer["content"]]
                assert sum(len(each.encode()) for each in parts) <= limit, (tool, limit, answer)
                assert rest_of(answer) is None or parts[0].endswith("\n"), parts
                text, more = text + parts[0], rest_of(answer)
            assert text == whole, (tool, limit)
    assert talk.result(call("explain", path=DUMP, more=10**9))["isError"]


def test_the_rest_is_that_of_the_same_answer(talk):
    """calls in one conversation: what is asked for with `more` is not made again, and never that of another call"""
    whole = "".join(talk.command("explain", DUMP))
    first = talk.send(call("explain", path=DUMP, limit_bytes=1024, id=1))[0]["result"]
    more = rest_of(first)
    responses = talk.send(
        call("explain", path=DUMP, limit_bytes=1024, id=1),
        call("explain", path=DUMP, more=more, limit_bytes=65536, id=2),
        call("whose", path=DUMP, more=more, limit_bytes=65536, id=3),
    )
    texts = [each["result"]["content"][0]["text"] for each in responses]
    assert texts[0] + texts[1] == whole
    assert texts[2] == "".join(talk.command("whose", DUMP)).encode()[more:].decode()


def test_findings_are_answers_and_failures_are_errors(talk):
    with open(os.path.join(talk.folder, "quiet.log"), "w", encoding="utf-8") as file:
        file.write("step 1\nstep 2\n")
    answer = talk.result(call("explain", path="quiet.log"), roots=[talk.folder])
    assert not answer["isError"] and "no out-of-memory text" in answer["content"][0]["text"], answer
    source = os.path.join(ROOT, "tests", "fixtures", "memprof", "memory9.prof")
    with open(source, "rb") as file:
        data = file.read()
    with open(os.path.join(talk.folder, "cut.prof"), "wb") as file:
        file.write(data[: len(data) // 2])
    answer = talk.result(call("top", path="cut.prof"), roots=[talk.folder])
    text = answer["content"][0]["text"]
    assert (
        answer["isError"]
        and os.path.join(talk.folder, "cut.prof") + ": " in text
        and re.search(r"at byte \d+|ends", text)
    ), answer
    assert "No such file" in talk.result(call("whose", path="nowhere"), roots=[talk.folder])["content"][0]["text"]


def test_category_rules_of_the_start_hold(talk):
    rules = os.path.join(talk.folder, "rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("attention weights\n")
    out, errors = talk.command("whose", "--category-rules=" + rules, DUMP)
    answer = talk.result(call("whose", path=DUMP, limit_bytes=65536), options=["--category-rules=" + rules])
    assert answer["content"][0]["text"] == out + errors != "".join(talk.command("whose", DUMP))


# ---- sessions --------------------------------------------------------------------------


def test_find_names_what_the_other_tools_take(talk):
    found = talk.result(call("find", format="json"))["structuredContent"]["sessions"]
    assert {each["path"] for each in found} == {DUMP, PROFILES}
    for session in found:
        tool = "top" if session["kind"] == "profiles" else "explain"
        assert not talk.result(call(tool, path=session["path"]))["isError"]
    text = talk.text("find")
    assert DUMP in text and "out of memory: " in text and text.endswith("2 of 2 sessions\n"), text
    assert talk.text("find", failed=True).endswith("1 of 2 sessions\n") and PROFILES in talk.text("find", filter="LEAK")
    assert talk.text("find", filter="nothing of this name") == "0 of 2 sessions\n"


def test_names_of_folders_add_no_lines(talk):
    name = "a\x1b[31m\n9 of 9 sessions\u202e\udcff"
    shutil.copytree(PROFILES, os.path.join(talk.folder, name))
    text = talk.text("find", roots=[talk.folder])
    assert text.count("\n") == 3 and "\\u001b[31m\\u000a9 of" in text and "\\u202e\\xff" in text, text
    (resource,) = talk.result(request("resources/list"), roots=[talk.folder])["resources"]
    assert "\\u000a9 of" in resource["description"], resource


def test_a_log_is_found(talk):
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "oom", "torch-2020.txt"), os.path.join(talk.folder, "job.log"))
    found = talk.result(call("find", failed=True, format="json"), roots=[talk.folder])["structuredContent"]["sessions"]
    assert [each["path"] for each in found] == [os.path.join(talk.folder, "job.log")], found
    assert not talk.result(call("explain", path=found[0]["path"]), roots=[talk.folder])["isError"]


def test_sessions_are_resources(talk):
    listed = talk.result(request("resources/list"))["resources"]
    assert [each["name"] for each in listed] == ["leak", "b-activations-unrolled"] or len(listed) == 2, listed
    found = {each["id"]: each for each in talk.result(call("find", format="json"))["structuredContent"]["sessions"]}
    for resource in listed:
        (content,) = talk.result(request("resources/read", {"uri": resource["uri"]}))["contents"]
        session = json.loads(content["text"])
        assert content["uri"] == resource["uri"] and found[session["id"]] == session, content
    assert talk.error(request("resources/read", {"uri": "memviewd://sessions/000000000000"}))["code"] == -32002
    for uri in ("file:///etc/passwd", "memviewd://sessions/", "memviewd://sessions/../x", ""):
        assert talk.error(request("resources/read", {"uri": uri}))["code"] == -32002, uri
    assert talk.result(request("resources/templates/list"))["resourceTemplates"] == []


def test_resources_come_in_pages(talk):
    for at in range(230):
        shutil.copytree(PROFILES, os.path.join(talk.folder, f"run{at:03}"))
    names, cursor = [], {}
    for pages in (1, 2, 3):
        listed = talk.result(request("resources/list", cursor), roots=[talk.folder])
        names += [each["name"] for each in listed["resources"]]
        cursor = {"cursor": listed.get("nextCursor")}
    assert pages == 3 and cursor["cursor"] is None and sorted(names) == [f"run{at:03}" for at in range(230)], (
        len(names),
        cursor,
    )


# ---- what may be read ------------------------------------------------------------------


def test_only_what_lies_below_the_roots_is_read(talk):
    inside, outside = (os.path.join(talk.folder, name) for name in ("inside", "outside"))
    shutil.copytree(DUMP, outside)
    os.mkdir(inside)
    shutil.copytree(DUMP, os.path.join(inside, "dump"))
    os.symlink(outside, os.path.join(inside, "link"))
    os.mkdir(os.path.join(talk.folder, "inside-too"))
    os.mkfifo(os.path.join(inside, "pipe"))
    os.symlink(os.path.join(talk.folder, "nothing"), os.path.join(inside, "broken"))
    refused = [
        outside,
        os.path.join(inside, "link"),
        os.path.join(inside, "..", "outside"),
        "../outside",
        "link",
        os.path.join(talk.folder, "inside-too"),
        "/etc/passwd",
        "/proc/self/environ",
        "/nowhere",
        "/etc/../etc/passwd",
        os.path.join(talk.folder, "nothing"),
        os.path.join(inside, "..", "nothing"),
        "../nothing",
        "../outside/nothing",
        "../nothing/nothing",
        "link/nothing",
        "broken",
        "broken/nothing",
        "dump/../../nothing",
        "dump/../link/nothing/",
    ]
    for path in refused:
        for tool, arguments in (
            ("explain", {"path": path}),
            ("explain", {"path": "dump", "other_paths": [path]}),
            ("top", {"path": "dump", "base": path}),
            ("diff", {"a": "dump", "b": path}),
        ):
            answer = talk.result(call(tool, **arguments), roots=[inside])
            assert (
                answer["isError"]
                and answer["content"][0]["text"] == f"{path}: this server reads only files in {inside}"
            ), (path, answer)
    for path, words in (
        ("pipe", "neither a file nor a folder"),
        ("-", "No such file"),
        ("dump/nothing", "No such file"),
        ("nothing/../../nothing", "No such file"),
        (os.path.join(inside, "nothing", "nothing"), "No such file"),
        ("dump/error.txt/nothing", "Not a directory"),
        ("x" * 300, "too long"),
        ("gs://bucket/x", "addresses are not read"),
        ("hf://a/b", "Hugging Face Hub is not read"),
        ("dump\x00", ""),
    ):
        answer = talk.result(call("explain", path=path), roots=[inside])
        assert answer["isError"] == (path != "dump\x00") and words in answer["content"][0]["text"], (path, answer)
    for path in (
        "dump",
        "./dump",
        "file://" + os.path.join(inside, "dump"),
        os.path.join(inside, "dump"),
        os.path.join(inside, "dump", "..", "dump"),
    ):
        assert not talk.result(call("explain", path=path), roots=[inside])["isError"], path
    assert not talk.result(call("explain", path=outside), roots=[inside, outside])["isError"]


def without_landlock():
    """of this process: the kernel has no landlock_create_ruleset (a filter of seccomp); its number is the same on every
    machine"""
    libc = ctypes.CDLL(None, use_errno=True)
    load, jump, give = 0x20, 0x15, 0x06
    steps = ((load, 0, 0, 0), (jump, 0, 1, 444), (give, 0, 0, 0x00050000 | errno.ENOSYS), (give, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(steps), ctypes.addressof(code)))
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(program), 0, 0) != 0:
        os._exit(77)


def test_it_says_where_no_sandbox_limits_reading(talk):
    def said(*options, before=None):
        done = subprocess.run(
            [talk.binary, "mcp", *options, DEMO],
            input=line(call("find")),
            capture_output=True,
            timeout=HANGS_SECONDS,
            preexec_fn=before,
            check=False,
        )
        if before and done.returncode == 77:
            return None
        assert not json.loads(done.stdout)["result"]["isError"], done
        return done.stderr.decode()

    rest = "; only checks of paths limit what is read\n"
    assert said("--no-sandbox") == "memviewd: no sandbox for files: --no-sandbox" + rest
    has_landlock = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) > 0
    assert (said() == "") == has_landlock, said()
    assert said(before=without_landlock) in ("memviewd: no sandbox for files: Function not implemented" + rest, None), (
        said(before=without_landlock)
    )


def test_without_roots_it_is_the_working_folder(talk):
    shutil.copytree(DUMP, os.path.join(talk.folder, "dump"))
    assert not talk.result(call("explain", path="dump"), roots=[])["isError"]
    assert talk.result(call("explain", path=DEMO), roots=[])["isError"]


def test_a_link_out_of_a_root_is_not_followed(talk):
    """not by a folder's scan either"""
    inside, outside = (os.path.join(talk.folder, name) for name in ("inside", "outside"))
    shutil.copytree(DUMP, outside)
    os.mkdir(inside)
    os.symlink(outside, os.path.join(inside, "link"))
    assert talk.text("find", roots=[inside]) == "0 of 0 sessions\n"
