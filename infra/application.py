"""The stacks of one stage, put together: state, tools, and the agents' side."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import aws_cdk as cdk

from contracts import registry
from infra.approvals import ApprovalsStack
from infra.bedrock_agent import BedrockAgentStack
from infra.gateway import GatewayStack
from infra.names import stack_name
from infra.options import Options, read_options, refuse_unknown
from infra.stage import find_stage
from infra.state import StateStack
from infra.tools import ToolsStack

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent
"""The project."""

CONTEXT: Mapping[str, object] = {
    # Imports that CloudFormation checks: what another stack uses cannot be taken from under it.
    "@aws-cdk/core:defaultCrossStackReferences": "strong",
    # A new layer or new properties make a new version of a function.
    "@aws-cdk/aws-lambda:recognizeLayerVersion": True,
    "@aws-cdk/aws-lambda:recognizeVersionProps": True,
    "@aws-cdk/core:checkSecretUsage": True,
}
"""Behaviour of the CDK that the stacks rely on; the command line may override it."""


@dataclass(frozen=True, kw_only=True)
class Stacks:
    """What `build` made; a surface that the options leave out has no stack."""

    state: StateStack
    approvals: ApprovalsStack
    tools: ToolsStack
    bedrock_agent: BedrockAgentStack | None
    gateway: GatewayStack | None


def synthesise() -> None:
    """Synthesise as the command line asks: its context gives the options."""
    app = cdk.App(context=dict(CONTEXT), analytics_reporting=False)
    refuse_unknown(app.node.get_all_context())
    options = read_options(app.node.try_get_context)
    with tempfile.TemporaryDirectory(prefix="toolgate-") as staging:
        build(app, options, staging=Path(staging))
        app.synth()


def build(app: cdk.App, options: Options, *, staging: Path, root: Path = ROOT) -> Stacks:
    """All stacks of the options' stage, not synthesised yet.

    `staging` is an empty folder that must live until then; `root` is the tree that ships.
    """
    stage = find_stage(options.stage)
    specs = stage.deployed(registry.specs())
    state = StateStack(
        app,
        stack_name(stage.name, "state"),
        stage=stage,
        description="Toolgate: what the tools remember",
    )
    approvals = ApprovalsStack(
        app,
        stack_name(stage.name, "approvals"),
        stage=stage,
        options=options,
        stores=state.stores,
        root=root,
        staging=staging,
        warn=_warn,
        description="Toolgate: where people decide on what tools ask for",
    )
    tools = ToolsStack(
        app,
        stack_name(stage.name, "tools"),
        specs,
        stage=stage,
        options=options,
        stores=state.stores,
        root=root,
        staging=staging,
        warn=_warn,
        description="Toolgate: one function a tool",
    )
    agent = gateway = None
    # An agent is given the newest version of each tool, on whichever surface.
    given = registry.newest(specs)
    if "bedrock" in options.surfaces:
        agent = BedrockAgentStack(
            app,
            stack_name(stage.name, "bedrock-agent"),
            given,
            tools=tools.tools,
            stage=stage,
            model=options.model or stage.model,
            agent_arns=options.agent_arns,
            description="Toolgate: an agent of Bedrock Agents that has the tools",
        )
    if "gateway" in options.surfaces:
        gateway = GatewayStack(
            app,
            stack_name(stage.name, "gateway"),
            given,
            tools=tools.tools,
            stage=stage,
            description="Toolgate: an AgentCore Gateway that serves the tools by MCP",
        )
    return Stacks(
        state=state, approvals=approvals, tools=tools, bedrock_agent=agent, gateway=gateway
    )


def _warn(text: str) -> None:
    sys.stderr.write(f"toolgate: warning: {text}\n")
