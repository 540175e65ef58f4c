"""Where the tools run: contracts and stages become CloudFormation templates.

errors          every way in which a synth refuses, as one tree
node            finds the node that aws_cdk runs on
options         what `-c name=value` may say
stage           dev and prod: everything that differs between them
scopes          the one table from scopes to IAM actions
packaging       the files of a tool's Lambda
layer           the third-party wheels, built without Docker
quotas          what AWS would refuse only at deploy time
tool_function   one tool: role, log group, function, alias
state, tools, bedrock_agent, gateway   the stacks
application     puts the stacks together
template, policies, review   what synthesised templates name, and what they allow
"""

from __future__ import annotations

from contracts.spec import SpecError
from infra.errors import InfraError
from infra.node import cdk_is_missing, use_node

__all__ = ["main"]


def main() -> None:
    """Synthesise every stack of the stage; what is refused ends in one sentence, exit code 1."""
    try:
        use_node()
        _synthesise()
    except (InfraError, SpecError) as error:
        raise SystemExit(f"toolgate: {error}") from None


def _synthesise() -> None:
    try:
        # aws_cdk starts a node process when it is imported, so not before one was found.
        from infra.application import synthesise  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise cdk_is_missing(error) from None
    synthesise()
