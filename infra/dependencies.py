"""The layer of a stack: the third-party packages that its functions share.

Each stack has its own, of one asset: a layer that one stack lent to another could not be replaced,
because what is imported cannot change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import AssetHashType, Stack
from aws_cdk import aws_lambda as lambda_

from infra.layer import Target, build_layer
from infra.tool_function import ARCHITECTURES, RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from infra.options import Options

REQUIREMENTS = "functions/requirements.txt"
"""Exactly what the layer holds."""

LAYERS = ".local/layers"
"""Where built layers are kept, under the project."""


def dependencies(
    stack: Stack, options: Options, root: Path, staging: Path, warn: Callable[[str], object]
) -> lambda_.LayerVersion:
    """The stack's layer, built if it is not there yet."""
    requirements = root / REQUIREMENTS
    if stack.bundling_required:
        target = Target(python=options.python, arch=options.arch, local=options.local)
        built = build_layer(requirements, target, root / LAYERS, warn)
        code = lambda_.Code.from_asset(
            str(built.path), asset_hash=built.digest, asset_hash_type=AssetHashType.CUSTOM
        )
    else:
        # Listing and destroying stacks need no wheels; the CDK asks for none then.
        unbuilt = staging / f"{stack.node.id}-layer" / "python"
        unbuilt.mkdir(parents=True)
        (unbuilt / requirements.name).write_text(requirements.read_text("utf-8"), "utf-8")
        code = lambda_.Code.from_asset(str(unbuilt.parent))
    return lambda_.LayerVersion(
        stack,
        "Dependencies",
        description=f"Third-party packages of the functions, {options.python} {options.arch}",
        code=code,
        compatible_runtimes=[RUNTIMES[options.python]],
        compatible_architectures=[ARCHITECTURES[options.arch]],
    )
