"""Deploys the stacks onto the local cloud with the ordinary CDK CLI, unless nothing changed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from toolgate.local import install, run
from toolgate.local.environment import ACCOUNT, STACKS
from toolgate.local.errors import DeployError, PrerequisiteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolgate.local.environment import LocalCloud
    from toolgate.local.layout import Layout

BOOTSTRAP_STACK = "CDKToolkit"
SOURCES = (
    "contracts",
    "functions",
    "infra",
    "app.py",
    "cdk.json",
    "requirements.txt",
    "package-lock.json",
)
"""What a deployment is made of; a change in any of it deploys again."""

_NEEDED = ("app.py", "cdk.json", "package.json", "package-lock.json")
_SETTLED = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE"})
_SECONDS = 600
_FOREIGN = ("AWS_", "CDK_", "JSII_", "PYTHONDONTWRITEBYTECODE")
"""Of the developer's environment, what does not reach the CDK CLI. The last: aws_cdk is large, and
without bytecode every synth would compile it again."""


def check_sources(root: Path) -> None:
    """Raise PrerequisiteError if the checkout holds no CDK app."""
    if missing := [name for name in _NEEDED if not (root / name).is_file()]:
        raise PrerequisiteError(
            f"{', '.join(missing)} not found in {root}. Run this from a whole checkout."
        )


def source_digest(root: Path, sources: Iterable[str], context: Mapping[str, str]) -> str:
    """One hash over the paths and bytes of `sources` below `root`, and the deployment's context.

    Files that git does not know yet count as well: a tool is tried before it is committed.
    """
    digest = hashlib.sha256(json.dumps(dict(context), sort_keys=True).encode())
    for path in _files(root, sources):
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def context() -> dict[str, str]:
    """The CDK context of a local deployment: its tools run here, on this Python."""
    return {
        "local": "true",
        "stage": "dev",
        "py": install.python_minor(),
        "arch": install.architecture(),
    }


def is_bootstrapped(stacks: Mapping[str, str]) -> bool:
    """Whether the CDK's own stack is there."""
    return stacks.get(BOOTSTRAP_STACK) in _SETTLED


def is_current(layout: Layout, stacks: Mapping[str, str], digest: str) -> bool:
    """Whether what is deployed was made from the present source."""
    settled = all(stacks.get(name) in _SETTLED for name in STACKS)
    return settled and _deployed_digest(layout) == digest


def bootstrap(cloud: LocalCloud) -> None:
    """Create the CDK's own stack. Raises DeployError."""
    # From a folder without cdk.json, or the CLI would synthesise the app first.
    layout = cloud.layout
    layout.cdk_home.mkdir(parents=True, exist_ok=True)
    _cdk(cloud, ["bootstrap", f"aws://{ACCOUNT}/{cloud.region}"], layout.cdk_home)


def deploy(cloud: LocalCloud, digest: str) -> None:
    """Synthesise and deploy the stacks, and remember `digest`. Raises DeployError."""
    layout = cloud.layout
    layout.deployed_file.unlink(missing_ok=True)
    flags = [flag for key, value in context().items() for flag in ("-c", f"{key}={value}")]
    output = ["--output", str(layout.cdk_out), "--require-approval", "never", "--ci"]
    _cdk(cloud, ["deploy", *STACKS, *output, *flags], layout.root)
    layout.deployed_file.write_text(json.dumps({"digest": digest}) + "\n", encoding="utf-8")


def cli_environ(cloud: LocalCloud, environ: Mapping[str, str]) -> dict[str, str]:
    """The CDK CLI's environment: the developer's, but for accounts, and for our node and Python."""
    kept = {name: value for name, value in environ.items() if not name.startswith(_FOREIGN)}
    own = {
        "CDK_HOME": str(cloud.layout.cdk_home),
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "JSII_NODE": str(install.node()),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environ.get('PATH', os.defpath)}",
        "NO_PROXY": _not_by_proxy(environ),
        "no_proxy": _not_by_proxy(environ),
        "NO_COLOR": "1",
    }
    return kept | cloud.environ | own


def _cdk(cloud: LocalCloud, arguments: list[str], cwd: Path) -> None:
    layout = cloud.layout
    run.logged(
        [str(install.node()), str(layout.cdk_cli), *arguments],
        cwd=cwd,
        env=cli_environ(cloud, os.environ),
        log=layout.deploy_log,
        seconds=_SECONDS,
        failure=DeployError,
        advice=f"cdk {arguments[0]} failed on the local cloud.",
    )


def _not_by_proxy(environ: Mapping[str, str]) -> str:
    theirs = environ.get("NO_PROXY") or environ.get("no_proxy")
    return ",".join(filter(None, (theirs, "127.0.0.1", "localhost")))


def _files(root: Path, sources: Iterable[str]) -> list[Path]:
    found: list[Path] = []
    for name in sources:
        path = root / name
        if path.is_file():
            found.append(path)
        found += [
            each
            for each in path.rglob("*")
            if each.is_file() and "__pycache__" not in each.parts and each.suffix != ".pyc"
        ]
    return sorted(found)


def _deployed_digest(layout: Layout) -> str | None:
    try:
        held = json.loads(layout.deployed_file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return held.get("digest") if isinstance(held, dict) else None
