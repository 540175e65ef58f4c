"""Runs the pinned CDK CLI against the account that your own AWS credentials name.

    python -m toolgate.local.aws deploy --all -c stage=prod

Everything after the module's name is the CDK CLI's. It runs on the node that came with the Python
packages, in the project's root.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from toolgate.local import deploy, install
from toolgate.local.errors import LocalCloudError
from toolgate.local.layout import Layout
from toolgate.local.progress import Shown

if TYPE_CHECKING:
    from collections.abc import Mapping


def environ(given: Mapping[str, str]) -> dict[str, str]:
    """The developer's environment, but with this Python and node first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{given.get('PATH', os.defpath)}"
    kept = {name: value for name, value in given.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PATH": path, "JSII_NODE": str(install.node())}


def main(arguments: list[str]) -> NoReturn:
    """Become the CDK CLI; exits with 1 and a sentence if it cannot be installed."""
    layout = Layout()
    try:
        deploy.check_sources(layout.root)
        if not install.cdk_is_installed(layout):
            with Shown().step("Install the CDK CLI"):
                install.install_cdk(layout)
        argv = [str(install.node()), str(layout.cdk_cli), *arguments]
    except LocalCloudError as error:
        raise SystemExit(f"Error: {error}") from None
    os.chdir(layout.root)
    os.execve(argv[0], argv, environ(os.environ))  # noqa: S606 - a fixed program, no shell


if __name__ == "__main__":
    main(sys.argv[1:])
