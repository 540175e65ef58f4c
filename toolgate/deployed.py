"""What is deployed where: function, table and bucket names by stack output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from botocore.exceptions import BotoCoreError, ClientError

from contracts import registry
from infra.names import pascal, stack_name
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from contracts.spec import ToolSpec

Where = Literal["local", "aws"]


def output_key(spec: ToolSpec) -> str:
    """The output that names the tool's function: `ApplyPatchV1`."""
    return pascal(spec.model_name)


def client_and_outputs(where: Where, stage: str, service: str) -> tuple[Any, dict[str, str]]:
    """A client of a service there, and the outputs of the stage's stacks.

    Raises CommandError if the stage is not deployed, LocalCloudError if the local cloud is down.
    """
    if where == "local":
        from toolgate.local import cloud
        from toolgate.local.errors import NotRunningError

        local = cloud.attached()
        try:
            return local.client(service), local.outputs()
        except (BotoCoreError, ClientError):
            raise NotRunningError(
                f"The local cloud does not answer on port {local.port}. "
                "Run: toolgate local down, then toolgate local up"
            ) from None
    import boto3

    from agents.targets import CONFIG
    from toolgate.local.environment import merged_outputs

    names = tuple(stack_name(stage, stack) for stack in ("state", "approvals", "tools"))
    try:
        cloudformation = boto3.client("cloudformation")
        found = [cloudformation.describe_stacks(StackName=name)["Stacks"][0] for name in names]
        return boto3.client(service, config=CONFIG), merged_outputs(found, names)
    except (BotoCoreError, ClientError) as error:
        raise CommandError(f"stage {stage} cannot be read from AWS: {error}") from None


def function_names(where: Where, stage: str) -> tuple[dict[str, str], Any]:
    """Function names by the tools' model names, and the Lambda client to call them with."""
    client, outputs = client_and_outputs(where, stage, "lambda")
    names = {
        spec.model_name: outputs[output_key(spec)]
        for spec in registry.specs()
        if output_key(spec) in outputs
    }
    if not names:
        raise CommandError(f"no tool is deployed ({where}, stage {stage})")
    return names, client
