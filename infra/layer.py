"""The third-party wheels of all tools as one Lambda layer, built by uv without Docker.

A layer is built once for a set of requirements, a Python and a platform, and found again by the
hash of those; so the first synth needs the package index and later ones are offline.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.errors import LayerError

if TYPE_CHECKING:
    from collections.abc import Callable

BUILDER = 1
"""Raise it when the same inputs should give another layer."""

PLATFORMS = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}
"""Amazon Linux 2023, on which Lambda runs Python 3.12 and newer, has glibc 2.34."""

OLDER_GLIBC = {"3.11": "2.26"}
"""Pythons that Lambda runs on Amazon Linux 2, whose glibc is older than those wheels may need."""

MOUNT = "/opt/python"
"""Where Lambda puts the folder `python` of a layer; compiled files name their source by it."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What the layer will run on."""

    python: str
    arch: str
    local: bool = False
    """On this machine, so with this machine's own wheels."""

    @property
    def platform(self) -> str:
        """The platform whose wheels are installed."""
        return sysconfig.get_platform() if self.local else PLATFORMS[self.arch]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A built layer."""

    path: Path
    """A folder that holds `python/`."""
    digest: str
    """Of the sources in it and of how they were compiled; the same wheels give the same one."""


def build_layer(
    requirements: Path, target: Target, cache: Path, warn: Callable[[str], object]
) -> Layer:
    """The layer for a requirements file, built into `cache` unless it is there already.

    Bytecode is compiled where an interpreter of the target's version is found; without it each
    cold start compiles everything again, so that is worth a warning. Raises LayerError, also for a
    Python whose Lambda could not load the wheels.
    """
    if not target.local and target.python in OLDER_GLIBC:
        raise LayerError(
            f"py={target.python} cannot be deployed: Lambda runs it with glibc "
            f"{OLDER_GLIBC[target.python]}, and the wheels of the layer need 2.28; "
            "use py=3.12 or newer"
        )
    interpreter = find_interpreter(target.python)
    if interpreter is None:
        warn(
            f"no Python {target.python} on PATH: the layer holds no bytecode, and cold starts "
            "take about a second longer"
        )
    key = layer_key(requirements.read_text("utf-8"), target, compiled=interpreter is not None)
    home = cache / key
    if not home.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="building-") as scratch:
            built = Path(scratch) / "layer"
            _install(requirements, target, built / "python")
            if interpreter is not None:
                _compile(interpreter, built / "python")
            _set_modes(built)
            _move(built, home)
    return Layer(path=home, digest=_digest(home, key))


def layer_key(requirements: str, target: Target, *, compiled: bool) -> str:
    """The name of a layer in the cache: a hash of all that decides what is in it."""
    inputs = [BUILDER, requirements, target.python, target.arch, target.platform, compiled]
    return hashlib.sha256(json.dumps(inputs).encode("utf-8")).hexdigest()[:32]


def find_interpreter(version: str) -> str | None:
    """An interpreter of that minor version: the running one, or one on PATH that does run."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    candidate = shutil.which(f"python{version}")
    if candidate is None:
        return None
    probe = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        said = _run([candidate, "-I", "-c", probe]).strip()
    except LayerError:
        return None  # version managers put launchers on PATH for what is not installed
    return candidate if said == version else None


def _install(requirements: Path, target: Target, site: Path) -> None:
    # A copy, not a hard link: modes are set below, and the links' other end is uv's cache.
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-config"]
    command += ["--python", sys.executable, "--target", str(site), "--link-mode", "copy"]
    command += ["--python-version", target.python, "--only-binary", ":all:"]
    command += ["--no-compile-bytecode", "-r", str(requirements)]
    if not target.local:
        command += ["--python-platform", target.platform]
    _run(command)
    # What differs from one machine to the next, and what no function needs.
    shutil.rmtree(site / "bin", ignore_errors=True)
    (site / ".lock").unlink(missing_ok=True)
    for record in site.glob("*.dist-info/RECORD"):
        record.unlink()
    for caches in sorted(site.rglob("__pycache__")):
        shutil.rmtree(caches)


def _compile(interpreter: str, site: Path) -> None:
    # Unchecked hashes: zip files lose the time stamps that other bytecode is checked against.
    command = [interpreter, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    command += ["-s", str(site), "-p", MOUNT, str(site)]
    _run(command)


def _set_modes(home: Path) -> None:
    """Readable for everyone: Lambda runs as another user than the builder."""
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _move(built: Path, home: Path) -> None:
    try:
        built.rename(home)
    except OSError:
        if not home.is_dir():  # a rival built the same layer; otherwise this is a real failure
            raise


def _digest(home: Path, key: str) -> str:
    """A hash of the installed files; bytecode is left out, for it is not the same every time."""
    digest = hashlib.sha256(key.encode("utf-8"))
    for path in sorted(home.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"\0{path.relative_to(home).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _run(command: list[str]) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME"}}
    try:
        done = subprocess.run(  # noqa: S603  fixed commands of this module
            command, capture_output=True, text=True, check=True, timeout=600, env=environment
        )
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip()
        tool = " ".join(command[1:4])
        raise LayerError(f"the dependency layer could not be built: {tool} said: {said}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LayerError(f"the dependency layer could not be built: {error}") from None
    return done.stdout
