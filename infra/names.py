"""Names that others look up: of stacks, and of their outputs. Needs no aws_cdk."""

from __future__ import annotations

from typing import Literal

Stack = Literal["state", "approvals", "tools", "bedrock-agent", "gateway"]


def stack_name(stage: str, stack: Stack) -> str:
    """The name of a stage's stack, such as `toolgate-dev-tools`."""
    return f"toolgate-{stage}-{stack}"


def pascal(model_name: str) -> str:
    """`read_file_v1` as `ReadFileV1`: a tool's name in templates, and its key in the outputs."""
    return "".join(part.capitalize() for part in model_name.split("_"))
