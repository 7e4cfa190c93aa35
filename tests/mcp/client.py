# SPDX-License-Identifier: Apache-2.0
"""`memviewd mcp` driven by the official Python SDK (`mcp` of PyPI): every tool and the resources, by both ways to
begin.

  client.py --binary build/release/memviewd

The last line is "N passed, N failed, 0 skipped".
"""

import argparse
import asyncio
import os
import sys
import traceback

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from talk import DEMO, DUMP, LIMIT_BYTES, PROFILES

CALLS = {
    "find": {"failed": True},
    "explain": {"path": DUMP},
    "summary": {"path": DUMP},
    "whose": {"path": DUMP},
    "whatif": {"path": DUMP, "change": ["checkpoint=*"]},
    "diff": {"a": os.path.join(PROFILES, "memory1.prof"), "b": os.path.join(PROFILES, "memory9.prof")},
    "top": {"path": PROFILES, "limit": 5},
}
HANGS_SECONDS = 300  # ends a test that hangs; measures nothing


async def whole_text(client, tool, arguments):
    text, more = "", 0
    while more is not None:
        answer = await client.call_tool(tool, {**arguments, "more": more})
        parts = [each.text for each in answer.content]
        assert not answer.is_error and sum(len(each.encode()) for each in parts) <= LIMIT_BYTES, answer
        text += parts[0]
        more = int(parts[-1].split("more=")[1].split(" ")[0]) if "for the rest call again" in parts[-1] else None
    return text


async def every_tool(client, command):
    tools = (await client.list_tools()).tools
    assert {each.name for each in tools} == set(CALLS), tools
    for tool, arguments in CALLS.items():
        text = await whole_text(client, tool, arguments)
        assert text and (tool not in command or text == await command[tool]()), (tool, text)


async def as_json(client, command):
    found = (await client.call_tool("find", {"format": "json"})).structured_content["sessions"]
    assert {each["path"] for each in found} == {DUMP, PROFILES}
    answer = await client.call_tool("whatif", {**CALLS["whatif"], "format": "json"})
    assert answer.structured_content is None or answer.structured_content["modules"], answer


async def failures(client, command):
    answer = await client.call_tool("explain", {"path": "/etc/passwd"})
    assert answer.is_error and answer.content[0].text.startswith("/etc/passwd: this server reads only"), answer
    assert (await client.call_tool("explain", {"pth": DUMP})).is_error
    try:
        await client.call_tool("no such tool", {})
    except MCPError as error:
        assert error.error.code == -32602 and "no such tool" in error.error.message
    else:
        raise AssertionError("an unknown tool was called")


async def resources(client, command):
    listed = (await client.list_resources()).resources
    assert {each.name for each in listed} == {"leak", "b-activations-unrolled"}, listed
    for resource in listed:
        content = (await client.read_resource(resource.uri)).contents[0]
        assert '"path":"' in content.text, content
    try:
        await client.read_resource("memviewd://sessions/none")
    except MCPError as error:
        assert "no such session" in error.error.message
    else:
        raise AssertionError("a resource that is not there was read")


async def at_once(client, command):
    answers = await asyncio.gather(
        *[client.call_tool("find", {"filter": str(at)}) for at in range(20)], client.list_tools()
    )
    assert len(answers) == 21


def command_of(binary, *words):
    async def run():
        process = await asyncio.create_subprocess_exec(
            binary, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, errors = await process.communicate()
        return (out + errors).decode()

    return run


async def case(binary, mode, test):
    command = {tool: command_of(binary, tool, DUMP) for tool in ("explain", "summary", "whose")}
    server = StdioServerParameters(command=binary, args=["mcp", DEMO])
    async with asyncio.timeout(HANGS_SECONDS), Client(server, mode=mode) as client:
        assert client.server_info is None or client.server_info.name == "memviewd", client.server_info
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28"), client.protocol_version
        await test(client, command)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    binary = os.path.abspath(parser.parse_args().binary)
    passed = failed = 0
    for mode in ("legacy", "auto"):
        for test in (every_tool, as_json, failures, resources, at_once):
            try:
                asyncio.run(case(binary, mode, test))
                passed, word = passed + 1, "ok     "
            except BaseException:  # noqa: a test may fail in any way; groups of exceptions too
                failed, word = failed + 1, "FAILED "
                traceback.print_exc(file=sys.stdout)
            print(word, mode, test.__name__.replace("_", " "), flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
