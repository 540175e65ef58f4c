"""`toolgate mcp` as clients run it: the SDK's client, the real process, the deployed Lambdas."""

from __future__ import annotations

import getpass
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from contextlib import asynccontextmanager, contextmanager

import pytest

from contracts import registry
from contracts.dialects import mcp as dialect
from contracts.fingerprint import record_id
from toolgate.project import ROOT

pytestmark = [pytest.mark.long, pytest.mark.local]

NEWEST = {spec.name: spec for spec in registry.newest(registry.specs())}
PATCH, READ = NEWEST["apply_patch"], NEWEST["read_file"]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
ATTEMPTS = 40
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def workspace(local_workspaces):
    """The root of a fresh workspace."""
    root = f"/workspace/mcp-{uuid.uuid4().hex[:8]}"
    local_workspaces.create(root, {"a.txt": b"one\n"})
    return root


def patch(root):
    """Arguments as a model sends them: the tool's name carries the version."""
    file = {"path": "a.txt", "mode": "replace_full", "content": "two\n"}
    return {"idempotencyKey": uuid.uuid4().hex, "repoRoot": root, "files": [file]}


class Watched:
    """A stream to a server that says when a message of some method is on its way."""

    def __init__(self, stream, method, written):
        self._stream, self._method, self._written = stream, method, written

    def __getattr__(self, name):
        return getattr(self._stream, name)

    async def __aenter__(self):
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *ended):
        return await self._stream.__aexit__(*ended)

    async def send(self, message):
        await self._stream.send(message)
        if getattr(message.message, "method", None) == self._method:
            self._written.set()


@asynccontextmanager
async def stdio(log, *options, written=None):
    """The streams to a server that runs as desktop agents run it."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "toolgate", "mcp", *options], cwd=str(ROOT)
    )
    with log.open("w") as errors:
        async with stdio_client(command, errlog=errors) as (read, write):
            yield read, Watched(write, "tools/call", written) if written else write


def over_stdio(tmp_path, mode, story, *options):
    """Runs `story(client)`; what the server said beside the protocol is returned as well."""
    import anyio
    from mcp import Client

    log = tmp_path / "stderr.txt"

    async def run():
        async with Client(stdio(log, *options), mode=mode) as client:
            return await story(client)

    return anyio.run(run), log.read_text()


def operations(local_workspaces, root):
    """Whose record each commit after the first is, and who made it."""
    return [(row["op"]["S"], row["by"]["S"]) for row in local_workspaces.log(root)[1:]]


@MODES
def test_every_tool_is_listed_and_a_patch_that_is_sent_twice_is_one_commit(
    tmp_path, workspace, local_workspaces, mode
):
    arguments = patch(workspace)

    async def story(client):
        listed = (await client.list_tools()).tools
        answers = [await client.call_tool(PATCH.model_name, arguments) for _ in range(2)]
        read = await client.call_tool(READ.model_name, {"repoRoot": workspace, "path": "a.txt"})
        return listed, answers, read

    (listed, (first, again), read), said = over_stdio(tmp_path, mode, story)
    shown = {
        tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed
    }
    assert shown == {spec.model_name: dialect.emit(spec) for spec in NEWEST.values()}
    assert first.structured_content["skippedAsDuplicate"] is False
    assert again.structured_content == {**first.structured_content, "skippedAsDuplicate": True}
    assert read.structured_content["text"] == "two\n"
    ((operation, _),) = operations(local_workspaces, workspace)
    assert operation == record_id(PATCH, "default", arguments["idempotencyKey"])
    assert said == ""


def test_a_call_that_is_cancelled_and_sent_again_is_one_commit(
    tmp_path, workspace, local_workspaces
):
    import anyio
    from mcp import Client

    arguments = patch(workspace)

    async def run():
        written = anyio.Event()
        log = tmp_path / "stderr.txt"
        async with Client(stdio(log, written=written), mode="legacy") as client:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, PATCH.model_name, arguments)
                    await written.wait()
                    scope.cancel()
            assert scope.cancelled_caught
            for _ in range(ATTEMPTS):
                answer = await client.call_tool(PATCH.model_name, arguments)
                if not answer.is_error:
                    return answer.structured_content
                error = json.loads(answer.content[0].text)
                assert error["code"] == "IN_PROGRESS"
                await anyio.sleep(error["detail"]["retryAfterMs"] / 1000)
        raise AssertionError("the cancelled call is still in progress")

    result = anyio.run(run)
    assert result["ok"]
    assert len(operations(local_workspaces, workspace)) == 1


def test_signed_calls_are_made_by_the_person_that_runs_the_server(
    tmp_path, workspace, local_workspaces
):
    async def story(client):
        changed = await client.call_tool(PATCH.model_name, patch(workspace))
        refused = await client.call_tool(READ.model_name, {"repoRoot": workspace, "path": "a.txt"})
        return changed, refused

    (changed, refused), _ = over_stdio(
        tmp_path, "auto", story, "--sign", "--scope", "workspace:write"
    )
    assert not changed.is_error
    ((_, by),) = operations(local_workspaces, workspace)
    assert by == getpass.getuser().casefold()
    error = json.loads(refused.content[0].text)
    assert (error["code"], error["detail"]["scope"]) == ("FORBIDDEN", "workspace:read")


@contextmanager
def http(*options):
    """A server by HTTP: its address and its token."""
    argv = [sys.executable, "-m", "toolgate", "mcp", "--http", "--port", "0", *options]
    child = subprocess.Popen(
        argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        address = child.stderr.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", address), address + child.stderr.read()
        token = re.fullmatch(r"Authorization: Bearer (\S{40,})", child.stderr.readline().strip())
        yield address, token and token[1]
    finally:
        child.terminate()
        out, _ = child.communicate(timeout=20)
    assert out == ""


def status(address, **headers):
    """What the server answers to a plain request of the list."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    fixed = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    asked = urllib.request.Request(address, body, {**fixed, **headers})
    try:
        with DIRECT.open(asked, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_by_http_only_who_has_the_token_and_is_no_web_page_gets_in(workspace, local_workspaces):
    import anyio
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    arguments = patch(workspace)

    async def run(address, headers, mode):
        async with httpx2.AsyncClient(headers=headers, timeout=60) as web:
            transport = streamable_http_client(address, http_client=web)
            async with Client(transport, mode=mode) as client:
                listed = (await client.list_tools()).tools
                answer = await client.call_tool(PATCH.model_name, arguments)
                return {tool.name for tool in listed}, answer

    with http() as (address, token):
        mine = {"Authorization": f"Bearer {token}"}
        port = address.split(":")[2].partition("/")[0]
        assert status(address, **mine) == 200
        assert status(address, **mine, Origin=f"http://localhost:{port}") == 200
        assert status(address) == 401
        assert status(address, Authorization="Bearer guessed") == 401
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
            assert status(address, **mine, Origin=origin) == 403
        for host in ("evil.example", f"evil.example:{port}"):
            assert status(address, **mine, Host=host) == 421
        replayed = []
        for mode in ("auto", "legacy"):
            listed, answer = anyio.run(run, address, mine, mode)
            assert listed == {spec.model_name for spec in NEWEST.values()}
            replayed.append(answer.structured_content["skippedAsDuplicate"])
    assert replayed == [False, True]
    assert len(operations(local_workspaces, workspace)) == 1


def test_who_asks_for_no_token_is_still_safe_from_web_pages():
    with http("--no-auth") as (address, token):
        assert token is None
        assert status(address) == 200
        assert status(address, Origin="https://evil.example") == 403
        assert status(address, Host="evil.example") == 421
