#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests that schemathesis makes up from docs/openapi.yaml, to the running daemon.

  generated_requests.py --binary PATH --work FOLDER [--examples N] [--seed N]

`make generated-requests-test` runs this with the Python that has schemathesis. Every operation gets requests that the
document allows and some that it forbids: each answer has to be documented (status, content type, schema, headers),
none may be 5xx, and what the document forbids has to be refused. Names and numbers that exist are put in often, so
that requests get as far as the views. The same seed makes the same requests, N for each operation and those that
schemathesis derives from the limits in the document. The last line is "N passed, N failed, N skipped".
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import harness
from document import Document

# That what the document allows is answered with 2xx: it cannot tell a good filter or expression from a bad one.
NOT_CHECKED = "positive_data_acceptance"
# Parameters that are refused unless they are one of the values that exist.
NAMES = {"session", "host", "module", "profile", "base", "sort", "group"}
FILTERS = {
    "memory_viewer": [
        ">1MiB",
        "cat:saved_activation",
        "kind:argument",
        "-fusion",
        "shape:[*,2048]",
        "alive:5",
        "covers:1GiB..2GiB",
        "name:/fus.*/",
    ],
    "memory_profile": ["size:>1MiB", "-dtype:f32", "op:dot", "freed:never", "verdict:grows"],
    "compare": [">1MiB", "state:new,gone", "match:scope", "cat:parameter", "shape:[*,2048]", "-fusion"],
    "compare_profiles": [">1MiB", "state:new,grown", "kind:buffer", "fn:func", "-stack:x"],
    "device_memory": ["count:>1", "fn:train", "-file:x", "self:>1MiB", "verdict:leaks"],
}


REFUSALS = ["400", "401", "403", "404", "405", "406", "409", "413", "414", "415", "422", "428", "429", "5xx"]


def tool_of(address):
    return re.match(r"/(?:api/v1/)?([^/]*)", address)[1]


def values_of(daemon):
    """{tool: {parameter: values that exist}}"""
    rows = daemon.sessions().values()
    modules, trace, series = (
        next(row["id"] for row in rows if row["name"] == name)
        for name in ("b-activations-unrolled", "training", "leak")
    )
    buffers = daemon.get_json("/api/v1/memory_viewer/buffers", session=modules, limit=5)["data"]["rows"]
    pools = daemon.get_json("/api/v1/memory_profile/summary", session=trace)["data"]
    times = [pools["hosts"][0]["start_ps"], pools["hosts"][0]["end_ps"]]
    profiles = [row["id"] for row in daemon.get_json(f"/api/v1/sessions/{series}/profiles")["profiles"]]
    frames = daemon.get_json("/api/v1/device_memory/flame", session=series)["data"]["frames"]["id"]
    found = {
        "sessions": {"session": [row["id"] for row in rows], "host": [""]},
        "oom": {"session": [row["id"] for row in rows if row["has_error_text"]]},
        "memory_viewer": {
            "session": [modules],
            "host": [""],
            "id": [row["id"] for row in buffers],
            "key": [row["shape"] for row in buffers],
            "module": [row["id"] for row in daemon.get_json(f"/api/v1/sessions/{modules}/modules")["modules"]],
            "space": [0, 1],
            "step": ["peak", "all", "0", "5", "376"],
            "change": ["donate=all", "batch=0.5", "checkpoint=layer_*", "cast=*:bf16"],
        },
        "modules": {"session": [modules, trace], "host": [""]},
        "compare": {
            "a": [modules, f"{modules}///0/5"],
            "b": [modules, f"{modules}////376", series],
            "space_a": [0, 1],
            "space_b": [0, 1],
            "step_a": ["peak", "0", "5"],
            "step_b": ["peak", "376"],
        },
        "compare_profiles": {
            "a": [f"{series}//{profiles[0]}", series],
            "b": [series, f"{series}//{profiles[-1]}", modules],
            "focus": ["func"],
            "hide": ["/jax/"],
            "metric": ["bytes", "count", "space"],
            "tag": ["kind=buffer"],
        },
        "memory_profile": {
            "session": [trace],
            "host": [row["id"] for row in daemon.sessions()["training"]["hosts"]],
            "memory": sorted({row["memory"] for row in pools["pools"]}),
            "id": [0, 5, 4679],
            "event": [0, 5],
            "time": ["peak", *map(str, times)],
            "a": times,
            "b": times,
            "from": times[:1],
            "to": times[1:],
            "group": ["none", "op", "op,shape", "thread"],
        },
        "device_memory": {
            "session": [series],
            "profile": profiles,
            "base": profiles,
            "frame": frames,
            "at": [".".join(frames[:2]), *frames],
            "pivot": ["~func", *frames],
            "match": [".", "func"],
            "search": ["func", "("],
            "focus": ["func"],
            "hide": ["/jax/"],
            "metric": ["bytes", "count", "space"],
            "file": ["memprof.py"],
            "tag": ["kind=buffer"],
            "tagfocus": ["kind=buffer"],
            "rows": ["kind"],
            "columns": ["device"],
        },
    }
    for tool, filters in FILTERS.items():
        found[tool]["filter"] = filters
    return found


