"""What the demo's steps share: the agent, its workspace, and what the tables say of both."""

from __future__ import annotations

import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agents.bedrock_local import BedrockAgent, Turn
from agents.turns import Choice
from contracts import registry
from contracts.fingerprint import record_id
from functions._runtime.workspace import Stores
from toolgate.deployed import output_key
from toolgate.workspace import Remote

if TYPE_CHECKING:
    from agents.events import Session
    from toolgate.local.environment import LocalCloud

TENANT = "default"
AGENT_TEMPLATE = "cdk.out/toolgate-dev-bedrock-agent.template.json"


def fresh_key() -> str:
    """A fresh, unguessable idempotency key, as the agent is told to make one."""
    return secrets.token_hex(12)


@dataclass
class Stage:
    """The local cloud with one agent and one workspace."""

    cloud: LocalCloud
    repo_root: str = field(default_factory=lambda: f"/workspace/demo-{secrets.token_hex(4)}")

    @cached_property
    def outputs(self) -> dict[str, str]:
        """Names of what is deployed."""
        return self.cloud.outputs()

    @cached_property
    def stores(self) -> Stores:
        """Where workspaces are."""
        return Stores(
            self.cloud.client("dynamodb"),
            self.cloud.client("s3"),
            self.outputs["WorkspaceTable"],
            self.outputs["WorkspaceBucket"],
        )

    @cached_property
    def agent(self) -> BedrockAgent:
        """The agent of the synthesised template."""
        template = json.loads((self.cloud.layout.home / AGENT_TEMPLATE).read_text("utf-8"))
        return BedrockAgent.of_stack(
            template,
            cloudformation=self.cloud.client("cloudformation"),
            client=self.cloud.client("lambda"),
        )

    def choose(self, tool: str, **arguments: Any) -> Turn:
        """Let the agent call a tool, repeating as failures ask."""
        return self.agent.call(Choice(tool, {"repoRoot": self.repo_root, **arguments}))

    def choose_in(self, session: Session, tool: str, **arguments: Any) -> Turn:
        """The same in a session of somebody's, in whichever workspace the arguments name."""
        return self.agent.call(Choice(tool, arguments), session)

    def choose_at_once(self, times: int, tool: str, **arguments: Any) -> list[Turn]:
        """Let as many agents make the very same call at the same time."""
        with ThreadPoolExecutor(times) as pool:
            calls = [pool.submit(self.choose, tool, **arguments) for _ in range(times)]
            return [call.result() for call in calls]

    def commits(self) -> int:
        """How many rows of history the workspace has."""
        return sum(1 for _ in Remote(self.stores, TENANT, self.repo_root).rows())

    def record_status(self, tool: str, key: str) -> str | None:
        """The status of a call's idempotency record: INPROGRESS, COMPLETED, or None."""
        identity = record_id(registry.find(tool), TENANT, key)
        found = self.stores.dynamodb.get_item(
            TableName=self.outputs["IdempotencyTable"],
            Key={"id": {"S": identity}},
            ConsistentRead=True,
        )
        status: str | None = found.get("Item", {}).get("status", {}).get("S")
        return status

    def function(self, tool: str) -> str:
        """The name of a tool's Lambda."""
        return self.outputs[output_key(registry.find(tool))]
