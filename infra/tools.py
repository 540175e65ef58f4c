"""The tools of a stage: one Lambda for each version of each tool, and the layer they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_lambda as lambda_

from infra.dependencies import dependencies
from infra.names import pascal
from infra.packaging import stage_tool
from infra.tool_function import Platform, ToolFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from constructs import Construct

    from contracts.spec import ToolSpec
    from infra.options import Options
    from infra.stage import Stage
    from infra.state import Stores


class ToolsStack(Stack):
    """One function for each spec; `tools` holds them by model name.

    `root` is the project, `staging` an empty folder that lives until the app was synthesised.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        specs: Iterable[ToolSpec],
        *,
        stage: Stage,
        options: Options,
        stores: Stores,
        root: Path,
        staging: Path,
        warn: Callable[[str], object],
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id_, **kwargs)
        platform = Platform(
            python=options.python,
            arch=options.arch,
            layer=dependencies(self, options, root, staging, warn),
        )
        self.tools: dict[str, ToolFunction] = {}
        for spec in specs:
            name = pascal(spec.model_name)
            code = lambda_.Code.from_asset(str(stage_tool(root, spec, staging / spec.model_name)))
            tool = ToolFunction(
                self, name, spec, code=code, platform=platform, stage=stage, stores=stores
            )
            self.tools[spec.model_name] = tool
            output = CfnOutput(tool, "Name", value=tool.executor.function_name)
            output.override_logical_id(name)
            # Exported for as long as the tool is deployed, so that an agent can move to the next
            # version in one deployment: an export that is in use cannot be taken away.
            self.export_value(tool.executor.function_arn)
