"""An emulated AgentCore Gateway before the deployed Lambdas, and a client that speaks MCP to it.

The emulator is a process of another project, on loopback; what it serves is read from our template.
It calls the functions of the local cloud as the Gateway does: arguments as the event, the tool's
name in the client context.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.gateway_template import request, targets, tool_of
from toolgate.local import run
from toolgate.local.errors import InstallError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcp.types import CallToolResult, Tool

    from toolgate.local.environment import LocalCloud
    from toolgate.local.layout import Layout

REQUIREMENTS = Path(__file__).parent / "gateway-requirements.txt"
START_S = 60
STOP_S = 20
INSTALL_S = 300
CALL_S = 30
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def template(layout: Layout, folder: Path) -> dict[str, Any]:
    """The dev stage's gateway template, by the command line's own app and options."""
    given = {"aws:cdk:bundling-stacks": [], "stage": "dev", "surfaces": "gateway"}
    subprocess.run(
        [sys.executable, "app.py"],
        cwd=layout.root,
        check=True,
        env={**os.environ, "CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": json.dumps(given)},
    )
    made: dict[str, Any] = json.loads((folder / "toolgate-dev-gateway.template.json").read_text())
    return made


def exports(cloud: LocalCloud) -> dict[str, str]:
    """What the deployed stacks export, by name: the functions' ARNs among it."""
    pages = cloud.client("cloudformation").get_paginator("list_exports").paginate()
    return {each["Name"]: each["Value"] for page in pages for each in page["Exports"]}


def config(
    made: Mapping[str, Any], arns: Mapping[str, str], region: str, name: str = "toolgate-dev"
) -> dict[str, Any]:
    """The emulator's configuration for a template; `arns` are the exports that it imports."""
    return {
        "server": {"name": name, "contract_checks": "warn"},
        "targets": [_target(properties, arns, region) for properties in targets(made)],
    }


def _target(properties: Mapping[str, Any], arns: Mapping[str, str], region: str) -> dict[str, Any]:
    given = properties["TargetConfiguration"]["Mcp"]["Lambda"]
    return {
        "type": "lambda",
        "name": properties["Name"],
        "lambda": {
            "backend": "aws",
            "aws_function": arns[given["LambdaArn"]["Fn::ImportValue"]],
            "region": region,
            "timeout_sec": CALL_S,
        },
        "tools": [request(tool_of(properties))],
    }


def install(layout: Layout) -> Path:
    """The Python of the emulator's environment, made anew if its pins changed."""
    home = layout.home / "gateway-emulator"
    python, marker = home / "bin" / "python", home / ".installed"
    key = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    if marker.exists() and marker.read_text() == key:
        return python
    uv = [sys.executable, "-m", "uv"]
    for argv in (
        [*uv, "venv", "--no-project", "--clear", "--python", sys.executable, str(home)],
        [*uv, "pip", "install", "--python", str(python), "-r", str(REQUIREMENTS)],
    ):
        run.logged(
            argv,
            cwd=layout.home,
            env=os.environ,
            log=layout.home / "install-gateway-emulator.log",
            seconds=INSTALL_S,
            failure=InstallError,
            advice="uv could not install the emulator of the Gateway.",
        )
    marker.write_text(key)
    return python


def preflight(python: Path, file: Path) -> str:
    """What the emulator thinks that AWS would say to a configuration."""
    return subprocess.run(
        [str(python), "-m", "localcore_gateway", "preflight", "--strict", "-c", str(file)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()


@contextmanager
def serve(python: Path, cloud: LocalCloud, file: Path) -> Iterator[Gateway]:
    """The emulator on a free port of loopback, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    argv = [str(python), "-m", "localcore_gateway", "serve", "-c", str(file)]
    argv += ["--host", "127.0.0.1", "--port", str(port)]
    with file.with_suffix(".log").open("wb") as log:
        child = subprocess.Popen(
            argv,
            cwd=file.parent,
            env={
                "PATH": os.defpath,
                "HOME": str(file.parent),
                "FASTMCP_CHECK_FOR_UPDATES": "off",
                **cloud.environ,
            },
            stdout=log,
            stderr=log,
        )
        try:
            gateway = Gateway(f"http://127.0.0.1:{port}")
            gateway.wait(child, file.with_suffix(".log"))
            yield gateway
        finally:
            child.terminate()
            try:
                child.wait(STOP_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


class Gateway:
    """A client of a gateway at `base`; each call is an MCP session of its own."""

    def __init__(self, base: str) -> None:
        self._base = base

    def wait(self, child: subprocess.Popen[bytes], log: Path) -> None:
        """Until it answers; fails with its log if it ends or takes too long."""
        ends = time.monotonic() + START_S
        while time.monotonic() < ends and child.poll() is None:
            try:
                self.invocations()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError(f"the emulator did not start:\n{log.read_text()}")

    def tools(self) -> list[Tool]:
        """`tools/list`."""
        from mcp import Client

        async def ask() -> list[Tool]:
            async with Client(f"{self._base}/mcp") as client:
                return (await client.list_tools()).tools

        return asyncio.run(ask())

    def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """`tools/call`."""
        from mcp import Client

        async def ask() -> CallToolResult:
            async with Client(f"{self._base}/mcp") as client:
                return await client.call_tool(tool, arguments)

        return asyncio.run(ask())

    def invocations(self) -> list[dict[str, Any]]:
        """What the emulator did, and where arguments or answers broke the declared schemas."""
        with DIRECT.open(f"{self._base}/-/invocations", timeout=CALL_S) as answer:
            found: list[dict[str, Any]] = json.load(answer)["invocations"]
        return found
