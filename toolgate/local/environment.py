"""The running local cloud as its users see it: clients, deployed names, and its Lambda workers."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from toolgate.local import emulator
from toolgate.local.errors import NotRunningError
from toolgate.local.layout import Layout

STATE_STACK = "toolgate-dev-state"
APPROVALS_STACK = "toolgate-dev-approvals"
TOOLS_STACK = "toolgate-dev-tools"
STACKS = (STATE_STACK, APPROVALS_STACK, TOOLS_STACK)
ACCOUNT = "000000000000"

_LINK_PREFIX = "ExportsOutput"
"""What the CDK calls an output that exists for another stack."""

_READ_TIMEOUT_S = 60
_CONNECT_TIMEOUT_S = 5
_CONNECTIONS = 64


@dataclass(frozen=True)
class LocalCloud:
    """One local cloud, by the port that it listens on. Making one asks nothing of it."""

    port: int
    layout: Layout = field(default_factory=Layout)

    @property
    def region(self) -> str:
        """The one region of the local cloud."""
        return emulator.REGION

    @property
    def endpoint(self) -> str:
        """The URL of every service."""
        return f"http://{emulator.HOST}:{self.port}"

    @property
    def credentials(self) -> dict[str, str]:
        """The made-up credentials, as environment variables."""
        return {"AWS_ACCESS_KEY_ID": "toolgate-local", "AWS_SECRET_ACCESS_KEY": "toolgate-local"}

    @property
    def environ(self) -> dict[str, str]:
        """Environment variables that make an AWS SDK or tool use this cloud and nothing else.

        The developer's own profiles are left out of the picture.
        """
        return self.credentials | {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self, service: str) -> Any:
        """A boto3 client of this cloud.

        It waits longer than any tool may run and never repeats a request: a call that is sent
        twice without being asked for would hide what repeating it does.
        """
        import boto3
        from botocore.config import Config

        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=self.region,
            aws_access_key_id=self.credentials["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.credentials["AWS_SECRET_ACCESS_KEY"],
            config=Config(
                read_timeout=_READ_TIMEOUT_S,
                connect_timeout=_CONNECT_TIMEOUT_S,
                retries={"total_max_attempts": 1},
                max_pool_connections=_CONNECTIONS,
                proxies={},
            ),
        )

    def stacks(self) -> dict[str, str]:
        """Every stack's status by its name."""
        return {stack["StackName"]: stack["StackStatus"] for stack in self._describe()}

    def outputs(self) -> dict[str, str]:
        """The outputs of all stacks in one: `WorkspaceTable`, `ApplyPatchV1`, …"""
        return merged_outputs(self._describe(), STACKS)

    def functions(self) -> dict[str, str]:
        """Function names by output key, one a tool: `{"ApplyPatchV1": "toolgate-dev-…"}`."""
        return merged_outputs(self._describe(), (TOOLS_STACK,))

    def workers(self, function_name: str) -> list[int]:
        """Process ids of the live Lambda workers of one function, oldest first.

        Raises NotRunningError if this cloud is not up.
        """
        return emulator.workers(self.layout, self._emulator(), function_name)

    def kill_workers(self, function_name: str) -> list[int]:
        """End the function's workers with SIGKILL, whatever they are doing; their process ids.

        Raises NotRunningError if this cloud is not up.
        """
        found = self.workers(function_name)
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return found

    def _emulator(self) -> int:
        record = emulator.running(self.layout)
        if record is None or record.pid is None or record.port != self.port:
            raise NotRunningError("The local cloud is not up. Run: toolgate local up")
        return record.pid

    def _describe(self) -> list[dict[str, Any]]:
        pages = self.client("cloudformation").get_paginator("describe_stacks").paginate()
        return [stack for page in pages for stack in page["Stacks"]]


def merged_outputs(stacks: list[dict[str, Any]], names: tuple[str, ...]) -> dict[str, str]:
    """The named stacks' own outputs in one mapping, without those that only link stacks."""
    return {
        output["OutputKey"]: output["OutputValue"]
        for stack in stacks
        if stack["StackName"] in names
        for output in stack.get("Outputs", [])
        if not output["OutputKey"].startswith(_LINK_PREFIX)
    }