def columns_of(daemon, address, values):
    """what a table can be sorted by"""
    about = {
        name: values[name][0]
        for name in ("session", "a", "b")
        if name in values and not (name in "ab" and "session" in values)
    }
    columns = daemon.get_json(address, **about, limit=1)["data"]["columns"]
    names = [column["name"] for column in columns if column["name"]]
    return [*names, *("-" + name for name in names), f"-{names[0]},{names[1]}"]


def schema_of(parameter, names):
    """with the values that exist, and with none: nothing behind the = is as if the parameter were left out"""
    schema = parameter["schema"]
    if schema.get("type") == "array":
        return {"type": "array", "items": {"enum": [*names, ""]}} if names else schema
    if names:
        schema = {"enum": names}
    is_optional = parameter["in"] == "query" and not parameter.get("required")
    return {"anyOf": [schema, {"enum": [""]}]} if is_optional and schema != {"type": "string"} else schema


def write_document(path, daemon, found):
    """docs/openapi.yaml with the names that exist in it, so that few requests end at a name that does not"""
    document = Document(os.path.join(harness.ROOT, "docs", "openapi.yaml"))
    for address, method, operation in document.operations():
        values = found.get(tool_of(address), {})
        names = {name: some for name, some in values.items() if name in NAMES}
        parameters = [dict(document.resolve(parameter)) for parameter in operation["parameters"]]
        for parameter in parameters:
            if parameter["name"] == "sort" and "enum" not in parameter["schema"]:
                names["sort"] = columns_of(daemon, address, values)
            if parameter["name"] == "session" and "session" in names:
                parameter["required"] = True
            elif parameter["name"] in values:
                parameter["example"] = values[parameter["name"]][0]
            parameter["schema"] = schema_of(parameter, names.get(parameter["name"]))
        document.tree["paths"][address][method.lower()]["parameters"] = parameters
    for item in document.tree["paths"].values():
        item.pop("parameters", None)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document.tree, file)


def write_config(path, found):
    """schemathesis's own list of values to use now and then; lists of JSON are TOML too"""
    with open(path, "w", encoding="utf-8") as file:
        file.write("warnings = false\n[generation]\nallow-x00 = false\n")
        # an address or a body past what may be held is refused before anything of it is read
        file.write(f"[checks.negative_data_rejection]\nexpected-statuses = {json.dumps(REFUSALS)}\n")
        rest = [
            (tool, name, some) for tool, values in found.items() for name, some in values.items() if name not in NAMES
        ]
        for tool, name, some in rest:
            file.write(f"[dictionaries.{tool}_{name}]\nvalues = {json.dumps(some)}\n")
        for tool in found:
            file.write(f'[[operations]]\ninclude-path-regex = "^/api/v1/{tool}(/|$)"\n[operations.parameters]\n')
            for of, name, _ in rest:
                if of == tool:
                    file.write(f'{name} = {{dictionary = "{tool}_{name}", probability = 0.95}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--examples", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)  # what an earlier run noted would change this one
    os.makedirs(options.work)
    document = os.path.join(os.path.abspath(options.work), "openapi.json")
    config = os.path.join(os.path.abspath(options.work), "schemathesis.toml")
    with harness.Toolbox(options.binary, None) as toolbox:
        daemon = toolbox.serve(
            "--demo", os.path.join(toolbox.fixtures, "logdir"), os.path.join(toolbox.fixtures, "oom")
        )
        harness.wait_until(lambda: daemon.ask("/-/ready").status == 200, what="the first scan")
        found = values_of(daemon)
        write_document(document, daemon, found)
        write_config(config, found)
        command = [
            os.path.join(os.path.dirname(sys.executable), "schemathesis"),
            "--config-file",
            config,
            "run",
            document,
            "--url",
            daemon.url.rstrip("/"),
            "--seed",
            str(options.seed),
            "--max-examples",
            str(options.examples),
            "--phases",
            "examples,coverage,fuzzing",
            "--exclude-checks",
            NOT_CHECKED,
            "--request-timeout",
            "60",
        ]
        ran = subprocess.run(
            command, cwd=options.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        print(ran.stdout, flush=True)
    tested = re.search(r"Tested: (\d+)", ran.stdout)
    failures = re.search(r"(\d+) failures?", ran.stdout)
    failed = int(failures[1]) if failures else int(ran.returncode != 0)
    print(f"{int(tested[1]) if tested else 0} passed, {failed} failed, 0 skipped")
    return 1 if failed or not tested else 0


if __name__ == "__main__":
    sys.exit(main())
